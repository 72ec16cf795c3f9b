import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Contract, differencesOf } from './contracts/contract.ts';

/** A request that a test forge received. */
export interface ForgeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The response of a test forge. An object is sent as JSON. */
export interface ForgeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A test forge on loopback. */
export interface ForgeServer {
  readonly url: string;
  readonly requests: ForgeRequest[];
  /** Answers the next matching request instead of the forge; null leaves it to the forge. */
  intercept(answer: (request: ForgeRequest) => ForgeAnswer | null | Promise<ForgeAnswer | null>): void;
  close(): Promise<void>;
}

/** Answers a request whose body is not a text, such as git's; returns false to leave it to the forge. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Starts a test forge. A new interceptor replaces the one before. With a contract, `close` rejects if a request, or an answer that was not
 * intercepted, differs from the published description.
 */
export async function startForgeServer(
  answer: (request: ForgeRequest) => Promise<ForgeAnswer> | ForgeAnswer,
  handleRaw: RawHandler = () => false,
  contract: Contract | null = null,
): Promise<ForgeServer> {
  const differences = new Set<string>();
  const answerChecked = async (request: ForgeRequest) => {
    const answered = await answer(request);
    if (contract) for (const each of differencesOf(contract, request, answered)) differences.add(each);
    return answered;
  };
  const requests: ForgeRequest[] = [];
  let intercepted: Parameters<ForgeServer['intercept']>[0] = () => null;
  const server = createServer(async (incoming, outgoing) => {
    if (handleRaw(incoming, outgoing)) return;
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    const url = new URL(incoming.url ?? '/', 'http://forge.test');
    const request = { method: incoming.method ?? '', url, headers: incoming.headers, body };
    requests.push(request);
    const {
      status = 200,
      headers = {},
      body: content,
    } = (await intercepted(request)) ?? (await answerChecked(request));
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    outgoing.writeHead(status, { ...(!isRaw && { 'content-type': 'application/json' }), ...headers });
    outgoing.end(isRaw ? content : content === undefined ? '' : JSON.stringify(content));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    intercept: (each) => {
      intercepted = each;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (differences.size > 0) throw new Error(`Not as published:\n${[...differences].join('\n')}`);
    },
  };
}
