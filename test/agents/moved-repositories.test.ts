import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gitEnvironment } from '../../src/agents/git-gateway/git-environment.ts';
import { openGitGateway } from '../../src/agents/git-gateway/git-gateway.ts';
import { openDrivers } from '../../src/agents/sandbox/drivers.ts';
import type { SandboxSettings } from '../../src/agents/sandbox/settings.ts';
import { ownBranchesOnly, repositoryAt } from '../support/git-agent.ts';
import { openRemoteTo } from '../support/git-clones.ts';
import { forgeAccount, type GitForge, makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { sandbox as settingsOf, whyNoSandbox } from '../support/sandbox.ts';

const own = 'switchyard/page-ab12cd';
const sessionId = 'c0ffee'.padEnd(32, '0');
const problem = await whyNoSandbox();
const identity = Object.fromEntries(Object.entries(plainGit).filter(([name]) => name.startsWith('GIT_')));

/** A worker with a data directory of its own. */
async function openMachine(settings: SandboxSettings | null) {
  const dataDir = await makeDirectory();
  const drivers = await openDrivers({
    choice: 'none',
    dataDir,
    // A machine kills what an earlier worker of its id has left.
    workerId: randomUUID(),
    path: process.env.PATH ?? '',
    hidden: [dataDir],
    baseEnv: { PATH: process.env.PATH ?? '' },
    log: { info: () => undefined, warn: () => undefined },
  });
  onTestFinished(() => drivers.close());
  const open = async () => {
    const sandbox = await drivers.driverFor(settings).open({ sessionId, settings, isNew: false });
    onTestFinished(() => sandbox.close());
    const shell = async (script: string, env: Readonly<Record<string, string>> = {}) => {
      const process = await sandbox.start({ command: ['sh', '-c', script], env: { ...identity, ...env } });
      process.stdin.end();
      const [stdout, stderr] = await Promise.all([text(process.stdout), text(process.stderr)]);
      const { code } = await process.exited;
      await process.stop({ stdinMs: 0, termMs: 0 });
      return { code, stdout: stdout.trim(), stderr };
    };
    const gateway = async (forge: GitForge) => {
      const { address, listening } = await sandbox.reach({
        protocol: 'http',
        name: 'git',
        listen: (socketPath) =>
          openGitGateway({
            socketPath,
            repositories: () => [repositoryAt(forge.url, 'acme/site')],
            credentialFor: () => forgeAccount,
            rulesFor: () => ownBranchesOnly,
            onPush: () => undefined,
            addresses: { lookup: null, isAllowed: () => true },
          }),
      });
      onTestFinished(() => listening.close());
      return gitEnvironment({ url: address, key: listening.key }, [{ host: forge.host, isPlainHttp: true }]);
    };
    return { sandbox, shell, gateway };
  };
  return { dataDir, directory: join(dataDir, 'sessions', sessionId), open, close: () => drivers.close() };
}

type Machine = Awaited<ReturnType<typeof openMachine>>;
type Opened = Awaited<ReturnType<Machine['open']>>;

/** Gives the workspace of a machine to another one, and takes everything else from the first. */
async function move(from: Machine, to: Machine): Promise<void> {
  for (const name of ['ws', 'home']) {
    const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    await cp(join(from.directory, name), join(to.directory, name), options);
  }
  // Otherwise it would go on with a clone for the next session.
  await from.close();
  await rm(from.dataDir, { recursive: true, force: true });
}

async function clone({ sandbox }: Opened, forge: GitForge, base: string | null, directory: string | null = null) {
  const incomplete: string[] = [];
  let remotes = 0;
  const cloned = await sandbox.cloneRepository?.({
    repository: { ownerId: 'enterprise-1', host: forge.host, path: 'acme/site' },
    originUrl: `${forge.url}/acme/site.git`,
    openRemote: () => {
      remotes += 1;
      return openRemoteTo(forge, 'acme/site');
    },
    ref: null,
    pullRequest: null,
    branch: own,
    directory,
    base,
    signal: new AbortController().signal,
    onIncomplete: (reason) => incomplete.push(reason),
  });
  return { cloned, incomplete, remotes };
}

/** A clone with a commit that is on the first machine alone. */
async function begin(settings: SandboxSettings | null, directory: string | null = null) {
  const outage = { isOn: false };
  const forge = await startGitForge((_request, response) => {
    if (outage.isOn) response.writeHead(503).end();
    return outage.isOn;
  });
  await forge.addRepository('acme/site');
  const [first, second] = [await openMachine(settings), await openMachine(settings)];
  const opened = await first.open();
  const { cloned } = await clone(opened, forge, null, directory);
  const base = cloned?.baseCommit ?? null;
  expect(base).not.toBeNull();
  const made = await opened.shell(`cd ${directory ?? '.'} && echo x >page && git add page && git commit -qm Page`);
  expect(made.code).toBe(0);
  return { forge, outage, first, second, base };
}

const variants: readonly (readonly [string, SandboxSettings | null])[] = [
  ['no sandbox', null],
  ['bubblewrap', settingsOf()],
];

describe('the clone of a session that moved to another worker', () => {
  it.each(variants.filter(([, settings]) => settings === null || problem === null))(
    'has its commits, and commits and pushes, with %s',
    async (_, settings) => {
      const { forge, first, second, base } = await begin(settings);
      await move(first, second);
      const opened = await second.open();
      expect(await clone(opened, forge, base)).toMatchObject({ cloned: null, incomplete: [] });
      const env = await opened.gateway(forge);
      expect(
        await opened.shell('git status --porcelain && git log --format=%s && git fsck --connectivity-only'),
      ).toEqual(expect.objectContaining({ code: 0, stdout: 'Page\nStart' }));
      const script = 'echo y >page && git commit -qam Again && git push -q origin HEAD && git rev-parse HEAD';
      const pushed = await opened.shell(script, env);
      expect(pushed).toMatchObject({ code: 0 });
      expect(await forge.git('acme/site', 'rev-parse', own)).toBe(pushed.stdout);
      // The next start does not ask the forge again.
      expect(await clone(await second.open(), forge, base)).toEqual({ cloned: null, incomplete: [], remotes: 0 });
    },
  );

  it('needs no request if the mirror of the other worker has everything', async () => {
    const { forge, first, second, base } = await begin(null);
    const other = await second.open();
    await clone(other, forge, null, 'other');
    await rm(second.directory, { recursive: true });
    await move(first, second);
    const opened = await second.open();
    expect(await clone(opened, forge, base)).toEqual({ cloned: null, incomplete: [], remotes: 0 });
    expect(await opened.shell('git log --format=%s')).toMatchObject({ stdout: 'Page\nStart' });
  });

  it('is reported as incomplete while the forge does not answer, and completed at the next start', async () => {
    const { forge, outage, first, second, base } = await begin(null, 'site');
    outage.isOn = true;
    await move(first, second);
    const opened = await second.open();
    const { cloned, incomplete } = await clone(opened, forge, base, 'site');
    expect([cloned, incomplete]).toEqual([null, [expect.stringContaining('503')]]);
    expect(await opened.shell('cat site/page')).toMatchObject({ stdout: 'x' });
    outage.isOn = false;
    const again = await second.open();
    expect(await clone(again, forge, base, 'site')).toMatchObject({ cloned: null, incomplete: [] });
    expect(await again.shell('cd site && git log --format=%s')).toMatchObject({ stdout: 'Page\nStart' });
  });

  it('is reported as incomplete if the forge has lost its base', async () => {
    const { forge, first, second, base } = await begin(null);
    const tree = await forge.git('acme/site', 'rev-parse', 'main^{tree}');
    const other = await forge.git('acme/site', 'commit-tree', '-m', 'Other', tree);
    await forge.git('acme/site', 'update-ref', 'refs/heads/main', other);
    await forge.git('acme/site', '-c', 'gc.pruneExpire=now', 'gc', '-q', '--prune=now');
    await move(first, second);
    const { incomplete } = await clone(await second.open(), forge, base);
    expect(incomplete).toEqual(['The forge no longer has all commits of the clone.']);
  });

  it('borrows from its mirror alone, and ignores the alternates that it had', async () => {
    const { forge, first, second, base } = await begin(null);
    const secret = join(second.dataDir, 'secret');
    await mkdir(secret);
    await writeFile(join(first.directory, 'ws/.git/objects/info/alternates'), `${secret}\n/etc\n`);
    await move(first, second);
    const opened = await second.open();
    expect((await clone(opened, forge, base)).incomplete).toEqual([]);
    const alternates = await readFile(join(second.directory, 'ws/.git/objects/info/alternates'), 'utf8');
    expect(alternates).toMatch(/^\/[^\n]+\/repositories\/enterprise-1\/[0-9a-f]{40}\.git\/objects\n$/);
    expect(await opened.shell('git log --format=%s')).toMatchObject({ stdout: 'Page\nStart' });
  });

  it.each(['.git', '.git/objects', '.git/objects/info', '.git/objects/info/alternates'])(
    'writes nothing through the link that an agent left as %s',
    async (linked) => {
      const { forge, first, second, base } = await begin(null);
      const outside = await makeDirectory();
      await move(first, second);
      const path = join(second.directory, 'ws', linked);
      await rename(path, join(outside, 'moved'));
      await writeFile(join(outside, 'file'), 'kept');
      await symlink(linked.endsWith('alternates') ? join(outside, 'file') : join(outside, 'moved'), path);
      const before = await contentOf(outside);
      const { incomplete } = await clone(await second.open(), forge, base);
      expect(await contentOf(outside)).toEqual(before);
      const isReplaced = linked.startsWith('.git/objects/info');
      expect(incomplete.map((each) => /not an ordinary directory/.test(each))).toEqual(isReplaced ? [] : [true]);
    },
  );
});

async function contentOf(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { recursive: true })).sort();
  return [...names, await readFile(join(directory, 'file'), 'utf8')];
}
