import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manageOwnSessions, type RolePermission } from '../../src/auth/permissions.ts';
import { systemViewer, type Viewer } from '../../src/auth/viewer.ts';
import { DomainError } from '../../src/common/errors.ts';
import type { Context } from '../../src/domain/context.ts';
import { newId, parseId } from '../../src/domain/ids.ts';
import { sendMessage } from '../../src/domain/sessions/messages.ts';
import { sendToAwake } from '../../src/domain/sessions/send-to-awake.ts';
import {
  sessionEnds,
  sessionStatusDetails,
  sessionStatuses,
  statusOfDetail,
} from '../../src/domain/sessions/status.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

/** Sessions in equal states, one for the single statement and one for the transaction. */
interface Twins {
  readonly organizationId: string;
  readonly ids: readonly [string, string];
}

let test: TestApp;
let enterpriseId: string;
let users: [string, string];
let serviceUserId: string;
let organizations: [string, string];
let twins: Twins[];

beforeAll(async () => {
  test = await startApp();
  const bare = (kind: 'organization' | 'user' | 'serviceUser', id: string) => parseId(kind, id) as string;
  const [one, two] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
  const made = await Promise.all([
    makeUser(test, { organizationId: one.organizationId }),
    makeUser(test, { organizationId: two.organizationId }),
  ]);
  organizations = [bare('organization', one.organizationId), bare('organization', two.organizationId)];
  users = [bare('user', made[0].userId), bare('user', made[1].userId)];
  serviceUserId = bare('serviceUser', one.serviceUserId);
  twins = [];
  for (const [token, organizationId] of [
    [made[0].token, organizations[0]],
    [made[1].token, organizations[1]],
    [one.token, organizations[0]],
  ] as const) {
    const pair = [await createSession(test, {}, token), await createSession(test, {}, token)] as const;
    twins.push({ organizationId, ids: [pair[0], pair[1]] });
  }
  const [row] = await test.app.services.store.query<{ id: string }>('select id from enterprise', []);
  enterpriseId = row?.id ?? '';
});
afterAll(() => test.close());

const sentAt = new Date('2030-01-01T00:00:00Z');
const time = fc.constantFrom(new Date('2029-01-01T00:00:00Z'), new Date('2031-01-01T00:00:00Z'));

const state = fc
  .record({
    // Mostly states that the single statement accepts; each other condition occurs too.
    detail: fc.option(fc.constantFrom(...sessionStatusDetails), { freq: 1 }),
    status: fc.constantFrom(...sessionStatuses, 'running' as const, 'running' as const),
    endedBy: fc.option(fc.constantFrom(...sessionEnds), { freq: 1 }),
    isArchived: fc.constantFrom(false, false, false, true),
    hasQuestion: fc.constantFrom(false, false, false, true),
    isFresh: fc.boolean(),
    updatedAt: time,
    queuedAt: fc.option(time),
    crashCount: fc.nat({ max: 3 }),
    isOrganizationDeleted: fc.constantFrom(false, false, false, false, true),
  })
  .map(({ detail, status, ...rest }) => ({
    ...rest,
    detail,
    status: detail === null ? status : statusOfDetail(detail),
  }));
type State = typeof state extends fc.Arbitrary<infer T> ? T : never;

const permissions = fc.subarray<RolePermission>(
  ['UseSessions', 'ViewOrgSessions', 'ManageOrgSessions', manageOwnSessions],
  { minLength: 0 },
);
const rights = fc.record({
  principal: fc.nat({ max: 2 }),
  everywhere: fc.option(permissions),
  inOrganizations: fc.tuple(fc.option(permissions), fc.option(permissions)),
  isOfEnterprise: fc.constantFrom(true, true, true, true, true, true, false),
});

function viewerOf({
  principal,
  everywhere,
  inOrganizations,
  isOfEnterprise,
}: typeof rights extends fc.Arbitrary<infer T> ? T : never): Viewer {
  const granted = inOrganizations.flatMap((each, n): [string, Set<RolePermission>][] =>
    each === null ? [] : [[organizations[n] as string, new Set(each)]],
  );
  return {
    ...systemViewer(isOfEnterprise ? enterpriseId : newId(), []),
    principal:
      principal === 2
        ? { type: 'SERVICE_USER', id: serviceUserId, name: 'bot' }
        : { type: 'USER', id: users[principal] as string, name: null, email: 'user@example.test' },
    everywhere: new Set(everywhere ?? []),
    organizations: new Map(granted),
  };
}

const execute = (sql: string, values: readonly unknown[]) => test.app.services.store.execute(sql, values);

async function setState(sessionId: string, each: State): Promise<void> {
  const [question] = await test.app.services.store.query<{ id: string }>(
    'select id from log_entry where session_id = $1 order by seq limit 1',
    [sessionId],
  );
  await execute(
    `update session set status = $2, status_detail = $3, ended_by = $4, is_archived = $5, is_fresh = $6, updated_at = $7::timestamptz,
       pending_question_id = $8, request = null, request_from = null where id = $1`,
    [
      sessionId,
      each.status,
      each.detail,
      each.endedBy,
      each.isArchived,
      each.isFresh,
      each.updatedAt,
      each.hasQuestion ? (question?.id ?? null) : null,
    ],
  );
  await execute('update run set queued_at = $2::timestamptz, crash_count = $3 where session_id = $1', [
    sessionId,
    each.queuedAt,
    each.crashCount,
  ]);
}

/** Everything that a message can change in a session, without the ids of the session and the message. */
async function rowsOf(sessionId: string, afterSeq: number): Promise<unknown> {
  const { store } = test.app.services;
  const own = [
    'data',
    'id',
    'session_id',
    'changed_xid',
    'xid',
    'pending_question_id',
    'target_id',
    'audit_id',
    'created_at',
    'next_seq',
    'seq',
  ];
  const rows = async (sql: string) => {
    const found = await store.query<Record<string, unknown>>(sql, [sessionId, afterSeq]);
    return found.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !own.includes(name))));
  };
  return {
    session: await rows(
      'select *, pending_question_id is null as "isWithoutQuestion" from session where id = $1 and $2::int >= 0',
    ),
    run: await rows('select * from run where session_id = $1 and $2::int >= 0'),
    head: await rows('select *, next_seq - $2::int as added from session_head where session_id = $1'),
    entries: await rows(
      `select *, created_at as "sentAt", seq - $2::int as place, data->>'questionId' is not null as "isAnswer", data - 'questionId' as other from log_entry where session_id = $1 and seq > $2::int
        order by seq`,
    ),
    audited: await rows(
      `select a.* from audit_entry a join log_entry e on e.id = a.target_id
        where a.session_id = $1 and a.action = 'send_message' and e.seq > $2::int order by e.seq`,
    ),
  };
}

const lastSeq = async (sessionId: string) => {
  const [head] = await test.app.services.store.query<{ last: number }>(
    'select next_seq - 1 as last from session_head where session_id = $1',
    [sessionId],
  );
  return head?.last ?? 0;
};

/** The refusal of an operation; null: it succeeded. Any other error fails the test. */
async function refusalOf(act: () => Promise<unknown>): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof DomainError) return `${error.code} ${error.message}`;
    throw error;
  }
}

it('the single statement accepts, refuses and writes the same as the rules in a transaction', {
  timeout: 300_000,
}, async () => {
  const outcomes = { byStatement: 0, byTransaction: 0, refused: new Set<string>() };
  await fc.assert(
    fc.asyncProperty(
      state,
      rights,
      fc.nat({ max: 2 }),
      fc.option(fc.nat({ max: 1 })),
      async (each, granted, chosen, within) => {
        const { organizationId, ids } = twins[chosen] as Twins;
        for (const id of ids) await setState(id, each);
        const deletedAt = each.isOrganizationDeleted ? sentAt : null;
        await execute('update organization set deleted_at = $2::timestamptz where id = $1', [
          organizationId,
          deletedAt,
        ]);
        const before = await Promise.all(ids.map(lastSeq));

        const context: Context = { ...test.app.services, now: () => sentAt, viewer: viewerOf(granted), address: null };
        const inputOf = (sessionId: string) => ({
          sessionId,
          message: 'Go on.',
          ...(within === null ? {} : { organizationId: organizations[within] as string }),
        });
        const sent = await sendToAwake(context, inputOf(ids[0]));
        // The single statement never sends a message with a key.
        const keyed = { ...inputOf(ids[1]), idempotencyKey: newId() };
        const refusal = await refusalOf(() => sendMessage(context, keyed));
        if (sent === null) {
          // The single statement leaves resumed and answered sessions to the transaction, and writes nothing that the rules refuse.
          expect(await lastSeq(ids[0])).toBe(before[0]);
          if (refusal === null) outcomes.byTransaction += 1;
          else outcomes.refused.add(refusal);
          const isAwake = ['new', 'claimed', 'running', 'resuming'].includes(each.status);
          if (refusal === null) expect(isAwake && !each.hasQuestion).toBe(false);
        } else {
          outcomes.byStatement += 1;
          expect(refusal).toBeNull();
        }
        expect(await refusalOf(() => (sent === null ? sendMessage(context, inputOf(ids[0])) : Promise.resolve()))).toBe(
          refusal,
        );
        const [one, other] = await Promise.all(ids.map((id, n) => rowsOf(id, before[n] as number)));
        expect(one).toEqual(other);
      },
    ),
    { numRuns: 250 },
  );
  await execute('update organization set deleted_at = null', []);
  // Both code paths must have sent messages.
  expect(outcomes.byStatement).toBeGreaterThan(10);
  expect(outcomes.byTransaction).toBeGreaterThan(10);
  const codes = [...outcomes.refused].map((refusal) => refusal.split(' ')[0]);
  expect(new Set(codes)).toEqual(new Set(['FORBIDDEN', 'NOT_FOUND', 'INVALID_STATE']));
});
