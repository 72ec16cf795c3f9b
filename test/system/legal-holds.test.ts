import { describe, expect, it } from 'vitest';
import { sweepCheckpoints } from '../../src/domain/checkpoints/sweep-checkpoints.ts';
import { takeDueWorkspaces } from '../../src/domain/execution/workspaces/deletable.ts';
import { newId } from '../../src/domain/ids.ts';
import { deleteOldSessions } from '../../src/domain/retention/delete-sessions.ts';
import { pruneAuditLogs } from '../../src/domain/retention/prune-audit-log.ts';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { makeManager } from '../rest/rest-app.ts';
import { call, graphql } from '../support/app.ts';
import { dayMs, type HoldTarget, holdTarget, inAYear, releaseHold } from '../support/legal-holds.ts';
import { mutationDocument } from '../support/mutations.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { uploadTo } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const never = () => false;
const hold = (target: HoldTarget, reason?: string) => holdTarget(test, target, reason);
const release = (legalHoldId: string) => releaseHold(test, legalHoldId);

/** Calls createLegalHold: whether there is a hold now, and the codes of the errors. */
async function tryToHold(target: object, reason: string, token = test.adminToken) {
  const document = mutationDocument('createLegalHold', 'legalHold { legalHoldId } userErrors { code }');
  const { data, errors = [] } = await graphql(test, token, document, { input: { target, reason } });
  const payload = data?.createLegalHold;
  const codes = [
    ...errors.map(({ extensions }: any) => extensions.code),
    ...(payload?.userErrors ?? []).map(({ code }: any) => code),
  ];
  return { isHeld: (payload?.legalHold ?? null) !== null, codes };
}

async function makeEnded(organizationId = test.organizationId, token?: string): Promise<string> {
  const id = token === undefined ? await createSession(test, { organizationId }) : await createSession(test, {}, token);
  const path = `/v3/organizations/${organizationId}/sessions/devin-${id}`;
  expect((await call(test, test.adminToken, 'DELETE', path)).status).toBe(200);
  return id;
}

const exists = async (id: string) =>
  (await test.app.services.store.query('select 1 from session where id = $1', [id])).length > 0;

/** Adds checkpoints to a session, the last of which is its newest; returns their number. */
async function addCheckpoints(id: string, count: number): Promise<number> {
  const ids = Array.from({ length: count }, () => newId());
  const { store } = test.app.services;
  await store.execute(
    `insert into checkpoint (id, session_id, organization_id, generation, kind, turn, seq, content, segment_ids, files, bytes, stored_bytes, created_at)
     select c.id, s.id, s.organization_id, 0, 'WORK', 0, 0, '{}', '{}', 0, 0, 0, now() + c.n * interval '1 second'
       from session s, unnest($2::text[]) with ordinality c(id, n) where s.id = $1 returning id`,
    [id, ids],
  );
  await store.execute(
    `insert into checkpoint_segment (id, session_id, organization_id, bytes, state, created_at)
     select $2, id, organization_id, 1, 'STORED', now() from session where id = $1 returning id`,
    [id, newId()],
  );
  await store.execute('update run set checkpoint_id = $2 where session_id = $1 returning session_id', [id, ids.at(-1)]);
  return count;
}

const countCheckpoints = async (id: string) =>
  (await test.app.services.store.query('select 1 from checkpoint where session_id = $1', [id])).length;

const deleteOrganization = (organizationId: string) =>
  call(test, test.adminToken, 'DELETE', `/v3/enterprise/organizations/${organizationId}`);

const sweepAll = async () => {
  await sweepCheckpoints(inAYear(test), { workspaceInactiveMs: dayMs }, never);
  await deleteOrphanedAttachments(inAYear(test), never);
  await pruneAuditLogs(inAYear(test), never);
  return deleteOldSessions(inAYear(test), never);
};

describe('a hold on a session', () => {
  it('keeps all it has from every deletion, until the last hold is released', async () => {
    const { services } = test.app;
    const file = await uploadTo(test, test.organizationId, { name: 'a.txt', content: 'x' });
    const id = await createSession(test, { attachmentIds: [file.attachment_id] });
    await say(test, id, 'evidence');
    const path = `/v3/organizations/${test.organizationId}/sessions/devin-${id}`;
    await call(test, test.adminToken, 'DELETE', path);
    const other = await makeEnded();
    const checkpoints = await addCheckpoints(id, 6);
    await addCheckpoints(other, 6);
    const [first, second] = [await hold({ sessionId: `devin-${id}` }), await hold({ sessionId: id }, 'Another matter')];

    expect(await sweepAll()).toBeGreaterThanOrEqual(1);
    expect([await exists(id), await exists(other)]).toEqual([true, false]);
    expect(await countCheckpoints(id)).toBe(checkpoints);
    const opened = await fetch(file.url, { headers: { authorization: `Bearer ${test.adminToken}` } });
    expect(opened.status).toBe(200);
    expect((await call(test, test.adminToken, 'GET', `${path}/messages`)).body.items.length).toBeGreaterThan(1);
    const audited = await services.store.query('select 1 from audit_entry where session_id = $1', [id]);
    expect(audited.length).toBeGreaterThan(2);

    // Neither a worker that finds its directory, nor a person deletes the workspace.
    await services.store.execute(
      `update run set home_worker_id = 'w', workspace_deletion_requested_at = now() where session_id = $1 returning session_id`,
      [id],
    );
    const times = { workspaceRetentionMs: dayMs, workspaceInactiveMs: dayMs, workspaceReleaseMs: null };
    expect(await takeDueWorkspaces(inAYear(test), 'w', times, [id])).toEqual([]);
    await services.store.execute(
      'update run set workspace_deletion_requested_at = null where session_id = $1 returning session_id',
      [id],
    );
    const document = mutationDocument('deleteSessionWorkspace', 'session { id } userErrors { code message }');
    const refused = await graphql(test, test.adminToken, document, { input: { sessionId: `devin-${id}` } });
    expect(refused.data.deleteSessionWorkspace).toMatchObject({
      userErrors: [{ code: 'INVALID_STATE', message: expect.stringContaining('A legal hold covers the session') }],
    });
    expect(await countCheckpoints(id)).toBe(checkpoints);

    await release(first);
    await sweepAll();
    expect(await exists(id)).toBe(true);
    await release(second);
    await release(second);
    expect(await takeDueWorkspaces(inAYear(test), 'w', times, [id])).toEqual([{ sessionId: id, isHome: true }]);
    expect(await sweepAll()).toBeGreaterThanOrEqual(1);
    expect(await exists(id)).toBe(false);
    expect(await countCheckpoints(id)).toBe(0);
  });

  // The embedded database has one connection: a transaction is alone.
  it.runIf(testDatabase === 'postgres')(
    'waits for a deletion that has begun, and prevents one that begins later',
    async () => {
      const { store } = test.app.services;
      const [gone, kept] = [await makeEnded(), await makeEnded()];
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let isLocked: () => void = () => undefined;
      const locked = new Promise<void>((resolve) => {
        isLocked = resolve;
      });
      // The steps of a deletion, which stops in the middle.
      const deletion = store.transact(async (tx) => {
        await tx.query('select 1 from run where session_id = $1 for update', [gone]);
        isLocked();
        await released;
        await tx.query('delete from run where session_id = $1', [gone]);
        await tx.query('delete from session where id = $1', [gone]);
      });
      await locked;
      const waiting = tryToHold({ sessionId: gone }, 'Late');
      const early = await tryToHold({ sessionId: kept }, 'In time');
      expect(early).toEqual({ isHeld: true, codes: [] });
      release();
      await deletion;
      expect(await waiting).toEqual({ isHeld: false, codes: ['NOT_FOUND'] });
      await Promise.all([sweepAll(), sweepAll()]);
      expect(await exists(kept)).toBe(true);
    },
  );

  it('wins or loses against concurrent deletions, but is never without its session', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => makeEnded()));
    const [results] = await Promise.all([
      Promise.all(ids.map((id) => tryToHold({ sessionId: id }, 'At the same time'))),
      deleteOldSessions(inAYear(test), never),
      deleteOldSessions(inAYear(test), never),
    ]);
    for (const [index, { isHeld, codes }] of results.entries()) {
      expect(codes).toEqual(isHeld ? [] : ['NOT_FOUND']);
      if (isHeld) expect(await exists(ids[index] as string)).toBe(true);
    }
    await deleteOldSessions(inAYear(test), never);
    for (const [index, { isHeld }] of results.entries()) expect(await exists(ids[index] as string)).toBe(isHeld);
  });
});

describe('a hold on an organization or a user', () => {
  it('keeps the sessions, and the organization cannot be deleted', async () => {
    const { organizationId } = await makeOrganization(test, 'Held');
    const id = await makeEnded(organizationId);
    const held = await hold({ organizationId });
    await sweepAll();
    expect(await exists(id)).toBe(true);
    const refused = await deleteOrganization(organizationId);
    expect([refused.status, refused.body.title]).toEqual([409, 'Conflict']);
    await release(held);
    expect((await deleteOrganization(organizationId)).status).toBe(200);
    expect(await tryToHold({ organizationId }, 'Too late')).toEqual({ isHeld: false, codes: ['NOT_FOUND'] });
  });

  it('covers the sessions of the user, also for a deletion of their organization', async () => {
    const { organizationId } = await makeOrganization(test, 'With a user');
    const { userId, token } = await makeUser(test, { organizationId });
    const [theirs, others] = [await makeEnded(organizationId, token), await makeEnded(organizationId)];
    const held = await hold({ userId });
    await sweepAll();
    expect([await exists(theirs), await exists(others)]).toEqual([true, false]);
    expect((await deleteOrganization(organizationId)).status).toBe(409);
    await release(held);
    const ofSession = await hold({ sessionId: theirs });
    expect((await deleteOrganization(organizationId)).status).toBe(409);
    await release(ofSession);
    expect((await deleteOrganization(organizationId)).status).toBe(200);
  });

  it('and a deletion at the same time do not both succeed', async () => {
    for (const kind of ['organization', 'session', 'user'] as const) {
      const { organizationId } = await makeOrganization(test, `Raced ${kind}`);
      const { userId, token } = await makeUser(test, { organizationId });
      const sessionId = await makeEnded(organizationId, token);
      const target = { organization: { organizationId }, session: { sessionId }, user: { userId } }[kind];
      const [{ isHeld }, deleted] = await Promise.all([
        tryToHold(target, 'A race'),
        deleteOrganization(organizationId),
      ]);
      // A user exists without the organization, but then its sessions were deleted before the hold.
      if (kind !== 'user') expect(deleted.status).toBe(isHeld ? 409 : 200);
      else expect([200, 409]).toContain(deleted.status);
    }
  });
});

describe('the list and the input', () => {
  it('has holds with their reasons as they were written, newest first', async () => {
    const reason = `<script>alert(1)</script> '; drop table legal_hold; -- \u202e "quoted" \u{1f600}\n`;
    const id = await hold({ organizationId: test.organizationId }, reason);
    const read = async (filter: object) => {
      const { data, errors } = await graphql(
        test,
        test.adminToken,
        `query($filter: LegalHoldFilter) { enterprise { legalHolds(first: 5, filter: $filter) { totalCount nodes {
           legalHoldId kind targetId reason createdBy { displayName } releasedBy { displayName } releasedAt
           organization { organizationId } session { id } user { id } } } } }`,
        { filter },
      );
      expect(errors).toBeUndefined();
      return data.enterprise.legalHolds.nodes;
    };
    const [newest] = await read({ isReleased: false });
    expect(newest).toEqual({
      legalHoldId: id,
      kind: 'ORGANIZATION',
      targetId: `org-${test.organizationId}`,
      reason,
      createdBy: { displayName: expect.any(String) },
      releasedBy: null,
      releasedAt: null,
      organization: { organizationId: `org-${test.organizationId}` },
      session: null,
      user: null,
    });
    expect((await read({ search: 'DROP TABLE' })).map(({ legalHoldId }: any) => legalHoldId)).toEqual([id]);
    await release(id);
    expect(await read({ isReleased: false, search: 'drop table' })).toEqual([]);
    expect(await read({ isReleased: true, search: 'drop table' })).toMatchObject([
      { releasedAt: expect.any(String), releasedBy: { displayName: expect.any(String) } },
    ]);
  });

  it('refuses other reasons and targets, and callers without the permission before it looks for the target', async () => {
    const target = { organizationId: test.organizationId };
    for (const reason of ['', ' \u3164 ', 'x'.repeat(2_001), 'nul \u0000']) {
      expect(await tryToHold(target, reason)).toEqual({ isHeld: false, codes: ['INVALID_INPUT'] });
    }
    const foreign = newId();
    await test.app.services.store.transact(async (tx) => {
      const enterpriseId = newId();
      const createdAt = new Date();
      await tx.prisma.enterprise.create({ data: { id: enterpriseId, name: 'Foreign', createdAt } });
      const data = { id: foreign, enterpriseId, name: 'Foreign', createdAt, updatedAt: createdAt };
      await tx.prisma.organization.create({ data });
    });
    for (const missing of [{ organizationId: foreign }, { sessionId: newId() }, { userId: 'nobody' }]) {
      expect(await tryToHold(missing, 'x')).toEqual({ isHeld: false, codes: ['NOT_FOUND'] });
    }
    const { token } = await makeOrganization(test, 'Without');
    const manager = await makeManager(test, 'ManageOrganizations', 'ManageBilling');
    for (const each of [token, manager]) {
      for (const any of [target, { organizationId: foreign }, { sessionId: newId() }]) {
        expect(await tryToHold(any, 'x', each)).toEqual({ isHeld: false, codes: ['FORBIDDEN'] });
      }
    }
  });
});
