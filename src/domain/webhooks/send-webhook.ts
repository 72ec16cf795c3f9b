import type { LookupFunction } from 'node:net';
import { type Dispatcher, request } from 'undici';
import { RefusedAddressError } from '../../common/addresses.ts';
import { createCheckedAgent } from '../../common/checked-agent.ts';
import { errorsWithin } from '../../common/errors-within.ts';

/** The request of a delivery. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of a request. */
export interface WebhookAnswer {
  /** Null: no response. */
  readonly statusCode: number | null;
  /** The reason of a failure, as a sentence; null: success. */
  readonly error: string | null;
  /** The beginning of the response's body. */
  readonly answer: string;
  readonly durationMs: number;
}

/** Sends webhooks, each over its own connection. */
export interface WebhookSender {
  /** Never rejects. */
  send(webhook: WebhookRequest): Promise<WebhookAnswer>;
  /** Aborts the requests that are under way. */
  close(): Promise<void>;
}

/** Options of a sender; `timeoutMs` applies to the whole request, from name resolution to the end of the response. */
export interface WebhookSenderOptions {
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  /** Resolves names; the system's resolver if omitted. */
  readonly lookup?: LookupFunction;
}

/** Maximum wait for a response. */
const defaultTimeoutMs = 15_000;
/** Maximum part of a response that is stored, in bytes. */
const maxStoredBytes = 1_024;

/**
 * Creates a sender that connects to public addresses only, unless private ones are allowed: the address is checked for
 * each connection, after the name was resolved. It follows no redirect, and reads no more of a response than it stores.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { allowPrivate, timeoutMs = defaultTimeoutMs } = options;
  const agent = createCheckedAgent({ allowPrivate, timeoutMs, lookup: options.lookup });
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
        const message = signal.aborted ? `No response within ${timeoutMs / 1_000} seconds.` : errorMessage(error);
        return { statusCode: null, error: message, answer: '', durationMs: durationMs() };
      }
    },
    close: () => agent.destroy(),
  };
}

// The status decides: an error in the rest of a response has no effect.
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
    // Aborted, late, or not as its headers announced.
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
  ECONNRESET: 'The connection was interrupted.',
  UND_ERR_SOCKET: 'The connection was interrupted.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection timed out.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too long.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The response does not have the announced length.',
};

// Returns only messages that are safe to show: messages of errors contain addresses.
function errorMessage(error: unknown): string {
  for (const each of errorsWithin(error)) {
    if (each instanceof RefusedAddressError) return 'The host has no address that webhooks can be sent to.';
    if (each.name === 'HTTPParserError') return 'The response was not HTTP.';
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && Object.hasOwn(errorMessages, code)) return errorMessages[code] as string;
  }
  const code = errorsWithin(error).flatMap((each) => (each as { code?: unknown }).code ?? [])[0];
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code)
    ? `The request failed: ${code}.`
    : 'The request failed.';
}
