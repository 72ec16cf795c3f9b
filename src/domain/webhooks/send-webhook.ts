import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { checkedLookup, isWebhookAddress, literalAddress, RefusedAddressError } from './addresses.ts';

/** What is posted. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How it went. */
export interface WebhookAnswer {
  /** Null: none came. */
  readonly statusCode: number | null;
  /** Why it was not taken, in a sentence; null: it was. */
  readonly error: string | null;
  /** The beginning of what was answered. */
  readonly answer: string;
  readonly durationMs: number;
}

/** Posts webhooks; each over a connection of its own. */
export interface WebhookSender {
  /** Never rejects. */
  send(webhook: WebhookRequest): Promise<WebhookAnswer>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** How a sender is set up; `timeoutMs` is for all of it, from the name of the host to the end of the answer. */
export interface WebhookSenderOptions {
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  /** Finds the addresses of names; the system's own when left out. */
  readonly lookup?: LookupFunction;
}

/** The longest wait for an answer. */
const defaultTimeoutMs = 15_000;
/** What is kept of an answer, in bytes. */
const maxStoredBytes = 1_024;

/**
 * A sender that connects to public addresses only, unless allowed: the address is looked at for each connection, after the
 * name was resolved. It follows no redirect, and reads no more of an answer than it keeps.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { allowPrivate, timeoutMs = defaultTimeoutMs } = options;
  const connect = buildConnector({ lookup: checkedLookup(allowPrivate, options.lookup), timeout: timeoutMs });
  const agent = new Agent({
    // A connection that is kept would not be looked at again.
    pipelining: 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect(target, callback) {
      // No name, no lookup: Node connects to it at once.
      const address = literalAddress(target.hostname);
      if (address !== null && !isWebhookAddress(address, allowPrivate)) {
        return callback(new RefusedAddressError(), null);
      }
      return connect(target, callback);
    },
  });
  return {
    async send({ url, headers, body }) {
      const startedAt = performance.now();
      const signal = AbortSignal.timeout(timeoutMs);
      const durationMs = () => Math.round(performance.now() - startedAt);
      try {
        const response = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal });
        const answer = await readBeginning(response.body);
        const { statusCode } = response;
        return { statusCode, error: refusal(statusCode), answer, durationMs: durationMs() };
      } catch (error) {
        const message = signal.aborted ? `No answer came within ${timeoutMs / 1_000} seconds.` : errorMessage(error);
        return { statusCode: null, error: message, answer: '', durationMs: durationMs() };
      }
    },
    close: () => agent.destroy(),
  };
}

// The status decides: what goes wrong with the rest of an answer changes nothing any more.
async function readBeginning(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  body.on('error', () => undefined);
  try {
    for await (const part of body) {
      parts.push(part);
      length += part.length;
      if (length >= maxStoredBytes) break;
    }
  } catch {
    // Broken off, late, or not what its headers said.
  }
  body.destroy();
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxStoredBytes));
  // PostgreSQL has no NUL.
  return text.replaceAll('\u0000', '\ufffd');
}

function refusal(statusCode: number): string | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) return `The answer was ${statusCode}: redirects are not followed.`;
  return `The answer was ${statusCode}, and not one from 200 to 299.`;
}

const errorMessages: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host has no address.',
  EAI_AGAIN: 'The address of the host could not be found.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was broken off.',
  UND_ERR_SOCKET: 'The connection was broken off.',
  UND_ERR_CONNECT_TIMEOUT: 'No connection was made in time.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too long.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer has not the length that it promised.',
};

// Only what is known to be fit to be read: messages of errors name addresses.
function errorMessage(error: unknown): string {
  for (const each of errorsWithin(error)) {
    if (each instanceof RefusedAddressError) return each.message;
    if (each.name === 'HTTPParserError') return 'The answer was not HTTP.';
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(errorMessages, code)) return errorMessages[code] as string;
  }
  const code = errorsWithin(error).flatMap((each) => (each as { code?: unknown }).code ?? [])[0];
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code)
    ? `The request failed: ${code}.`
    : 'The request failed.';
}

function errorsWithin(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [error, ...inner.filter((each): each is Error => each instanceof Error && each !== error)];
}
