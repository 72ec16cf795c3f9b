import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { gitConfigOf, writeGitConfig } from '../../src/domain/execution/runs/git-identity.ts';
import { makeDirs, openTestDrivers } from '../support/agents.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'bwrap'] as const) : (['none'] as const);

/** An ACP agent that runs the end of each prompt in a shell, and reports the output. */
const shellAgent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    if (method !== 'session/prompt') return;
    const { stdout, stderr } = require('child_process').spawnSync('sh', ['-ec', params.prompt.at(-1).text], { encoding: 'utf8' });
    const content = { type: 'text', text: stdout + stderr };
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content } } });
    put({ id, result: { stopReason: 'end_turn' } });
  });`;

let test: TestApp;
beforeAll(async () => {
  const shell = (sandbox: string) => ({
    id: sandbox,
    command: [process.execPath, '-e', shellAgent],
    sandbox,
    mcp: false,
  });
  const variables = (sandbox: string) => ({
    ...shell(sandbox),
    id: `${sandbox}-variables`,
    'git_identity': 'variables',
  });
  const both = ['none', 'bwrap'].flatMap((sandbox) => [shell(sandbox), variables(sandbox)]);
  const agentsConfig = await writeProfiles({}, ...both);
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
});
afterAll(() => test.close());

const commit = [
  '[ -d .git ] || git init -q',
  'git commit -q --allow-empty -m work',
  `git log -1 --format='%an <%ae> %cn <%ce>'`,
].join('\n');
const twice = (identity: string) => `${identity} ${identity}\n`;

/** Waits for the end of a turn, after a message if there is a token, and returns the agent's last message. */
async function run(id: string, token?: string, body = commit) {
  if (token) await runMutation(test, 'sendMessage', '', { sessionId: id, body }, token);
  await waitUntilEnded(test, id);
  return (await readMessages(test, id)).at(-1)?.replace('AGENT_MESSAGE: ', '');
}

it.each(sandboxes)("commits of an agent have the author of the session's user (sandbox %s)", async (agent) => {
  const ada = await makeUser(test, { name: 'Ada Lovelace' });
  const { organizationId } = test;
  const id = await createSession(test, { agent, prompt: commit, organizationId }, ada.token);
  const own = `Ada Lovelace <${ada.email}>`;
  expect(await run(id)).toBe(twice(own));

  // Another user continues the session.
  const output = await run(id, test.adminToken);
  const [serviceUser] = await test.app.services.store.query<{ id: string; name: string }>(
    'select x.id, x.name from log_entry e join service_user x on x.id = e.service_user_id where e.session_id = $1',
    [id],
  );
  const noreply = `${serviceUser?.name} <${serviceUser?.id}@noreply.switchyard.invalid>`;
  expect(output).toBe(twice(noreply));

  // The repository's own configuration takes precedence, and so does the agent's.
  const global = `git config --global user.name Own\n${commit}`;
  expect(await run(id, ada.token, global)).toContain(`Own <${ada.email}>`);
  const local = `git config user.email own@example.com\n${commit}`;
  expect(await run(id, ada.token, local)).toContain('Own <own@example.com>');
});

it.each(sandboxes)(
  'commits without a system configuration have it with the variables (sandbox %s)',
  async (sandbox) => {
    const ada = await makeUser(test, { name: 'Ada Lovelace' });
    const none = 'export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null';
    const prompt = `${none}\n${commit}`;
    const start = (agent: string) =>
      createSession(test, { agent, prompt, organizationId: test.organizationId }, ada.token);
    const id = await start(`${sandbox}-variables`);
    expect(await run(id)).toBe(twice(`Ada Lovelace <${ada.email}>`));
    expect(await run(id, test.adminToken, prompt)).toContain('@noreply.switchyard.invalid>');
    // The same commands without the setting.
    expect(await run(await start(sandbox))).not.toContain('Ada');
  },
);

it.each([
  [
    'a line break, a section and a command',
    'Eve\n[core]\n\tsshCommand = touch pwned\n\tname = "x\\',
    'Eve [core] sshCommand = touch pwned name = "x',
  ],
  ['an address', 'Eve <root@example.com>', 'Eve root@example.com'],
  ['control characters and marks of direction', 'E\u0000\u001b[31mv\u202ee\u0007', 'E [31mv e'],
  ['quotes, backslashes and comments', 'E"v\\e; # x', 'E"v\\e; # x'],
  ['nothing that Git takes', ' <.,;:"\'\\> ', 'eve'],
  ['no character', '', 'eve'],
  ['more than anybody reads', 'x'.repeat(5_000), 'x'.repeat(200)],
])('a name of %s creates a commit and has no other effect', (_, name, written) => {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-git-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'gitconfig');
  writeFileSync(file, gitConfigOf({ name, email: 'eve@example.test' }));
  const env = { PATH: process.env.PATH ?? '', HOME: dir, GIT_CONFIG_SYSTEM: file };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'work');
  expect(git('log', '-1', '--format=%an <%ae>')).toBe(`${written} <eve@example.test>\n`);
  const names = git('config', '--file', file, '--list', '--name-only').trim().split('\n');
  expect(names).toEqual(['user.name', 'user.email']);
});

it('replaces an agent’s link at the path of the file, and does not follow it', async () => {
  const dirs = makeDirs();
  const { dataDir, sessionId } = dirs;
  const { driverFor } = await openTestDrivers({ choice: 'none', path: '', dirs });
  const sandbox = await driverFor(null).open({ sessionId, settings: null, isNew: false });
  onTestFinished(() => sandbox.close());
  const dir = sandbox.paths.runtime;
  const victim = join(dataDir, 'secret.key');
  writeFileSync(victim, 'kept');
  symlinkSync(victim, join(dir, 'gitconfig'));
  await writeGitConfig(sandbox, { name: 'Ada', email: 'ada@example.test' }, 'system');
  expect(readFileSync(victim, 'utf8')).toBe('kept');
  expect(lstatSync(join(dir, 'gitconfig')).isFile()).toBe(true);
  expect(readFileSync(join(dir, 'gitconfig'), 'utf8')).toContain('ada@example.test');
});
