import { resolve } from 'node:path';
import type { BareWsRequest } from './bare-ws.ts';
import { type Bench, type Database, type Server, secretKey } from './bench.ts';
import { askOnce, graphqlRequest } from './http.ts';
import type { Script } from './processes.ts';
import type { PublisherRequest } from './publisher.ts';
import type { Subscriber, SubscribersRequest } from './subscribers.ts';

/** Open subscribers that have received their first frame. */
export interface Audience {
  /** The first frame of one of them. */
  readonly frame: string;
  /** Waits until each has received this number of frames, including the first. */
  wait(frames: number): Promise<void>;
  latencies(): Promise<number[]>;
  /** The number of all frames so far. */
  count(): Promise<number>;
  /** The frame that came last. */
  lastFrame(): Promise<string>;
}

/** Opens subscribers in a separate process. */
export async function openAudience(bench: Bench, subscribers: readonly Subscriber[]): Promise<Audience> {
  const script = bench.startScript('subscribers');
  const ask = <T>(request: SubscribersRequest) => script.ask<T>(request);
  const frame = await ask<string>({ act: 'open', subscribers });
  return {
    frame,
    wait: (frames) => ask({ act: 'wait', frames }),
    latencies: () => ask({ act: 'latencies' }),
    count: () => ask({ act: 'count' }),
    lastFrame: () => ask({ act: 'lastFrame' }),
  };
}

/** The subscription to one session's messages; `n` makes the document unique. */
export const followDocument = (n: number | null = null) =>
  `subscription Follow${n ?? ''}($id: ID!) { sessionMessages(sessionId: $id) { cursor node { id type body createdAt } } }`;

/** A subscriber to one session's messages. */
export function subscriber(
  server: Pick<Server, 'url'>,
  token: string,
  id: string,
  query: string = followDocument(),
): Subscriber {
  return { url: `${server.url.replace('http', 'ws')}/graphql`, token, query, variables: { id } };
}

/**
 * The bare server with a number of sockets. `send` sends a frame to each at once, and `stream` at a rate and at its own times;
 * both wait until all have received it.
 */
export async function openBareWs(bench: Bench, count: number) {
  const script = bench.startScript('bare-ws');
  const port = await script.ask<number>({ act: 'listen' } satisfies BareWsRequest);
  const one: Subscriber = { url: `ws://127.0.0.1:${port}`, token: null, query: '', variables: {} };
  const audience = await openAudience(bench, Array(count).fill(one));
  let frames = 0;
  return {
    pid: script.pid,
    async send(frame: string) {
      frames += 1;
      await script.ask({ act: 'send', frame } satisfies BareWsRequest);
      await audience.wait(frames);
    },
    async stream(frame: string, perSecond: number, ms: number) {
      frames += (ms / 1_000) * perSecond;
      await script.ask({ act: 'stream', frame, perSecond, ms } satisfies BareWsRequest);
      await audience.wait(frames);
    },
  };
}

/**
 * A process that writes messages. Writes are durable when PostgreSQL confirms them or, with `isLazy`, shortly after.
 */
export async function startPublisher(
  bench: Bench,
  database: Database,
  { isLazy = false } = {},
): Promise<Pick<Script, 'stop'> & { ask<T>(request: PublisherRequest): Promise<T> }> {
  const url = isLazy ? `${database.url}?options=${encodeURIComponent('-c synchronous_commit=off')}` : database.url;
  return bench.startScript('publisher', [
    url,
    await bench.createFolder(),
    resolve(bench.options.dist ?? 'dist'),
    secretKey,
  ]);
}

/** Creates service users in the organization; returns their tokens. */
export async function createViewers(server: Server, count: number): Promise<string[]> {
  const run = async (query: string, input: object) => {
    const { data } = await askOnce(server.url, graphqlRequest(server.token, query, { input }));
    // The one requested field: JSON, as its document says.
    const [payload] = Object.values(data) as any[];
    if (payload.userErrors.length > 0) throw new Error(JSON.stringify(payload.userErrors));
    return payload;
  };
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const { serviceUser } = await run(
      'mutation($input: CreateServiceUserInput!) { createServiceUser(input: $input) { serviceUser { serviceUserId } userErrors { message } } }',
      { name: `listener ${n}`, scope: { organizationId: `org-${server.organizationId}` }, roleId: 'org_admin' },
    );
    const { token } = await run(
      'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token userErrors { message } } }',
      { kind: { serviceUser: { serviceUserId: serviceUser.serviceUserId } }, name: 'key' },
    );
    tokens.push(token);
  }
  return tokens;
}

/** The unprefixed ids of a database's sessions, oldest first. */
export async function sessionIds(database: Database): Promise<string[]> {
  return (await database.client.query('select id from session order by id')).rows.map(({ id }) => id);
}
