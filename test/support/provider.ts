import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ProviderSettings } from '../../src/agents/agent.ts';

/** The key of the providers of tests. */
export const providerKey = 'sk-c4n4ry-of-the-provider';

/** What a provider was asked. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How a provider of a test answers: `body` whole, or in pieces, each a write of its own. */
export interface ProviderAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | readonly string[];
  /** Never ends. */
  readonly isEndless?: boolean;
}

/** A provider's address on loopback that answers every request alike, until the test ends. */
export async function startProvider(answer: ProviderAnswer): Promise<{ url: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    seen.push({ method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body });
    outgoing.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' });
    for (const piece of [answer.body].flat()) {
      await new Promise<void>((resolve) => outgoing.write(piece, () => resolve()));
    }
    if (!answer.isEndless) outgoing.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A profile's provider, with a gateway before it. */
export function behindGateway(baseUrl: string, api: 'openai' | 'anthropic' | 'gemini' = 'openai') {
  return {
    variables: ['MODEL_KEY'],
    key: providerKey,
    gateway: { api, baseUrl, env: { MODEL_URL: '{url}', MODEL_CONFIG: '{"url":"{url}","key":"{key}"}' } },
  } satisfies ProviderSettings;
}
