import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { gitEnvironment } from '../../src/agents/git-gateway/git-environment.ts';
import { type GitGateway, type GitGatewayOptions, openGitGateway } from '../../src/agents/git-gateway/git-gateway.ts';
import type { PushRules } from '../../src/agents/git-gateway/push-rules.ts';
import type { GatewayRepository, PushReport } from '../../src/agents/git-gateway/repositories.ts';
import { forgeAccount, makeDirectory, plainGit } from './git-forge.ts';

/** The rules of a session without further settings. */
export const ownBranchesOnly: PushRules = {
  branches: ['switchyard/*-ab12cd'],
  allowOtherBranches: false,
  allowTags: false,
  allowDeletions: false,
  pushOptions: [],
};

/** The result of a git command. */
export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An agent with its own git gateway. */
export interface GitAgent {
  readonly gateway: GitGateway;
  readonly url: string;
  /** Its home, in which clones are made. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Pushes at their ends. */
  readonly pushes: PushReport[];
  /** Runs git in a folder of the home. */
  git(folder: string, ...args: string[]): Promise<GitResult>;
}

/** Describes a repository of a forge. */
export function repositoryAt(url: string, path: string): GatewayRepository {
  return { id: path, host: new URL(url).host, path, url: `${url}/${path}.git` };
}

/** Opens a gateway for an agent that may use these repositories, until the end of the test. */
export async function startGitAgent(
  repositories: readonly GatewayRepository[],
  options: Partial<GitGatewayOptions> = {},
): Promise<GitAgent> {
  const pushes: PushReport[] = [];
  const gateway = await openGitGateway({
    socketPath: null,
    repositories: () => repositories,
    credentialFor: () => forgeAccount,
    rulesFor: () => ownBranchesOnly,
    onPush: (report) => void pushes.push(report),
    addresses: { lookup: null, isAllowed: () => true },
    ...options,
  });
  onTestFinished(() => gateway.close());
  const directory = await makeDirectory();
  const url = `http://127.0.0.1:${gateway.port}`;
  const hosts = [...new Set(repositories.map(({ host }) => host))].map((host) => ({ host, isPlainHttp: true }));
  const env = { ...plainGit, HOME: directory, ...gitEnvironment({ url, key: gateway.key }, hosts) };
  return {
    gateway,
    url,
    directory,
    env,
    pushes,
    git: (folder, ...args) => runGit(join(directory, folder), args, env),
  };
}

/** Runs git, and returns its output even if it fails. */
export function runGit(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<GitResult> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env, maxBuffer: 64 * 1_048_576 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 128 : 0, stdout, stderr });
    });
  });
}
