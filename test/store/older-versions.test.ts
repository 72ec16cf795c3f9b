import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Driver } from '../../src/store/driver.ts';
import { migrate, readMigrations } from '../../src/store/migrations.ts';
import { openEmptyDriver, type TestDriver } from '../support/test-store.ts';

/** The first migration of this version: rows of the previous version were written on the migrations before it. */
const firstOfThisVersion = '20261122183418_console_page_secret';

/** The migration that supplies what processes of that version omit while they run beside newer ones. */
const forOlderProcesses = '20261122232900_older_processes';

let test: TestDriver;
let driver: Driver;

const at = new Date('2026-11-01T00:00:00Z');

async function insert(table: string, row: Record<string, unknown>): Promise<void> {
  const names = Object.keys(row);
  const placeholders = names.map((_, n) => `$${n + 1}`);
  await driver.query(`insert into ${table} (${names}) values (${placeholders})`, Object.values(row));
}

/** Writes a session and its run like the previous version. */
async function insertSession(id: string, session: Record<string, unknown> = {}, run: Record<string, unknown> = {}) {
  const times = { created_at: at, updated_at: at };
  const required = { title: id, is_title_derived: true, status: 'new', origin: 'api', tags: [], prompt: 'say hello' };
  await insert('session', { id, organization_id: 'o', ...required, ...times, ...session });
  await insert('run', {
    ...{ session_id: id, queued_at: at, generation: 0, delivered_seq: 0, answered_seqs: [], turn_after_seq: 0 },
    ...{ turn_count: 0, is_turn_open: false, agent_cost_usd: 0, crash_count: 0, ...run },
  });
  await insert('session_head', { session_id: id });
}

/** Writes the user's messages with these numbers, each followed by one of the agent. */
async function insertMessages(sessionId: string, ...seqs: number[]): Promise<void> {
  for (const seq of seqs) {
    const entry = { session_id: sessionId, kind: 'MESSAGE', body: 'words', created_at: at };
    await insert('log_entry', { ...entry, seq, id: `${sessionId}${seq}`, message_type: 'user_message' });
    const agents = { seq: seq + 1, id: `${sessionId}${seq + 1}`, message_type: 'agent_message' };
    await insert('log_entry', { ...entry, ...agents });
  }
}

const runOf = async (id: string) => {
  const columns = `organization_id as "organizationId", principal_id as "principalId", turn_seqs as "turnSeqs", is_turn_open as
    "isTurnOpen", workspace_deleted_at as "deletedAt", workspace_deletion_requested_at as "requestedAt"`;
  return (await driver.query<Record<string, unknown>>(`select ${columns} from run where session_id = $1`, [id]))[0];
};

// One database for all tests: creating and migrating one takes seconds on a busy machine.
beforeAll(async () => {
  test = await openEmptyDriver();
  driver = test.driver;
  const migrations = await readMigrations();
  const upTo = async (next: string) => {
    const index = migrations.findIndex(({ name }) => name === next);
    expect(index).toBeGreaterThan(0);
    await migrate(driver, migrations.slice(0, index));
  };
  await upTo(firstOfThisVersion);
  await insertOldRows();
  await upTo(forOlderProcesses);
  await insertSession('leftOut', { user_id: 'u' });
  expect(await runOf('leftOut')).toMatchObject({ organizationId: '', principalId: '' });
  await migrate(driver);
});
afterAll(() => test.close());

async function insertOldRows(): Promise<void> {
  await insert('enterprise', { id: 'e', name: 'E', created_at: at, max_cycle_acu_limit: 7 });
  const limits = { max_cycle_acu_limit: 2_147_483_647, max_session_acu_limit: 5 };
  await insert('organization', { id: 'o', enterprise_id: 'e', name: 'O', created_at: at, updated_at: at, ...limits });
  await insert('console_session', { id: 'c', token_hash: 'h', api_key_id: 'k', created_at: at, expires_at: at });
  await insert('offset_walk', { key: 'w', organization_id: 'o', head_count: 3, has_begun: true, started_at: at });
  await insertSession('old', { user_id: 'u', max_acu_limit: 9 });
  await insertSession('oldOfServiceUser', { service_user_id: 's' });
  await insertSession('oldOfNobody');
  const turn = { is_turn_open: true, turn_count: 2, turn_after_seq: 1, delivered_seq: 5, answered_seqs: [7] };
  await insertSession('atWork', { user_id: 'u', status: 'running' }, turn);
  await insertMessages('atWork', 1, 3, 5, 7, 9);
  await insertSession('suspended', { status: 'suspended', status_detail: 'user_request' }, turn);
  await insertSession('asleep', { status: 'suspended', status_detail: 'inactivity' }, turn);
}

it('accepts the rows of the previous version', async () => {
  const owned = { organizationId: 'o', principalId: '', turnSeqs: [], isTurnOpen: false };
  const run = { ...owned, deletedAt: null, requestedAt: null };
  expect(await runOf('old')).toEqual({ ...run, principalId: 'u' });
  expect(await runOf('oldOfServiceUser')).toEqual({ ...run, principalId: 's' });
  expect(await runOf('oldOfNobody')).toEqual(run);
  expect(await runOf('atWork')).toEqual({ ...run, principalId: 'u', turnSeqs: [3, 5, 7], isTurnOpen: true });
  expect(await runOf('suspended')).toEqual(run);
  expect(await runOf('asleep')).toEqual({ ...run, isTurnOpen: true });
  expect(await driver.query('select id from console_session', [])).toEqual([]);
  const snapshots = await driver.query('select key, head_count as "headCount" from paging_snapshot', []);
  expect(snapshots).toEqual([{ key: 'w', headCount: 3 }]);
  const limits = `select e.max_cycle_acu_limit as e, o.max_cycle_acu_limit as o, o.max_concurrent_sessions as c, s.max_acu_limit as s
    from enterprise e, organization o, session s where s.id = 'old'`;
  expect(await driver.query(limits, [])).toEqual([{ e: 7, o: 2_147_483_647, c: null, s: 9 }]);
});

it('queues runs that are missing in the queue', async () => {
  expect(await runOf('leftOut')).toMatchObject({ organizationId: 'o', principalId: 'u' });
});

it('completes a run that a process of the previous version inserts', async () => {
  await insertSession('ofUser', { user_id: 'u' });
  await insertSession('ofServiceUser', { service_user_id: 's' });
  await insertSession('ofNobody');
  expect(await runOf('ofUser')).toMatchObject({ organizationId: 'o', principalId: 'u' });
  expect(await runOf('ofServiceUser')).toMatchObject({ organizationId: 'o', principalId: 's' });
  expect(await runOf('ofNobody')).toMatchObject({ organizationId: 'o', principalId: '' });
});

it('keeps the messages of a turn that a worker of the previous version starts', async () => {
  await insertSession('turns', { user_id: 'u' });
  await insertMessages('turns', 1, 3, 5, 7, 9, 11);
  const startTurn = (lastSeq: number, turn: number) =>
    driver.query(
      `update run set turn_after_seq = case when $2::int = 0 then turn_after_seq else delivered_seq end,
              delivered_seq = greatest(delivered_seq, $2::int),
              answered_seqs = array(select seq from unnest(answered_seqs) as seq where seq > greatest(delivered_seq, $2::int)),
              turn_count = $3, is_turn_open = true where session_id = $1`,
      ['turns', lastSeq, turn],
    );
  const recordAnswer = 'update run set answered_seqs = answered_seqs || $2::int[] where session_id = $1';
  const takeBackAnswer = `update run set answered_seqs = array(select seq from unnest(answered_seqs) as seq where seq <> all($2::int[]))
    where session_id = $1`;
  const turnSeqs = async () => (await runOf('turns'))?.turnSeqs;

  await startTurn(3, 1);
  expect(await turnSeqs()).toEqual([1, 3]);
  await driver.query(recordAnswer, ['turns', [5, 7]]);
  expect(await turnSeqs()).toEqual([1, 3, 5, 7]);
  await driver.query(takeBackAnswer, ['turns', [5]]);
  expect(await turnSeqs()).toEqual([1, 3, 7]);
  // An attempt at the same turn, by the next lease holder.
  await startTurn(0, 2);
  expect(await turnSeqs()).toEqual([1, 3, 7]);
  await startTurn(9, 3);
  expect(await turnSeqs()).toEqual([5, 9]);
  await startTurn(11, 4);
  expect(await turnSeqs()).toEqual([11]);
});

it('keeps the workspace that a worker of the previous version creates', async () => {
  await insertSession('s');
  const set = 'update run set workspace_deleted_at = $2, workspace_deletion_requested_at = $2 where session_id = $1';
  await driver.query(set, ['s', at]);
  // A worker adopts its own workspaces without a claim.
  await driver.query('update run set home_worker_id = $2 where session_id = $1', ['s', 'w']);
  expect(await runOf('s')).toMatchObject({ deletedAt: at, requestedAt: at });
  await driver.query('update run set generation = $2, home_worker_id = $3 where session_id = $1', ['s', 1, 'w']);
  expect(await runOf('s')).toMatchObject({ deletedAt: null, requestedAt: null });
});

it('invalidates the secret of a webhook, also for signatures, when a process of the previous version rotates it', async () => {
  const required = { name: 'a', is_enabled: true, run_as: 'owner', triggers: '[]', actions: '[]' };
  const secret = { webhook_secret_hash: 'one', webhook_secret_sealed: 'sealed one' };
  const times = { created_at: at, updated_at: at };
  const automation = { id: 'a', organization_id: 'o', ...required, ...secret, ...times };
  await insert('automation', automation);
  const sealed = async () => (await driver.query('select webhook_secret_sealed as sealed from automation', []))[0];
  const rotate = 'update automation set webhook_secret_hash = $1, webhook_secret_sealed = $2';
  await driver.query(rotate, ['two', 'sealed two']);
  expect(await sealed()).toEqual({ sealed: 'sealed two' });
  await driver.query('update automation set webhook_secret_hash = $1', ['three']);
  expect(await sealed()).toEqual({ sealed: null });
});

it('accepts the rows of a sign-in from a process of the previous version', async () => {
  for (const id of ['c1', 'c2'])
    await insert('console_session', { id, token_hash: id, api_key_id: 'k', created_at: at, expires_at: at });
  const hashes = await driver.query<{ hash: string }>('select page_secret_hash as hash from console_session', []);
  // Hashes of page secrets are hexadecimal.
  expect(hashes.map(({ hash }) => hash)).toEqual([expect.stringMatching(/^none:/), expect.stringMatching(/^none:/)]);
});
