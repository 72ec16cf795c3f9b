import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const made = {
  KnowledgeNote: { thing: 'knowledgeNote', input: { name: 'N', body: 'B', trigger: 'T' }, other: { name: 'Other' } },
  KnowledgeFolder: { thing: 'knowledgeFolder', input: { name: 'F' }, other: { name: 'Other' } },
  Playbook: { thing: 'playbook', input: { title: 'P', body: 'B', macro: '!p' }, other: { title: 'Other' } },
  Secret: {
    thing: 'secret',
    input: { key: 'K', type: 'KEY_VALUE', value: 'c4n4ry-once' },
    other: { value: 'c4n4ry-other' },
  },
} as const;

describe.each(Object.entries(made))('%s', (type, { thing, input, other }) => {
  const create = (token: string, more: object) =>
    runMutation(test, `create${type}`, `${thing} { id }`, { ...input, idempotencyKey: 'once', ...more }, token);

  it('is made once under a key, however often and at once it is asked for', async () => {
    const { token } = await makeOrganization(test, 'Once');
    const all = await Promise.all(Array.from({ length: 10 }, () => create(token, {})));
    expect(new Set(all.map((payload) => payload[thing].id)).size).toBe(1);
    expect(await create(token, other)).toMatchObject({
      [thing]: null,
      userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }],
    });
    const { token: another } = await makeOrganization(test, 'Once elsewhere');
    expect((await create(another, {}))[thing].id).not.toBe(all[0][thing].id);
    const bad = await create(token, { idempotencyKey: 'ü' });
    expect(bad.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }]);
  });

  it('is not made again when it is gone', async () => {
    const { token } = await makeOrganization(test, 'Once gone');
    const { id } = (await create(token, {}))[thing];
    await runMutation(test, `delete${type}`, `deleted${type}Id`, { [`${thing}Id`]: id }, token);
    const again = await create(token, {});
    // A playbook that was deleted is still there for its sessions.
    expect(again).toMatchObject(type === 'Playbook' ? { playbook: { id } } : { error: 'NOT_FOUND' });
  });
});

it('makes what belongs to the enterprise once, too', async () => {
  const { token } = await makeManager(test, 'MANAGE_ACCOUNT_KNOWLEDGE');
  const input = { ...made.KnowledgeNote.input, accessType: 'ENTERPRISE', idempotencyKey: 'once' };
  const create = () => runMutation(test, 'createKnowledgeNote', 'knowledgeNote { id }', input, token);
  expect(await create()).toEqual(await create());
});

it('takes the key from the header for one mutation, not for two', async () => {
  const { token } = await makeOrganization(test, 'Once by header');
  const one = (alias: string) => `${alias}: createKnowledgeFolder(input: {name: "F"}) {
    knowledgeFolder { id } userErrors { code path } }`;
  const send = (document: string) => graphql(test, token, document, {}, { 'idempotency-key': 'header' });
  const two = await send(`mutation { ${one('a')} ${one('b')} }`);
  const refused = { knowledgeFolder: null, userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }] };
  expect(two.data).toEqual({ a: refused, b: refused });
  const first = await send(`mutation { ${one('a')} }`);
  expect((await send(`mutation { ${one('a')} }`)).data).toEqual(first.data);
});
