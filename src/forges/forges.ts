import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { openGitHttps } from './git-https/git-https.ts';
import { openGitea } from './gitea/gitea.ts';
import { type GithubApps, openGithubApps } from './github/apps.ts';
import { openGithub } from './github/github.ts';
import { openGitlab } from './gitlab/gitlab.ts';
import { createForgeHttp } from './http/forge-http.ts';
import type { ForgeServices } from './http/services.ts';
import type { Forge } from './interface/forge.ts';
import { type ForgeAddress, type ForgeConnection, readForgeAddress } from './support/connection.ts';

/** The forges of a process. */
export interface Forges {
  /** Opens a connection without a request; throws INVALID_CONNECTION. Equal connections share tokens and validators. */
  open(connection: ForgeConnection): Forge;
  /** Reads the host of a connection; throws INVALID_CONNECTION. */
  readAddress(host: string): ForgeAddress;
  /** Opens the registration of Apps at a host of GitHub without a request; throws INVALID_CONNECTION. */
  githubApps(host: string): GithubApps;
  /** Aborts the requests that are under way. */
  close(): Promise<void>;
}

/** Options of {@link createForges}. */
export interface ForgesOptions {
  /** Allows http, for forges on a trusted network (GIT_ALLOW_HTTP). */
  readonly allowHttp: boolean;
  /** Resolves names; the system's resolver if omitted. */
  readonly lookup?: LookupFunction | undefined;
  /** Returns the current time in ms. */
  readonly now?: (() => number) | undefined;
}

const maxOpen = 200;

/** Creates the forges of a process. */
export function createForges({ allowHttp, lookup, now = Date.now }: ForgesOptions): Forges {
  const http = createForgeHttp({ lookup, allowHttp });
  const open = new Map<string, Forge>();
  return {
    open(connection) {
      // A hash, so that no credential is the key of a map.
      const key = createHash('sha256')
        .update(JSON.stringify(Object.entries(connection).sort()))
        .digest('hex');
      const forge = open.get(key) ?? openForge(connection, allowHttp, { http, now });
      open.delete(key);
      open.set(key, forge);
      const [oldest] = open.keys();
      if (open.size > maxOpen && oldest !== undefined) open.delete(oldest);
      return forge;
    },
    readAddress: (host) => readForgeAddress(host, allowHttp),
    githubApps: (host) => openGithubApps(readForgeAddress(host, allowHttp), { http, now }),
    close: () => http.close(),
  };
}

function openForge(connection: ForgeConnection, allowHttp: boolean, services: ForgeServices): Forge {
  const address = readForgeAddress(connection.host, allowHttp);
  switch (connection.kind) {
    case 'github_app':
    case 'github_token':
      return openGithub(connection, address, services);
    case 'gitlab_token':
      return openGitlab(connection, address, services);
    case 'gitea_token':
      return openGitea(connection, address, services);
    case 'git_https':
      return openGitHttps(connection, address, services);
  }
}
