import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call } from '../support/app.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

type Environment = Record<string, string>;

function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-schedules-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs `switchyard schedules` like an operator. */
function schedules(env: Environment, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = ['dist/cli/switchyard.js', 'schedules', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, program, { env: { PATH: process.env.PATH ?? '', ...env } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describe('moving an organization from schedules to automations', () => {
  it('is audited, written once, reversible, and leaves existing objects unchanged', async () => {
    const database: Environment =
      testDatabase === 'postgres'
        ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
        : {};
    const env = { DATA_DIR: makeDir(), PORT: String(await freePort()), LOG_LEVEL: 'warn', ...database };
    let server = await startServer(env);
    const admin = (method: string, path: string, body?: unknown) => call(server, bootstrapToken, method, path, body);
    const orgId: string = (await admin('POST', '/v3/enterprise/organizations', { name: 'Acme' })).body.org_id;
    const path = `/v3/organizations/${orgId}`;
    const schedule = { name: 'Sweep', prompt: 'Sweep.', frequency: '0 9 * * 1' };

    /** Runs several commands in sequence. An embedded database belongs to one process; on PostgreSQL the service continues meanwhile. */
    const commands = async (...all: string[][]) => {
      const host = testDatabase === 'postgres' ? { ...env, DATA_DIR: makeDir() } : env;
      if (testDatabase === 'pglite') await server.stop();
      const outputs: Awaited<ReturnType<typeof schedules>>[] = [];
      for (const args of all) outputs.push(await schedules(host, 'migrate', ...args));
      if (testDatabase === 'pglite') server = await startServer(env);
      return outputs;
    };
    const make = async () => (await admin('POST', `${path}/schedules`, schedule)).status;
    const readEnabled = async (): Promise<boolean[]> => {
      const list = `/v3/enterprise/organizations/${orgId}/audit-logs?action=update_org`;
      return (await admin('GET', list)).body.items.map(({ data }: any) => data.has_automations);
    };

    expect(await make()).toBe(403);
    const [dry, undone] = await commands([orgId, '--undo', '--dry-run'], [orgId.replace('org-', ''), '--undo']);
    expect(dry).toEqual({
      code: 0,
      stderr: '',
      stdout: `"Acme" (${orgId}): 0 schedules, 0 other automations.\nIt would make schedules. Nothing was written.\nPOST …/schedules is accepted again. Existing schedules continue unchanged.\n`,
    });
    expect(undone?.stdout).toContain('It makes schedules from now on.');
    expect(await make()).toBe(200);
    const rule = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0';
    const all = [{ field: 'rrule', operator: 'recurrence', value: rule }];
    const triggers = [{ event_type: 'schedule:recurring', conditions: { any: [{ all }] } }];
    const actions = [{ type: 'start_session', prompt: 'Mop.' }];
    expect((await admin('POST', `${path}/automations`, { name: 'Mop', triggers, actions })).status).toBe(200);
    const lists = async () => [
      (await admin('GET', `${path}/schedules`)).body.items,
      (await admin('GET', `${path}/automations`)).body.items,
    ];
    const before = await lists();
    expect(before.map(({ length }) => length)).toEqual([1, 2]);

    const [moved, again] = await commands([orgId], [orgId]);
    expect(moved).toMatchObject({ code: 0, stderr: '' });
    expect(moved?.stdout).toMatch(/1 schedule, 1 other automation\.\nIt makes automations from now on\./);
    expect(again?.stdout).toContain('It makes automations already: there is nothing to do.');
    expect(await make()).toBe(403);
    expect(await lists()).toEqual(before);
    const [back] = await commands([orgId, '--undo']);
    expect(back?.stdout).toContain('What is not undone: 1 automation that is no schedule stays so.');
    expect(await make()).toBe(200);
    expect(await readEnabled()).toEqual([false, true, false]);
  }, 240_000);

  it('needs an existing organization, and explains its usage', async () => {
    const help = await schedules({}, '--help');
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/migrate ORG --undo[\s\S]*What --undo leaves/),
    });
    for (const args of [['migrate'], ['move', 'a'], ['migrate', 'a', '--force']]) {
      expect(await schedules({}, ...args), args.join(' ')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('Usage:'),
      });
    }
    const database: Environment =
      testDatabase === 'postgres'
        ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
        : {};
    const env = { DATA_DIR: makeDir(), PORT: String(await freePort()), LOG_LEVEL: 'warn', ...database };
    await (await startServer(env)).stop();
    expect(await schedules(env, 'migrate', `org-${'0'.repeat(32)}`)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'There is no such organization.\n',
    });
  }, 240_000);
});
