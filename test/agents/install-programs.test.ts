import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installProgram, removeProgram, tidyPrograms } from '../../src/agents/programs/install-program.ts';
import type { LockedPackage } from '../../src/agents/programs/lock.ts';
import { agentPackages } from '../../src/agents/programs/packages.ts';
import type { Platform } from '../../src/agents/programs/platform.ts';
import { findInstalled } from '../../src/agents/programs/program-directory.ts';
import { lockedProject, readLock } from '../../src/agents/programs/program-lock.ts';
import { makeDirs } from '../support/agents.ts';
import { type NpmRegistry, packageWith, startNpmRegistry } from '../support/npm-registry.ts';

let registry: NpmRegistry;
let agentsDir: string;
beforeAll(async () => {
  registry = await startNpmRegistry();
});
afterAll(() => registry.close());
beforeEach(() => {
  agentsDir = join(makeDirs().homeDir, 'programs');
});

const program = (version: string) => `#!/bin/sh\necho ${version}\n`;

function publish(version: string, more: Record<string, unknown> = {}): LockedPackage {
  const manifest = { name: 'agent', version, bin: { agent: 'bin/it' }, ...more };
  return registry.publish({ manifest, files: { 'bin/it': program(version) } });
}

const env = (url = registry.url) => ({ PATH: process.env.PATH ?? '', HOME: agentsDir, 'npm_config_registry': url });

const install = (version: string, entries: Record<string, LockedPackage>, options = {}) =>
  installProgram('opencode', {
    agentsDir,
    env: env(),
    from: packageWith('opencode', version, entries),
    ...options,
  });

/** The version that runs. */
async function run(): Promise<string | null> {
  const installed = await findInstalled(agentsDir, 'opencode');
  if (installed === null) return null;
  const { stdout } = await promisify(execFile)(installed.path);
  expect(stdout.trim()).toBe(installed.version);
  return installed.version;
}

const left = () => readdirSync(join(agentsDir, 'opencode')).filter((name) => name !== 'current.json');

it('installs a version, then another one, and removes them; install scripts do not run', async () => {
  const marker = join(agentsDir, 'marker');
  const scripts = { preinstall: `touch ${marker}`, install: `touch ${marker}`, postinstall: `touch ${marker}` };
  const texts: string[] = [];
  const onProgress = ({ text }: { text: string }) => texts.push(text);
  const entry = publish('1.0.0', { scripts });
  expect(await install('1.0.0', { agent: { ...entry, hasInstallScript: true } as LockedPackage }, { onProgress })).toBe(
    '1.0.0',
  );
  expect(await run()).toBe('1.0.0');
  expect(texts[0]).toMatch(/^Downloading: \d+ of about 1 MB$/);
  await install('2.0.0', { agent: publish('2.0.0') });
  expect(await run()).toBe('2.0.0');
  // Agents that run may still load files of the version before, and only of that one.
  expect(left().map((name) => name.replace(/-.*/, ''))).toEqual(['1.0.0', '2.0.0']);
  await install('3.0.0', { agent: publish('3.0.0') });
  expect(left().map((name) => name.replace(/-.*/, ''))).toEqual(['2.0.0', '3.0.0']);
  expect(existsSync(marker)).toBe(false);
  expect(await removeProgram('opencode', agentsDir)).toBe(true);
  expect([await run(), existsSync(join(agentsDir, 'opencode'))]).toEqual([null, false]);
  expect(await removeProgram('opencode', agentsDir)).toBe(false);
});

describe('with an installed version', () => {
  beforeEach(async () => {
    await install('1.0.0', { agent: publish('1.0.0') });
  });
  const keeps = async (failing: Promise<unknown>, error: object) => {
    await expect(failing).rejects.toMatchObject(error);
    expect(await run()).toBe('1.0.0');
    expect(left()).toHaveLength(1);
  };

  it('refuses a package that is not the one of the lock', async () => {
    const entry = publish('2.0.0');
    publish('2.0.0', { description: 'tampered with' });
    await keeps(install('2.0.0', { agent: entry }), { code: 'INTEGRITY', message: /its checksum differs/ });
  });

  it('refuses one for this platform only too, which npm itself would leave out', async () => {
    const name = 'agent-native';
    const manifest = { name, version: '2.0.0', os: [process.platform] };
    const native = registry.publish({ manifest, files: { 'bin/it': 'one' } });
    const agent = publish('2.0.0', { optionalDependencies: { [name]: '2.0.0' } });
    registry.publish({ manifest, files: { 'bin/it': 'another' } });
    await keeps(install('2.0.0', { agent, [name]: { ...native, optional: true } }), { code: 'INTEGRITY' });
  });

  it('names a registry that cannot be reached, and one without the package', async () => {
    const entry = publish('2.0.0');
    await keeps(install('2.0.0', { agent: entry }, { env: env('http://127.0.0.1:9') }), {
      code: 'NOT_REACHABLE',
      message: /^The registry cannot be reached\. .*ECONNREFUSED/,
    });
    await keeps(install('2.0.0', { missing: entry }), { code: 'NOT_FOUND', message: /pinned version/ });
  });

  it('stops, and lets nobody else install meanwhile', async () => {
    const entry = publish('2.0.0');
    const release = registry.hold('agent');
    const stop = new AbortController();
    const before = registry.requested.length;
    const first = install('2.0.0', { agent: entry }, { signal: stop.signal });
    first.catch(() => undefined);
    await expect.poll(() => registry.requested.length, { timeout: 20_000 }).toBeGreaterThan(before);
    await expect(install('2.0.0', { agent: entry })).rejects.toMatchObject({ code: 'BUSY' });
    await expect(removeProgram('opencode', agentsDir)).rejects.toMatchObject({ code: 'BUSY' });
    expect(await run()).toBe('1.0.0');
    stop.abort();
    await keeps(first, { code: 'STOPPED' });
    release();
    await install('2.0.0', { agent: entry });
    expect(await run()).toBe('2.0.0');
  });

  it('takes over from an installation whose process has died', async () => {
    const turn = join(agentsDir, 'opencode/.installing');
    const owner = JSON.stringify({ host: (await import('node:os')).hostname(), pid: 2 ** 22 - 1 });
    const die = () => {
      mkdirSync(join(turn, 'files'), { recursive: true });
      writeFileSync(join(turn, 'owner.json'), owner);
    };
    die();
    await install('2.0.0', { agent: publish('2.0.0') });
    expect(await run()).toBe('2.0.0');
    die();
    await tidyPrograms(agentsDir);
    expect(left()).toHaveLength(1);
    expect(await run()).toBe('2.0.0');
  });
});

it('deletes nothing behind a link that was planted in the place of an agent', async () => {
  const target = join(agentsDir, '../important');
  mkdirSync(target, { recursive: true });
  mkdirSync(agentsDir);
  writeFileSync(join(target, 'file'), '');
  symlinkSync(target, join(agentsDir, 'opencode'));
  await tidyPrograms(agentsDir);
  const refusal = { code: 'NO_PERMISSION', message: expect.stringContaining('Remove the link.') };
  await expect(install('1.0.0', { agent: publish('1.0.0') })).rejects.toMatchObject(refusal);
  await expect(removeProgram('opencode', agentsDir)).rejects.toMatchObject(refusal);
  expect(readdirSync(target)).toEqual(['file']);
});

it.each(['../x', '__proto__', 'constructor', '', 'demo', 'a/b'])('knows no agent %j', async (agentId) => {
  await expect(installProgram(agentId, { agentsDir, env: env() })).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' });
  await expect(removeProgram(agentId, agentsDir)).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' });
  expect(existsSync(agentsDir)).toBe(false);
});

it('has a lock for each agent, with a checksum for each package and no address', async () => {
  const platform: Platform = { os: 'linux', cpu: 'x64', libc: 'glibc', isBaseline: false };
  for (const each of Object.values(agentPackages)) {
    const { lock, packagePath } = lockedProject(each, await readLock(each.agentId), platform);
    expect(lock.packages[packagePath]?.version).toBe(each.version);
    for (const [path, entry] of Object.entries(lock.packages)) {
      expect({ path, entry }).toMatchObject(
        path === '' ? {} : { entry: { integrity: expect.stringMatching(/^sha512-/) } },
      );
      expect(entry).not.toHaveProperty('resolved');
    }
  }
});

it('installs the build of opencode that fits the platform, and says so if there is none', async () => {
  const opencode = agentPackages.opencode as (typeof agentPackages)[string];
  const lock = await readLock('opencode');
  const chosen = (platform: Partial<Platform>) =>
    lockedProject(opencode, lock, { os: 'linux', cpu: 'x64', libc: 'glibc', isBaseline: false, ...platform })
      .packagePath;
  expect(chosen({})).toBe('node_modules/opencode-linux-x64');
  expect(chosen({ isBaseline: true })).toBe('node_modules/opencode-linux-x64-baseline');
  expect(() => chosen({ os: 'aix', libc: null })).toThrow('has no package for aix on x64');
});

describe('the command', () => {
  const agents = (args: string[], variables: Record<string, string> = {}) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      const options = { env: { ...env('http://127.0.0.1:9'), AGENTS_DIR: agentsDir, ...variables } };
      execFile(process.execPath, [resolve('dist/cli/switchyard.js'), 'agents', ...args], options, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });

  it('reports a failure, an unknown agent, and that installation is switched off', async () => {
    const failed = await agents(['install', 'gemini']);
    expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/^The registry cannot be reached\./) });
    expect(failed.out).toContain(
      `gemini: installing @google/gemini-cli ${agentPackages.gemini?.version} in ${agentsDir}`,
    );
    expect(await agents(['install', '../x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('There are: claude'),
    });
    expect(await agents(['install'])).toMatchObject({ code: 2, err: expect.stringContaining('Usage:') });
    expect(await agents(['remove', 'gemini'], { AGENTS_INSTALL: 'off' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('AGENTS_INSTALL is off'),
    });
    expect(await agents(['update'])).toMatchObject({ code: 0, out: 'No agent is installed.\n' });
    expect((await agents(['list'])).out).toContain('npm run agents -- install NAME');
  });
});
