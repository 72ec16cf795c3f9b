import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Dependencies of this project that have 20,000 files together. */
const names = [
  ...['rxjs', '@apollo/client', 'effect', '@aws-sdk/client-s3', 'highlight.js', 'knip', 'lodash', 'zod', 'remeda'],
  ...['@modelcontextprotocol/sdk', '@graphql-tools/utils', 'react-relay', 'relay-runtime', 'graphql', 'hono', 'ajv'],
  'typescript',
];

/** A project whose packages npm can install without a registry. */
export interface Packages {
  /** Has package.json and package-lock.json. */
  readonly directory: string;
  /** The cache of npm with its packages. */
  readonly cache: string;
}

/** Returns a project of about 20,000 files. It is made once, with a registry, and kept in the temporary folder. */
export async function ensurePackages(onProgress: (text: string) => void): Promise<Packages> {
  const path = join(tmpdir(), 'switchyard-bench-packages-2');
  const packages = { directory: path, cache: join(path, 'cache') };
  if (await stat(path).catch(() => null)) return packages;
  onProgress('  the packages are downloaded');
  const made = `${path}.${process.pid}`;
  await mkdir(made);
  const dependencies: Record<string, string> = {};
  for (const name of names)
    dependencies[name] = JSON.parse(await readFile(join('node_modules', name, 'package.json'), 'utf8')).version;
  await writeFile(join(made, 'package.json'), JSON.stringify({ name: 'installed', private: true, dependencies }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--cache', join(made, 'cache')];
  // With the addresses of the packages in the lock file, npm needs nothing but these packages.
  await run('npm', ['install', '--omit-lockfile-registry-resolved=false', ...options], { cwd: made });
  await rm(join(made, 'node_modules'), { recursive: true });
  await run('npm', ['ci', '--offline', ...options], { cwd: made });
  await rm(join(made, 'node_modules'), { recursive: true });
  await rename(made, path);
  return packages;
}
