import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtInRoles } from '../../src/auth/permissions.ts';
import { systemViewer, type Viewer } from '../../src/auth/viewer.ts';
import { newId } from '../../src/domain/ids.ts';
import { readSessions } from '../../src/domain/sessions/read-sessions.ts';
import {
  pullRequestStates,
  type SessionRecord,
  sessionColumns,
  sessionOrigins,
} from '../../src/domain/sessions/session.ts';
import { filterConditions, matcherOf } from '../../src/domain/sessions/session-conditions.ts';
import {
  checkFilter,
  maxFilterConditions,
  type SessionConditions,
  type SessionFilter,
} from '../../src/domain/sessions/session-filter.ts';
import { sessionGroups } from '../../src/domain/sessions/session-groups.ts';
import {
  sessionEnds,
  sessionStatusDetails,
  sessionStatuses,
  statusOfDetail,
} from '../../src/domain/sessions/status.ts';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
let sessions: readonly SessionRecord[];
beforeAll(async () => {
  test = await openTestStore();
  // A fixed seed, so that the filters always find the same sessions.
  for (const session of fc.sample(sessionArbitrary, { numRuns: 300, seed: 1 })) await insert(session);
  sessions = await readSessions(test, `select ${sessionColumns} from session s`, []);
});
afterAll(() => test.close());

const enterpriseId = newId();
const ids = (count: number) => Array.from({ length: count }, () => newId());
const [organizations, users, serviceUsers, serviceKeys, playbooks, automations, parents] = [3, 3, 2, 2, 2, 2, 3].map(
  ids,
) as [string[], string[], string[], string[], string[], string[], string[]];
const sessionIds = ids(300);
const tags = ['a', 'b', 'c', 'ä'];
const titles = [
  'Release',
  'release 1.2',
  'RELEASE',
  'Ärger',
  'ärger',
  'İstanbul',
  'istanbul',
  'ΣΑΣ',
  'σας',
  '%_',
  '😀',
  '',
];
const minute = fc.integer({ min: 0, max: 20 }).map((n) => new Date(Date.UTC(2026, 0, 1, 0, n)));
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value);
const oneOf = (of: readonly string[]) => fc.constantFrom(...of);
let inserted = 0;

const sessionArbitrary = fc
  .record({
    organizationId: oneOf(organizations),
    title: oneOf(titles),
    status: fc.constantFrom(...sessionStatuses),
    detail: orNull(fc.constantFrom(...sessionStatusDetails)),
    endedBy: orNull(fc.constantFrom(...sessionEnds)),
    pendingQuestionId: orNull(fc.constant('question')),
    isArchived: fc.boolean(),
    isUnlisted: fc.boolean(),
    origin: fc.constantFrom(...sessionOrigins),
    tags: fc.subarray(tags),
    pullRequests: fc.array(fc.constantFrom(...pullRequestStates), { maxLength: 2 }),
    playbookId: orNull(oneOf(playbooks)),
    automationId: orNull(oneOf(automations)),
    parentId: orNull(oneOf(parents)),
    userId: orNull(oneOf(users)),
    serviceUserId: orNull(oneOf(serviceUsers)),
    serviceKeyId: orNull(oneOf(serviceKeys)),
    createdAt: minute,
    updatedAt: minute,
  })
  // A detail belongs to one status, and a session has one creator.
  .map(({ detail, ...session }) => ({
    ...session,
    detail,
    status: detail === null ? session.status : statusOfDetail(detail),
    serviceUserId: session.userId === null ? session.serviceUserId : null,
    serviceKeyId: session.userId === null && session.serviceUserId === null ? session.serviceKeyId : null,
  }));

async function insert(session: typeof sessionArbitrary extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const id = sessionIds[inserted++] as string;
  await test.store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, status_detail, ended_by, is_archived,
       is_unlisted, origin, tags, prompt, playbook_id, automation_id, parent_id, user_id, service_user_id, service_key_id, created_at, updated_at,
       pull_requests, pending_question_id)
     values ($1, $2, $3, false, $4, $5, $6, $7, $8, $9, $10::text[], 'x', $11, $12, $13, $14, $15, $16, $17::timestamptz, $18::timestamptz,
       $19::jsonb, $20)`,
    [
      id,
      session.organizationId,
      session.title,
      session.status,
      session.detail,
      session.endedBy,
      session.isArchived,
      session.isUnlisted,
      session.origin,
      session.tags,
      session.playbookId,
      session.automationId,
      session.parentId,
      session.userId,
      session.serviceUserId,
      session.serviceKeyId,
      session.createdAt,
      session.updatedAt,
      JSON.stringify(session.pullRequests.map((state, index) => ({ url: `https://git.test/${index}`, state }))),
      session.pendingQuestionId,
    ],
  );
  await test.store.execute(
    `insert into session_tag (organization_id, tag, created_at, session_id)
     select organization_id, unnest(tags), created_at, id from session where id = $1`,
    [id],
  );
}

const someOf = <T>(values: readonly T[]) => fc.subarray([...values]);
const none = 'none';

const conditions: fc.Arbitrary<SessionConditions> = fc.record(
  {
    status: someOf(sessionStatuses),
    statusDetail: someOf(sessionStatusDetails),
    endReasons: someOf(sessionEnds),
    group: someOf(sessionGroups),
    tags: someOf(tags),
    allTags: someOf(tags),
    pullRequestStates: someOf(pullRequestStates),
    isArchived: fc.boolean(),
    isUnlisted: fc.boolean(),
    origins: someOf(sessionOrigins),
    organizationIds: someOf([...organizations, none]),
    playbookId: oneOf([...playbooks, none]),
    automationIds: someOf([...automations, none]),
    parentId: oneOf([...parents, none]),
    hasParent: fc.boolean(),
    createdBy: fc.record({
      userIds: someOf(users),
      serviceUserIds: someOf(serviceUsers),
      serviceKeyIds: someOf(serviceKeys),
    }),
    createdAfter: minute,
    createdBefore: minute,
    updatedAfter: minute,
    updatedBefore: minute,
    search: oneOf(['', 'rel', 'LEASE', 'ä', 'Ä', 'i', 'İ', 'σ', 'ΣΑΣ', '%', '_', '😀', '1.', '1 REL', 'x rel', ' ']),
    isOver: fc.boolean(),
    sessionIds: fc.array(fc.nat({ max: 400 }), { maxLength: 40 }).map((of) => of.map((n) => sessionIds[n] ?? none)),
  },
  { requiredKeys: [] },
);

// Few conditions each, so that many filters match something.
const few = conditions.chain((all) =>
  fc.subarray(Object.keys(all), { maxLength: 3 }).map((names): SessionConditions => {
    return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  }),
);

const filter: fc.Arbitrary<SessionFilter> = fc.letrec<{ at0: SessionFilter; at1: SessionFilter; at2: SessionFilter }>(
  (tie) => {
    const within = (inner: fc.Arbitrary<SessionFilter>) =>
      fc
        .tuple(
          few,
          fc.record(
            { and: fc.array(inner, { maxLength: 2 }), or: fc.array(inner, { maxLength: 3 }), not: inner },
            { requiredKeys: [] },
          ),
        )
        .map(([own, combined]): SessionFilter => ({ ...own, ...combined }));
    return { at0: within(tie('at1')), at1: within(tie('at2')), at2: fc.oneof(few, within(few)) };
  },
).at0;

const nobody: ReadonlySet<never> = new Set();
const userOf = (id: string, managed: readonly string[]): Viewer => ({
  ...systemViewer(enterpriseId, []),
  principal: { type: 'USER', id, name: null, email: 'u@example.com' },
  enterprisePermissions: nobody,
  everywhere: nobody,
  organizations: new Map(managed.map((organization) => [organization, new Set(['ManageOrgSessions'] as const)])),
});
const viewer = fc.constantFrom(
  systemViewer(
    enterpriseId,
    builtInRoles.flatMap(({ permissions }) => [...permissions]),
  ),
  userOf(users[0] as string, []),
  userOf(users[1] as string, organizations.slice(0, 1)),
);

it('a statement finds the same sessions as the check in memory, for any filter', async () => {
  let found = 0;
  let narrowed = 0;
  let maxMatching = 0;
  await fc.assert(
    fc.asyncProperty(viewer, filter, async (caller, input) => {
      const checked = check(caller, input);
      fc.pre(checked !== null);
      const values: unknown[] = [];
      const where = filterConditions(checked, enterpriseId, (value) => `$${values.push(value)}`);
      const rows = await test.store.query<{ id: string }>(
        `select s.id from session s where ${['true', ...where].join(' and ')} order by s.id`,
        values,
      );
      const matching = sessions.filter(matcherOf(checked)).map(({ id }) => id);
      expect(rows.map(({ id }) => id)).toEqual(matching.toSorted());
      if (matching.length > 0) found += 1;
      if (matching.length < sessions.length) narrowed += 1;
      maxMatching = Math.max(maxMatching, matching.length);
    }),
    { numRuns: 400 },
  );
  // Otherwise the property would be vacuous.
  expect(found).toBeGreaterThan(50);
  expect(narrowed).toBeGreaterThan(50);
  expect(maxMatching).toBeGreaterThan(100);
});

function check(caller: Viewer, input: SessionFilter) {
  try {
    return checkFilter(caller, input);
  } catch (error) {
    expect(String(error)).toContain(`at most ${maxFilterConditions} conditions`);
    return null;
  }
}
