import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { connectGitForge } from '../support/connected-forge.ts';
import { runGit } from '../support/git-agent.ts';
import { type GitForge, makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { modes, type ObjectWriter, type TreeEntry, writeObjects } from '../support/hostile-objects.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { shellAgent } from '../support/shell-agent.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'bwrap'] as const) : (['none'] as const);

let test: TestApp;
beforeAll(async () => {
  const agent = { command: [process.execPath, '-e', shellAgent], mcp: false };
  const agentsConfig = await writeProfiles(
    {},
    { ...agent, id: 'none', sandbox: 'none' },
    { ...agent, id: 'bwrap', sandbox: { driver: 'bwrap', network: 'gateway' } },
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true, maxConcurrentSessions: 3 });
});
afterAll(() => test.close());

async function makeForge(fill: (objects: ObjectWriter) => Promise<unknown> = () => Promise.resolve()) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  await fill(writeObjects(forge, 'acme/site'));
  await connectGitForge(test, forge, 'acme/site');
  return forge;
}

async function startSession(forge: GitForge, agent: string, prompt: string) {
  const input = {
    ...{ agent, prompt, organizationId: test.organizationId },
    repositories: [{ repository: `${forge.host}/acme/site`, branch: 'work' }],
  };
  const { session } = await runMutation(test, 'createSession', 'session { sessionId }', input, test.adminToken);
  const id = session.sessionId as string;
  const bareId = parseId('session', id) ?? '';
  return {
    id,
    workspace: join(test.dataDir, 'sessions', bareId, 'ws'),
    async send(body: string) {
      await runMutation(test, 'sendMessage', '', { sessionId: id, body }, test.adminToken);
      await waitUntilEnded(test, id);
    },
    entries: () =>
      test.app.services.store.query<{ kind: string; data: Record<string, unknown>; body: string | null }>(
        `select kind, data, body from log_entry where session_id = $1 and kind in ('REPOSITORY', 'ERROR') order by seq`,
        [bareId],
      ),
    output: async () => (await readMessages(test, id)).at(-1) ?? '',
  };
}

const document = `query($id: ID!, $turn: Int) { session(id: $id) { changes(turn: $turn) {
  head files(first: 50) { nodes { path status hunks { lines } } } } } }`;

/** Waits until the changes of a turn are stored, and returns the names of the files. */
async function changedIn(id: string, turn: number): Promise<string[]> {
  const read = async () => (await graphql(test, test.adminToken, document, { id, turn })).data.session.changes;
  await expect.poll(read, { timeout: 60_000 }).toHaveLength(1);
  const [changes] = await read();
  expect(JSON.stringify(changes)).not.toContain('root:');
  return changes.files.nodes.map(({ path }: { path: string }) => path);
}

it.each(sandboxes)(
  'executes nothing that an agent plants in its clone, which plain git executes (%s)',
  { timeout: 180_000 },
  async (agent) => {
    const directory = await makeDirectory();
    const marker = join(directory, 'executed');
    const forge = await makeForge(async (objects) => {
      const attributes = await objects.blob('* filter=evil diff=evil merge=evil\n');
      const file = await objects.blob('a\n');
      await objects.commit(await objects.tree([modes.file, '.gitattributes', attributes], [modes.file, 'a.txt', file]));
    });
    // Without git: only the service could run what this plants.
    const programs = [
      'core.fsmonitor',
      'core.sshCommand',
      'core.pager',
      'core.editor',
      'core.askPass',
      'diff.external',
    ];
    const settings = [
      ...programs.map((name) => `[${name.replace('.', ']\n')} = "$PWD/.git/evil"`),
      '[core]\nhooksPath = "$PWD/.git/planted"',
      '[credential]\nhelper = "!$PWD/.git/evil"',
      '[filter \\"evil\\"]\nclean = "$PWD/.git/evil"\nsmudge = "$PWD/.git/evil"\nprocess = "$PWD/.git/evil"\nrequired',
      '[diff \\"evil\\"]\ntextconv = "$PWD/.git/evil"\ncommand = "$PWD/.git/evil"',
      '[merge \\"evil\\"]\ndriver = "$PWD/.git/evil"',
      '[include]\npath = "$PWD/.git/included"',
      '[includeIf \\"gitdir:/\\"]\npath = "$PWD/.git/included"',
      `[remote \\"origin\\"]\nurl = "ext::sh -c touch% ${marker}"\nuploadpack = "$PWD/.git/evil"`,
      `[url \\"ext::sh -c touch% ${marker} \\"]\ninsteadOf = http`,
      '[submodule]\nrecurse = true',
    ];
    const plant = [
      'test -f a.txt && test -d .git && mkdir -p .git/planted .git/hooks .git/objects/info',
      `printf '#!/bin/sh\\ntouch ${marker}\\necho\\n' >.git/evil && chmod 755 .git/evil`,
      'for hook in post-index-change reference-transaction post-checkout pre-commit fsmonitor-watchman pre-push; do',
      '  cp .git/evil .git/hooks/$hook; cp .git/evil .git/planted/$hook; done',
      'printf "[alias]\\nstatus = !$PWD/.git/evil\\n[core]\\nfsmonitor = $PWD/.git/evil\\n" >.git/included',
      `printf '%s\\n' "${settings.join('\n').replaceAll('"', '\\"').replaceAll('\\\\"', '\\"')}" >>.git/config`,
      'echo b >a.txt',
    ].join('\n');
    const { id, workspace, send, output } = await startSession(forge, agent, plant);
    await waitUntilEnded(test, id);
    expect(await output()).not.toContain('AGENT_MESSAGE: sh:');
    expect(await changedIn(id, 1)).toEqual(['a.txt']);
    // The objects of somebody else's repository.
    const other = join(directory, 'other');
    await mkdir(other);
    await runGit(other, ['init', '-q'], plainGit);
    await send(`echo ${other}/.git/objects >>.git/objects/info/alternates; ln -s /etc/passwd link; echo c >c.txt`);
    expect(await changedIn(id, 2)).toEqual(['c.txt', 'link']);
    expect(await readdir(directory)).not.toContain('executed');
    // The same clone makes git itself execute the program, at the path where the agent had it.
    if (agent === 'none') {
      await runGit(join(workspace, 'site'), ['status'], plainGit);
      expect(await readdir(directory)).toContain('executed');
      await rm(marker);
    }
    await send('mv .git moved; ln -s "$PWD/moved" .git; echo d >d.txt');
    expect(await changedIn(id, 3)).toContain('d.txt');
    await send('rm .git; echo "gitdir: $PWD/moved" >.git; echo e >e.txt');
    expect(await changedIn(id, 4)).toContain('e.txt');
    expect(await readdir(directory)).not.toContain('executed');
  },
);

it('names the reason why a repository is refused, and clones it when it is corrected', {
  timeout: 120_000,
}, async () => {
  const forge = await makeForge(async (objects) => {
    const hook = await objects.tree([modes.file, 'post-checkout', await objects.blob('#!/bin/sh\n')]);
    const hooks = await objects.tree([modes.directory, 'hooks', hook]);
    await objects.commit(await objects.tree([modes.directory, '.git', hooks]));
  });
  const { id, entries, send, output } = await startSession(forge, 'none', 'ls');
  await waitUntilEnded(test, id);
  const reason = "Git refuses an object of it: contains '.git' (hasDotgit).";
  const found = await entries();
  expect(found.find(({ data }) => data.state === 'FAILED')?.data).toMatchObject({ text: reason });
  expect(JSON.stringify(found.at(-1))).toContain(`The repository ${forge.host}/acme/site cannot be used: ${reason}`);
  const objects = writeObjects(forge, 'acme/site');
  await objects.commit(await objects.tree([modes.file, 'good.txt', await objects.blob('x')]));
  await send('ls');
  expect(await output()).toContain('good.txt');
});

it('answers others and runs their sessions while it refuses a tree bomb', { timeout: 180_000 }, async () => {
  const bomb = await makeForge(async (objects) => {
    let tree = await objects.tree([modes.file, 'f', await objects.blob('x')]);
    const names = Array.from({ length: 32 }, (_, n) => `d${String(n).padStart(2, '0')}`);
    for (let n = 0; n < 10; n++)
      tree = await objects.tree(...names.map((name): TreeEntry => [modes.directory, name, tree]));
    await objects.commit(tree);
  });
  const good = await makeForge();
  const attack = await startSession(bomb, 'none', 'ls');
  const other = await startSession(good, 'none', 'ls');
  await waitUntilEnded(test, other.id);
  expect(await other.output()).toContain('README.md');
  expect((await fetch(`${test.url}/readyz`)).status).toBe(200);
  await waitUntilEnded(test, attack.id);
  const failed = (await attack.entries()).find(({ data }) => data.state === 'FAILED');
  expect(failed?.data).toMatchObject({ text: 'It has more than 1,000,000 files and directories.' });
});

it.each(sandboxes)(
  'writes and reads nothing through a link of the repository (%s)',
  { timeout: 120_000 },
  async (agent) => {
    const outside = await makeDirectory();
    const forge = await makeForge(async (objects) => {
      const target = await objects.blob(outside);
      const passwd = await objects.blob('/etc/passwd');
      await objects.commit(
        await objects.tree(
          [modes.link, '.gitignore', passwd],
          [modes.link, '.session', target],
          [modes.link, '.switchyard', target],
          [modes.link, 'AGENTS.md', passwd],
          [modes.link, 'passwd', passwd],
          [modes.link, 'up', await objects.blob('..')],
        ),
      );
    });
    const cookie = {
      key: 'LOGIN',
      type: 'COOKIE',
      value: 'canary-of-a-cookie-0123456789',
      organizationId: test.organizationId,
    };
    const { secret } = await runMutation(test, 'createSecret', 'secret { secretId }', cookie, test.adminToken);
    const { id, entries, output, send } = await startSession(forge, agent, 'echo x >new.txt; echo "$PREFACE"');
    await waitUntilEnded(test, id);
    expect([await output(), ...(await entries()).map((entry) => JSON.stringify(entry))].join('\n')).not.toContain(
      'root:',
    );
    expect(await changedIn(id, 1)).toEqual(['new.txt']);
    await send('rm passwd; ln -s /etc/shadow passwd; echo y >up/y.txt || true');
    expect(await changedIn(id, 2)).toContain('passwd');
    expect(await readdir(outside)).toEqual([]);
    await runMutation(test, 'deleteSecret', '', { secretId: secret.secretId }, test.adminToken);
  },
);
