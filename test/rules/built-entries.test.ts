import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { starters } from '../support/built-programs.ts';

it('builds every module that is started by its path: the service, commands, programs of agents, threads', () => {
  const built = [...readFileSync('rolldown.config.mjs', 'utf8').matchAll(/^ {2}'([\w/-]+)',$/gm)].map(
    ([, name]) => name,
  );
  const { entry } = JSON.parse(readFileSync('knip.json', 'utf8')) as { entry: string[] };
  const started = [
    'main',
    ...entry.flatMap((path) => /^src\/(.+)\.ts$/.exec(path)?.[1] ?? []),
    ...readdirSync('src', { recursive: true, encoding: 'utf8' }).flatMap(
      (path) => /^(.*-thread)\.ts$/.exec(path)?.[1] ?? [],
    ),
  ];
  expect(started.length).toBeGreaterThan(9);
  expect(started.filter((name) => !built.includes(name))).toEqual([]);
});

it('starts the built programs in tests, from each module that starts one', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const starts = /threadProgram\('[\w-]+', import|import\.meta\.url\.endsWith\('\.ts'\)/;
  const found = files.filter((path) => starts.test(readFileSync(`src/${path}`, 'utf8')));
  expect(found.map((path) => path.replace(/\.ts$/, '')).sort()).toEqual([...starters].sort());
});
