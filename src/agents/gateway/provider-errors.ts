import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderGateway } from '../agent.ts';
import { replaceError } from './refusals.ts';
import { responseHeaders } from './response-headers.ts';

/** The most of an error response that is read and passed on, in bytes. */
const maxErrorBytes = 1_048_576;

/** Types of text in which the key can be found. Another charset could write it in other bytes. */
const readableType = /^(application\/([\w.+-]+\+)?json|text\/[\w.+-]+)\s*(;\s*charset="?(utf-?8|us-ascii)"?\s*)?$/i;

/**
 * Passes an error response on, with the provider's key blotted out: providers quote in an error what they refuse, the key
 * too. One that cannot be searched for the key is replaced by a sentence. Never rejects.
 */
export async function passError(
  { api, mask }: { api: ProviderGateway['api']; mask(text: string, isPiece?: boolean): string },
  response: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
): Promise<void> {
  const { 'content-type': type = 'application/json', 'content-encoding': coding = 'identity' } = response.headers;
  const { 'content-encoding': _, ...headers } = responseHeaders(response, mask);
  const isReadable = readableType.test(type) && coding === 'identity';
  if (!isReadable) response.destroy();
  const { text, isWhole } = isReadable ? await readText(response) : { text: null, isWhole: false };
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (text === null) return replaceError(outgoing, api, status, headers);
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(mask(text, !isWhole));
}

// Null: it is no text. What had come by the time that it broke off, or grew too long, is given.
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
    // It broke off.
  }
  const body = Buffer.concat(chunks);
  const isText = !body.includes(0);
  return { text: isText ? body.toString('utf8') : null, isWhole: response.complete && bytes <= maxErrorBytes };
}
