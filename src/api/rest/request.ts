import type { z } from '@hono/zod-openapi';
import { maxJsonDepth, nestsDeeper } from '../../common/json-depth.ts';
import { IncompleteBodyError, incompleteBodyMessage, type RequestView } from '../../http/request-view.ts';
import { invalidRequest, RequestError, type WireIssue } from './refusal.ts';

/** The largest body that is read, in bytes (docs/wire/README.md#request-bodies). */
export const maxBodyBytes = 1_048_576; // 1 MiB

/** The number of bytes of a larger body that are still received before the connection is closed. */
const maxSkippedBytes = 16 * maxBodyBytes;

const sizeLabels: Readonly<Record<number, string>> = { [maxBodyBytes]: ' (1 MiB)' };

/** The JSON of a request's body. 413 if it is too large, 400 if it is not UTF-8 or not JSON. */
export async function readJson(request: RequestView): Promise<unknown> {
  return parseJson(decode(await readBytes(request, maxBodyBytes)));
}

/** The JSON of a text. 400 if it is invalid or nests too deeply. */
export function parseJson(text: string): unknown {
  if (nestsDeeper(text)) {
    throw new RequestError(`The body must not nest deeper than ${maxJsonDepth} levels.`, { status: 400 });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = text.trim() === '' ? 'The body must be JSON, but is empty.' : 'The body is not valid JSON.';
    throw new RequestError(message, { status: 400, cause });
  }
}

/** A request's body. 413 if it has more than `maxBytes` bytes, 400 if it is incomplete. */
// Content-Length is only a claim, and chunked bodies have none: the received bytes count. A body that is slightly too
// large is read to its end and discarded: a client that is still sending often does not see a response, and a
// connection with half a body on it cannot be reused.
export async function readBytes(
  request: RequestView,
  maxBytes: number,
  { onPart, isBuffered = true }: ReadOptions = {},
): Promise<Uint8Array> {
  const announced = Number(request.header('content-length') ?? 0);
  if (announced > maxSkippedBytes) throw tooLarge(maxBytes, { isCutOff: true });
  // One buffer that grows: a list of one-byte chunks would take a hundred times as much memory.
  let buffer: Uint8Array = new Uint8Array();
  let size = 0;
  const take = (part: Uint8Array) => {
    size += part.byteLength;
    if (size > maxSkippedBytes) throw tooLarge(maxBytes, { isCutOff: true });
    if (size > maxBytes) return;
    onPart?.(part);
    if (isBuffered) buffer = withPart(buffer, part, size, maxBytes);
  };
  await request.read(take).catch((error: unknown) => {
    throw error instanceof IncompleteBodyError ? incompleteBody(error) : error;
  });
  if (size > maxBytes) throw tooLarge(maxBytes, { isCutOff: false });
  return buffer.subarray(0, isBuffered ? size : 0);
}

// Most bodies have one part, which needs no copy.
function withPart(buffer: Uint8Array, part: Uint8Array, size: number, maxBytes: number): Uint8Array {
  if (size === part.byteLength) return part;
  const fitting = size <= buffer.length ? buffer : Buffer.alloc(Math.min(maxBytes, Math.max(size, 2 * buffer.length)));
  if (fitting !== buffer) fitting.set(buffer);
  fitting.set(part, size - part.byteLength);
  return fitting;
}

/** Options of {@link readBytes}. */
export interface ReadOptions {
  /** Called with each chunk within the size limit. An error that it throws ends the reading. */
  readonly onPart?: (part: Uint8Array) => void;
  /** False: the body is read but not kept, and the result is empty. */
  readonly isBuffered?: boolean;
}

function incompleteBody(cause: unknown): RequestError {
  return new RequestError(incompleteBodyMessage, { status: 400, cause });
}

function tooLarge(maxBytes: number, { isCutOff }: { isCutOff: boolean }): RequestError {
  const headers: Record<string, string> = isCutOff ? { connection: 'close' } : {};
  return new RequestError(`The body must be at most ${maxBytes} bytes${sizeLabels[maxBytes] ?? ''}.`, {
    status: 413,
    headers,
  });
}

/** Bytes as text. 400 if they are not UTF-8. */
export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RequestError('The body is not valid UTF-8.', { status: 400, cause });
  }
}

/**
 * Checks a value's shape: 422 with one issue per problem, each `loc` beginning with `location`. The domain checks the
 * rules.
 */
export function parseShape<T>(schema: z.ZodType<T>, value: unknown, location: 'body' | 'query'): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues.flatMap((issue) => toWireIssues(issue, value, location)));
}

// Each unknown member of a closed shape gets an issue of its own, with its path.
function toWireIssues(issue: z.core.$ZodIssue, value: unknown, location: string): WireIssue[] {
  if (issue.code !== 'unrecognized_keys') return [toWireIssue(issue, value, location)];
  return issue.keys.map((key) => {
    const path = [...issue.path.map(String), key];
    return {
      loc: [location, ...path],
      msg: `"${path.join('.')}" is not a field of this request.`,
      type: 'extra_forbidden',
    };
  });
}

function toWireIssue(issue: z.core.$ZodIssue, value: unknown, location: string): WireIssue {
  const path = issue.path.map(String);
  const loc = [location, ...path];
  const name = path.length > 0 ? `"${path.join('.')}"` : 'The body';
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  const isOurs = issue.code === 'custom' || (issue.code !== 'invalid_type' && !zodsOwn.test(issue.message));
  if (isOurs) return { loc, msg: issue.message, type: 'value_error' };
  if (found === undefined) return { loc, msg: `${name} is required.`, type: 'missing' };
  const allowedValues = allowedValuesOf(issue);
  const came = nameOf(found, allowedValues !== null || (typeof found === 'number' && isNumber(issue)));
  if (issue.code !== 'invalid_type') {
    const wanted = allowedValues
      ? `be one of ${allowedValues.map((word) => JSON.stringify(word)).join(', ')}`
      : bounds(issue);
    return { loc, msg: `${name} must ${wanted}, but was ${came}.`, type: 'value_error' };
  }
  const expected = issue.expected === 'record' ? 'object' : issue.expected;
  const wanted = withArticle(expected === 'int' ? 'integer' : expected);
  return { loc, msg: `${name} must be ${wanted}, but was ${came}.`, type: `${expected}_type` };
}

function isNumber(issue: z.core.$ZodIssue): boolean {
  const wanted = issue.code === 'invalid_type' ? issue.expected : 'origin' in issue ? issue.origin : '';
  return wanted === 'int' || wanted === 'number';
}

/** The prefixes of zod's default messages, which name no field. */
const zodsOwn = /^(?:Invalid|Too small|Too big)/;

/** The allowed values, if there is a fixed set; otherwise null. */
function allowedValuesOf(issue: z.core.$ZodIssue): readonly unknown[] | null {
  if (issue.code === 'invalid_value') return issue.values;
  // The discriminator that selects one of several shapes.
  return 'options' in issue && Array.isArray(issue.options) ? issue.options : null;
}

function bounds(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return 'be of another form';
  const limit = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  if (issue.origin === 'string') return `have ${limit} characters`;
  return issue.origin === 'array' ? `have ${limit} members` : `be ${limit}`;
}

// The received value is shown only where a number or an enum value was expected: elsewhere it may be a secret.
function nameOf(found: unknown, showsValue: boolean): string {
  if (found === null) return 'null';
  // JSON can hold larger numbers than JavaScript.
  if (showsValue && typeof found === 'number') return Number.isFinite(found) ? `${found}` : 'too large';
  if (showsValue && typeof found === 'string') return JSON.stringify(found.slice(0, 60).toWellFormed());
  return withArticle(Array.isArray(found) ? 'array' : typeof found);
}

function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}
