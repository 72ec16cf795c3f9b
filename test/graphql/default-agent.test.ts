import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({}, { id: 'second', extends: 'demo', name: 'Second' });
  test = await startApp({ agentsConfig });
});
afterAll(() => test.close());

async function setDefault(organizationId: string, defaultAgent: string | null, token = test.adminToken) {
  const { data, errors } = await graphql(
    test,
    token,
    `mutation($input: UpdateOrganizationInput!) { updateOrganization(input: $input) {
      organization { defaultAgent } userErrors { code message path } } }`,
    { input: { organizationId, defaultAgent } },
  );
  return errors ? { error: errors[0].extensions.code } : data.updateOrganization;
}

async function agentOf(sessionId: string): Promise<string> {
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { agent } }', {
    id: sessionId,
  });
  return data.session.agent;
}

it('lists the agents to whoever asks', async () => {
  const { token } = await makeOrganization(test, 'Lookers');
  const { data } = await graphql(test, token, '{ agents { id name isDefault } }');
  expect(data.agents).toEqual([
    { id: 'demo', name: 'Demo agent', isDefault: true },
    { id: 'second', name: 'Second', isDefault: false },
  ]);
});

it('gives a session the agent that it names, else the organization’s, else the default, for good', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Choosers');
  const plain = await createSession(test, {}, token);
  expect(await setDefault(organizationId, 'second')).toEqual({
    organization: { defaultAgent: 'second' },
    userErrors: [],
  });
  const ours = await createSession(test, {}, token);
  const named = await createSession(test, { agent: 'demo' }, token);
  expect(await setDefault(organizationId, null)).toMatchObject({ organization: { defaultAgent: null } });
  const again = await createSession(test, {}, token);
  const agents = await Promise.all([plain, ours, named, again].map(agentOf));
  expect(agents).toEqual(['demo', 'second', 'demo', 'demo']);
});

it('refuses an agent that there is not, and leaves what was', async () => {
  const { organizationId } = await makeOrganization(test, 'Hopeful');
  await setDefault(organizationId, 'second');
  expect(await setDefault(organizationId, 'third')).toEqual({
    organization: null,
    userErrors: [
      {
        code: 'UNKNOWN_REFERENCE',
        message: '"defaultAgent" must be one of demo, second, but was "third".',
        path: ['input', 'defaultAgent'],
      },
    ],
  });
  const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { organization(id: $id) { defaultAgent } }', {
    id: organizationId,
  });
  expect(data.organization.defaultAgent).toBe('second');
});

it('takes no other agent unasked when the organization’s is not configured any more', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Careful');
  await test.app.services.store.execute('update organization set default_agent = $2 where id = $1', [
    organizationId.replace('org-', ''),
    'retired',
  ]);
  await expect(createSession(test, {}, token)).rejects.toThrow(/default agent, .*retired.* is not configured any more/);
  expect(await agentOf(await createSession(test, { agent: 'demo' }, token))).toBe('demo');
});

it('is for whoever manages organizations, and is written down', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Managed');
  expect(await setDefault(organizationId, 'second', token)).toEqual({ error: 'FORBIDDEN' });
  await setDefault(organizationId, 'second');
  const rows = await test.app.services.store.query<{ data: unknown }>(
    `select data from audit_entry where action = 'update_org' and target_id = $1`,
    [organizationId.replace('org-', '')],
  );
  expect(rows.map(({ data }) => data)).toEqual([{ defaultAgent: 'second', defaultAgentBefore: null }]);
});
