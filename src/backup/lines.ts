import { PassThrough, type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { BackupError } from './backup-error.ts';
import type { Location } from './location.ts';
import type { StoredFile } from './manifest.ts';
import { isSameFile, measured } from './measured.ts';

/** Maximum length of a line: more than any row of the service has. */
const maxLineBytes = 64 * 1_048_576;

/** The lines of a file, before and after their compression. */
export interface LinesFile {
  readonly content: StoredFile;
  readonly file: StoredFile;
}

/** Writes batches of lines as a compressed file. Returns its sizes and hashes. */
export async function writeLines(
  location: Location,
  name: string,
  batches: AsyncIterable<readonly string[]>,
): Promise<LinesFile> {
  const content = measured();
  const file = measured();
  const output = new PassThrough();
  const storing = location.put(name, output);
  async function* texts() {
    for await (const lines of batches) {
      for (const line of lines) if (Buffer.byteLength(line) > maxLineBytes) throw tooLong(name);
      if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
    }
  }
  // Whichever fails first is the reason.
  await Promise.all([pipeline(texts, content, createGzip({ level: 6 }), file, output), storing]);
  return { content: content.result(), file: file.result() };
}

/**
 * Reads the lines of a compressed file in batches of about a megabyte. Throws BackupError if the file is missing, has another size or
 * hash than expected, or a line that is too long. A file that expands to more than expected is left at that point.
 */
export async function* readLines(location: Location, name: string, expected: LinesFile): AsyncGenerator<string[]> {
  const source = await requireFile(location, name);
  const damaged = () => new BackupError(`${name} of the backup is damaged: it is not the file that was written.`);
  const limit = (maxBytes: number) => measured({ maxBytes, tooLong: damaged });
  const file = limit(expected.file.bytes);
  const content = limit(expected.content.bytes);
  const output = new PassThrough();
  const reading = pipeline(source, file, createGunzip(), content, output);
  // The error is thrown by the loop, or below.
  reading.catch(() => undefined);
  try {
    yield* splitLines(output, name);
    await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') throw damaged();
    throw error;
  } finally {
    source.destroy();
  }
  if (!isSameFile(file.result(), expected.file) || !isSameFile(content.result(), expected.content)) throw damaged();
}

async function* splitLines(input: Readable, name: string): AsyncGenerator<string[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(10);
    if (end >= 0) {
      const text = Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8');
      rest = [];
      restBytes = 0;
      yield text.split('\n');
    }
    const tail = chunk.subarray(end + 1);
    rest.push(tail);
    restBytes += tail.byteLength;
    if (restBytes > maxLineBytes) throw tooLong(name);
  }
  if (restBytes > 0) throw new BackupError(`${name} of the backup is damaged: its last line has no end.`);
}

/** Opens a file that must be there. */
export async function requireFile(location: Location, name: string): Promise<Readable> {
  const source = await location.read(name);
  if (source === null) throw new BackupError(`${name} is missing in the backup, which is not complete.`);
  return source;
}

/** Reads a small file completely. Throws BackupError if it is missing or longer than `maxBytes`. */
export async function readSmall(location: Location, name: string, maxBytes: number): Promise<Buffer> {
  const source = await requireFile(location, name);
  const chunks: Buffer[] = [];
  const tooLarge = () => new BackupError(`${name} of the backup is too large.`);
  await pipeline(source, measured({ maxBytes, tooLong: tooLarge }), async (input: AsyncIterable<Buffer>) => {
    for await (const chunk of input) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

/** Reads a file to its end. Throws BackupError unless it has the expected size and hash. */
export async function checkFile(location: Location, name: string, expected: StoredFile): Promise<void> {
  const damaged = () => new BackupError(`${name} of the backup is damaged: it is not the file that was written.`);
  const content = measured({ maxBytes: expected.bytes, tooLong: damaged });
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(await requireFile(location, name), content, discard);
  if (!isSameFile(content.result(), expected)) throw damaged();
}

const tooLong = (name: string) => new BackupError(`${name} has a line of more than ${maxLineBytes / 1_048_576} MiB.`);
