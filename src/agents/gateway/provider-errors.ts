import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Pace } from '../acp/pace.ts';
import type { ProviderGateway } from '../provider.ts';
import { replaceError } from './refusals.ts';
import { responseHeaders } from './response-headers.ts';

/** The maximum size of an error response that is searched for the key and passed on, in bytes: the search is slow. */
const maxErrorBytes = 65_536;

/** Text types in which the key can be found. Another charset could encode it differently. */
const readableType = /^(application\/([\w.+-]+\+)?json|text\/[\w.+-]+)\s*(;\s*charset="?(utf-?8|us-ascii)"?\s*)?$/i;

/** Replaces the provider's key in an error. `isPiece`: the text may end in the middle of the key. */
export type ErrorMask = (text: string, isPiece: boolean) => Promise<string>;

/**
 * Creates a mask for the errors of one gateway. It handles one at a time, and waits while the gateway exceeds its pace.
 */
export function createErrorMask(mask: (text: string, isPiece?: boolean) => string, pace: Pace): ErrorMask {
  let last: Promise<unknown> = Promise.resolve();
  let searchMs = 0;
  return (text, isPiece) => {
    const turn = last.then(async () => {
      await (pace.spend(searchMs) ?? nextTick());
      const startedAt = performance.now();
      const masked = mask(text, isPiece);
      searchMs = performance.now() - startedAt;
      return masked;
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}

interface ForwardedError {
  readonly status: number;
  /** Called with the beginning of the body before it is passed on; null: it is not text. Must not throw. */
  onText(text: string | null): void;
}

/**
 * Passes on an error response with the provider's key masked: in errors, providers quote what they refuse, including
 * the key. A response that cannot be searched for the key is replaced by a sentence. Never rejects.
 */
export async function forwardError(
  { api, mask, maskError }: { api: ProviderGateway['api']; mask(text: string): string; maskError: ErrorMask },
  response: IncomingMessage,
  outgoing: ServerResponse,
  { status, onText }: ForwardedError,
): Promise<void> {
  const { 'content-type': type = 'application/json', 'content-encoding': coding = 'identity' } = response.headers;
  const { 'content-encoding': _, ...headers } = responseHeaders(response, mask);
  const isReadable = readableType.test(type) && coding === 'identity';
  if (!isReadable) response.destroy();
  const { text, isWhole } = isReadable ? await readText(response) : { text: null, isWhole: false };
  onText(text);
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (text === null) return replaceError(outgoing, api, status, headers);
  const masked = await maskError(text, !isWhole);
  if (outgoing.headersSent || outgoing.destroyed) return;
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(masked);
}

// Null: it is not text. Returns what arrived before the response was aborted or grew too long.
async function readText(response: IncomingMessage): Promise<{ text: string | null; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxErrorBytes - bytes));
      bytes += chunk.length;
      if (bytes > maxErrorBytes) break;
    }
  } catch {
    // The response was aborted.
  }
  const body = Buffer.concat(chunks);
  const isText = !body.includes(0);
  return { text: isText ? body.toString('utf8') : null, isWhole: response.complete && bytes <= maxErrorBytes };
}
