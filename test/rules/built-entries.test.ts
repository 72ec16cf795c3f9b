import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('builds everything that is started by its path: the service, commands, programs of agents, threads', () => {
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
