import { spawnSync } from 'node:child_process';
import { copyFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startRefused } from '../support/server.ts';
import { makeDirectory, makeServerEnv } from '../support/server-env.ts';

it('reports every invalid variable at once, by name, before it opens anything', async () => {
  const env = await makeServerEnv();
  const refused = await startRefused({
    ...env,
    PORT: '70000',
    BOOTSTRAP_TOKEN: 'cog_short',
    ROLES: 'api,cook',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://x',
    SECRET_KEY: 'short',
  });
  expect(refused.code).toBe(1);
  for (const name of ['PORT', 'BOOTSTRAP_TOKEN', 'ROLES', 'LOG_LEVEL', 'DATABASE_URL', 'SECRET_KEY'])
    expect(refused.output).toContain(name);
  expect(refused.output).not.toContain('cog_short');
  expect(() => statSync(join(env.DATA_DIR ?? '', 'secret.key'))).toThrow();
});

it.each([
  [
    { DATA_DIR: resolve('package.json') },
    /^DATA_DIR must be a directory, but \/.*package\.json is a file, or in one\.$/m,
  ],
  [
    { DATA_DIR: resolve('package.json/data') },
    /^DATA_DIR must be a directory, but \/.*\/data is a file, or in one\.$/m,
  ],
  [
    { DATA_DIR: '/sys/data' },
    /^DATA_DIR must be a directory that this process \(user \d+\) may write to, .* but \/sys\/data is none/m,
  ],
  [
    { ATTACHMENTS_DIR: resolve('package.json') },
    /^ATTACHMENTS_DIR must be a directory, but \/.*package\.json is a file, or in one\.$/m,
  ],
  [{ ATTACHMENTS_DIR: '/sys/files' }, /^ATTACHMENTS_DIR must be .* but \/sys\/files is none \(E[A-Z]+\)\.$/m],
  [{ HOST: '192.0.2.1' }, /^HOST must be an address of this machine, .* but was 192\.0\.2\.1 \(EADDRNOTAVAIL\)\.$/m],
  [{ HOST: 'nosuch.invalid' }, /^HOST must be an address of this machine, .* but was nosuch\.invalid \(E[A-Z_]+\)\.$/m],
])('describes an unusable value in a sentence about the variable: %j', async (bad, sentence) => {
  const refused = await startRefused({ ...(await makeServerEnv()), ...bad });
  expect(refused.code).toBe(1);
  expect(refused.output).toMatch(sentence);
  expect(refused.output.trim().split('\n')).toHaveLength(2);
});

it('tells how to build the service if it is not built', () => {
  const dir = makeDirectory();
  copyFileSync('package.json', join(dir, 'package.json'));
  const { status, stderr } = spawnSync('npm', ['--silent', 'start'], { cwd: dir, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr.match(/^.*dist.*$/gm)).toEqual([
    'Switchyard is not built: there is no dist/main.js. "npm install" builds it, and so does "npm run build".',
  ]);
});
