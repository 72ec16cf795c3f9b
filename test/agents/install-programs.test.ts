import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { installProgram, removeProgram, tidyPrograms } from '../../src/agents/programs/install-program.ts';
import { takeTurn } from '../../src/agents/programs/install-turn.ts';
import type { LockedPackage } from '../../src/agents/programs/lock.ts';
import { agentPackages } from '../../src/agents/programs/packages.ts';
import type { Platform } from '../../src/agents/programs/platform.ts';
import { findInstalled } from '../../src/agents/programs/program-directory.ts';
import { lockedProject, readLock } from '../../src/agents/programs/program-lock.ts';
import { processStart } from '../../src/agents/sandbox/process-identity.ts';
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
  expect(texts[0]).toBe('Downloading about 1 MB');
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

  it.each(['<html>Log in to the network</html>', '{}', '{"versions":{"2.0.0":{"dist":{}}}}'])(
    'says that a server that answers %j is no registry',
    async (answer) => {
      const server = createServer((_request, response) => response.end(answer));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const { port } = server.address() as AddressInfo;
      const failing = install('2.0.0', { agent: publish('2.0.0') }, { env: env(`http://127.0.0.1:${port}`) });
      await keeps(failing, { code: 'NOT_REACHABLE', message: /does not answer like a registry.*get proxy\)\.$/ });
      server.close();
    },
  );

  it('stops, and lets nobody else install meanwhile', async () => {
    const entry = publish('2.0.0');
    const release = registry.hold('agent');
    const stop = new AbortController();
    const before = registry.requested.length;
    const first = install('2.0.0', { agent: entry }, { signal: stop.signal });
    first.catch(() => undefined);
    await expect.poll(() => registry.requested.length, { timeout: 60_000 }).toBeGreaterThan(before);
    await expect(install('2.0.0', { agent: entry })).rejects.toMatchObject({ code: 'BUSY' });
    await expect(removeProgram('opencode', agentsDir)).rejects.toMatchObject({ code: 'BUSY' });
    expect(await run()).toBe('1.0.0');
    const npm = JSON.parse(readFileSync(join(agentsDir, 'opencode/.installing/npm.json'), 'utf8'));
    expect(npm).toEqual({ host: hostname(), pid: expect.any(Number), startedAt: processStart(npm.pid) });
    stop.abort();
    await keeps(first, { code: 'STOPPED' });
    expect(processStart(npm.pid)).toBeNull();
    release();
    await install('2.0.0', { agent: entry });
    expect(await run()).toBe('2.0.0');
  });

  describe('after an installation whose process has died', () => {
    const dead = JSON.stringify({ host: hostname(), pid: 2 ** 22 - 1, startedAt: '1' });
    const turn = () => join(agentsDir, 'opencode/.installing');
    const die = (npm?: object) => {
      mkdirSync(join(turn(), '0a/files'), { recursive: true });
      writeFileSync(join(turn(), 'owner-0a.json'), dead);
      if (npm) writeFileSync(join(turn(), 'npm.json'), JSON.stringify(npm));
    };
    const startNpm = () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child.pid ?? 0;
    };

    it('takes over, and tidies', async () => {
      die();
      await install('2.0.0', { agent: publish('2.0.0') });
      expect(await run()).toBe('2.0.0');
      die();
      await tidyPrograms(agentsDir);
      expect(left()).toHaveLength(1);
      expect(await run()).toBe('2.0.0');
    });

    it('takes over from a process whose id another one has now', async () => {
      mkdirSync(turn());
      writeFileSync(
        join(turn(), 'owner-0a.json'),
        JSON.stringify({ host: hostname(), pid: process.pid, startedAt: '1' }),
      );
      await install('2.0.0', { agent: publish('2.0.0') });
      expect(await run()).toBe('2.0.0');
    });

    it('kills its npm, but no other process with that id', async () => {
      const pid = startNpm();
      const startedAt = processStart(pid);
      die({ host: hostname(), pid, startedAt: '1' });
      await tidyPrograms(agentsDir);
      die({ host: 'another', pid, startedAt });
      await tidyPrograms(agentsDir);
      expect([existsSync(turn()), processStart(pid)]).toEqual([false, startedAt]);
      die({ host: hostname(), pid, startedAt });
      await install('2.0.0', { agent: publish('2.0.0') });
      expect(processStart(pid)).toBeNull();
    });

    it('lets one of many take over', async () => {
      const root = join(agentsDir, 'opencode');
      for (let round = 0; round < 10; round += 1) {
        die();
        const all = await Promise.allSettled(Array.from({ length: 8 }, () => takeTurn(root, 'opencode')));
        const turns = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
        expect(turns).toHaveLength(1);
        expect(existsSync(turns[0]?.directory ?? '')).toBe(true);
        await turns[0]?.end();
      }
    });

    it('ends only its own turn', async () => {
      const root = join(agentsDir, 'opencode');
      const first = await takeTurn(root, 'opencode');
      const past = new Date(Date.now() - 120_000);
      const owner = readdirSync(turn()).find((name) => name.startsWith('owner')) ?? '';
      utimesSync(join(turn(), owner), past, past);
      const second = await takeTurn(root, 'opencode');
      await first.end();
      expect([existsSync(first.directory), existsSync(second.directory)]).toEqual([false, true]);
      await second.end();
    });

    it.each([
      ['an empty directory', null],
      ['an empty file', ''],
    ])('takes over from %s, which a full disk leaves', async (_name, owner) => {
      mkdirSync(turn());
      const past = new Date(Date.now() - 11_000);
      if (owner !== null) {
        writeFileSync(join(turn(), 'owner.json'), owner);
        await expect(removeProgram('opencode', agentsDir)).rejects.toMatchObject({ code: 'BUSY' });
        utimesSync(join(turn(), 'owner.json'), past, past);
      }
      expect(await removeProgram('opencode', agentsDir)).toBe(true);
      expect(existsSync(join(agentsDir, 'opencode'))).toBe(false);
    });
  });

  it('does not call an installation complete that lacks a package', async () => {
    const manifest = { name: 'other', version: '1.0.0' };
    const other = registry.publish({ manifest, files: { 'index.js': '' } });
    const failing = install('2.0.0', { agent: publish('2.0.0'), other: { ...other, dev: true } as LockedPackage });
    await keeps(failing, { code: 'FAILED', message: /incomplete: node_modules\/other is missing/ });
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
      err: expect.stringContaining('Available agents: claude'),
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
