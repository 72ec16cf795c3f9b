import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager } from '../support/people.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { statementsOf } from '../support/statements.ts';
import { seedForeignUsage } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = 'edges { cursor node { sessionId } } pageInfo { hasNextPage hasPreviousPage }';

async function list(args: string, token = test.adminToken, selection = fields) {
  const { data, errors } = await graphql(test, token, `{ enterprise { sessions${args} { ${selection} } } }`);
  return errors ? { error: errors[0].extensions.code, message: errors[0].message } : data.enterprise.sessions;
}
const idsOf = (page: any) => page.edges.map(({ node }: any) => node.sessionId);

/** Two organizations with three sessions, alternately; newest first. */
async function world() {
  const [one, other] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Other')];
  const ids: string[] = [];
  for (const { token } of [one, other, one]) ids.unshift(`devin-${await createSession(test, { tags: ['t'] }, token)}`);
  const both = `organizationIds: ["${one.organizationId}", "${other.organizationId}"]`;
  return { one, other, ids, both, only: `filter: {${both}}` };
}

describe('the sessions of the enterprise', () => {
  it('are those of all organizations, or of some, newest first, and paged both ways', async () => {
    const { one, other, ids, only } = await world();
    expect(idsOf(await list('(first: 3)'))).toEqual(ids);
    const all = await list(`(${only})`);
    expect(idsOf(all)).toEqual(ids);
    expect(idsOf(await list(`(filter: {organizationIds: ["${other.organizationId}"]})`))).toEqual([ids[1]]);
    expect(idsOf(await list(`(filter: {organizationIds: ["${one.organizationId}", "none"]})`))).toEqual([
      ids[0],
      ids[2],
    ]);
    expect(idsOf(await list('(filter: {organizationIds: []})'))).toEqual([]);
    const second = await list(`(${only}, first: 1, after: "${all.edges[0].cursor}")`);
    expect(second).toMatchObject({
      edges: [all.edges[1]],
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    const back = await list(`(${only}, last: 2, before: "${all.edges[2].cursor}")`);
    expect(back).toMatchObject({ edges: all.edges.slice(0, 2), pageInfo: { hasPreviousPage: false } });
  });

  it('come in the requested order', async () => {
    const { ids, both } = await world();
    await say(test, (ids[2] as string).replace('devin-', ''), 'again');
    const ordered = async (field: string, direction: string) =>
      idsOf(await list(`(filter: {${both}}, orderBy: {field: ${field}, direction: ${direction}})`));
    expect(await ordered('CREATED_AT', 'ASC')).toEqual(ids.toReversed());
    expect(await ordered('UPDATED_AT', 'DESC')).toEqual([ids[2], ids[0], ids[1]]);
    expect(await ordered('UPDATED_AT', 'ASC')).toEqual([ids[1], ids[0], ids[2]]);
  });

  it('accept the filter of an organization’s sessions', async () => {
    const { one, ids, both, only } = await world();
    const hidden = await createSession(test, { isUnlisted: true }, one.token);
    await createSession(test, { tags: ['u'] }, one.token);
    expect(idsOf(await list(`(filter: { ${both}, tags: ["t"] })`))).toEqual(ids);
    expect(idsOf(await list(`(filter: { ${both}, createdByIds: ["${one.serviceUserId}"], tags: ["t"] })`))).toEqual([
      ids[0],
      ids[2],
    ]);
    expect(idsOf(await list(`(${only})`))).not.toContain(`devin-${hidden}`);
    expect(idsOf(await list(`(filter: { ${both}, status: [EXIT] })`))).toEqual([]);
  });

  it('refuse more than 100 organizations, and cursors of other lists', async () => {
    const many = Array.from({ length: 101 }, () => '"x"').join();
    expect(await list(`(filter: {organizationIds: [${many}]})`)).toMatchObject({
      error: 'INVALID_INPUT',
      message: expect.stringContaining('"organizationIds" must have at most 100 items'),
    });
    expect(await list('(after: "bm90aGluZw")')).toMatchObject({ error: 'BAD_CURSOR' });
  });

  it('exclude those of another enterprise', async () => {
    const foreign = await seedForeignUsage(test, '2099-01-01');
    expect(idsOf(await list('(first: 100)'))).not.toContain(`devin-${foreign.sessionId}`);
    expect(idsOf(await list(`(filter: {organizationIds: ["${foreign.organizationId}"]})`))).toEqual([]);
  });

  it('need VIEW_ACCOUNT_SESSIONS, which grants the sessions’ contents and no objects beside them', async () => {
    const { one, ids } = await world();
    await say(test, (ids[0] as string).replace('devin-', ''), 'hello');
    const reader = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    const selection = `nodes { id sessionId organization { name organizationId }
      messages { nodes { id body } } events(first: 1) { nodes { kind } } }`;
    const { nodes } = await list('(first: 1)', reader.token, selection);
    expect(nodes).toMatchObject([
      {
        sessionId: ids[0],
        organization: { name: 'One', organizationId: one.organizationId },
        messages: { nodes: [{ body: 'say hello' }, { body: 'hello' }] },
        events: { nodes: [{ kind: 'STATUS' }] },
      },
    ]);
    // An object that was read once can be read again by its global id, as clients do.
    const again = await graphql(
      test,
      reader.token,
      'query($id: ID!, $ids: [ID!]!) { session(id: $id) { sessionId } nodes(ids: $ids) { id } }',
      { id: ids[0], ids: [nodes[0].id, nodes[0].messages.nodes[1].id] },
    );
    expect(again.errors).toBeUndefined();
    expect(again.data.session).toEqual({ sessionId: ids[0] });
    expect(again.data.nodes.map(({ id }: any) => id)).toEqual([nodes[0].id, nodes[0].messages.nodes[1].id]);
    const beside = await graphql(
      test,
      reader.token,
      'query($id: ID!) { organization(id: $id) { id } organizations { nodes { id } } }',
      { id: one.organizationId },
    );
    expect(beside.data).toEqual({ organization: null, organizations: { nodes: [] } });
    const through = await list('(first: 1)', reader.token, 'nodes { organization { sessions { nodes { id } } } }');
    expect(through).toMatchObject({ error: 'NOT_FOUND' });
    const other = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_METRICS');
    expect(await list('', other.token)).toMatchObject({ error: 'FORBIDDEN' });
    const session = await graphql(test, other.token, 'query($id: ID!) { session(id: $id) { id } }', { id: ids[0] });
    expect(session.data).toEqual({ session: null });
  });

  it('are read with the same statements for many as for few', async () => {
    await world();
    const { only } = await world();
    const query = `query($first: Int!) { enterprise { sessions(first: $first, ${only}) {
      nodes { organization { name } createdBy { __typename } messages(first: 3) { nodes { body } } } } } }`;
    const few = await statementsOf(test, test.adminToken, query, { first: 1 });
    const many = await statementsOf(test, test.adminToken, query, { first: 3 });
    expect(many.data.enterprise.sessions.nodes).toHaveLength(3);
    expect(many.statements).toEqual(few.statements);
  });
});
