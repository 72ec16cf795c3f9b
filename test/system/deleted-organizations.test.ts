import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { createDeletedOrganizations } from '../../src/jobs/deleted-organizations.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });
const waitUntilDeleted = async (id: string) => {
  while (agentsOf(id).length > 0) await setImmediate();
};

interface SessionRow {
  status: string;
  endedBy: string | null;
  hasLease: boolean;
  queuedAt: Date | null;
}

async function readRow(test: TestApp, id: string): Promise<SessionRow | undefined> {
  const rows = await test.app.services.store.query<SessionRow>(
    `select s.status, s.ended_by as "endedBy", r.queued_at as "queuedAt", l.session_id is not null as "hasLease"
       from session s join run r on r.session_id = s.id left join lease l on l.session_id = s.id where s.id = $1`,
    [id],
  );
  return rows[0];
}

const terminated = { endedBy: 'terminated', hasLease: false, queuedAt: null };
const waitUntilTerminated = async (test: TestApp, id: string) => {
  while ((await readRow(test, id))?.endedBy !== 'terminated') await setImmediate();
};

describe('with workers', () => {
  let test: TestApp;
  beforeAll(async () => {
    // A short lease: a worker releases sessions that it must not keep at a heartbeat, every quarter of the lease.
    test = await startApp({
      roles: ['api', 'worker', 'scheduler'],
      maxConcurrentSessions: 4,
      leaseMs: 2_000,
      sandbox: 'none',
    });
  });
  afterAll(() => test.close());

  it('stops the agents of a deleted organization’s sessions in any state, and no others', async () => {
    const { organizationId } = await makeOrganization(test, 'Doomed');
    const working = await createSession(test, { organizationId, prompt: 'say working\nsleep 60\nsay never' });
    const asking = await createSession(test, { organizationId, prompt: 'ask Which colour?' });
    const finished = await createSession(test, { organizationId, prompt: 'say done' });
    const neighbour = await createSession(test, { prompt: 'ask And you?' });
    await waitForSession(test, working, ({ statusDetail }) => statusDetail === 'WORKING');
    await Promise.all([
      waitUntilWaiting(test, asking),
      waitUntilEnded(test, finished),
      waitUntilWaiting(test, neighbour),
    ]);
    const doomed = [working, asking, finished];
    for (const id of [...doomed, neighbour]) expect(agentsOf(id)).toHaveLength(1);

    const { status } = await call(test, test.adminToken, 'DELETE', `/v3/enterprise/organizations/${organizationId}`);
    expect(status).toBe(200);
    for (const id of doomed) {
      await waitUntilTerminated(test, id);
      await waitUntilDeleted(id);
      expect(await readRow(test, id)).toMatchObject({ status: 'exit', ...terminated });
    }
    expect(agentsOf(neighbour)).toHaveLength(1);
    const audited = await test.app.services.store.query<{ sessionId: string; by: string | null }>(
      `select session_id as "sessionId", coalesce(user_id, service_user_id, api_key_id) as by from audit_entry
        where action = 'terminate_session' and organization_id = $1`,
      [organizationId.replace('org-', '')],
    );
    expect(new Set(audited.map((entry) => entry.sessionId))).toEqual(new Set(doomed));
    expect(audited.every((entry) => entry.by === null)).toBe(true);
  });
});

describe('without a scheduler', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ roles: ['api', 'worker'], maxConcurrentSessions: 1, leaseMs: 1_000, sandbox: 'none' });
  });
  afterAll(() => test.close());

  it('workers stop a deleted organization’s sessions and start none, without a notification', async () => {
    const { organizationId } = await makeOrganization(test, 'Silent');
    const running = await createSession(test, { organizationId, prompt: 'say working\nsleep 60' });
    await waitForSession(test, running, ({ statusDetail }) => statusDetail === 'WORKING');
    const waiting = await createSession(test, { organizationId, prompt: 'say never' });
    // The state that a process leaves if it dies right after its commit: no notification, no termination.
    await test.app.services.store.execute('update organization set deleted_at = now() where id = $1 returning id', [
      organizationId.replace('org-', ''),
    ]);
    await waitUntilDeleted(running);
    // The only slot is free again, and goes to the next session that may run instead of the older one that waits.
    const next = await createSession(test, { prompt: 'say hello' });
    await waitUntilEnded(test, next);
    expect(await readRow(test, waiting)).toMatchObject({ status: 'new', endedBy: null, hasLease: false });
    expect(await readRow(test, running)).toMatchObject({ status: 'running', endedBy: null });
  });
});

describe('after a crash between the deletion and the termination', () => {
  it('the next start terminates the remaining sessions in any status, in several batches', async () => {
    const test = await startApp();
    try {
      const { organizationId } = await makeOrganization(test, 'Half deleted');
      const { store } = test.app.services;
      const bare = organizationId.replace('org-', '');
      const live = ['new', 'claimed', 'running', 'suspended', 'resuming'];
      const states = [...live, ...live, ...live, ...live, 'exit'];
      const made: { id: string; status: string }[] = [];
      // More than one batch of unfinished sessions.
      for (let n = 0; n < 105; n++) {
        const id = await createSession(test, { organizationId, prompt: 'say something' });
        const status = states[n % states.length] ?? 'new';
        await store.execute('update session set status = $2, ended_by = $3 where id = $1 returning id', [
          id,
          status,
          status === 'exit' ? 'finished' : null,
        ]);
        made.push({ id, status });
      }
      const retained = await createSession(test, { prompt: 'say kept' });
      await store.execute('update organization set deleted_at = now() where id = $1 returning id', [bare]);

      // The tested part of a process's start.
      const scheduled = createDeletedOrganizations(test.app.services);
      scheduled.start();
      const left = () =>
        store.query(`select id from session where organization_id = $1 and status not in ('exit', 'error')`, [bare]);
      while ((await left()).length > 0) await setImmediate();
      await scheduled.stop();
      for (const { id, status } of made) {
        // A session that finished by itself, and has no agent, stays unchanged.
        const expected = status === 'exit' ? { status, endedBy: 'finished' } : { status: 'exit', ...terminated };
        expect(await readRow(test, id)).toMatchObject(expected);
      }
      expect(await readRow(test, retained)).toMatchObject({ status: 'new', endedBy: null });
    } finally {
      await test.close();
    }
  });
});
