import { beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { makeUser } from '../support/principals.ts';
import { rowsRead } from '../support/rows-read.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const few = 3;
const many = 12;
const perOrganization = 60;
let large: string;

// Organizations with notes, folders, playbooks and secrets; one session in each with children and files.
beforeAll(async () => {
  const { store } = test.app.services;
  for (let n = 0; n < many; n++) {
    const { organizationId, token } = await makeOrganization(test, `Nested ${n}`);
    const id = organizationId.replace('org-', '');
    const [folderId, playbookId] = [newId(), newId()];
    const of = `from organization o cross join generate_series(1, ${perOrganization}) n where o.id = $1`;
    const at = `now() - n * interval '1 minute'`;
    const insert = (sql: string, ...more: string[]) => store.execute(sql, [id, ...more]);
    await insert(
      `insert into knowledge_folder (id, enterprise_id, organization_id, name, created_at, updated_at)
       select case when n = 1 then $2 else md5('f' || $1 || n) end, o.enterprise_id, o.id, 'F' || n, ${at}, now() ${of} returning id`,
      folderId,
    );
    await insert(
      `insert into knowledge_note (id, enterprise_id, organization_id, folder_id, name, body, trigger, created_at, updated_at)
       select md5('n' || $1 || n), o.enterprise_id, o.id, $2, 'N' || n, 'b', 't', ${at}, now() ${of} returning id`,
      folderId,
    );
    await insert(
      `insert into playbook (id, enterprise_id, organization_id, title, body, created_at, updated_at)
       select case when n = 1 then $2 else md5('p' || $1 || n) end, o.enterprise_id, o.id, 'P' || n, 'b', ${at}, now() ${of} returning id`,
      playbookId,
    );
    await insert(
      `insert into secret (id, organization_id, key, type, sealed, is_sensitive, created_at, updated_at)
       select md5('s' || $1 || n), o.id, 'S' || n, 'cookie', 'sealed', true, ${at}, now() ${of} returning id`,
    );
    const parent = await createSession(test, { playbookId }, token);
    await insert(
      `insert into session (id, organization_id, parent_id, title, is_title_derived, status, origin, prompt, created_at, updated_at)
       select md5('c' || $1 || n), o.id, $2, 'C' || n, false, 'exit', 'api', 'x', ${at}, now() ${of} returning id`,
      parent,
    );
    await insert(
      `insert into attachment (id, organization_id, session_id, name, content_type, size_bytes, storage_key, source, created_at)
       select md5('a' || $1 || n), o.id, $2, 'A' || n, 'text/plain', 1, 'k', 'user', ${at} ${of} returning id`,
      parent,
    );
    await makeUser(test, { organizationId });
    if (n === 0) large = organizationId;
  }
  for (const table of ['knowledge_note', 'knowledge_folder', 'playbook', 'secret', 'session', 'attachment']) {
    await store.execute(`analyze ${table}`);
  }
});

const document = `query($first: Int!) { organizations(first: $first) { nodes {
  members(first: 5) { nodes { user { email } roles { name } } }
  serviceUsers(first: 5) { nodes { name } }
  apiKeys(first: 5) { nodes { display organization { name } owner { __typename } } }
  automations(first: 5) { nodes { name } totalCount }
  knowledgeNotes(first: 5) { nodes { name folder { name path parent { name } } organization { name } createdBy { __typename } } totalCount totalCountIsExact }
  knowledgeFolders(first: 5) { nodes { name path notes(first: 2) { nodes { name } totalCount } children(first: 2) { nodes { name } totalCount } } totalCount }
  playbooks(first: 5) { nodes { title organization { name } createdBy { __typename } updatedBy { __typename } } totalCount }
  secrets(first: 5) { nodes { key organization { name } createdBy { __typename } } totalCount }
  sessions(first: 2) { totalCount nodes {
    children(first: 4) { nodes { title parent { title } playbook { title } insights { size } attachments(first: 2) { nodes { name } } } totalCount }
    attachments(first: 3) { nodes { name url } totalCount }
    playbook { title } insights { userMessageCount agentMessageCount size }
  } }
} } }`;

it('reads lists inside lists with the same statements for twelve organizations as for three', async () => {
  const ask = (first: number) => rowsRead(test, () => graphql(test, test.adminToken, document, { first }));
  const [ofFew, ofMany] = [await ask(few), await ask(many)];
  for (const { answer } of [ofFew, ofMany]) expect(answer.errors).toBeUndefined();
  const { nodes } = ofMany.answer.data.organizations;
  expect(nodes).toHaveLength(many);
  for (const organization of nodes) {
    expect(organization.knowledgeNotes).toMatchObject({ totalCount: perOrganization, totalCountIsExact: true });
    expect(organization.knowledgeNotes.nodes.map(({ name }: any) => name)).toEqual(['N1', 'N2', 'N3', 'N4', 'N5']);
    expect(organization.knowledgeFolders.nodes[0]).toMatchObject({ notes: { totalCount: perOrganization } });
    expect(organization.playbooks.nodes).toHaveLength(5);
    expect(organization.members.nodes).toEqual([{ user: { email: expect.any(String) }, roles: [{ name: 'Member' }] }]);
    expect(organization.serviceUsers.nodes).toHaveLength(1);
    expect(organization.apiKeys.nodes).toHaveLength(1);
    expect(organization.secrets.totalCount).toBe(perOrganization);
    const parent = organization.sessions.nodes.find((session: any) => session.playbook);
    expect(parent).toMatchObject({
      playbook: { title: 'P1' },
      children: { totalCount: perOrganization },
      attachments: { nodes: [{ name: 'A60' }, { name: 'A59' }, { name: 'A58' }] },
      insights: { userMessageCount: 1, agentMessageCount: 0, size: 'XS' },
    });
    expect(parent.children.nodes.map(({ title }: any) => title)).toEqual(['C1', 'C2', 'C3', 'C4']);
  }
  // Organizations and notes are requested at several positions, which may or may not be read together: at most three
  // statements more. A statement for each row of a list would be nine more, or hundreds.
  expect(ofMany.statements.length).toBeLessThanOrEqual(ofFew.statements.length + 3);
  expect(ofMany.statements.length).toBeLessThanOrEqual(39);
});

it('reads only a page of a long list, unless the total is requested', async () => {
  const one = (selection: string) =>
    rowsRead(test, () =>
      graphql(test, test.adminToken, `query($id: ID!) { organization(id: $id) { ${selection} } }`, { id: large }),
    );
  for (const [list, table] of [
    ['knowledgeNotes', 'knowledge_note'],
    ['knowledgeFolders', 'knowledge_folder'],
    ['playbooks', 'playbook'],
    ['secrets', 'secret'],
    ['sessions', 'session'],
  ] as const) {
    const { answer, read } = await one(`list: ${list}(first: 5) { nodes { id } pageInfo { hasNextPage } }`);
    expect(answer.data.organization.list.nodes, list).toHaveLength(5);
    expect(answer.data.organization.list.pageInfo.hasNextPage).toBe(true);
    expect(read[table], list).toBeLessThanOrEqual(6);
    const back = await one(`list: ${list}(last: 5) { nodes { id } }`);
    expect(back.answer.data.organization.list.nodes).toHaveLength(5);
    expect(back.read[table], list).toBeLessThanOrEqual(6);
  }
});

it('stops counting at 10,001, and marks the total as inexact', async () => {
  const { organizationId } = await makeOrganization(test, 'Counted');
  const id = organizationId.replace('org-', '');
  await test.app.services.store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, prompt, created_at, updated_at)
     select md5('many' || n), $1, 'M', false, 'exit', 'api', 'x', now(), now() from generate_series(1, 10500) n returning id`,
    [id],
  );
  const query = `query($id: ID!) { organization(id: $id) {
    sessions(first: 1) { totalCount totalCountIsExact } none: sessions(filter: {status: [RUNNING]}) { totalCount totalCountIsExact } } }`;
  const { answer, read } = await rowsRead(test, () => graphql(test, test.adminToken, query, { id: organizationId }));
  expect(answer.data.organization).toEqual({
    sessions: { totalCount: 10_001, totalCountIsExact: false },
    none: { totalCount: 0, totalCountIsExact: true },
  });
  expect(read.session).toBeLessThanOrEqual(10_001 + 2 * 10_500 + 25);
});
