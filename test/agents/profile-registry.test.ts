import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openProfileRegistry } from '../../src/agents/profile-registry.ts';
import { makeDirs } from '../support/agents.ts';

let dir: string;
let env: Record<string, string>;
beforeEach(() => {
  dir = makeDirs().homeDir;
  env = {};
});

function write(path: string, content: unknown = '#!/bin/sh\n'): string {
  const at = join(dir, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(at, 0o755);
  return at;
}

/** Puts a version of an agent into AGENTS_DIR, as an installation does. */
function install(agentId: string, version: string, program = 'node_modules/p/bin/it'): string {
  const path = write(`programs/${agentId}/${version}-1/${program}`);
  write(`programs/${agentId}/current.json`, { directory: `${version}-1`, version, program });
  return path;
}

const open = (file?: unknown) =>
  openProfileRegistry({
    agentsConfig: file === undefined ? null : write('agents.json', file),
    agentsDir: join(dir, 'programs'),
    path: join(dir, 'bin'),
    readVariable: (name) => env[name],
  });

it('finds the programs in PATH and in AGENTS_DIR, which takes precedence', async () => {
  write('lib/node_modules/@google/gemini-cli/package.json', { name: '@google/gemini-cli', version: '0.60.1' });
  const gemini = write('lib/node_modules/@google/gemini-cli/bundle/gemini.js');
  mkdirSync(join(dir, 'bin'), { recursive: true });
  symlinkSync(gemini, join(dir, 'bin/gemini'));
  write('bin/opencode');
  const installed = install('opencode', '1.2.3');
  const agents = await open();
  expect([...agents.profiles.keys()]).toEqual(['demo', 'gemini', 'opencode']);
  expect([...agents.programs.values()]).toEqual([
    { agentId: 'gemini', path: join(dir, 'bin/gemini'), version: '0.60.1', source: 'PATH' },
    { agentId: 'opencode', path: installed, version: '1.2.3', source: 'AGENTS_DIRECTORY' },
  ]);
  // The sandbox finds a program of PATH itself.
  expect(agents.profiles.get('gemini')?.command[0]).toBe('gemini');
  expect(agents.profiles.get('opencode')?.command).toEqual([installed, 'acp']);
});

it('puts a detected agent behind the gateway, and gives it no key', async () => {
  env = { OPENAI_API_KEY: 'sk-canary', CLINE_API_KEY: 'cline-key' };
  for (const name of ['codex-acp', 'cline']) write(`bin/${name}`);
  const { profiles } = await open();
  expect(profiles.get('codex')).toMatchObject({ provider: { isKeyRequired: true }, sandbox: null });
  expect(JSON.stringify(profiles.get('codex')?.env)).not.toContain('sk-canary');
  // Cline has no API that the gateway could stand before.
  expect(profiles.get('cline')).toMatchObject({ env: { CLINE_API_KEY: 'cline-key' }, provider: { gateway: null } });
});

it('takes the first agent with a program and a key as the default, in the documented order', async () => {
  for (const name of ['opencode', 'gemini', 'claude-agent-acp', 'qwen']) write(`bin/${name}`);
  const agents = await open();
  expect({ defaultId: agents.defaultId, keylessIds: agents.keylessIds }).toEqual({
    defaultId: 'demo',
    keylessIds: ['claude', 'gemini', 'opencode', 'qwen'],
  });
  await agents.refresh({ storedProviders: ['openrouter'] });
  expect(agents.defaultId).toBe('opencode');
  expect(agents.keylessIds).toEqual([]);
  expect([agents.keySourceOf('opencode'), agents.keySourceOf('claude')]).toEqual(['ENTERPRISE', 'NONE']);

  env = { GEMINI_API_KEY: 'g' };
  const withKey = await open();
  expect([withKey.defaultId, withKey.keySourceOf('gemini')]).toEqual(['gemini', 'ENVIRONMENT']);
  await withKey.refresh({ storedProviders: ['anthropic'] });
  expect(withKey.defaultId).toBe('claude');
});

it('notices programs that are installed, replaced and removed', async () => {
  const agents = await open();
  expect([...agents.profiles.keys()]).toEqual(['demo']);
  install('qwen', '0.1.0');
  await agents.refresh();
  expect(agents.versionOf('qwen')).toBe('0.1.0');
  const newer = install('qwen', '0.2.0');
  await agents.refresh();
  expect(agents.profiles.get('qwen')?.command[0]).toBe(newer);
  renameSync(join(dir, 'programs/qwen'), join(dir, 'programs/gone'));
  await agents.refresh();
  expect([...agents.profiles.keys()]).toEqual(['demo']);
});

it('shows the programs that other workers have', async () => {
  const agents = await open();
  await agents.refresh({ published: [{ agentId: 'codex', version: '9.9.9', hasKey: true }] });
  expect([...agents.profiles.keys()]).toEqual(['demo', 'codex']);
  expect(agents.elsewhereIds).toEqual(['codex']);
  expect([agents.defaultId, agents.versionOf('codex'), agents.keySourceOf('codex')]).toEqual([
    'codex',
    '9.9.9',
    'ENVIRONMENT',
  ]);
});

it('detects nothing beside the agents of the file, and finds their programs in AGENTS_DIR', async () => {
  const codex = install('codex', '2.6.0');
  install('qwen', '0.1.0');
  env = { OPENAI_API_KEY: 'k' };
  const agents = await open({
    agents: [
      { id: 'mine', extends: 'codex' },
      {
        id: 'boxed',
        extends: 'qwen',
        sandbox: {
          command: ['docker', 'run', 'qwen'],
        },
      },
    ],
  });
  expect([...agents.profiles.keys()]).toEqual(['demo', 'mine', 'boxed']);
  expect([agents.defaultId, agents.isDefaultChosen]).toEqual(['mine', true]);
  expect(agents.profiles.get('mine')?.command).toEqual([codex]);
  // The program of a container is not one of this host.
  expect(agents.profiles.get('boxed')?.command[0]).toBe('qwen');
  expect([...(await open({ agents: [] })).profiles.keys()]).toEqual(['demo']);
});

it('lets a file without agents choose the default alone, even if its program is missing', async () => {
  write('bin/gemini');
  env = { GEMINI_API_KEY: 'g' };
  const agents = await open({ default: 'opencode' });
  expect([...agents.profiles.keys()]).toEqual(['demo', 'gemini', 'opencode']);
  expect([agents.defaultId, agents.keylessIds]).toEqual(['opencode', []]);
  expect((await open({ default: 'demo' })).defaultId).toBe('demo');
  await expect(open({ default: '__proto__' })).rejects.toThrow('default: there is no ready agent "__proto__".');
});

it.each([
  ['a directory outside of it', { directory: '../../outside', version: '1', program: 'bin/it' }],
  ['a program outside of the version', { directory: '1-1', version: '1', program: '../../../outside/bin/it' }],
  ['a link that leads out', { directory: '1-1', version: '1', program: 'link' }],
  ['no program', { directory: '1-1', version: '1', program: 'missing' }],
  ['another form', ['opencode']],
])('does not run what a damaged AGENTS_DIR names: %s', async (_name, current) => {
  const outside = write('outside/bin/it');
  mkdirSync(join(dir, 'programs/opencode/1-1'), { recursive: true });
  symlinkSync(outside, join(dir, 'programs/opencode/1-1/link'));
  write('programs/opencode/current.json', current);
  expect([...(await open()).profiles.keys()]).toEqual(['demo']);
});
