import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fetchTooLarge } from '../../git/fetch-limit.ts';
import { createChunkCoalescer } from '../gateway/chunk-coalescer.ts';
import { createKeyFilter } from '../gateway/key-filter.ts';
import type { GitExchange, GitGatewayParts } from './exchange.ts';
import { limitResponse } from './limited-response.ts';
import { sizeText } from './refusals.ts';

/** Tells if a response is git's own, and not the page of a login or an error. `type` is the part after `git-`. */
export function isGitResponse({ statusCode, headers }: IncomingMessage, type: string): boolean {
  return (
    statusCode === 200 &&
    headers['content-type'] === `application/x-git-${type}` &&
    (headers['content-encoding'] ?? 'identity') === 'identity'
  );
}

/**
 * Sends git's response to the agent, no faster than it reads, with the secrets replaced. Rejects if it ends too early
 * or is too large; the agent's connection is closed then, so that it does not take it for complete.
 */
export async function sendResponse(
  { pace, limits }: GitGatewayParts,
  { outgoing }: GitExchange,
  {
    response,
    type,
    secrets,
  }: { readonly response: IncomingMessage; readonly type: string; readonly secrets: readonly string[] },
  onChunk: ((chunk: Buffer) => void) | null = null,
): Promise<void> {
  outgoing.writeHead(200, { 'content-type': `application/x-git-${type}`, 'cache-control': 'no-cache' });
  const maxBytes = limits.maxFetchBytes;
  const sentence = type === 'upload-pack-result' ? fetchTooLarge(sizeText(maxBytes)) : null;
  const streams = [createChunkCoalescer(pace), ...secrets.map(createKeyFilter), outgoing as Writable];
  await pipeline([Readable.from(limitResponse(response, { maxBytes, sentence, onChunk })), ...streams]);
}
