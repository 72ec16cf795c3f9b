import { execFileSync } from 'node:child_process';
import type { TestApp } from './app.ts';
import { connectGitForge } from './connected-forge.ts';
import { type GitForge, plainGit, startGitForge } from './git-forge.ts';
import { runMutation } from './people.ts';
import { readMessages, waitUntilEnded } from './session-waits.ts';
import { createSession } from './sessions.ts';

/** The path of the service's own definition in a repository. */
export const environmentFile = '.switchyard/environment.yaml';

/** Creates the repository acme/site at a new forge, which the organization may use. */
export async function addRepository(test: TestApp, files: Readonly<Record<string, string>>): Promise<GitForge> {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', { 'README.md': '# Site\n', 'package-lock.json': '{}', ...files });
  await connectGitForge(test, forge, 'acme/site');
  return forge;
}

/** Commits a change of files at the forge; `link to …` makes a symbolic link. */
export async function commit(forge: GitForge, files: Readonly<Record<string, string>>): Promise<void> {
  const index = { GIT_INDEX_FILE: `${forge.directoryOf('acme/site')}/edit-index` };
  const git = (args: string[], input = '') => runGit(forge, args, input, index);
  await git(['read-tree', 'main']);
  for (const [path, text] of Object.entries(files)) {
    const target = text.startsWith('link to ') ? text.slice('link to '.length) : null;
    const id = await git(['hash-object', '-w', '--stdin'], target ?? text);
    await git(['update-index', '--add', '--cacheinfo', `${target === null ? '100644' : '120000'},${id},${path}`]);
  }
  const id = await git(['commit-tree', '-p', 'main', '-m', 'Change', await git(['write-tree'])]);
  await git(['update-ref', 'refs/heads/main', id]);
}

/** Runs git in the repository at the forge. */
export async function runGit(forge: GitForge, args: readonly string[], input: string, env: object): Promise<string> {
  const options = { input, env: { ...plainGit, ...env } as NodeJS.ProcessEnv, encoding: 'utf8' } as const;
  return execFileSync('git', ['-C', forge.directoryOf('acme/site'), ...args], options).trim();
}

/** An entry of a session's log. */
export type LogEntry = { readonly kind: string; readonly body: string | null; readonly data: Record<string, unknown> };

/** Runs a prompt in a new session of the repository. */
export async function runSession(test: TestApp, forge: GitForge, agent: string, prompt: string, more: object = {}) {
  const repositories = [{ repository: `${forge.host}/acme/site`, ...(more as { repository?: object }).repository }];
  const { repository: _repository, ...values } = more as { repository?: object };
  const input = { agent, prompt, organizationId: test.organizationId, repositories, ...values };
  const id = await createSession(test, input);
  await waitUntilEnded(test, id);
  const entries = async () =>
    test.app.services.store.query<LogEntry>(
      'select kind, body, data from log_entry where session_id = $1 order by seq',
      [id],
    );
  const calls = async (what: string) => {
    const found = (await entries()).filter(
      ({ kind, data }) => kind === 'TOOL_CALL' && String(data.title).startsWith(what),
    );
    return found.filter(({ data }) => data.status !== 'in_progress').map(({ data }) => data);
  };
  const last = async () => ((await readMessages(test, id)).at(-1) ?? '').replace('AGENT_MESSAGE: ', '');
  const send = async (body: string) => {
    await runMutation(test, 'sendMessage', '', { sessionId: id, body });
    await waitUntilEnded(test, id);
    return last();
  };
  const notices = async () => (await entries()).filter(({ kind }) => kind === 'NOTICE').map(({ body }) => body);
  return { id, output: await last(), entries, calls, notices, send };
}

/** Reads the set-ups of the repository, oldest first. */
export const readBuilds = (test: TestApp, forge: GitForge) =>
  test.app.services.store.query<{
    state: string;
    trigger: string;
    log: string;
    commit: string;
    usedAt: Date;
    checkpointId: string | null;
  }>(
    `select b.state, b.trigger, b.log, b.commit, b.used_at as "usedAt", b.checkpoint_id as "checkpointId" from environment_build b join repository r on r.id = b.repository_id
      where r.host = $1 order by b.created_at`,
    [forge.host],
  );
