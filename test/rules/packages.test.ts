import { expect, test } from 'vitest';
import { readText, treeFiles } from '../support/tree.ts';

/** The parts of a package.json, and of a lockfile's entry for it, that the rules read. */
interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly overrides?: Record<string, string>;
  readonly engines?: Record<string, string>;
}

const read = (path: string) => JSON.parse(readText(path)) as Manifest;
const folders = () =>
  treeFiles()
    .filter((path) => /(?:^|\/)package\.json$/.test(path))
    .map((path) => path.slice(0, -'package.json'.length));

test('every dependency has one exact version', () => {
  const loose = folders().flatMap((folder) => {
    const { dependencies, devDependencies, overrides } = read(`${folder}package.json`);
    return Object.entries({ ...dependencies, ...devDependencies, ...overrides })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${folder}package.json: ${name} ${version}`);
  });
  expect(loose, `Write the exact version (npm install --save-exact):\n${loose.join('\n')}`).toEqual([]);
});

test('the lockfile matches package.json', () => {
  for (const folder of folders()) {
    const { dependencies, devDependencies, engines } = read(`${folder}package.json`);
    const lock = JSON.parse(readText(`${folder}package-lock.json`)) as { packages: Record<string, Manifest> };
    const locked = lock.packages[''] ?? {};
    expect(
      { dependencies: locked.dependencies, devDependencies: locked.devDependencies, engines: locked.engines },
      `${folder}package-lock.json is not of this package.json: run npm install and commit both.`,
    ).toEqual({ dependencies, devDependencies, engines });
  }
});

test('the lockfile contains no addresses', () => {
  for (const folder of folders()) {
    const lines = readText(`${folder}package-lock.json`).split('\n');
    const addresses = lines.filter((line) => /"resolved": "(?:https?|git)/.test(line)).slice(0, 3);
    expect(
      addresses,
      `${folder}package-lock.json works only where these answer. Delete it and run npm install: .npmrc sets omit-lockfile-registry-resolved.`,
    ).toEqual([]);
  }
});

test('every override has a reason', () => {
  const manifest = JSON.parse(readText('package.json')) as Record<string, unknown>;
  if (manifest.overrides) {
    expect(manifest['overrides.why'], 'package.json: say in "overrides.why" what the overrides are for.').toBeTruthy();
  }
});
