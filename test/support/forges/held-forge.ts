import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { forgeAccount, type GitForge, startGitForge } from '../git-forge.ts';
import type { ForgeServer } from './forge-server.ts';
import { giteaToken, startGitea } from './gitea.ts';

/**
 * A moment of a request at which the forge stops: at the arrival of a request for refs, for objects, for pull requests
 * or for a new one; after a part of a pack in one of both directions; when a push has arrived; and when a push or a
 * pull request is stored, before the answer.
 */
export type HeldAt = 'refs' | 'fetch' | 'half fetch' | 'half push' | 'push' | 'pushed' | 'find' | 'create' | 'created';

/** A stop of one request. */
export interface Hold {
  /** Resolves when the request has come to the stop. */
  readonly reached: Promise<void>;
  /** Lets the request continue, unless its connection is closed. */
  release(): void;
}

/** A Gitea with real git repositories, whose requests can be stopped at any moment. */
export interface HeldForge {
  readonly url: string;
  readonly host: string;
  readonly git: GitForge;
  readonly pulls: Awaited<ReturnType<typeof startGitea>>['pulls'];
  /** Stops the next such request of a repository; `bytes`: after this part of a pack. */
  hold(path: string, at: HeldAt, bytes?: number): Hold;
}

interface OpenHold {
  readonly path: string;
  readonly at: HeldAt;
  readonly bytes: number;
  reach(): Promise<void>;
}

const basicOf = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Starts the forge until the end of the test. Its connection has the token `giteaToken`. */
export async function startHeldForge(paths: readonly string[]): Promise<HeldForge> {
  const git = await startGitForge();
  const gitea = await startGitea(paths);
  onTestFinished(() => gitea.close());
  const holds = new Set<OpenHold>();
  const take = (found: OpenHold | undefined) => {
    if (found) holds.delete(found);
    return found ?? null;
  };
  const server = createServer((incoming, outgoing) => {
    outgoing.on('error', () => undefined);
    void pass(incoming, outgoing).catch(() => outgoing.destroy());
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = incoming.url ?? '';
    const isFetch = url.endsWith('/git-upload-pack');
    const body = isFetch ? await bodyOf(incoming) : null;
    const moments = momentsOf(incoming, body);
    const hold = take([...holds].find(({ path, at }) => isOf(path, url) && moments.includes(at)));
    const isAt = (...wanted: HeldAt[]) => hold !== null && wanted.includes(hold.at);
    if (isAt('refs', 'fetch', 'find', 'create')) await hold?.reach();
    const whole = isAt('push') ? await bodyOf(incoming) : body;
    if (isAt('push')) await hold?.reach();
    if (outgoing.destroyed) return;
    const upstream = startUpstream(url.startsWith('/api/') ? gitea : git, incoming);
    outgoing.once('close', () => upstream.destroy());
    if (whole !== null) upstream.end(whole);
    else void sendPart(incoming, upstream, isAt('half push') ? hold : null).catch(() => upstream.destroy());
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    const found = isAt('pushed', 'created') ? await bodyOf(answer) : null;
    if (found !== null) await hold?.reach();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (found !== null) outgoing.end(found);
    else await sendPart(answer, outgoing, isAt('half fetch') ? hold : null);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    git,
    pulls: gitea.pulls,
    hold(path, at, bytes = 0) {
      const [reached, reach] = signal();
      const [released, release] = signal();
      const stop = () => {
        reach();
        return released;
      };
      holds.add({ path, at, bytes, reach: stop });
      return { reached, release };
    },
  };
}

function signal(): [Promise<void>, () => void] {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [promise, resolve];
}

/** Tells if a request is for a repository, and not for one whose name begins with the same characters. */
function isOf(path: string, url: string): boolean {
  return [`/${path}/`, `/${path}.git/`].some((part) => url.includes(part));
}

function momentsOf({ method, url = '' }: IncomingMessage, body: Buffer | null): HeldAt[] {
  if (url.endsWith('/info/refs?service=git-upload-pack')) return ['refs'];
  if (body?.includes('command=fetch')) return ['fetch', 'half fetch'];
  if (url.endsWith('/git-receive-pack')) return ['half push', 'push', 'pushed'];
  if (!/^\/api\/.*\/pulls(\?|$)/.test(url)) return [];
  return method === 'POST' ? ['create', 'created'] : ['find'];
}

function startUpstream({ url }: GitForge | ForgeServer, incoming: IncomingMessage) {
  const { authorization, ...headers } = incoming.headers;
  const known = authorization === basicOf('oauth2', giteaToken) ? basicOf(...accountOfGit) : authorization;
  const upstream = request(`${url}${incoming.url}`, {
    method: incoming.method ?? '',
    headers: { ...headers, ...(known !== undefined && { authorization: known }) },
    agent: false,
  });
  return upstream.on('error', () => undefined);
}

const accountOfGit = [forgeAccount.username, forgeAccount.password] as const;

/** Passes on a body; with a hold, a part of it, and closes the connection after the release. */
async function sendPart(
  from: IncomingMessage,
  to: ReturnType<typeof request> | ServerResponse,
  hold: OpenHold | null,
): Promise<void> {
  if (hold === null) return void from.pipe(to);
  let left = hold.bytes;
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      to.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) break;
    }
    await hold.reach();
  } finally {
    to.destroy();
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
