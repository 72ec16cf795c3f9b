// npx tsx scripts/lock-agent-programs.ts: writes src/agents/programs/locks/ again, after a pinned version has changed.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Lock, LockedPackage } from '../src/agents/programs/lock.ts';
import { type AgentPackage, agentPackages } from '../src/agents/programs/packages.ts';
import { readJson } from '../src/agents/programs/program-lock.ts';

const run = promisify(execFile);
const locks = join(import.meta.dirname, '../src/agents/programs/locks');

/** The metadata of a package in the registry. */
interface Manifest extends LockedPackage {
  readonly 'dist.integrity': string;
}

for (const each of Object.values(agentPackages)) {
  const path = join(locks, each.agentId, 'package-lock.json');
  await writeFile(path, `${JSON.stringify(await lock(each), null, 2)}\n`);
  process.stdout.write(`${path}\n`);
}

async function lock({ agentId, packages, version }: AgentPackage): Promise<Lock> {
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-lock-'));
  try {
    const versions = Object.fromEntries(packages.map((name) => [name, version]));
    // Of several packages only one fits each platform.
    const wanted = packages.length === 1 ? { dependencies: versions } : { optionalDependencies: versions };
    const manifest = { name: `switchyard-agent-${agentId}`, private: true, ...wanted };
    await writeFile(join(directory, 'package.json'), JSON.stringify(manifest));
    const options = ['--package-lock-only', '--ignore-scripts', '--omit-lockfile-registry-resolved'];
    await run('npm', ['install', ...options, '--no-audit', '--no-fund'], { cwd: directory });
    return await addPlatforms((await readJson(join(directory, 'package-lock.json'))) as Lock);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

// npm leaves out packages for other platforms than this one if nothing else needs them.
async function addPlatforms(written: Lock): Promise<Lock> {
  const packages = { ...written.packages };
  for (const [path, { optionalDependencies = {} }] of Object.entries(written.packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const [own, hoisted] = [join(path, 'node_modules', name), `node_modules/${name}`];
      if (packages[own] || packages[hoisted]) continue;
      const wanted = range.startsWith('npm:') ? range.slice(4) : `${name}@${range}`;
      const manifest = await manifestOf(wanted).catch((error: { stderr?: string }) => {
        if (error.stderr?.includes('E404')) return null;
        throw error;
      });
      // The agent cannot be installed on that platform.
      if (manifest === null) process.stderr.write(`The registry has no ${wanted}: it is not in the lock.\n`);
      else packages[hoisted] = manifest;
    }
  }
  const sorted = Object.entries(packages).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { ...written, packages: Object.fromEntries(sorted) };
}

async function manifestOf(wanted: string): Promise<LockedPackage> {
  const fields = ['version', 'dist.integrity', 'os', 'cpu', 'libc', 'license', 'dependencies'];
  const { stdout } = await run('npm', ['view', wanted, ...fields, '--json']);
  const { 'dist.integrity': integrity, dependencies, ...manifest } = JSON.parse(stdout) as Manifest;
  if (dependencies !== undefined) throw new Error(`${wanted} has dependencies of its own, which this lock would lack.`);
  return { ...manifest, integrity, optional: true };
}
