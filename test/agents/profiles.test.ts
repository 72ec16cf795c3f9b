import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadProfiles } from '../../src/agents/profiles.ts';
import { makeDirs } from '../support/agents.ts';

const load = (content: unknown) => {
  const path = join(makeDirs().homeDir, 'agents.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return loadProfiles(path);
};
const problemsOf = async (content: unknown): Promise<string[]> => {
  const error = await load(content).then(
    () => new Error('There were no problems.'),
    (reason: Error) => reason,
  );
  return error.message.split('\n').slice(1);
};

it('contains the demo agent without a file', async () => {
  const { profiles, defaultId } = await loadProfiles(null);
  expect([...profiles.keys()]).toEqual(['demo']);
  expect(defaultId).toBe('demo');
  expect(profiles.get('demo')).toMatchObject({
    permission: 'auto',
    resumeOrder: ['resume', 'load', 'new'],
    onEndTurn: 'finished',
    warmTtlMs: 300_000,
    startTimeoutMs: 20_000,
    retryDelaysMs: [5_000, 15_000, 60_000],
    inactivityMs: 600_000,
    stopGraces: { cancelMs: 10_000, stdinMs: 3_000, termMs: 5_000, interruptMs: 700 },
  });
});

it('reads every member of an agent', async () => {
  const { profiles, defaultId } = await load({
    default: 'b',
    agents: [
      { id: 'a', command: ['a'] },
      {
        id: 'b',
        name: 'B',
        command: ['b', '--acp'],
        env: { KEY: 'v' },
        auth_method: 'key',
        mode: 'yolo',
        config: { model: 'm', fast: true },
        locked_options: ['model', 'mode'],
        permission: 'ask',
        mcp: false,
        ask_tool: 'ask_the_user',
        git_identity: 'variables',
        instructions: 'service',
        steer: 'cancel',
        sandbox: {
          driver: 'command',
          command: ['docker', 'run'],
          network: 'gateway',
          read_only: ['/opt/tools'],
          tmp_mb: 64,
          paths: { workspace: '/w', home: '/h', runtime: '/r' },
          stop_command: ['docker', 'rm'],
        },
        memory_mb: 7,
        max_turn_ms: 8,
        resume_order: ['load'],
        on_end_turn: 'blocked',
        warm_ttl_ms: 1,
        start_timeout_ms: 9,
        retry_delays_ms: [2],
        inactivity_ms: 3,
        stop_graces_ms: { cancel: 4, stdin: 5, term: 6, interrupt: 7 },
      },
    ],
  });
  expect(defaultId).toBe('b');
  expect([...profiles.keys()]).toEqual(['demo', 'a', 'b']);
  expect(profiles.get('b')).toEqual({
    id: 'b',
    name: 'B',
    command: ['b', '--acp'],
    env: { KEY: 'v' },
    authMethod: 'key',
    mode: 'yolo',
    config: { model: 'm', fast: true },
    lockedOptions: ['model', 'mode'],
    permission: 'ask',
    mcp: false,
    askTool: 'ask_the_user',
    gitIdentity: 'variables',
    instructions: 'service',
    steer: 'cancel',
    sandbox: {
      driver: 'command',
      command: ['docker', 'run'],
      network: 'gateway',
      readOnly: ['/opt/tools'],
      tmpMb: 64,
      paths: { workspace: '/w', home: '/h', runtime: '/r' },
      stopCommand: ['docker', 'rm'],
    },
    provider: null,
    memoryMb: 7,
    maxTurnMs: 8,
    resumeOrder: ['load'],
    onEndTurn: 'blocked',
    warmTtlMs: 1,
    startTimeoutMs: 9,
    retryDelaysMs: [2],
    inactivityMs: 3,
    stopGraces: { cancelMs: 4, stdinMs: 5, termMs: 6, interruptMs: 7 },
  });
});

it('uses the first agent of the file by default', async () => {
  await expect(load({ agents: [{ id: 'a', command: ['a'] }] })).resolves.toMatchObject({ defaultId: 'a' });
});

it('accepts unchanged entries of the ACP registry', async () => {
  const entry = { version: '1.2.3', description: 'An agent.', authors: ['A'], license: 'MIT', icon: 'icon.svg' };
  const npx = { package: '@x/agent@1.2.3', args: ['--acp'], env: { MODE: 'acp', KEEP: 'entry' } };
  const { profiles } = await load({
    agents: [
      { ...entry, id: 'node', name: 'Node', distribution: { npx, binary: {} }, env: { KEEP: 'file' } },
      { ...entry, id: 'python', name: 'Python', distribution: { uvx: { package: 'agent==1.2.3' } } },
    ],
  });
  expect(profiles.get('node')).toMatchObject({
    command: ['npx', '-y', '@x/agent@1.2.3', '--acp'],
    env: { MODE: 'acp', KEEP: 'file' },
  });
  expect(profiles.get('python')?.command).toEqual(['uvx', 'agent==1.2.3']);
});

it('lists every problem of the file at once, by path', async () => {
  const problems = await problemsOf({
    default: 'gone',
    agents: [
      { id: 'Bad Id', command: ['x'] },
      { id: 'a', command: [], permission: 'maybe', inactivity_ms: 1e12 },
      { id: 'a', command: ['x'] },
      { id: 'binary', distribution: { binary: { 'linux-x86_64': {} } } },
      { id: 'nothing' },
      { id: 'locks', command: ['x'], locked_options: ['model', 'model'] },
    ],
    extra: 1,
  });
  const paths = problems.map((problem) => problem.trim().split(':')[0]);
  expect(paths.sort()).toEqual([
    'agents.0.id',
    'agents.1.command',
    'agents.1.inactivity_ms',
    'agents.1.permission',
    'agents.2.id',
    'agents.3.command',
    'agents.4.command',
    'agents.5.locked_options',
    'default',
    'extra',
  ]);
  expect(problems).toContain('  default: there is no agent "gone".');
  expect(problems).toContain('  agents.5.locked_options: must name each option once');
  expect(problems).toContain('  agents.3.command: must name the program: binaries of the registry are not downloaded');
});

it.each([
  ['not JSON', '{', /cannot be read as JSON/],
  ['no object', '[]', /has problems/],
  ['null', 'null', /has problems/],
])('refuses a file that is %s', async (_what, content, message) => {
  await expect(load(content)).rejects.toThrow(message);
});

it('names a missing file', async () => {
  await expect(loadProfiles('/no/such/agents.json')).rejects.toThrow('AGENTS_CONFIG (/no/such/agents.json)');
});
