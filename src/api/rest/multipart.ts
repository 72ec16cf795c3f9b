import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { DomainError } from '../../common/errors.ts';
import type { RequestView } from '../../http/request-view.ts';
import { invalidRequest, RequestError } from './refusal.ts';

/**
 * A file that is being received. `content` ends only after the whole body has arrived and is valid; otherwise it fails.
 */
export interface IncomingFile {
  /** The name that the sender gave it. */
  readonly name: string;
  readonly content: Readable;
}

/**
 * The number of bytes of a refused body that are still received: a client that is still sending would not see the response
 * otherwise.
 */
const maxSkippedBytes = 16 * 1_048_576;

/** Other fields that forms send are ignored, within these limits. */
const limits = { files: 1, fields: 20, parts: 25, fieldSize: 65_536, headerPairs: 100, headerSize: 16_384 };

/**
 * Passes the one file of a multipart body to `take` while it arrives; memory never holds the whole file. 400 for a body
 * that is not multipart or is incomplete; 422 without a file in `field` or with several; 413 if `take` finds the file
 * too large.
 */
export async function receiveFile<T>(
  request: RequestView,
  field: string,
  take: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  let fault: Error | null = null;
  let taken: Promise<T> | null = null;
  let pipe: { from: BusboyFileStream; to: PassThrough } | null = null;
  const fail = (error: Error) => {
    fault ??= error;
    pipe?.from.unpipe(pipe.to).resume();
    pipe?.to.destroy(fault);
  };
  const onFile = (name: string, from: BusboyFileStream, fileName: string) => {
    from.on('error', () => fail(broken()));
    // After a refusal, files are only drained: nothing would end a file that is still being read.
    if (fault !== null) return from.resume();
    if (name !== field) {
      from.resume();
      return fail(missing(field));
    }
    const to = new PassThrough();
    // It may fail before anything reads it; the reader gets the error then.
    to.on('error', () => undefined);
    // The file ends when the body ends, because the rest of the body may still turn out to be invalid.
    from.pipe(to, { end: false });
    pipe = { from, to };
    taken = take({ name: fileName, content: to });
    taken.catch(fail);
  };
  const parser = openParser(request, field, onFile, fail);
  const isCutOff = await pour(request, parser, () => fault !== null).catch((error: unknown) => {
    fail(broken(error));
    return false;
  });
  if (fault === null) (pipe as { to: PassThrough } | null)?.to.end();
  // The type assertion is needed: the compiler does not see that the callbacks assign these.
  const result = await ((taken as Promise<T> | null) ?? Promise.reject(fault ?? missing(field))).catch(fail);
  if (fault !== null) throw refusalFor(fault, isCutOff);
  return result as T;
}

function openParser(
  request: RequestView,
  field: string,
  onFile: (name: string, from: BusboyFileStream, fileName: string) => void,
  fail: (error: Error) => void,
): Writable {
  try {
    const parser = new Busboy({
      headers: { 'content-type': request.header('content-type') ?? '' },
      limits,
      preservePath: true,
      isPartAFile: (_field, _type, fileName) => fileName !== undefined,
    });
    parser.on('file', onFile);
    parser.on('field', (name) => {
      if (name === field) fail(invalid(field, `"${field}" must be a file, with a name, but was a text.`, 'file_type'));
    });
    parser.on('filesLimit', () =>
      fail(invalid(field, 'The body must contain one file, but has several.', 'value_error')),
    );
    for (const event of ['fieldsLimit', 'partsLimit'] as const) {
      parser.on(event, () => fail(invalid(field, 'The body has too many parts besides the file.', 'value_error')));
    }
    return parser;
  } catch (cause) {
    fail(new RequestError('The body must be multipart/form-data, with a boundary.', { status: 400, cause }));
    return new PassThrough().resume();
  }
}

/**
 * Sends the body through the parser; after a refusal, discards the rest. Resolves to true if too much had to be
 * discarded.
 */
async function pour(request: RequestView, parser: Writable, isRefused: () => boolean): Promise<boolean> {
  let skippedBytes = 0;
  let parserError: unknown = null;
  const parsed = finished(parser);
  parsed.catch((error: unknown) => {
    parserError = error;
  });
  const untilDrained = async () => void (await Promise.race([once(parser, 'drain'), parsed]));
  try {
    await request.read((part) => {
      if (parserError !== null) throw parserError;
      if (!isRefused()) return parser.write(part) ? undefined : untilDrained();
      skippedBytes += part.byteLength;
      if (skippedBytes > maxSkippedBytes) throw new Error('The client kept sending after the request was refused.');
      return undefined;
    });
    parser.end();
    await parsed;
    return false;
  } catch (error) {
    if (isRefused()) return skippedBytes > maxSkippedBytes;
    throw error;
  }
}

function refusalFor(fault: Error, isCutOff: boolean): Error {
  const headers: Record<string, string> = isCutOff ? { connection: 'close' } : {};
  const isTooLarge = fault instanceof DomainError && fault.code === 'LIMIT_EXCEEDED';
  if (isTooLarge) return new RequestError(fault.message, { status: 413, headers, cause: fault });
  if (!(fault instanceof RequestError)) return fault;
  const { status, issues } = fault;
  return new RequestError(fault.message, { status, issues, headers, cause: fault });
}

function broken(cause?: unknown): RequestError {
  return new RequestError('The body is not valid multipart/form-data, or it is incomplete.', { status: 400, cause });
}

function missing(field: string): RequestError {
  return invalid(field, `"${field}" is required: the body must contain a file in this field.`, 'missing');
}

function invalid(field: string, msg: string, type: string): RequestError {
  return invalidRequest([{ loc: ['body', field], msg, type }]);
}
