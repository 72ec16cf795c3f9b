import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { profileCredential } from '../../src/agents/profiles/profile-credential.ts';
import type { ProviderSettings } from '../../src/agents/provider.ts';

/** The key of test providers. */
export const providerKey = 'sk-c4n4ry-of-the-provider';

/** A request that a provider received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The response of a test provider: a complete `body`, or chunks that are written separately. */
export interface ProviderAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | readonly string[];
  /** Never ends the response. */
  readonly isEndless?: boolean;
}

/** Starts a provider on loopback that answers every request alike until the test ends; returns its URL. */
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

/** Returns the provider of a profile with a gateway to it. */
export function behindGateway(baseUrl: string, api: 'openai' | 'anthropic' | 'gemini' = 'openai') {
  return {
    variables: ['MODEL_KEY'],
    key: providerKey,
    keySource: 'the variable MODEL_KEY of the service',
    routes: [],
    isKeyRequired: false,
    gateway: { api, baseUrl, env: { MODEL_URL: '{url}', MODEL_CONFIG: '{"url":"{url}","key":"{key}"}' } },
  } satisfies ProviderSettings;
}

/** Returns the options of a gateway to a provider, with its key. */
export function gatewayOf(baseUrl: string, api: 'openai' | 'anthropic' | 'gemini' = 'openai') {
  const { gateway, ...settings } = behindGateway(baseUrl, api);
  const credential = profileCredential('test', { ...settings, gateway }, gateway);
  return { api, credential: () => credential };
}
