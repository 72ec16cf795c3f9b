import { expect, it } from 'vitest';
import { call } from '../support/app.ts';
import { makeNewerVersion } from '../support/newer-version.ts';
import { bootstrapToken, runCommand, runCommandOf, startRefused, startServer } from '../support/server.ts';
import { makeDirectory, makeServerEnv } from '../support/server-env.ts';
import { createFirstSession } from '../support/sessions.ts';

const expand = '29990101000000_expand';
const remove = '29990102000000_remove';
const expanding = { [expand]: 'create table later (id text primary key); alter table playbook add column later text;' };

const statusOf = async (server: { readonly url: string }) =>
  (await call(server, bootstrapToken, 'GET', '/v3/self')).status;

it('continues, and starts again, after a newer version has added to the database', { timeout: 240_000 }, async () => {
  const newer = await makeNewerVersion(expanding);
  const env = await makeServerEnv();
  const before = await startServer(env);
  await createFirstSession(before, bootstrapToken, 'say hello');

  const checked = await runCommandOf(newer, 'upgrade', env, '--check', '--json');
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(checked.stdout)).toMatchObject({
    isPossible: true,
    migrations: [{ name: expand, tables: [{ table: 'playbook', kind: 'columns', rows: 0 }], unusedSince: null }],
    findings: [
      { check: 'migration', level: 'ok', text: `${expand}: changes columns of playbook (about 0 rows).` },
      { check: 'processes', level: 'ok', text: expect.stringMatching(/^Workers run on \S+\. .*and restart\.$/) },
    ],
  });
  expect((await runCommandOf(newer, 'upgrade', env)).stdout).toBe(`Applied 1: ${expand}.\n`);
  expect((await runCommandOf(newer, 'upgrade', env)).stdout).toMatch(/^The database has all migrations of Switchyard/);
  expect(await statusOf(before)).toBe(200);
  expect(await before.stop()).toBe(0);

  const again = await startServer(env);
  expect(again.output()).toContain(`The database has the migration \\"${expand}\\" of a newer version.`);
  await createFirstSession(again, bootstrapToken, 'say hello again');
  const doctor = await runCommand('doctor', env, '--json');
  expect(JSON.parse(doctor.stdout).findings).toContainEqual(
    expect.objectContaining({ check: 'migrations', level: 'warning', text: expect.stringContaining(expand) }),
  );
  // Its tables are unknown to this version, and would be missing.
  const backup = await runCommand('backup', env, makeDirectory());
  expect(backup.code).toBe(1);
  expect(backup.stderr).toContain(`"${expand}" of a newer version`);
  const older = await runCommand('upgrade', env, '--check');
  expect(older).toMatchObject({ code: 0, stdout: expect.stringContaining('it is older than the last one') });
  expect(await again.stop()).toBe(0);
});

it('says that it cannot use what a newer version has removed from', { timeout: 240_000 }, async () => {
  const env = await makeServerEnv();
  const server = await startServer(env);
  const skipping = await makeNewerVersion({
    ...expanding,
    [remove]: `-- unused since: ${expand}\nalter table playbook drop column title;`,
  });
  const checked = await runCommandOf(skipping, 'upgrade', env, '--check');
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain(`The migration ${remove} removes what their version uses.`);
  expect(checked.stdout).toContain(`Upgrade first to a version that has ${expand} and not ${remove}, or stop all`);
  await server.stop();

  await runCommandOf(skipping, 'upgrade', env);
  const { code, output } = await startRefused(env);
  expect(code).toBe(1);
  expect(output).toContain(`the migration "${remove}", which this version does not know`);
  expect(JSON.parse((await runCommand('upgrade', env, '--check', '--json')).stdout)).toMatchObject({
    isPossible: false,
  });
  // Its successor of the version before can: it has the migration since which nothing uses the column.
  const between = await makeNewerVersion(expanding);
  const successor = await startServer(env, {}, between);
  expect(await statusOf(successor)).toBe(200);
  await successor.stop();
});

it('refuses to mix two versions of which neither is older', { timeout: 240_000 }, async () => {
  const env = await makeServerEnv();
  await (await startServer(env)).stop();
  const one = await makeNewerVersion(expanding);
  const other = await makeNewerVersion({ '29990103000000_other': 'create table other (id text primary key);' });
  await runCommandOf(one, 'upgrade', env);
  const { code, stderr } = await runCommandOf(other, 'upgrade', env);
  expect(code).toBe(2);
  expect(stderr).toContain('Start the version that was used last.');
});

it('explains its arguments, and creates no database', { timeout: 240_000 }, async () => {
  const env = await makeServerEnv();
  const { DATABASE_URL: _server, ...embedded } = env;
  const none = await runCommand('upgrade', { ...embedded, DATA_DIR: `${makeDirectory()}/data` }, '--check');
  expect(none).toMatchObject({ code: 2, stderr: 'There is no embedded database yet: the first start creates it.\n' });
  const wrong = await runCommand('upgrade', env, '--json');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/^Usage:/);
});
