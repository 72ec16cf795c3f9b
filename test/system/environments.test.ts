import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import * as environments from '../support/environments.ts';
import { commit, environmentFile, runGit } from '../support/environments.ts';
import type { GitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
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
    // Each run ends with its turn.
    'warm_ttl_ms': 0,
  });
  const agentsConfig = await writeProfiles({}, shell('none', 'none'), shell('bwrap', { driver: 'bwrap', 'tmp_mb': 8 }));
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4, isHttpForgeAllowed: true });
});
afterAll(() => test.close());

const addRepository = (files: Readonly<Record<string, string>>) => environments.addRepository(test, files);
const run = (forge: GitForge, agent: string, prompt: string, more: object = {}) =>
  environments.runSession(test, forge, agent, prompt, more);
const builds = (forge: GitForge) => environments.readBuilds(test, forge);

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
    // The pattern does not match itself.
    const search = 'grep -rlaE "canary-of-the-set-up-01[2]3456789" . ~ 2>/dev/null | wc -l';
    const later = await run(forge, agent, search, { secretIds: [] });
    expect(later.output).toBe('0\n');
    expect(await later.calls('Set-up: ')).toEqual([]);
  });

  it('runs in each of two sessions that start at once, and stores one result', async () => {
    const forge = await addRepository({ '.gitignore': 'deps\n', [environmentFile]: 'setup: echo run >> deps\n' });
    const both = await Promise.all([run(forge, agent, 'cat deps'), run(forge, agent, 'cat deps')]);
    expect(both.map(({ output }) => output)).toEqual(['run\n', 'run\n']);
    expect((await builds(forge)).filter(({ state }) => state === 'READY')).toHaveLength(1);
    const third = await run(forge, agent, 'cat deps');
    expect(third.output).toBe('run\n');
    expect(await third.calls('Set-up: ')).toEqual([]);
  });
});

describe('a hostile repository', () => {
  const agent = sandboxes.at(-1) ?? 'none';
  const start = async (files: Readonly<Record<string, string>>) => {
    const forge = await addRepository({});
    await commit(forge, files);
    return forge;
  };

  it.each([
    ['a link as its definition', { [environmentFile]: 'link to /etc/passwd' }, 'must be an ordinary file'],
    ['a directory as its definition', { [`${environmentFile}/x`]: 'x' }, 'must be an ordinary file'],
    ['a large definition', { [environmentFile]: `# ${'x'.repeat(70_000)}` }, 'must have at most 65536 bytes'],
    ['a broken definition', { [environmentFile]: 'setup: a\nstart: *b\n' }, `${environmentFile}, line 2: `],
    [
      'a variable of the loader',
      { [environmentFile]: 'env: {LD_PRELOAD: /tmp/x.so}\n' },
      '"LD_PRELOAD" cannot be a variable',
    ],
  ])('with %s gets a session, and the reason is in the log', async (_name, files, reason) => {
    const { output, notices } = await run(await start(files), agent, 'echo works; echo "$PREFACE"');
    expect(output).toMatch(/^works/);
    expect(output).toContain(reason);
    expect((await notices()).join('\n')).toContain(reason);
  });

  it.skipIf(problem !== null)('fails alone when it fills the temporary files of its sandbox', async () => {
    const setup = 'head -c 16M /dev/zero > /tmp/full';
    const forge = await addRepository({ [environmentFile]: `setup: ${setup}\n` });
    const { output } = await run(forge, 'bwrap', 'echo "$PREFACE"; head -c 4M /dev/zero > /tmp/mine && echo written');
    expect(output).toContain(`failed: \`${setup}`);
    expect(output).toMatch(/written\n$/);
    const log = expect.stringContaining('No space left on device');
    expect(await builds(forge)).toMatchObject([{ state: 'FAILED', checkpointId: null, log }]);
  });

  it('cannot print without an end, nor leave a process', async () => {
    const forge = await start({
      [environmentFile]: 'setup:\n  - nohup sleep 7234511 >/dev/null 2>&1 & setsid sleep 7234512 &\n  - yes\n',
    });
    const { output, calls } = await run(forge, agent, 'echo works');
    expect(output).toBe('works\n');
    expect(await calls('Set-up: ')).toMatchObject([
      { status: 'completed' },
      {
        status: 'failed',
        output: expect.stringContaining('The command printed more than 64 MB.'),
        outputAttachmentId: expect.any(String),
      },
    ]);
    expect(commandLines().filter((line) => line.includes('sleep 72345'))).toEqual([]);
  });

  it('cannot delay the agent with a start command, which ends with the run', async () => {
    const forge = await start({ [environmentFile]: 'start: echo listening; exec sleep 7234513\n' });
    const { output, calls } = await run(
      forge,
      agent,
      'cat .session/start/1-1.log ../.session/start/1-1.log 2>/dev/null',
    );
    expect(output).toBe('listening\n');
    expect(await calls('Start: ')).toMatchObject([
      { status: 'completed', output: expect.stringContaining('continues in the background') },
    ]);
    await expect
      .poll(() => commandLines().filter((line) => line.includes('sleep 7234513')), { timeout: 60_000 })
      .toEqual([]);
  });

  it('cannot give its configuration of git to the next session', async () => {
    const plant = [
      'git config core.fsmonitor "touch ~/fsmonitor; false"',
      'git config core.sshCommand "touch ~/ssh"; mkdir -p .git/info .git/hooks',
      'git config filter.x.smudge "touch ~/smudge; cat" && echo "* filter=x" > .git/info/attributes',
      'printf "#!/bin/sh\\ntouch ~/hook\\n" > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout',
      'rm README.md && ln -s /etc/passwd README.md',
    ];
    const forge = await start({ [environmentFile]: `setup:\n${plant.map((line) => `  - '${line}'\n`).join('')}` });
    await run(forge, agent, 'true');
    expect(await builds(forge)).toMatchObject([{ log: expect.not.stringContaining('exit code'), state: 'READY' }]);
    await commit(forge, { 'new.txt': 'new' });
    const { output, calls } = await run(
      forge,
      agent,
      'ls ~; cat README.md new.txt; git config --local --get-regexp "core.(fsmonitor|sshcommand)|filter" || true; ls .git/hooks .git/info 2>/dev/null || true; git status --short',
    );
    expect(output).toMatch(/^# Site\nnew/);
    expect(output).not.toMatch(/fsmonitor|ssh|smudge|post-checkout|attributes/);
    expect(await calls('Set-up: ')).toEqual([]);
  });

  it('cannot lead the next session out of its workspace', async () => {
    const forge = await start({
      [environmentFile]: 'setup: test -e ~/done || { touch ~/done && cd .. && mv site moved && ln -s /etc site; }\n',
    });
    await run(forge, agent, 'true');
    const { output, calls } = await run(forge, agent, 'cat README.md; git status --short; pwd');
    expect(output).toMatch(/^# Site\n\/.*site\n$/);
    expect(await calls('Set-up: ')).toHaveLength(1);
  });

  it('gets no secrets for code of a stranger, and its result is not stored', async () => {
    const value = 'canary-of-the-pull-request-0123';
    const organizationId = test.organizationId;
    const key = `PULL_${agent}`.toUpperCase();
    await runMutation(test, 'createSecret', '', { type: 'KEY_VALUE', organizationId, key, value });
    const forge = await start({});
    const main = await runGit(forge, ['rev-parse', 'main'], '', {});
    await commit(forge, { [environmentFile]: `setup: echo "got $${key}"\nsecrets: [${key}]\n` });
    const stranger = await runGit(forge, ['rev-parse', 'main'], '', {});
    await runGit(forge, ['update-ref', 'refs/pull/1/head', 'main'], '', {});
    await runGit(forge, ['update-ref', 'refs/heads/main', main], '', {});
    // The mirror of the repository has the commit since the first session.
    for (const [repository, reason] of [
      [{ pullRequest: 1 }, 'works on a pull request'],
      [{ ref: 'refs/pull/1/head' }, 'began at no branch and no tag'],
      [{ ref: stranger }, 'began at no branch and no tag'],
    ] as const) {
      const { calls, notices } = await run(forge, agent, 'true', { repository });
      expect(await calls('Set-up: ')).toMatchObject([{ output: 'got \n' }]);
      expect((await notices()).join('\n')).toContain(`gets no secrets, because the session ${reason}`);
      expect(await builds(forge)).toEqual([]);
    }
  });
});

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
    } catch {
      return [];
    }
  });
}
