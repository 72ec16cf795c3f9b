import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { createAutomation, makeAutomatic, recurring, switchAutomation } from '../support/automations.ts';
import { stopClock } from '../support/clock.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'scheduler'] });
});
afterAll(() => test.close());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const stamp = (at: Date) => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
/** A rule whose first occurrence is `inMs` from now. */
const from = (inMs: number, rest: string) =>
  `DTSTART:${stamp(new Date(test.app.services.now().getTime() + inMs))}\nRRULE:${rest}`;

const runFields =
  'automationRunId status eventType scheduledFor attempts error { code message } sessionId session { title origin tags }';
const fields = `id automationId isEnabled nextRunAt lastRunAt lastErrorMessage consecutiveFailures runs(first: 100) { totalCount nodes { ${runFields} } }`;

const make = async (input: Record<string, unknown>, token: string) =>
  (await createAutomation(test, input, token, fields)).automation;

async function read(id: string, token: string): Promise<any> {
  const { data } = await graphql(test, token, `query($id: ID!) { node(id: $id) { ... on Automation { ${fields} } } }`, {
    id,
  });
  return data.node;
}

/** Makes the scheduler check, and waits until an automation matches. */
async function waitFor(id: string, token: string, check: (automation: any) => void): Promise<any> {
  test.app.services.notifier.notify('automations');
  await vi.waitFor(async () => check(await read(id, token)), { timeout: 60_000, interval: 20 });
  // Its parts were read in sequence.
  return read(id, token);
}

/** Waits for the scheduler: when a one-time automation created now has run, everything else that was due has run. */
async function settle(token: string): Promise<void> {
  const last = await make({ triggers: [recurring(from(minuteMs, 'FREQ=DAILY;COUNT=1'))] }, token);
  await test.app.services.store.execute('update automation set due_at = $2::timestamptz where id = $1', [
    parseId('automation', last.automationId),
    new Date(0),
  ]);
  await waitFor(last.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
}

describe('a recurring trigger', () => {
  it('starts a session at each occurrence', async () => {
    const { token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY'))] }, token);
    const due = made.nextRunAt;
    expect(made.runs.totalCount).toBe(0);
    clock.advance(hourMs);
    const after = await waitFor(made.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
    expect(after).toMatchObject({ isEnabled: true, lastRunAt: due, consecutiveFailures: 0 });
    expect(new Date(after.nextRunAt).getTime()).toBe(new Date(due).getTime() + dayMs);
    expect(after.runs.nodes[0]).toMatchObject({
      status: 'STARTED',
      eventType: 'schedule:recurring',
      scheduledFor: due,
      attempts: 1,
      error: null,
      session: { title: 'Sweep the floor.', origin: 'AUTOMATION' },
    });
  });

  it('with a next occurrence that takes long to compute runs once, beside others', async () => {
    const { token } = await makeAutomatic(test);
    const clock = stopClock(test);
    // One occurrence soon, and then none until the 29th of February is a Monday.
    const start = new Date(test.app.services.now().getTime() + hourMs);
    const expensive = `FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0`;
    const once = `DTSTART:${stamp(start)}\nRRULE:FREQ=DAILY;COUNT=1`;
    const made = await make({ triggers: [recurring(once), recurring(expensive)] }, token);
    const plain = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY'))] }, token);
    clock.advance(hourMs);
    const after = await waitFor(made.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
    expect(after).toMatchObject({ isEnabled: true, nextRunAt: '2044-02-29T03:00:00.000Z', lastRunAt: made.nextRunAt });
    await waitFor(plain.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
    await settle(token);
    expect((await read(made.id, token)).runs.totalCount).toBe(1);
  });

  it('with a single occurrence runs once and disables itself, with an audit entry', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY;COUNT=1'))] }, token);
    clock.advance(hourMs);
    await waitFor(made.id, token, (now) => expect(now).toMatchObject({ isEnabled: false, nextRunAt: null }));
    clock.advance(2 * dayMs);
    await settle(token);
    expect((await read(made.id, token)).runs.totalCount).toBe(1);
    const entries = await test.app.services.store.query<{ data: unknown }>(
      `select data, user_id from audit_entry where organization_id = $1 and action = 'update_automation' and target_id = $2`,
      [parseId('organization', organizationId), parseId('automation', made.automationId)],
    );
    expect(entries).toEqual([{ data: { name: 'Sweep', changed: 'enabled', reason: 'over' }, user_id: null }]);
  });

  it('runs later than its occurrence by its jitter, and not before', async () => {
    const { token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY'))], jitterSeconds: 900 }, token);
    const [row] = await test.app.services.store.query<{ dueAt: Date }>(
      'select due_at as "dueAt" from automation where id = $1',
      [parseId('automation', made.automationId)],
    );
    const jitter = (row as { dueAt: Date }).dueAt.getTime() - new Date(made.nextRunAt).getTime();
    expect(jitter).toBeGreaterThan(0);
    expect(jitter).toBeLessThan(900_000);
    clock.advance(hourMs + jitter - 1);
    await settle(token);
    expect((await read(made.id, token)).runs.totalCount).toBe(0);
    clock.advance(1);
    const after = await waitFor(made.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
    expect(after.runs.nodes[0].scheduledFor).toBe(made.nextRunAt);
  });
});

describe('missed occurrences', () => {
  const missed = async (missedRuns: string | null, rule: string, awayMs: number) => {
    const { token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const first = test.app.services.now().getTime() + hourMs;
    const made = await make({ triggers: [recurring(from(hourMs, rule))], missedRuns }, token);
    clock.advance(awayMs);
    const after = await waitFor(made.id, token, ({ nextRunAt }) =>
      expect(new Date(nextRunAt).getTime()).toBeGreaterThan(test.app.services.now().getTime()),
    );
    const hours = after.runs.nodes.map((run: any) => (new Date(run.scheduledFor).getTime() - first) / hourMs);
    return { statuses: after.runs.nodes.map((run: any) => run.status), hours };
  };

  it('are run once by default, for the latest occurrence', async () => {
    expect(await missed(null, 'FREQ=HOURLY', 50.5 * hourMs)).toEqual({ statuses: ['STARTED'], hours: [49] });
  });

  it('are skipped on request, with runs that record it', async () => {
    expect(await missed('SKIP', 'FREQ=HOURLY', 50.5 * hourMs)).toEqual({ statuses: ['SKIPPED'], hours: [49] });
    // The last occurrence is not missed yet.
    expect(await missed('SKIP', 'FREQ=HOURLY', 50 * hourMs + minuteMs)).toEqual({ statuses: ['STARTED'], hours: [49] });
  });

  it('are all run on request, oldest first', async () => {
    const few = await missed('ALL', 'FREQ=HOURLY', 4.5 * hourMs);
    expect(few).toEqual({ statuses: ['STARTED', 'STARTED', 'STARTED', 'STARTED'], hours: [3, 2, 1, 0] });
  });
});

it('run once when the clock jumps a day forward and back, also if the automation is disabled and enabled', async () => {
  const { token } = await makeAutomatic(test);
  const clock = stopClock(test);
  const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY'))] }, token);
  const first = made.nextRunAt;
  clock.advance(dayMs);
  await waitFor(made.id, token, ({ runs }) => expect(runs.totalCount).toBe(1));
  clock.advance(-dayMs);
  await switchAutomation(test, made.automationId, false, token);
  await switchAutomation(test, made.automationId, true, token);
  expect((await read(made.id, token)).nextRunAt).toBe(first);
  clock.advance(hourMs);
  await waitFor(made.id, token, ({ nextRunAt }) => expect(nextRunAt).not.toBe(first));
  expect((await read(made.id, token)).runs.nodes.map((run: any) => run.scheduledFor)).toEqual([first]);
});

describe('an automation that fails', () => {
  it('is retried with growing delays, and disabled after ten failures with an audit entry', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=WEEKLY'))], limits: null }, token);
    const id = parseId('organization', organizationId);
    await test.app.services.store.execute('update organization set max_session_acu_limit = 0 where id = $1', [id]);
    clock.advance(hourMs);
    for (let failures = 1; failures < 10; failures++) {
      const failed = await waitFor(made.id, token, (now) => expect(now.consecutiveFailures).toBe(failures));
      expect(failed).toMatchObject({ isEnabled: true, nextRunAt: made.nextRunAt });
      expect(failed.runs.nodes).toMatchObject([
        { status: 'FAILED', attempts: failures, error: { code: 'LIMIT_EXCEEDED' }, sessionId: null },
      ]);
      const waitMs = Math.min(minuteMs * 2 ** (failures - 1), hourMs);
      clock.advance(waitMs - 1);
      await settle((await makeAutomatic(test)).token);
      expect((await read(made.id, token)).consecutiveFailures).toBe(failures);
      clock.advance(1);
    }
    const over = await waitFor(made.id, token, (now) => expect(now.consecutiveFailures).toBe(10));
    expect(over).toMatchObject({ isEnabled: false, nextRunAt: null });
    const entries = await test.app.services.store.query<{ data: unknown }>(
      `select data from audit_entry where organization_id = $1 and action = 'update_automation'`,
      [id],
    );
    expect(entries).toEqual([{ data: { name: 'Sweep', changed: 'enabled', reason: 'failures' } }]);
  });

  it('resets its failures when it succeeds', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY;COUNT=1'))] }, token);
    const id = parseId('organization', organizationId);
    await test.app.services.store.execute('update organization set max_session_acu_limit = 0 where id = $1', [id]);
    clock.advance(hourMs);
    await waitFor(made.id, token, (now) => expect(now.consecutiveFailures).toBe(1));
    await test.app.services.store.execute('update organization set max_session_acu_limit = null where id = $1', [id]);
    clock.advance(minuteMs);
    const after = await waitFor(made.id, token, (now) => expect(now.isEnabled).toBe(false));
    expect(after).toMatchObject({ consecutiveFailures: 0 });
    expect(after.runs.nodes).toMatchObject([{ status: 'STARTED', attempts: 2, error: null }]);
  });
});

it('disables the automations of a deleted organization, and records it in the run', async () => {
  const { organizationId, token } = await makeAutomatic(test);
  const clock = stopClock(test);
  const made = await make({ triggers: [recurring(from(hourMs, 'FREQ=DAILY'))] }, token);
  const { store } = test.app.services;
  const id = parseId('automation', made.automationId);
  await store.execute('update organization set deleted_at = now() where id = $1', [
    parseId('organization', organizationId),
  ]);
  clock.advance(hourMs);
  await settle((await makeAutomatic(test)).token);
  const rows = await store.query(
    `select a.is_enabled, a.next_run_at, r.status, r.error_message from automation a
       join automation_run r on r.automation_id = a.id where a.id = $1`,
    [id],
  );
  expect(rows).toEqual([
    { is_enabled: false, next_run_at: null, status: 'failed', error_message: 'The organization has been deleted.' },
  ]);
});

it('runs schedules like automations, and a one-time schedule once', async () => {
  const { organizationId, token } = await makeAutomatic(test);
  const { store } = test.app.services;
  await store.execute('update organization set has_automations = false where id = $1', [
    parseId('organization', organizationId),
  ]);
  const clock = stopClock(test);
  const body = {
    name: 'Mop',
    prompt: 'Mop the floor.',
    schedule_type: 'one_time',
    scheduled_at: new Date(test.app.services.now().getTime() + hourMs).toISOString(),
    tags: ['floor'],
  };
  const path = `/v3/organizations/${organizationId}/schedules`;
  const { body: made } = await call(test, token, 'POST', path, body);
  clock.advance(hourMs);
  const id = Buffer.from(`Automation:${parseId('automation', made.scheduled_session_id)}`).toString('base64');
  const after = await waitFor(id, token, ({ isEnabled }) => expect(isEnabled).toBe(false));
  expect(after.runs.nodes).toMatchObject([
    { status: 'STARTED', session: { title: 'Mop the floor.', tags: ['floor'] } },
  ]);
  const { body: read } = await call(test, token, 'GET', `${path}/${made.scheduled_session_id}`);
  expect(read).toMatchObject({ enabled: false, consecutive_failures: 0, last_error_message: null });
  expect(read.last_executed_at).toBe(test.app.services.now().toISOString());
});

describe('limits', () => {
  const runNow = async (automation: any, token: string): Promise<any> => {
    const document = `mutation($input: RunAutomationInput!) { runAutomation(input: $input) { run { ${runFields} } userErrors { code message } } }`;
    const { data } = await graphql(test, token, document, { input: { automationId: automation.automationId } });
    return data.runAutomation.run;
  };

  it('of concurrency queue runs, oldest first, and skip runs beyond the queue', async () => {
    const { token } = await makeAutomatic(test);
    const made = await make({ concurrency: { maxConcurrentRuns: 1, maxQueueDepth: 2 } }, token);
    const runs: any[] = [];
    for (let n = 0; n < 4; n++) runs.push(await runNow(made, token));
    expect(runs.map(({ status }) => status)).toEqual(['STARTED', 'QUEUED', 'QUEUED', 'SKIPPED']);
    expect(runs[3].error).toMatchObject({ code: 'LIMIT_EXCEEDED' });
    for (const done of [0, 1]) {
      const { runs: seen } = await read(made.id, token);
      const { sessionId } = seen.nodes.find(
        ({ automationRunId }: any) => automationRunId === runs[done].automationRunId,
      );
      const { organizationId } = (await graphql(test, token, '{ organizations { nodes { organizationId } } }')).data
        .organizations.nodes[0];
      const ended = await call(test, token, 'DELETE', `/v3/organizations/${organizationId}/sessions/${sessionId}`);
      expect(ended.status).toBe(200);
      await vi.waitFor(
        async () => {
          const { nodes } = (await read(made.id, token)).runs;
          const next = nodes.find(({ automationRunId }: any) => automationRunId === runs[done + 1].automationRunId);
          expect(next).toMatchObject({ status: 'STARTED', session: { origin: 'AUTOMATION' } });
        },
        { timeout: 60_000, interval: 20 },
      );
    }
  });

  it('of concurrency keep a run queued whose start failed for another reason', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const made = await make({ concurrency: { maxConcurrentRuns: 1 } }, token);
    const [first, second] = [await runNow(made, token), await runNow(made, token)];
    expect([first.status, second.status]).toEqual(['STARTED', 'QUEUED']);
    const { store } = test.app.services;
    await store.query(
      `create function refuse_session() returns trigger language plpgsql as 'begin raise exception ''broken''; end'`,
      [],
    );
    const bare = parseId('organization', organizationId);
    await store.query(
      `create trigger refuse_session before insert on session for each row
        when (new.organization_id = '${bare}') execute function refuse_session()`,
      [],
    );
    const ended = await call(
      test,
      token,
      'DELETE',
      `/v3/organizations/${organizationId}/sessions/${first.sessionId.replace('devin-', '')}`,
    );
    expect(ended.status).toBe(200);
    const runOf = ({ runs }: any) =>
      runs.nodes.find(({ automationRunId }: any) => automationRunId === second.automationRunId);
    await waitFor(made.id, token, (automation) =>
      expect(runOf(automation)).toMatchObject({ status: 'QUEUED', attempts: 1 }),
    );
    await store.query('drop function refuse_session() cascade', []);
    clock.advance(5_001);
    const after = await waitFor(made.id, token, (automation) => expect(runOf(automation).status).toBe('STARTED'));
    expect(runOf(after)).toMatchObject({ attempts: 2, error: null });
  });

  it('of concurrency start no queued run of a disabled automation', async () => {
    const { token } = await makeAutomatic(test);
    const made = await make({ concurrency: { maxConcurrentRuns: 1 } }, token);
    for (const expected of ['STARTED', 'QUEUED']) expect((await runNow(made, token)).status).toBe(expected);
    await switchAutomation(test, made.automationId, false, token);
    const { runs } = await read(made.id, token);
    expect(runs.nodes).toMatchObject([{ status: 'SKIPPED', error: { code: 'INVALID_STATE' } }, { status: 'STARTED' }]);
  });

  it('of invocations skip runs beyond the limit of a window', async () => {
    const { token } = await makeAutomatic(test);
    const clock = stopClock(test);
    const limits = { invocations: { maxPerWindow: 2, windowSeconds: 60 } };
    const made = await make({ limits }, token);
    const statuses: string[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await runNow(made, token)).status);
    clock.advance(minuteMs);
    statuses.push((await runNow(made, token)).status);
    expect(statuses).toEqual(['STARTED', 'STARTED', 'SKIPPED', 'STARTED']);
  });
});
