import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { rowsRead } from '../support/rows-read.ts';
import { makeOrganization } from '../support/sessions.ts';

const many = 3_000;
let test: TestApp;
let organizationId: string;

// 3,000 of each kind of object that is listed and found by name, in one organization.
beforeAll(async () => {
  test = await startApp();
  ({ organizationId } = await makeOrganization(test, 'Names'));
  const { store } = test.app.services;
  const { enterpriseId } = test.app.installation;
  const of = { enterprise: enterpriseId, organization: organizationId.replace('org-', '') };
  const made = `generate_series(1, ${many}) n`;
  const at = `now() - n * interval '1 second'`;
  const name = `'Name ' || md5(n::text)`;
  const scopeIds = [of.enterprise, of.organization];
  await store.execute(
    `insert into playbook (id, enterprise_id, organization_id, title, body, macro, created_at, updated_at)
     select md5('p' || n), $1, $2, ${name}, 'b', '!m' || n, ${at}, now() from ${made} returning id`,
    scopeIds,
  );
  await store.execute(
    `insert into knowledge_note (id, enterprise_id, organization_id, name, body, trigger, macro, is_enabled, created_at, updated_at)
     select md5('n' || n), $1, $2, ${name}, 'b', 't', '!m' || n, true, ${at}, now() from ${made} returning id`,
    scopeIds,
  );
  await store.execute(
    `insert into secret (id, organization_id, key, type, sealed, is_sensitive, created_at, updated_at)
     select md5('s' || n), $1, 'KEY_' || n, 'totp', 'x', true, ${at}, now() from ${made} returning id`,
    [of.organization],
  );
  await store.execute(
    `insert into automation (id, organization_id, name, is_enabled, run_as, triggers, actions, created_at, updated_at)
     select md5('a' || n), $1, ${name}, false, 'organization', '[]', '[]', ${at}, now() from ${made} returning id`,
    [of.organization],
  );
  await store.execute(
    `insert into user_account (id, enterprise_id, email, created_at)
     select md5('u' || n), $1, 'u' || n || '@names.test', ${at} from ${made} returning id`,
    [of.enterprise],
  );
  for (const table of ['playbook', 'knowledge_note', 'secret', 'automation', 'user_account'])
    await store.execute(`analyze ${table}`);
  // The embedded database blocked the process for seconds, so an open connection was closed meanwhile.
  await fetch(`${test.url}/healthz`).catch(() => null);
});
afterAll(() => test.close());

const ask = (query: string) =>
  rowsRead(test, async () => {
    const { data, errors } = await graphql(test, test.adminToken, query);
    expect(errors).toBeUndefined();
    return data;
  });

it.each([
  ['playbook', 'playbooks', 'TITLE'],
  ['knowledge_note', 'knowledgeNotes', 'NAME'],
  ['secret', 'secrets', 'KEY'],
  ['automation', 'automations', 'NAME'],
  ['user_account', 'users', 'EMAIL'],
])('reads no more than one page of %s by name, at either end and in the middle', async (table, list, field) => {
  const at = list === 'users' ? 'enterprise' : `organization(id: "${organizationId}")`;
  const page = (size: string) =>
    ask(
      `{ at: ${at} { list: ${list}(${size}, orderBy: {field: ${field}, direction: ASC}) { nodes { id } pageInfo { endCursor } } } }`,
    );
  for (const size of ['first: 20', 'last: 20']) {
    const { answer, read } = await page(size);
    expect(answer.at.list.nodes).toHaveLength(20);
    expect({ size, read: read[table] ?? 0 }).toEqual({ size, read: 21 });
  }
  const { answer } = await page('first: 100');
  const next = await page(`first: 20, after: "${answer.at.list.pageInfo.endCursor}"`);
  expect(next.answer.at.list.nodes).toHaveLength(20);
  expect(next.read[table]).toBeLessThanOrEqual(22);
});

it.each([
  ['playbook', () => `playbook(by: {macro: {macro: "!M77", scope: {organizationId: "${organizationId}"}}})`],
  ['knowledge_note', () => `knowledgeNote(by: {macro: {macro: "!M77", scope: {organizationId: "${organizationId}"}}})`],
  ['secret', () => `secret(by: {key: {key: "KEY_77", organizationId: "${organizationId}"}})`],
  ['user_account', () => 'user(by: {email: "U77@names.test"})'],
])('reads only one row to find a %s among 3,000', async (table, field) => {
  const { answer, read } = await ask(`{ found: ${field()} { id } }`);
  expect(answer.found).toEqual({ id: expect.any(String) });
  expect(read[table]).toBeLessThanOrEqual(2);
});
