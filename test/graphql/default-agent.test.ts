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

it('lists the agents to every caller', async () => {
  const { token } = await makeOrganization(test, 'Lookers');
  const { data } = await graphql(test, token, '{ agents { agentId name isDefault } }');
  expect(data.agents).toEqual([
    { agentId: 'demo', name: 'Demo agent', isDefault: true },
    { agentId: 'second', name: 'Second', isDefault: false },
  ]);
});

it('gives a session the named agent, else the organization’s, else the default, permanently', async () => {
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

it('refuses an unknown agent, and keeps the current one', async () => {
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

it('uses no other agent if the organization’s is no longer configured', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Careful');
  await test.app.services.store.execute('update organization set default_agent = $2 where id = $1', [
    organizationId.replace('org-', ''),
    'retired',
  ]);
  await expect(createSession(test, {}, token)).rejects.toThrow(/default agent, .*retired.* is no longer configured/);
  expect(await agentOf(await createSession(test, { agent: 'demo' }, token))).toBe('demo');
});

it('requires the permission to manage organizations, and is audited', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Managed');
  expect(await setDefault(organizationId, 'second', token)).toEqual({ error: 'FORBIDDEN' });
  await setDefault(organizationId, 'second');
  const rows = await test.app.services.store.query<{ data: unknown }>(
    `select data from audit_entry where action = 'update_org' and target_id = $1`,
    [organizationId.replace('org-', '')],
  );
  expect(rows.map(({ data }) => data)).toEqual([{ defaultAgent: 'second', defaultAgentBefore: null }]);
});

it('returns the profiles of agents with their ids, and null for one that is no longer configured', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Profiles');
  await setDefault(organizationId, 'second');
  const id = await createSession(test, {}, token);
  const ask = async () => {
    const document = `query($session: ID!, $organization: ID!) {
      session(id: $session) { agent agentProfile { id name isDefault } }
      organization(id: $organization) { defaultAgent defaultAgentProfile { agentId name } } }`;
    return (await graphql(test, token, document, { session: id, organization: organizationId })).data;
  };
  const { session, organization } = await ask();
  expect(session).toMatchObject({ agent: 'second', agentProfile: { name: 'Second', isDefault: false } });
  expect(organization.defaultAgentProfile).toEqual({ agentId: 'second', name: 'Second' });
  const node = 'query($id: ID!) { node(id: $id) { __typename ... on Agent { agentId } } }';
  const found = () => graphql(test, token, node, { id: session.agentProfile.id });
  expect((await found()).data.node).toEqual({ __typename: 'Agent', agentId: 'second' });
  // As after a start with another configuration.
  await test.app.services.store.execute(`update organization set default_agent = 'gone' where id = $1`, [
    organizationId.replace('org-', ''),
  ]);
  await test.app.services.store.execute(`update session set agent = 'gone' where id = $1`, [id]);
  expect(await ask()).toEqual({
    session: { agent: 'gone', agentProfile: null },
    organization: { defaultAgent: 'gone', defaultAgentProfile: null },
  });
  await setDefault(organizationId, null);
  expect((await ask()).organization).toEqual({ defaultAgent: null, defaultAgentProfile: null });
});
