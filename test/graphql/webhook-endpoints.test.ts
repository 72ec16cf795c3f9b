import { expect, it } from 'vitest';
import { resealSecrets } from '../../src/domain/library/secrets/reseal-secrets.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { endpointFields, makeEndpoint, readEndpoint } from '../support/webhooks.ts';

const test = useApp();

const url = 'https://hooks.example/in?key=1';
const run = (field: string, input: Record<string, unknown>, token: string) =>
  runMutation(test, field, endpointFields, input, token);
const sendTest = (webhookEndpointId: string, token: string) =>
  runMutation(
    test,
    'testWebhookEndpoint',
    'webhookDelivery { id webhookDeliveryId status }',
    { webhookEndpointId },
    token,
  );

it('is created, changed and deleted, and its secret is shown once', async () => {
  const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Endpoints');
  const made = await makeEndpoint(test, token, { url, description: 'Ours' });
  expect(made).toEqual({
    id: expect.any(String),
    webhookEndpointId: expect.stringMatching(/^webhook-[0-9a-f]{32}$/),
    url,
    description: 'Ours',
    eventTypes: [
      ...['SESSION_STATUS_CHANGED', 'SESSION_FOLLOW_UP_SENT', 'SESSION_MESSAGE', 'SESSION_PULL_REQUEST_OPENED'],
      ...['SESSION_PULL_REQUEST_MERGED', 'SESSION_PULL_REQUEST_CLOSED', 'SESSION_FOLLOW_UPS_STOPPED'],
    ],
    isEnabled: true,
    disabledReason: null,
    consecutiveFailures: 0,
    secret: expect.stringMatching(/^whsec_/),
  });
  const { id } = made;
  const change = { webhookEndpointId: id, eventTypes: ['SESSION_MESSAGE', 'SESSION_MESSAGE'], description: null };
  const changed = await run('updateWebhookEndpoint', change, token);
  expect(changed.webhookEndpoint).toMatchObject({ url, description: null, eventTypes: ['SESSION_MESSAGE'] });
  const document = `query($id: ID!) { organization(id: $id) { webhookEndpoints { totalCount nodes { id
    organization { organizationId } createdBy { ... on ServiceUser { serviceUserId } } } } } }`;
  const { data } = await graphql(test, token, document, { id: organizationId });
  expect(data.organization.webhookEndpoints).toEqual({
    totalCount: 1,
    nodes: [{ id, organization: { organizationId }, createdBy: { serviceUserId } }],
  });
  const rows = await test.app.services.store.query('select t::text as row from webhook_endpoint t', []);
  expect(JSON.stringify(rows)).not.toContain(made.secret.slice(6));

  for (const [verb, isEnabled] of [
    ['disable', false],
    ['disable', false],
    ['enable', true],
  ] as const) {
    const switched = await run(`${verb}WebhookEndpoint`, { webhookEndpointId: id }, token);
    expect(switched).toMatchObject({ webhookEndpoint: { isEnabled }, userErrors: [] });
  }
  await sendTest(id, token);
  expect((await readEndpoint(test, token, id)).deliveries.totalCount).toBe(1);
  const gone = await runMutation(
    test,
    'deleteWebhookEndpoint',
    'deletedWebhookEndpointId',
    { webhookEndpointId: id },
    token,
  );
  expect(gone.deletedWebhookEndpointId).toBe(id);
  expect(await run('updateWebhookEndpoint', change, token)).toMatchObject({ error: 'NOT_FOUND' });
  const entries = await test.app.services.store.query(
    `select action, data from audit_entry where organization_id = $1 and action like '%webhook%' order by created_at, id`,
    [organizationId.replace('org-', '')],
  );
  // Never the path: it is often a secret itself.
  const host = 'hooks.example';
  expect(entries).toEqual([
    { action: 'create_webhook_endpoint', data: { host } },
    { action: 'update_webhook_endpoint', data: { host, changed: 'description eventTypes' } },
    { action: 'update_webhook_endpoint', data: { host, changed: 'isEnabled' } },
    { action: 'update_webhook_endpoint', data: { host, changed: 'isEnabled' } },
    { action: 'test_webhook_endpoint', data: {} },
    { action: 'delete_webhook_endpoint', data: { host } },
  ]);
});

it('is refused with the path of the problem, and beyond the maximum number', async () => {
  const { token } = await makeOrganization(test, 'Refused endpoints');
  for (const [input, path] of [
    [{ url: 'nowhere' }, 'url'],
    [{ url, description: 'x'.repeat(501) }, 'description'],
    [{ url, eventTypes: [] }, 'eventTypes'],
  ] as const) {
    const payload = await run('createWebhookEndpoint', input, token);
    expect(payload).toMatchObject({
      webhookEndpoint: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', path] }],
    });
  }
  const all = await Promise.all(Array.from({ length: 21 }, () => run('createWebhookEndpoint', { url }, token)));
  const refused = all.filter(({ webhookEndpoint }) => webhookEndpoint === null);
  expect(refused.map(({ userErrors }) => userErrors[0].code)).toEqual(['LIMIT_EXCEEDED']);
});

it('needs the permission to change automations, and to view sessions for its creation', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Whose endpoints');
  const { id } = await makeEndpoint(test, token, { url });
  const sent = await sendTest(id, token);
  const holder = async (...permissions: string[]) => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', permissions);
    return (await makeUser(test, { organizationId, roleId })).token;
  };
  const member = (await makeUser(test, { organizationId })).token;
  const manager = await holder('MANAGE_ORG_AUTOMATIONS');
  const missing = (permission: string) => ({ error: 'FORBIDDEN', message: `Missing permission ${permission}.` });
  expect(await run('createWebhookEndpoint', { url, organizationId }, member)).toEqual(
    missing('MANAGE_ORG_AUTOMATIONS'),
  );
  expect(await run('updateWebhookEndpoint', { webhookEndpointId: id, url }, member)).toMatchObject({
    error: 'FORBIDDEN',
  });
  expect(await run('createWebhookEndpoint', { url, organizationId }, manager)).toEqual(missing('VIEW_ORG_SESSIONS'));
  expect(await run('updateWebhookEndpoint', { webhookEndpointId: id, url }, manager)).toEqual(
    missing('VIEW_ORG_SESSIONS'),
  );
  expect(await sendTest(id, manager)).toEqual(missing('VIEW_ORG_SESSIONS'));
  const again = { webhookDeliveryId: sent.webhookDelivery.id };
  const redeliver = (by: string) =>
    runMutation(test, 'redeliverWebhookDelivery', 'webhookDelivery { status }', again, by);
  expect(await redeliver(manager)).toEqual(missing('VIEW_ORG_SESSIONS'));
  expect(await redeliver(member)).toMatchObject({ error: 'FORBIDDEN' });
  expect((await redeliver(await holder('MANAGE_ORG_AUTOMATIONS', 'VIEW_ORG_SESSIONS'))).webhookDelivery.status).toBe(
    'PENDING',
  );
  expect((await readEndpoint(test, manager, id)).deliveries.totalCount).toBe(1);
  const stranger = await makeOrganization(test, 'Strangers to endpoints');
  expect(await readEndpoint(test, stranger.token, id)).toBeNull();
  expect(await readEndpoint(test, member, id)).toBeNull();
});

it('has deliveries that are paged both ways, and filtered by status', async () => {
  const { token } = await makeOrganization(test, 'Paged deliveries');
  const { id } = await makeEndpoint(test, token, { url });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await sendTest(id, token)).webhookDelivery.id);
  const list: List = {
    token,
    declared: '$id: ID!',
    variables: { id },
    field: 'node(id: $id) { ... on WebhookEndpoint { list: deliveries(PAGE) SELECTION } }',
    at: (data) => data.node.list,
  };
  expect(await readAll(test, list, 'forwards', { size: 2 })).toEqual(ids);
  expect(await readAll(test, list, 'backwards', { size: 2 })).toEqual(ids);
  const document = `query($id: ID!) { node(id: $id) { ... on WebhookEndpoint {
    waiting: deliveries(filter: {status: [PENDING]}) { totalCount } over: deliveries(filter: {status: [DELIVERED, FAILED]}) { totalCount nodes { id } } } } }`;
  const { data } = await graphql(test, token, document, { id });
  expect(data.node).toEqual({ waiting: { totalCount: 5 }, over: { totalCount: 0, nodes: [] } });
});

// Must be the last test: the app's own key cannot decrypt anything afterwards.
it('re-encrypts its secrets after a change of SECRET_KEY', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Sealed again');
  const { id, secret, webhookEndpointId } = await makeEndpoint(test, token, { url });
  const rotated = await runMutation(test, 'rotateWebhookEndpointSecret', 'secret', { webhookEndpointId: id }, token);
  const { store, log } = test.app.services;
  const keys = {
    secretKey: 'another secret key, for these tests only',
    previousSecretKey: 'a secret key that is only for the tests',
  };
  await resealSecrets({ store, log, keyring: createKeyring(keys) }, () => false);
  const after = createKeyring({ ...keys, previousSecretKey: null });
  const bare = webhookEndpointId.replace('webhook-', '');
  const [row] = await store.query<{ sealed: string; previous: string }>(
    'select sealed, previous_sealed as previous from webhook_endpoint where id = $1',
    [bare],
  );
  const open = (sealed = '') => after.open(sealed, `${organizationId.replace('org-', '')}:${bare}`);
  expect([open(row?.sealed), open(row?.previous)]).toEqual([rotated.secret, secret]);
});
