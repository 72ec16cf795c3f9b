import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
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

async function start(settings: SandboxSettings | null) {
  const forge = await startGitForge();
  for (const path of ['acme/site', 'acme/other']) await forge.addRepository(path);
  const dataDir = await makeDirectory();
  const drivers = await openDrivers({
    choice: 'none',
    dataDir,
    // A worker removes the directories that an earlier process of its id has left.
    workerId: `worker-${randomBytes(6).toString('hex')}`,
    path: process.env.PATH ?? '',
    hidden: [dataDir],
    baseEnv: { PATH: process.env.PATH ?? '' },
    log: { info: () => undefined, warn: () => undefined },
  });
  // A spare clone may still be in the making.
  onTestFinished(() => drivers.close());
  const open = async (id = sessionId) => {
    const sandbox = await drivers.driverFor(settings).open({ sessionId: id, settings, isNew: false });
    onTestFinished(() => sandbox.close());
    const clone = (path: string, directory: string | null) =>
      sandbox.cloneRepository?.(requestFor(forge, path, directory));
    const shell = async (script: string, env: Readonly<Record<string, string>> = {}) => {
      const process = await sandbox.start({ command: ['sh', '-c', script], env: { ...identity, ...env } });
      process.stdin.end();
      const [stdout, stderr] = await Promise.all([text(process.stdout), text(process.stderr)]);
      const { code } = await process.exited;
      await process.stop({ stdinMs: 0, termMs: 0 });
      return { code, stdout: stdout.trim(), stderr };
    };
    return { sandbox, clone, shell };
  };
  return { forge, dataDir, open };
}

const identity = Object.fromEntries(Object.entries(plainGit).filter(([name]) => name.startsWith('GIT_')));

function requestFor(forge: GitForge, path: string, directory: string | null) {
  return {
    repository: { ownerId: 'enterprise-1', host: forge.host, path },
    originUrl: `${forge.url}/${path}.git`,
    openRemote: () => openRemoteTo(forge, path),
    ref: null,
    pullRequest: null,
    branch: own,
    directory,
    signal: new AbortController().signal,
  };
}

const variants: readonly (readonly [string, SandboxSettings | null])[] = [
  ['no sandbox', null],
  ['bubblewrap and the network', settingsOf()],
  ['bubblewrap without a network', settingsOf({ network: 'gateway' })],
];

it.each(variants.filter(([, settings]) => settings === null || problem === null))(
  'clones into a workspace, commits and pushes with %s',
  async (_, settings) => {
    const { forge, open } = await start(settings);
    const { sandbox, clone, shell } = await open();
    const cloned = await clone('acme/site', null);
    expect(cloned).toMatchObject({ baseRef: 'main', isContinued: false });
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
    const hosts = [{ host: forge.host, isPlainHttp: true }];
    const env = gitEnvironment({ url: address, key: listening.key }, hosts);
    const script =
      'git status --porcelain && echo x >page && git add page && git commit -qm Page && git push -q && git rev-parse HEAD';
    const pushed = await shell(script, env);
    expect(pushed, pushed.stderr).toMatchObject({ code: 0 });
    expect(await forge.git('acme/site', 'rev-parse', own)).toBe(pushed.stdout);
    const refused = await shell('git push origin HEAD:main', env);
    expect(refused.stderr).toContain('this session may push to its own branches only');
    await shell('echo new >new.txt');
    const { repository, signal } = requestFor(forge, 'acme/site', null);
    const base = cloned?.baseCommit ?? null;
    const snapshot = await sandbox.openSnapshot?.({ repository, directory: null, base, signal });
    const changes = await snapshot?.changes();
    await snapshot?.close();
    expect([changes?.head, changes?.files.map(({ path }) => path)]).toEqual([pushed.stdout, ['new.txt', 'page']]);
  },
);

it.runIf(problem === null)(
  'shows a sandbox the objects of its own repositories only, and does not let it change them',
  async () => {
    const { dataDir, open } = await start(settingsOf());
    const other = await open('d'.repeat(32));
    await other.clone('acme/other', null);
    const { clone, shell } = await open();
    const cloned = await clone('acme/site', 'site');
    const mirrors = join(dataDir, 'repositories');
    const seen = await shell(`find ${mirrors} -name '*.git' | wc -l; ls ${dataDir}; ls -d ${cloned?.borrowed}/pack`);
    expect(seen.stdout).toBe(`1\nrepositories\n${cloned?.borrowed}/pack`);
    const written = await shell(`touch ${cloned?.borrowed}/x || chmod u+w ${cloned?.borrowed}`);
    expect(written.code).not.toBe(0);
    expect(await shell('cd site && git log --format=%s')).toMatchObject({ stdout: 'Start' });
  },
);

it.runIf(problem === null)('finds the clone of an earlier run', async () => {
  const { open } = await start(settingsOf());
  const first = await open();
  await first.clone('acme/site', null);
  await first.shell('echo x >page && git add page && git commit -qm Page');
  const second = await open();
  expect(await second.clone('acme/site', null)).toBeNull();
  expect(await second.shell('git log --format=%s')).toMatchObject({ stdout: 'Page\nStart' });
});

it.each(['..', '.session', 'a/../b', '/etc', 'a//b', 'a/b/c/d/e', ''])(
  'refuses the directory "%s"',
  async (directory) => {
    const { open } = await start(null);
    const { clone } = await open();
    await expect(clone('acme/site', directory)).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
  },
);

it('clones below other directories, and follows no link of an earlier agent', async () => {
  const { dataDir, open } = await start(null);
  const { clone, shell } = await open();
  expect(await clone('acme/site', 'code/site')).toMatchObject({ baseRef: 'main' });
  expect(await shell('git -C code/site log --format=%s')).toMatchObject({ stdout: 'Start' });
  await shell(`mkdir ${dataDir}/outside && ln -s ${dataDir}/outside link`);
  await expect(clone('acme/other', 'link/other')).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
  expect(await shell(`ls ${dataDir}/outside`)).toMatchObject({ stdout: '' });
});
