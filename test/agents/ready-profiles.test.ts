import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentProfile } from '../../src/agents/agent.ts';
import { unchosenModels } from '../../src/agents/profiles/model-choice.ts';
import { missingPrograms } from '../../src/agents/profiles/programs.ts';
import { readyIds } from '../../src/agents/profiles/ready.ts';
import { loadProfiles, type ReadVariable, readyProfile } from '../../src/agents/profiles.ts';
import { makeDirs } from '../support/agents.ts';

interface Loaded {
  readonly dir: string;
  get(id: string): AgentProfile;
}

async function load(agents: unknown[], readVariable?: ReadVariable, dir = makeDirs().homeDir): Promise<Loaded> {
  const path = join(dir, 'agents.json');
  writeFileSync(path, JSON.stringify({ agents }));
  const { profiles } = await loadProfiles(path, readVariable);
  return { dir, get: (id) => profiles.get(id) as AgentProfile };
}
const problem = (agents: unknown[]) => load(agents).then(String, (error: Error) => error.message);
const key = 'sk-c4n4ry-1234';
const withKey: ReadVariable = (name) => (name === 'OPENAI_API_KEY' ? key : undefined);

it('knows each predefined profile by its id alone', async () => {
  expect(readyIds).toEqual(['demo', 'opencode', 'gemini', 'codex', 'claude', 'qwen', 'cline']);
  const loaded = await load([...readyIds]);
  for (const id of readyIds) expect(loaded.get(id)).toEqual(await readyProfile(id));
  expect(loaded.get('gemini')).toMatchObject({
    command: ['gemini', '--acp', '--skip-trust'],
    authMethod: 'gemini-api-key',
  });
  expect(loaded.get('cline').mcp).toBe(false);
});

it('extends the predefined profile with an entry’s id, or the one that it names', async () => {
  const { get } = await load([
    { id: 'qwen', env: { OPENAI_MODEL: 'm' }, 'memory_mb': 1 },
    {
      id: 'fast',
      extends: 'qwen',
      name: 'Fast',
      command: ['/opt/qwen', '--acp'],
      provider: { 'base_url': 'http://x/v1/' },
    },
    { id: 'plain', extends: 'qwen' },
    { id: 'codex', extends: null, command: ['mine'] },
  ]);
  const qwen = await readyProfile('qwen');
  // With a model of its own, it does not use stored keys.
  const provider = { ...qwen.provider, routes: [] };
  expect(get('qwen')).toEqual({ ...qwen, env: { ...qwen.env, OPENAI_MODEL: 'm' }, provider, memoryMb: 1 });
  expect(get('fast')).toMatchObject({ name: 'Fast', command: ['/opt/qwen', '--acp'], resumeOrder: ['load', 'new'] });
  expect(get('plain').name).toBe('plain');
  expect(get('codex')).toMatchObject({ command: ['mine'], authMethod: null, provider: null, env: {} });
});

it('starts a registry entry as defined there, with the settings of the predefined profile', async () => {
  const npx = { package: '@qwen-code/qwen-code@0.15.10', args: ['--acp'] };
  const binary = { 'linux-x86_64': { archive: 'https://x.test/a.tgz', cmd: './opencode' } };
  const { get } = await load([
    { id: 'qwen-code', name: 'Qwen', version: '0.15.10', distribution: { npx } },
    { id: 'opencode', name: 'opencode', distribution: { binary } },
  ]);
  expect(get('qwen-code')).toMatchObject({
    name: 'Qwen',
    command: ['npx', '-y', '@qwen-code/qwen-code@0.15.10', '--acp'],
    resumeOrder: ['load', 'new'],
  });
  expect(get('opencode').command).toEqual(['opencode', 'acp']);
});

it.each([
  ['a word that is no ready profile', ['cody'], /agents\.0: must be one of demo, opencode/],
  ['a base that is none', [{ id: 'a', extends: 'cody', command: ['a'] }], /agents\.0\.extends: must be one of demo/],
  ['a slip of the pen', [{ id: 'a', command: ['a'], permision: 'ask' }], /agents\.0\.permision: is not a field/],
  ['a slip inside', [{ id: 'a', command: ['a'], provider: { key: 'k' } }], /agents\.0\.provider\.key: is not a field/],
  [
    'a driver without its command',
    [{ id: 'a', command: ['a'], sandbox: { driver: 'command' } }],
    /agents\.0\.sandbox\.command: must be given/,
  ],
  [
    'a command without its driver',
    [{ id: 'a', command: ['a'], sandbox: { driver: 'none', command: ['b'] } }],
    /agents\.0\.sandbox\.command: goes with/,
  ],
  [
    'a gateway to nowhere',
    [{ id: 'a', command: ['a'], provider: { gateway: true } }],
    /agents\.0\.provider: must name "api" and "base_url"/,
  ],
  ['the same agent twice', ['demo', { id: 'demo' }], /agents\.1\.id: "demo" is the id of an agent above it/],
])('refuses %s, by path', async (_what, agents, message) => {
  expect(await problem(agents)).toMatch(message);
});

it('reports an unknown predefined profile once, and other problems in plain words', async () => {
  const lines = (await problem(['cody', { id: 'a', extends: 'cody' }, { command: ['a'], env: 3 }]))
    .split('\n')
    .slice(1);
  expect(lines.map((line) => line.trim()).sort()).toEqual([
    expect.stringMatching(/^agents\.0: must be one of demo, /),
    expect.stringMatching(/^agents\.1\.extends: must be one of demo, /),
    'agents.2.env: must be an object',
    'agents.2.id: must be a string',
  ]);
});

it('reads a provider’s key from this process, and another variable only if named', async () => {
  const { get } = await load(['qwen', 'claude', { id: 'own', command: ['own'] }], withKey);
  expect(get('qwen').env.OPENAI_API_KEY).toBe(key);
  expect(get('qwen').provider).toMatchObject({ variables: ['OPENAI_API_KEY'], key: null, gateway: null });
  expect(Object.keys(get('claude').env)).not.toContain('OPENAI_API_KEY');
  expect(get('own').env).toEqual({});
});

it('hides the key from an agent behind the gateway, whatever its source', async () => {
  const dir = makeDirs().homeDir;
  writeFileSync(join(dir, 'key'), 'sk-c4n4ry-file\n');
  const sandbox = { network: 'gateway' };
  const { get } = await load(
    [
      { id: 'codex', sandbox },
      { id: 'qwen', sandbox, env: { OPENAI_API_KEY: 'sk-c4n4ry-env' } },
      { id: 'filed', extends: 'qwen', provider: { gateway: true, 'key_file': 'key' } },
      { id: 'open', extends: 'qwen', sandbox, provider: { gateway: false } },
    ],
    withKey,
    dir,
  );
  expect(get('codex').sandbox).toMatchObject({ driver: 'bwrap', network: 'gateway' });
  expect(get('codex').provider).toMatchObject({
    key,
    gateway: { api: 'openai', baseUrl: 'https://api.openai.com/v1' },
  });
  expect(get('qwen').provider?.key).toBe('sk-c4n4ry-env');
  expect(get('filed').provider?.key).toBe('sk-c4n4ry-file');
  for (const id of ['codex', 'qwen', 'filed']) expect(JSON.stringify(get(id).env)).not.toContain('c4n4ry');
  expect(get('open')).toMatchObject({ env: { OPENAI_API_KEY: key }, provider: { gateway: null } });
});

it('resolves paths from the directory of the file', async () => {
  const { get, dir } = await load([
    { id: 'a', command: ['./bin/a', './left-alone'], sandbox: { 'read_only': ['models'] } },
    { id: 'b', command: ['./in/the/image'], sandbox: { command: ['docker', 'run'] } },
  ]);
  expect(get('a')).toMatchObject({
    command: [join(dir, 'bin/a'), './left-alone'],
    sandbox: { readOnly: [join(dir, 'models')] },
  });
  expect(get('b').command).toEqual(['./in/the/image']);
});

it('names a missing key file', async () => {
  const agents = [{ id: 'qwen', provider: { 'key_file': 'no-such-key' } }];
  expect(await problem(agents)).toMatch(/key_file of the agent "qwen" \(.*no-such-key\) cannot be read/);
});

it('names missing programs', async () => {
  const dir = makeDirs().workspaceDir;
  const put = (name: string, mode: number) => {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    chmodSync(path, mode);
  };
  put('bin/there', 0o755);
  put('bin/unfit', 0o644);
  mkdirSync(join(dir, 'bin/folder'));
  const { get } = await load([
    { id: 'there', command: ['there'] },
    { id: 'unfit', command: ['unfit'] },
    { id: 'folder', command: ['folder'] },
    { id: 'gone', command: ['/no/such/agent'] },
    { id: 'inside', command: ['elsewhere'], sandbox: { command: ['there', 'run'] } },
  ]);
  const profiles = ['there', 'unfit', 'folder', 'gone', 'inside'].map(get);
  expect(await missingPrograms(profiles, `/nowhere:${join(dir, 'bin')}`)).toEqual([
    'The agent "unfit" cannot work here: its program "unfit" is not in PATH.',
    'The agent "folder" cannot work here: its program "folder" is not in PATH.',
    'The agent "gone" cannot work here: its program "/no/such/agent" does not exist or may not be run.',
  ]);
});

it('names agents that would choose a model beyond their provider', async () => {
  const { get } = await load(
    [
      'opencode',
      'qwen',
      { id: 'walled', extends: 'opencode', sandbox: { network: 'gateway' } },
      { id: 'chosen', extends: 'opencode', config: { model: 'openai/gpt-5' } },
      { id: 'written', extends: 'opencode', env: { OPENCODE_CONFIG_CONTENT: '{"model":"own/m"}' } },
      {
        id: 'hidden',
        extends: 'opencode',
        env: { OPENCODE_CONFIG_CONTENT: '{"model":"own/m"}' },
        provider: { gateway: true },
      },
    ],
    withKey,
  );
  const sentences = unchosenModels(
    ['demo', 'opencode', 'qwen', 'walled', 'chosen', 'written', 'hidden'].flatMap((id) => get(id) ?? []),
  );
  expect(sentences).toHaveLength(3);
  expect(sentences[0]).toMatch(/^The agent "opencode" has no config.model: /);
  expect(sentences[1]).toMatch(/^The agent "walled" has a provider behind the gateway, but no config.model: /);
  expect(sentences[2]).toMatch(/^The agent "hidden" has a provider behind the gateway/);
});
