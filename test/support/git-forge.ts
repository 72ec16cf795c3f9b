import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { plainGit, serveGit } from './forges/git-backend.ts';

export { plainGit };

const run = promisify(execFile);

/** The account that the forge accepts. The password is a canary: it must appear nowhere near an agent. */
export const forgeAccount = { username: 'x-access-token', password: 'canary-of-the-forge-0123456789abcdef' } as const;

const basic = `Basic ${Buffer.from(`${forgeAccount.username}:${forgeAccount.password}`).toString('base64')}`;

/** A request that a forge received. */
export interface ForgeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A forge: git's own HTTP server behind basic authentication, with a small LFS server. */
export interface GitForge {
  readonly url: string;
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** All requests in the order of their arrival. */
  readonly requests: ForgeRequest[];
  /** LFS objects by id. */
  readonly objects: Map<string, Buffer>;
  /** Returns the directory of a repository. */
  directoryOf(path: string): string;
  /** Creates a repository with one commit on `main`. */
  addRepository(path: string, files?: Readonly<Record<string, string>>, format?: 'sha1' | 'sha256'): Promise<void>;
  /** Runs git in a repository, and returns its output. */
  git(path: string, ...args: string[]): Promise<string>;
}

/** Handles a request instead of the forge; returns true if it did. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Creates a temporary directory, which the end of the test removes. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'git-gateway-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a forge until the end of the test. */
export async function startGitForge(intercept: Intercept = () => false): Promise<GitForge> {
  const root = await makeDirectory();
  const requests: ForgeRequest[] = [];
  const objects = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    if (intercept(request, response)) return;
    if (request.url?.startsWith('/store/')) return serveObject(objects, request, response);
    if (request.headers.authorization !== basic) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="Forge"' }).end('Log in first.');
      return;
    }
    if (request.url?.includes('/info/lfs/')) return void serveLfs(objects, request, response);
    serveGit(root, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directoryOf = (path: string) => join(root, `${path}.git`);
  const git = async (path: string, ...args: string[]) =>
    (await run('git', ['-C', directoryOf(path), ...args], { env: plainGit })).stdout.trim();
  return {
    url: `http://${host}`,
    host,
    requests,
    objects,
    directoryOf,
    git,
    async addRepository(path, files = { 'README.md': '# Site\n' }, format = 'sha1') {
      const work = await makeDirectory();
      await mkdir(directoryOf(path), { recursive: true });
      const inWork = (...args: string[]) => run('git', ['-C', work, ...args], { env: plainGit });
      await inWork('init', '-q', '-b', 'main', `--object-format=${format}`);
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(work, name)), { recursive: true });
        await writeFile(join(work, name), text);
      }
      await inWork('add', '-A');
      await inWork('commit', '-qm', 'Start');
      await run('git', ['clone', '-q', '--bare', work, directoryOf(path)], { env: plainGit });
      for (const setting of ['http.receivepack', 'receive.advertisePushOptions', 'receive.advertiseAtomic'])
        await git(path, 'config', setting, 'true');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The secret with which the object store accepts requests, as in the headers of an action. */
export const storeSecret = 'canary-of-the-object-store-0123456789';

async function serveLfs(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse) {
  const body = JSON.parse((await bodyOf(request)).toString('utf8')) as {
    operation: 'download' | 'upload';
    objects: { oid: string; size: number }[];
  };
  const base = `http://${request.headers.host}`;
  const header = { 'X-Store-Key': storeSecret };
  if (request.url?.endsWith('/verify')) return void response.writeHead(200).end();
  const found = body.objects.map(({ oid, size }) => {
    const action = { href: `${base}/store/${oid}?signature=${storeSecret}`, header };
    if (body.operation === 'download')
      return objects.has(oid)
        ? { oid, size, actions: { download: action } }
        : { oid, size, error: { code: 404, message: 'Not here' } };
    const verify = { href: `${base}${request.url?.replace('objects/batch', 'verify')}` };
    return { oid, size, actions: { upload: action, verify } };
  });
  response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' });
  response.end(JSON.stringify({ transfer: 'basic', objects: found }));
}

function serveObject(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse): void {
  const oid = /^\/store\/([0-9a-f]{64})\?/.exec(request.url ?? '')?.[1] ?? '';
  if (request.headers['x-store-key'] !== storeSecret) return void response.writeHead(403).end();
  if (request.method === 'GET') return void response.writeHead(200).end(objects.get(oid));
  void bodyOf(request).then((body) => {
    const isRight = createHash('sha256').update(body).digest('hex') === oid;
    if (isRight) objects.set(oid, body);
    response.writeHead(isRight ? 200 : 422).end();
  });
}
