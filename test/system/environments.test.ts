import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { connectGitForge } from '../support/connected-forge.ts';
import { type GitForge, plainGit, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'bwrap'] as const) : (['none'] as const);

let test: TestApp;
beforeAll(async () => {
  const shell = (id: string, sandbox: object | string) => ({
    id,
    command: [process.execPath, '-e', shellAgent],
    env: { PROFILE_TOKEN: 'canary-of-the-profile-0123456789' },
    sandbox,
    mcp: false,
  });
  const agentsConfig = await writeProfiles({}, shell('none', 'none'), shell('bwrap', { driver: 'bwrap' }));
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4, isHttpForgeAllowed: true });
});
afterAll(() => test.close());

const environmentFile = '.switchyard/environment.yaml';

/** Creates a repository at a new forge, which the organization may use. */
async function addRepository(files: Readonly<Record<string, string>>): Promise<GitForge> {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', { 'README.md': '# Site\n', 'package-lock.json': '{}', ...files });
  await connectGitForge(test, forge, 'acme/site');
  return forge;
}

/** Commits a change of files at the forge. */
async function commit(forge: GitForge, files: Readonly<Record<string, string>>): Promise<void> {
  const index = { GIT_INDEX_FILE: `${forge.directoryOf('acme/site')}/edit-index` };
  const git = (args: string[], input = '') => runGit(forge, args, input, index);
  await git(['read-tree', 'main']);
  for (const [path, text] of Object.entries(files)) {
    const id = await git(['hash-object', '-w', '--stdin'], text);
    await git(['update-index', '--add', '--cacheinfo', `100644,${id},${path}`]);
  }
  const id = await git(['commit-tree', '-p', 'main', '-m', 'Change', await git(['write-tree'])]);
  await git(['update-ref', 'refs/heads/main', id]);
}

async function runGit(forge: GitForge, args: readonly string[], input: string, env: object): Promise<string> {
  const { execFileSync } = await import('node:child_process');
  const options = { input, env: { ...plainGit, ...env } as NodeJS.ProcessEnv, encoding: 'utf8' } as const;
  return execFileSync('git', ['-C', forge.directoryOf('acme/site'), ...args], options).trim();
}

type Entry = { readonly kind: string; readonly body: string | null; readonly data: Record<string, unknown> };

/** Runs a prompt in a new session of a repository. */
async function run(forge: GitForge, agent: string, prompt: string, more: object = {}) {
  const repositories = [{ repository: `${forge.host}/acme/site`, ...(more as { repository?: object }).repository }];
  const { repository: _repository, ...values } = more as { repository?: object };
  const input = { agent, prompt, organizationId: test.organizationId, repositories, ...values };
  const id = await createSession(test, input);
  await waitUntilEnded(test, id);
  const entries = async () =>
    test.app.services.store.query<Entry>('select kind, body, data from log_entry where session_id = $1 order by seq', [
      id,
    ]);
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

const builds = (forge: GitForge) =>
  test.app.services.store.query<{ state: string; log: string; checkpointId: string | null }>(
    `select b.state, b.log, b.checkpoint_id as "checkpointId" from environment_build b join repository r on r.id = b.repository_id
      where r.host = $1 order by b.created_at`,
    [forge.host],
  );

describe.each(sandboxes)('in the sandbox %s', (agent) => {
  it('sets up once, and starts the next session with the result', async () => {
    const forge = await addRepository({
      '.gitignore': 'deps/\n',
      [environmentFile]:
        'setup:\n  - mkdir deps && echo "$STAGE" > deps/installed && date +%N > deps/at\n  - echo home > ~/tool\nstart: echo "started in $PWD"\nenv: {STAGE: test}\n',
    });
    const prompt = 'cat deps/installed deps/at ~/tool; echo "$STAGE"; git status --short; git branch --show-current';
    const first = await run(forge, agent, prompt);
    const [installed, at, tool, stage, branch] = first.output.trim().split('\n');
    expect([installed, tool, stage], first.output).toEqual(['test', 'home', 'test']);
    expect(await first.calls('Set-up: ')).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    expect(await builds(forge)).toMatchObject([{ state: 'READY' }]);

    const second = await run(forge, agent, `${prompt}; git log --format=%s; echo "$PREFACE"`);
    const lines = second.output.trim().split('\n');
    expect(lines.slice(0, 4), second.output).toEqual(['test', at, 'home', 'test']);
    expect(lines[4]).toMatch(/^switchyard\//);
    expect(lines[4]).not.toBe(branch);
    expect(second.output).toContain('is set up already');
    expect(await second.calls('Set-up: ')).toEqual([]);
    expect(await second.calls('Start: ')).toMatchObject([
      { status: 'completed', output: expect.stringContaining('started in /') },
    ]);
    expect(await builds(forge)).toHaveLength(1);
  });

  it('runs it again on top of the result when a lockfile changes, at the new commit', async () => {
    const forge = await addRepository({
      '.gitignore': 'deps\n',
      'gone.txt': 'gone',
      [environmentFile]: 'setup: echo run >> deps; echo changed >> README.md; touch mine\n',
    });
    await run(forge, agent, 'true');
    await commit(forge, { 'new.txt': 'new' });
    await runGit(forge, ['update-ref', 'refs/heads/other', 'main'], '', {});
    const same = await run(forge, agent, 'cat deps new.txt; git status --short; git diff HEAD --stat');
    expect(same.output).toBe('run\nnew?? mine\n');
    await commit(forge, { 'package-lock.json': '{"lockfileVersion": 3}' });
    const changed = await run(forge, agent, 'cat deps package-lock.json');
    expect(changed.output).toBe('run\nrun\n{"lockfileVersion": 3}');
    expect(await changed.calls('Set-up: ')).toHaveLength(1);
    expect(await builds(forge)).toMatchObject([{ state: 'READY' }, { state: 'READY' }]);
    const next = await run(forge, agent, 'cat deps');
    expect(next.output).toBe('run\nrun\n');
  });

  it('starts the agent after a failure, and tells it', async () => {
    const forge = await addRepository({
      [environmentFile]:
        'setup:\n  - for i in $(seq 100); do echo "line $i"; done; exit 3\n  - echo never\nstart: exit 4\n',
    });
    const { output, calls, notices } = await run(forge, agent, 'echo "$PREFACE"');
    expect(output).toContain('failed: `for i in $(seq 100)');
    expect(output).toContain('ended with the exit code 3');
    expect(output).toContain('line 51\n');
    expect(output).not.toContain('line 50\n');
    expect(output).toContain('A start command of');
    expect(await calls('Set-up: ')).toMatchObject([{ status: 'failed' }]);
    expect((await notices()).join('\n')).toContain('The agent starts anyway.');
    expect(await builds(forge)).toMatchObject([
      { state: 'FAILED', checkpointId: null, log: expect.stringContaining('line 100') },
    ]);
  });

  it('gives the secrets of the set-up to nothing else', async () => {
    const value = 'canary-of-the-set-up-0123456789';
    const secret = { type: 'KEY_VALUE', organizationId: test.organizationId };
    await runMutation(test, 'createSecret', '', { ...secret, key: 'NPM_TOKEN', value });
    await runMutation(test, 'createSecret', '', {
      organizationId: test.organizationId,
      ...secret,
      key: 'OTHER',
      value: 'canary-of-the-agent-0123',
    });
    const forge = await addRepository({
      [environmentFile]:
        'setup: test -n "$NPM_TOKEN" && echo "token $NPM_TOKEN" && env > names && sed -i "s/=.*//" names\nstart: env | sed "s/=.*//"\nsecrets: [NPM_TOKEN]\n',
    });
    const { output, calls, entries } = await run(
      forge,
      agent,
      'cat names; echo; env | sed "s/=.*//"; test -z "$NPM_TOKEN"',
    );
    expect(output, JSON.stringify([await calls('Set-up: '), (await entries()).map(({ body }) => body)])).toContain(
      'NPM_TOKEN',
    );
    const [setUp = '', own = ''] = output.split('\n\n');
    expect(setUp).toContain('NPM_TOKEN');
    expect(setUp).not.toMatch(/OTHER|PROFILE_TOKEN/);
    expect(own).toContain('OTHER');
    expect(own).not.toContain('NPM_TOKEN');
    const [started] = await calls('Start: ');
    expect(started?.output).not.toMatch(/OTHER|NPM_TOKEN|PROFILE_TOKEN/);
    expect(await calls('Set-up: ')).toMatchObject([{ output: 'token ********\n' }]);
    expect(JSON.stringify(await entries())).not.toContain(value);
    expect(JSON.stringify(await builds(forge))).not.toContain(value);
  });
});
