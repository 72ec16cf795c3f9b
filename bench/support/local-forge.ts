import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveGit } from '../../test/support/forges/git-backend.ts';
import type { Bench } from './bench.ts';

/** A forge on the loopback that serves one repository under many names, to everybody. */
export interface LocalForge {
  readonly url: string;
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** Returns a new path of the repository. */
  newPath(): Promise<string>;
  /** The times of all requests by the monotonic clock, in ms: from the arrival to the end of the response. */
  readonly requests: { readonly path: string; readonly from: number; until: number }[];
}

/** Returns the time by the monotonic clock of the machine, which all processes share, in ms. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Starts a forge with the repository at a path. */
export async function startLocalForge(bench: Bench, repository: string): Promise<LocalForge> {
  const root = await bench.createFolder();
  await mkdir(join(root, 'bench'));
  const requests: LocalForge['requests'] = [];
  const server = createServer((request, response) => {
    const record = { path: request.url ?? '', from: nowMs(), until: Number.NaN };
    requests.push(record);
    response.once('close', () => {
      record.until = nowMs();
    });
    serveGit(root, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  bench.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let count = 0;
  return {
    url: `http://${host}`,
    host,
    requests,
    async newPath() {
      count += 1;
      await symlink(repository, join(root, `bench/copy-${count}.git`));
      return `bench/copy-${count}`;
    },
  };
}

/** Calls a mutation of GraphQL, and returns its payload. */
export type Mutate = (name: string, selection: string, input: object) => Promise<any>;

/** Connects the forge, and permits its repositories to an organization (with its prefix). */
export async function permitForge({ url }: LocalForge, organizationId: string, mutate: Mutate): Promise<void> {
  const connection = { providerType: 'GIT_HTTPS', name: 'Bench', host: url, username: 'bench', token: 'of-the-bench' };
  const { gitConnection } = await mutate('createGitConnection', 'gitConnection { gitConnectionId }', connection);
  const permission = { organizationId, groupPrefix: 'bench', ...gitConnection };
  await mutate('createGitPermission', 'gitPermission { gitPermissionId }', permission);
}
