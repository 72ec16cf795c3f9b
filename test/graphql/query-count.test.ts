import { expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { appendEntries } from '../../src/domain/sessions/log.ts';
import { graphql } from '../support/app.ts';
import { isOfSigningIn } from '../support/key-changes.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { watchReads } from '../support/test-store.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** Runs a document and returns its data with its statements, without those of the authentication. */
async function statementsOf(
  token: string,
  document: string,
  variables: Record<string, unknown>,
): Promise<{ data: any; statements: string[] }> {
  const { store } = test.app.services;
  const statements: string[] = [];
  const stop = watchReads(store, (sql) => {
    if (!isOfSigningIn(sql)) statements.push(sql);
  });
  try {
    const { data, errors } = await graphql(test, token, document, variables);
    expect(errors).toBeUndefined();
    return { data, statements };
  } finally {
    stop();
  }
}

const page = `query($id: ID!) {
  organization(id: $id) {
    sessions(first: 20) {
      nodes {
        title organization { name }
        createdBy { ... on User { email } ... on ServiceUser { name } }
        messages(last: 5) { nodes { body author { ... on User { email } ... on ServiceUser { name } } } }
        events(first: 3, kinds: [STATUS]) { nodes { kind } }
        parent { title }
        options { optionId value }
        agentProfile { options { optionId values { value } } }
      }
    }
    members(first: 20) { nodes { user { email } roles { name } } }
  }
}`;

/** Creates an organization with this many members, each with a session of six messages. */
async function organizationWith(sessions: number): Promise<{ id: string; token: string }> {
  const { organizationId, token } = await makeOrganization(test, `With ${sessions}`);
  for (let n = 0; n < sessions; n++) {
    const user = await makeUser(test, { organizationId });
    const id = await createSession(test, { organizationId, prompt: `p${n}` }, n % 2 ? token : user.token);
    await say(test, id, 'a', 'b', 'c', 'd', 'e');
  }
  return { id: organizationId, token };
}

/** Counts the executions of the most frequent of these statements. */
function timesOf(statements: readonly string[]): number {
  const times = new Map<string, number>();
  for (const sql of statements) times.set(sql, (times.get(sql) ?? 0) + 1);
  return Math.max(...times.values());
}

it('reads a page of sessions with their messages and people in the same statements for 20 as for 2', async () => {
  const [few, many] = [await organizationWith(2), await organizationWith(20)];
  // A document is compiled when it is sent again; then it may read ahead.
  const atFirst = await statementsOf(few.token, page, { id: few.id });
  const [ofFew, ofMany] = [
    await statementsOf(few.token, page, { id: few.id }),
    await statementsOf(many.token, page, { id: many.id }),
  ];
  const { sessions, members } = ofMany.data.organization;
  expect(sessions.nodes).toHaveLength(20);
  expect(members.nodes).toHaveLength(20);
  for (const { createdBy, messages, events } of sessions.nodes) {
    expect(Object.keys(createdBy)).toHaveLength(1);
    expect(messages.nodes.map(({ body }: { body: string }) => body)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(events.nodes).toEqual([{ kind: 'STATUS' }]);
  }
  expect(new Set(atFirst.statements).size).toBeGreaterThan(5);
  expect(new Set(ofFew.statements).size).toBeLessThan(new Set(atFirst.statements).size);
  expect(new Set(ofMany.statements)).toEqual(new Set(ofFew.statements));
  // The query requests the organization at four positions and people at three, which may be read together or separately.
  expect(timesOf(ofMany.statements)).toBeLessThanOrEqual(4);
});

it('reads the pending questions of a page of sessions, and the answers in their messages, together', async () => {
  const { id, token } = await organizationWith(5);
  const { store, now } = test.app.services;
  const rows = await store.query<{ id: string }>('select id from session where organization_id = $1', [
    parseId('organization', id),
  ]);
  expect(rows).toHaveLength(5);
  for (const session of rows) {
    const [answered, pending] = [newId(), newId()];
    const question = { kind: 'QUESTION', body: 'Which?', data: { reason: 'question', options: [] } } as const;
    const answer = {
      kind: 'MESSAGE',
      messageType: 'user_message',
      body: 'This',
      data: { questionId: answered },
    } as const;
    const entries = [{ ...question, id: answered }, answer, { ...question, id: pending }];
    await appendEntries(store, session.id, null, entries, now());
    await store.execute('update session set pending_question_id = $2 where id = $1', [session.id, pending]);
  }
  const document = `query($id: ID!) { organization(id: $id) { sessions(first: 5) { nodes {
    pendingQuestion { questionId body options { name } }
    messages(last: 1) { nodes { answer { question { body } } } } } } } }`;
  const { data, statements } = await statementsOf(token, document, { id });
  const { nodes } = data.organization.sessions;
  expect(nodes).toHaveLength(5);
  for (const { pendingQuestion, messages } of nodes) {
    expect(pendingQuestion).toMatchObject({ body: 'Which?', options: [] });
    expect(messages.nodes).toEqual([{ answer: { question: { body: 'Which?' } } }]);
  }
  expect(timesOf(statements)).toBeLessThanOrEqual(2);
});

it('reads an organization with a page of its sessions and their messages in one statement, once compiled', async () => {
  const { id, token } = await organizationWith(3);
  const document = `query($id: ID!, $first: Int) {
    organization(id: $id) {
      name
      sessions(first: $first) {
        edges { cursor node { title messages(first: 2) { edges { cursor node { body } } pageInfo { hasNextPage } } } }
        nodes { id messages(first: 2) { nodes { id } } }
      }
    }
  }`;
  const plain = await statementsOf(token, document, { id, first: 2 });
  const compiled = await statementsOf(token, document, { id, first: 2 });
  expect(compiled.data).toEqual(plain.data);
  expect(plain.statements).toHaveLength(3);
  expect(compiled.statements).toHaveLength(1);
  const { edges } = compiled.data.organization.sessions;
  expect(edges.map(({ node }: any) => node.messages.edges.length)).toEqual([2, 2]);
  expect(edges[0].node.messages.pageInfo.hasNextPage).toBe(true);
  // A text that is too long for one part is read in several.
  await test.app.services.store.execute(
    `update session set structured_output = to_jsonb(repeat('x', 9000000)) where organization_id = $1 returning id`,
    [id.replace('org-', '')],
  );
  const inParts = await statementsOf(token, document, { id, first: 2 });
  expect(inParts.data).toEqual(compiled.data);
  expect(inParts.statements).toHaveLength(3);
});

it('reads 100 nodes of several types in one statement for each type', async () => {
  const { id, token } = await organizationWith(3);
  const { data } = await graphql(
    test,
    token,
    'query($id: ID!) { organization(id: $id) { id sessions { nodes { id messages { nodes { id } } } } members { nodes { id user { id } } } } }',
    { id },
  );
  const { organization } = data;
  const ids: string[] = [
    organization.id,
    ...organization.sessions.nodes.flatMap((session: any) => [
      session.id,
      ...session.messages.nodes.map((message: any) => message.id),
    ]),
    ...organization.members.nodes.flatMap((member: any) => [member.id, member.user.id]),
  ];
  const document = 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const once = await statementsOf(token, document, { ids });
  expect(once.data.nodes.map((node: any) => node.id)).toEqual(ids);
  const often = await statementsOf(token, document, { ids: [...ids, ...ids, ...ids] });
  expect([...often.statements].sort()).toEqual([...once.statements].sort());
});

it('reads a page of users with their roles in the same statements for 20 as for 2', async () => {
  for (let n = 0; n < 20; n++) await makeUser(test);
  const users = `query($first: Int!) {
    enterprise { users(first: $first) { nodes { email roleAssignments(first: 5) { nodes { role { name } organization { name } } } } } }
  }`;
  const [few, many] = [
    await statementsOf(test.adminToken, users, { first: 2 }),
    await statementsOf(test.adminToken, users, { first: 20 }),
  ];
  expect(many.data.enterprise.users.nodes).toHaveLength(20);
  expect(many.data.enterprise.users.nodes[19].roleAssignments.nodes).toHaveLength(1);
  expect(many.statements).toEqual(few.statements);
});
