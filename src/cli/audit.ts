// switchyard audit: verifies exports of the audit log, without a database or a network.
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { commandPrefix } from '../common/command-line.ts';
import { InvalidExportError, verifyExport } from '../domain/audit/export/verify-export.ts';

const prefix = commandPrefix('audit');

const usage = `Usage:
  ${prefix} verify FILE --key PUBLIC_KEY   check that an export of the audit log is complete and unchanged

FILE is an export, or - for the standard input; it may be compressed with gzip. PUBLIC_KEY is a file with the public key in PEM, as
GET /v3/enterprise/audit-logs/public-key returned it. Get the key before the export, and keep it elsewhere: who can change the file
must not be able to change the key.`;

/** Decompresses a content that begins as gzip does. */
async function* unpacked(content: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  const first = await chunks.next();
  const whole = (async function* () {
    if (!first.done) yield first.value;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  })();
  if (first.done || first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole;
  const unzip = createGunzip();
  const done = pipeline(whole, unzip);
  done.catch(() => undefined);
  yield* unzip;
  await done;
}

async function verify(file: string, keyFile: string): Promise<string> {
  const publicKey = await readFile(keyFile);
  const content: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  const { header, entryCount } = await verifyExport(unpacked(content), publicKey);
  const entries = `${entryCount} ${entryCount === 1 ? 'entry' : 'entries'}`;
  return `The export is complete and unchanged: ${entries}.\n${JSON.stringify(header)}`;
}

try {
  const { values, positionals } = parseArgs({
    options: { key: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [command, file, ...more] = positionals;
  if (values.help) process.stdout.write(`${usage}\n`);
  else if (command !== 'verify' || file === undefined || values.key === undefined || more.length > 0) {
    process.stderr.write(`${usage}\n`);
    process.exitCode = 2;
  } else process.stdout.write(`${await verify(file, values.key)}\n`);
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof InvalidExportError ? `INVALID: ${text}\n` : `${text}\n`);
  process.exitCode = 1;
}
