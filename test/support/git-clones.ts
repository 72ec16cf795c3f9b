import { onTestFinished } from 'vitest';
import { gitEnvironment } from '../../src/agents/git-gateway/git-environment.ts';
import { openGitGateway } from '../../src/agents/git-gateway/git-gateway.ts';
import type { CloneRequest } from '../../src/git/clone.ts';
import type { MirrorLimits } from '../../src/git/mirror-limits.ts';
import { type Mirrors, openMirrors } from '../../src/git/mirrors.ts';
import type { GitRemote } from '../../src/git/remote.ts';
import { ownBranchesOnly, repositoryAt } from './git-agent.ts';
import { forgeAccount, type GitForge, makeDirectory } from './git-forge.ts';

/** Opens mirrors in a temporary directory until the end of the test. */
export async function startMirrors(limits: Partial<MirrorLimits> = {}): Promise<Mirrors> {
  const directory = await makeDirectory();
  const mirrors = openMirrors(directory, process.env.PATH ?? '', limits);
  onTestFinished(() => mirrors.close());
  return mirrors;
}

/** Opens a gateway to a repository of the forge, as a worker does for its own git. */
export async function openRemoteTo(forge: GitForge, path: string): Promise<GitRemote> {
  const repository = repositoryAt(forge.url, path);
  const gateway = await openGitGateway({
    socketPath: null,
    repositories: () => [repository],
    credentialFor: () => forgeAccount,
    rulesFor: () => ownBranchesOnly,
    onPush: () => undefined,
    addresses: { lookup: null, isAllowed: () => true },
  });
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url: `${url}/${forge.host}/${path}.git`,
    env: gitEnvironment({ url, key: gateway.key }, []),
    close: gateway.close,
  };
}

/** A request for a clone at a path; the default branch is its base. */
export function cloneOf(
  forge: GitForge,
  path: string,
  target: string,
  options: Partial<CloneRequest> = {},
): CloneRequest {
  return {
    repository: { ownerId: 'enterprise-1', host: forge.host, path },
    originUrl: `${forge.url}/${path}.git`,
    openRemote: () => openRemoteTo(forge, path),
    ref: null,
    pullRequest: null,
    branch: 'switchyard/page-ab12cd',
    target,
    borrowerId: 'session-1',
    signal: new AbortController().signal,
    ...options,
  };
}
