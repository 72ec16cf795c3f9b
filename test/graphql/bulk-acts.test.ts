import { describe, expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { isOfSigningIn } from '../support/key-changes.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser, otherId } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = `results { sessionId session { sessionId status isArchived tags } userErrors { code message path } } hasMore endCursor`;
const run = (field: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, fields, input, token);
const wire = (ids: readonly string[]) => ids.map((id) => `devin-${id}`);
const byIds = (sessionIds: readonly string[]) => ({ selection: { sessionIds } });
const byFilter = (filter: Record<string, unknown>) => ({ selection: { filter } });
/** A condition that every session meets. */
const everything = { createdBefore: '2100-01-01T00:00:00Z' };
const idsOf = (payload: any): string[] => payload.results.map((result: { sessionId: string }) => result.sessionId);

async function makeSessions(token: string, count: number, input: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await createSession(test, input, token));
  return ids;
}

/** Counts an action in an organization's audit log. */
async function countActs(organizationId: string, action: string): Promise<number> {
  const rows = await test.app.services.store.query<{ targetId: string }>(
    'select distinct target_id as "targetId" from audit_entry where organization_id = $1 and action = $2',
    [organizationId.replace('org-', ''), action],
  );
  return rows.length;
}

describe('sessions by their ids', () => {
  it('are changed or refused with a reason, in order, each once', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk ids');
    const [one, two] = (await makeSessions(token, 2)) as [string, string];
    const stranger = await makeOrganization(test, 'Bulk strangers');
    const foreign = await createSession(test, {}, stranger.token);
    const sessionIds = [two, `devin-${one}`, foreign, otherId(one), 'no id \u0000', one];
    const payload = await run(
      'terminateSessions',
      { ...byIds(sessionIds), archive: true, clientMutationId: 'x' },
      token,
    );
    const done = (id: string) => ({
      sessionId: `devin-${id}`,
      session: { sessionId: `devin-${id}`, status: 'EXIT', isArchived: true, tags: [] },
      userErrors: [],
    });
    const unknown = { code: 'UNKNOWN_REFERENCE', message: 'There is no such session.' };
    const refused = (sessionId: string, index: number) => ({
      sessionId,
      session: null,
      userErrors: [{ ...unknown, path: ['input', 'selection', 'sessionIds', String(index)] }],
    });
    expect(payload).toEqual({
      results: [
        done(two),
        done(one),
        refused(`devin-${foreign}`, 2),
        refused(`devin-${otherId(one)}`, 3),
        refused('no id \u0000', 4),
      ],
      hasMore: false,
      endCursor: null,
      userErrors: [],
      clientMutationId: 'x',
    });
    expect(await countActs(organizationId, 'terminate_session')).toBe(2);
    expect(await countActs(stranger.organizationId, 'terminate_session')).toBe(0);
  });

  it('of other users are refused individually for a caller that may only change its own', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk members');
    const member = await makeUser(test, { organizationId });
    const [others] = await makeSessions(token, 1);
    const [own] = await makeSessions(member.token, 1);
    const { results } = await run('archiveSessions', byIds([others as string, own as string]), member.token);
    expect(results).toMatchObject([
      {
        session: null,
        userErrors: [{ code: 'UNKNOWN_REFERENCE', message: 'Missing permission MANAGE_ORG_SESSIONS.' }],
      },
      { session: { isArchived: true }, userErrors: [] },
    ]);
  });

  it('follow the rules of the single action individually', async () => {
    const { token } = await makeOrganization(test, 'Bulk rules');
    const [full, free] = (await makeSessions(token, 2)) as [string, string];
    const tags = Array.from({ length: 50 }, (_, n) => `t${n}`);
    await run('tagSessions', { ...byIds([full]), tags, mode: 'REPLACE' }, token);
    const { results } = await run('tagSessions', { ...byIds([full, free]), tags: ['more'] }, token);
    expect(results).toMatchObject([
      { session: null, userErrors: [{ code: 'LIMIT_EXCEEDED', path: ['input', 'tags'] }] },
      { session: { tags: ['more'] }, userErrors: [] },
    ]);
    const both = { ...byIds([full, free]), tags: ['only'], mode: 'REPLACE' };
    const replaced = await run('tagSessions', both, token);
    expect(replaced.results.map((result: any) => result.session.tags)).toEqual([['only'], ['only']]);
  });
});

describe('sessions by a filter', () => {
  it('are processed in batches until none remains', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk filter');
    const remaining = await makeSessions(token, 2);
    const ids = (await makeSessions(token, 7, { tags: ['old'] })).reverse();
    const input = { ...byFilter({ tags: ['old'] }), first: 3 };
    const batches: string[][] = [];
    for (let hasMore = true; hasMore; ) {
      const payload = await run('archiveSessions', input, token);
      expect(payload.userErrors).toEqual([]);
      batches.push(idsOf(payload));
      ({ hasMore } = payload);
    }
    expect(batches.map((batch) => batch.length)).toEqual([3, 3, 1]);
    expect(batches.flat()).toEqual(wire(ids));
    expect(await run('archiveSessions', input, token)).toMatchObject({ results: [], hasMore: false, endCursor: null });
    expect(await countActs(organizationId, 'sleep_session')).toBe(7);
    const back = await run('unarchiveSessions', { ...byFilter(everything), organizationId }, token);
    expect(idsOf(back)).toEqual(wire(ids));
    const over = await run('terminateSessions', byFilter({ tags: ['old'] }), token);
    expect(idsOf(over)).toEqual(wire(ids));
    expect(idsOf(await run('terminateSessions', byFilter(everything), token))).toEqual(wire(remaining.reverse()));
    expect(idsOf(await run('terminateSessions', byFilter(everything), token))).toEqual([]);
    expect(await countActs(organizationId, 'terminate_session')).toBe(9);
  });

  it('are processed by cursor if the action keeps them in the list', async () => {
    const { token } = await makeOrganization(test, 'Bulk cursor');
    const ids = (await makeSessions(token, 5)).reverse();
    const input = { ...byFilter(everything), first: 2, tags: ['seen'] };
    const first = await run('tagSessions', input, token);
    const second = await run('tagSessions', { ...input, after: first.endCursor }, token);
    const third = await run('tagSessions', { ...input, after: second.endCursor }, token);
    expect([first, second, third].flatMap(idsOf)).toEqual(wire(ids));
    expect([first, second, third].map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    const unknown = await run('tagSessions', { ...input, after: 'x' }, token);
    expect(unknown).toMatchObject({ error: 'BAD_CURSOR' });
  });

  it('are the viewer’s own for a member', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk own');
    const member = await makeUser(test, { organizationId });
    await makeSessions(token, 2);
    const own = await makeSessions(member.token, 2);
    const payload = await run('archiveSessions', { ...byFilter(everything), organizationId }, member.token);
    expect(idsOf(payload)).toEqual(wire(own.reverse()));
    expect(payload.results.every(({ userErrors }: any) => userErrors.length === 0)).toBe(true);
  });

  it('are those of any organization for a manager of the enterprise’s sessions, and for nobody else', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk enterprise');
    const ids = await makeSessions(token, 2);
    const filter = { ...byFilter(everything), organizationId };
    const view = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    expect(await run('archiveSessions', filter, view.token)).toEqual({
      error: 'FORBIDDEN',
      message: 'Missing permission MANAGE_ORG_SESSIONS.',
    });
    const stranger = await makeOrganization(test, 'Bulk outsiders');
    expect(await run('archiveSessions', filter, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
    const manage = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS', 'MANAGE_ACCOUNT_SESSIONS');
    expect(idsOf(await run('archiveSessions', filter, manage.token))).toEqual(wire(ids.reverse()));
  });
});

it.each([
  ['no ids', byIds([]), 'selection.sessionIds'],
  ['101 ids', byIds(Array.from({ length: 101 }, (_, n) => `${n}`)), 'selection.sessionIds'],
  ['ids with a place in a list', { ...byIds(['x']), after: 'x' }, 'after'],
  ['a batch of none', { ...byFilter(everything), first: 0 }, 'first'],
  ['a batch of 101', { ...byFilter(everything), first: 101 }, 'first'],
])('refuses %s, and changes nothing', async (_what, input, name) => {
  const { organizationId, token } = await makeOrganization(test, 'Bulk refused');
  await makeSessions(token, 1);
  const payload = await run('terminateSessions', input, token);
  expect(payload).toMatchObject({
    results: null,
    hasMore: null,
    userErrors: [{ code: 'INVALID_INPUT', path: ['input', ...name.split('.')] }],
  });
  expect(await countActs(organizationId, 'terminate_session')).toBe(0);
});

it.each([
  ['neither ids nor a filter', {}],
  ['both', { sessionIds: ['x'], filter: everything }],
])('takes exactly one of ids and a filter, and refuses %s', async (_what, selection) => {
  const document = `mutation($input: ArchiveSessionsInput!) { archiveSessions(input: $input) { ${fields} } }`;
  const { data, errors } = await graphql(test, test.adminToken, document, { input: { selection } });
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([{ message: expect.stringContaining('Exactly one key must be specified') }]);
});

describe.each<[string, Record<string, unknown>]>([
  ['archiveSessions', {}],
  ['unarchiveSessions', {}],
  ['terminateSessions', {}],
  ['terminateSessions', { archive: true }],
  ['tagSessions', { tags: ['late'] }],
])('%s with %j', (field, input) => {
  it.each<[string, Record<string, unknown>]>([
    ['without a condition', {}],
    ['without a condition, however many it is for', { first: 1 }],
  ])('refuses a filter %s', async (_what, overrides) => {
    const { token } = await makeOrganization(test, 'Bulk unfiltered');
    await makeSessions(token, 1);
    const all = [
      {},
      { tags: null, search: null },
      { and: [{}, { not: {} }] },
      { or: [{}, { tags: ['late'] }] },
      { not: { or: [] } },
    ];
    for (const filter of all) {
      expect(await run(field, { ...input, ...overrides, ...byFilter(filter) }, token)).toMatchObject({
        results: null,
        userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'selection', 'filter'] }],
      });
    }
  });

  it('changes nothing in a dry run, and returns the sessions and refusals', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Bulk dry');
    const [one] = (await makeSessions(token, 1, { tags: ['old'] })) as [string];
    const [full] = (await makeSessions(token, 1, { tags: Array.from({ length: 50 }, (_, n) => `t${n}`) })) as [string];
    if (field === 'unarchiveSessions') await run('archiveSessions', byIds([one, full]), token);
    const readRows = async () => {
      const { store } = test.app.services;
      const of = (table: string, where: string) =>
        store.query(`select * from ${table} where ${where} = $1 order by id`, [organizationId.replace('org-', '')]);
      return [await of('session', 'organization_id'), await of('audit_entry', 'organization_id')];
    };
    const before = await readRows();
    const ids = [one, full, otherId(one)];
    const dry = await run(field, { ...input, ...byIds(ids), dryRun: true }, token);
    const filtered = await run(field, { ...input, ...byFilter({ tags: ['old'] }), dryRun: true }, token);
    expect(await readRows()).toEqual(before);
    // The current state, not the state after the mutation.
    expect(dry.results[0].session).toMatchObject({
      isArchived: field === 'unarchiveSessions',
      tags: ['old'],
      status: expect.not.stringMatching('EXIT'),
    });
    const real = await run(field, { ...input, ...byIds(ids) }, token);
    const outcomes = ({ results }: any) => results.map(({ session, ...rest }: any) => [rest, session === null]);
    expect(outcomes(dry)).toEqual(outcomes(real));
    expect(idsOf(filtered)).toEqual(wire([one]));
    expect(await readRows()).not.toEqual(before);
  });
});

it('reads all sessions together, and reads nothing again for the response', async () => {
  const { token } = await makeOrganization(test, 'Bulk statements');
  const ids = await makeSessions(token, 12);
  const { store } = test.app.services;
  const statementsOf = async (sessionIds: string[]) => {
    const original = store.query;
    let count = 0;
    store.query = (sql: string, values?: readonly unknown[]) => {
      if (!isOfSigningIn(sql)) count += 1;
      return original.call(store, sql, values) as never;
    };
    try {
      const payload = await run('archiveSessions', byIds(sessionIds), token);
      expect(payload.results.filter(({ session }: any) => session?.isArchived)).toHaveLength(sessionIds.length);
      return count;
    } finally {
      store.query = original;
    }
  };
  expect(await statementsOf(ids.slice(0, 10))).toBe(await statementsOf(ids.slice(10)));
});

describe('the price', () => {
  const costOf = async (query: string, variables: Record<string, unknown> = {}, token = test.adminToken) => {
    const { body } = await call(test, token, 'POST', '/graphql', { query, variables });
    return body.errors?.[0] ?? (body.extensions?.cost as number);
  };
  const archive = (selection: string, more = '') =>
    `mutation { archiveSessions(input: {selection: {${selection}}${more}}) { results { sessionId } } }`;

  it('before the run is the price of the single actions and of the requested session fields', async () => {
    const nested = (target: string, declared = '') =>
      `mutation${declared} { archiveSessions(input: {selection: {${target}}}) { results { session {
        messages(first: 100) { nodes { body } } children(first: 100) { nodes { messages(first: 3) { nodes { body } } } } } } } }`;
    const tooMuch = { extensions: { code: 'LIMIT_EXCEEDED' } };
    expect(await costOf(nested('filter: {isArchived: false}'))).toMatchObject(tooMuch);
    const ids = Array.from({ length: 100 }, () => 'x');
    expect(await costOf(nested('sessionIds: $ids', '($ids: [ID!]!)'), { ids })).toMatchObject(tooMuch);
    expect(await costOf(nested('sessionIds: $ids', '($ids: [ID!]!)'), { ids: ['x'] })).toBe(20 + 100 + 100 * (1 + 3));
  });

  it('after the run is that of the sessions that it found', async () => {
    const { token } = await makeOrganization(test, 'Bulk price');
    const ids = await makeSessions(token, 3, { tags: ['costly'] });
    expect(await costOf(archive('filter: {}'), {}, token)).toBe(10);
    expect(await costOf(archive('filter: {tags: ["none"]}'), {}, token)).toBe(10);
    expect(await costOf(archive('filter: {tags: ["costly"]}', ', dryRun: true'), {}, token)).toBe(40);
    expect(await costOf(archive('filter: {tags: ["costly"]}'), {}, token)).toBe(40);
    expect(await costOf(archive(`sessionIds: ["${ids[0]}", "x"]`), {}, token)).toBe(30);
    const twice = `mutation { one: archiveSessions(input: {selection: {filter: {}}}) { hasMore }
      two: unarchiveSessions(input: {selection: {filter: {tags: ["costly"]}}}) { results { session { messages(first: 7) { nodes { body } } } } } }`;
    // Two fields, three sessions, and seven messages of each.
    expect(await costOf(twice, {}, token)).toBe(20 + 3 * (10 + 7));
  });
});
