import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { startProvider } from '../support/provider.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const agentsConfig = join(tmpdir(), `switchyard-models-${process.pid}.json`);
writeFileSync(agentsConfig, JSON.stringify({ default: 'demo', agents: ['opencode'] }));
const test = useApp({ agentsConfig });

const body = (...ids: string[]) => ({ body: JSON.stringify({ data: ids.map((id) => ({ id })) }) });
const document = 'query($id: ID!) { agents { agentId models(organizationId: $id) } }';

async function modelsFor(token: string, id: string): Promise<unknown> {
  const { data, errors } = await graphql(test, token, document, { id });
  if (errors) return errors[0].extensions.code;
  return data.agents.find(({ agentId }: { agentId: string }) => agentId === 'opencode')?.models;
}

it('lists the models of the key that the viewer’s sessions would have, and asks the provider once', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Models');
  const user = await makeUser(test, { organizationId });
  const other = await makeOrganization(test, 'Others');
  expect(await modelsFor(user.token, organizationId)).toBeNull();
  const [shared, own] = [await startProvider(body('small', 'text-embedding')), await startProvider(body('mine'))];
  const create = (key: string, scope: object, values: object) =>
    runMutation(test, 'createProviderKey', 'providerKey { id }', { scope, name: 'Key', ...values }, key);
  const access = { provider: 'COMPATIBLE', key: 'sk-c4n4ry' };
  const made = await create(token, { organizationId }, { ...access, baseUrl: shared.url });
  expect(await modelsFor(user.token, organizationId)).toEqual(['compatible/small']);
  expect(await modelsFor(token, organizationId)).toEqual(['compatible/small']);
  expect(shared.seen).toHaveLength(1);
  await create(user.token, { viewer: true }, { ...access, baseUrl: own.url });
  expect(await modelsFor(user.token, organizationId)).toEqual(['compatible/mine']);
  expect(await modelsFor(token, organizationId)).toEqual(['compatible/small']);
  // Another key is another list.
  const providerKeyId = made.providerKey.id;
  await runMutation(test, 'updateProviderKey', 'providerKey { id }', { providerKeyId, key: 'sk-c4n4ry-2' }, token);
  expect(await modelsFor(token, organizationId)).toEqual(['compatible/small']);
  expect(shared.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-c4n4ry', 'Bearer sk-c4n4ry-2']);
  expect(await modelsFor(other.token, organizationId)).toBe('NOT_FOUND');
  expect(await modelsFor(other.token, other.organizationId)).toBeNull();
});

const badModels = [' ', '../x', 'a/../b', '__proto__', 'a\u001b[31mb', 'ends ', '"x"', '<b>'];

it('sets the default models of an organization, which only its administrators may', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Defaults');
  const set = (defaultModels: unknown, key?: string) =>
    runMutation(
      test,
      'updateOrganization',
      'organization { defaultModels { agentId model } }',
      { organizationId, defaultModels },
      key,
    );
  const model = { agentId: 'opencode', model: 'openai/gpt-5' };
  expect((await set([model])).organization.defaultModels).toEqual([model]);
  const { data } = await graphql(test, token, 'query($id: ID!) { organization(id: $id) { defaultModels { model } } }', {
    id: organizationId,
  });
  expect(data.organization.defaultModels).toEqual([{ model: 'openai/gpt-5' }]);
  expect(await set([model], token)).toMatchObject({ error: 'FORBIDDEN' });
  expect((await set([{ ...model, agentId: 'nobody' }])).userErrors).toMatchObject([
    { code: 'UNKNOWN_REFERENCE', path: ['input', 'defaultModels'] },
  ]);
  expect((await set([{ ...model, agentId: '__proto__' }])).userErrors).toMatchObject([{ code: 'UNKNOWN_REFERENCE' }]);
  expect((await set([model, model])).userErrors).toMatchObject([
    { code: 'INVALID_INPUT', path: ['input', 'defaultModels'] },
  ]);
  for (const bad of [...badModels, 'two\nlines']) {
    const { userErrors } = await set([{ ...model, model: bad }]);
    expect([bad, userErrors]).toMatchObject([bad, [{ path: ['input', 'defaultModels', '0', 'model'] }]]);
  }
  expect((await set([])).organization.defaultModels).toEqual([]);
});

it('refuses the same texts as the model of a session, and control characters in any option', async () => {
  const { organizationId } = await makeOrganization(test, 'Choices');
  const create = (optionId: string, value: string) =>
    runMutation(test, 'createSession', 'session { options { optionId value } }', {
      organizationId,
      prompt: 'say hi',
      options: [{ optionId, value }],
    });
  for (const bad of badModels) {
    const { userErrors } = await create('model', bad);
    expect([bad, userErrors]).toMatchObject([
      bad,
      [
        {
          code: 'INVALID_INPUT',
          path: ['input', 'options', '0', 'value'],
          message: expect.stringMatching(/^A model must have only letters/),
        },
      ],
    ]);
  }
  expect((await create('mode', 'a\u001bb')).userErrors).toMatchObject([
    {
      path: ['input', 'options', '0', 'value'],
      message: '"value" must have no control characters and no line breaks.',
    },
  ]);
  const { session } = await create('model', 'meta-llama/Llama-3.1:free');
  expect(session.options).toMatchObject([{ optionId: 'model', value: 'meta-llama/Llama-3.1:free' }]);
});
