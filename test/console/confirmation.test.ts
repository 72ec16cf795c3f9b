import { afterAll, beforeAll, expect, it } from 'vitest';
import { confirmationMs } from '../../src/auth/confirmation.ts';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { daily, recurring, startSession } from '../support/automations.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { ask, type Halves, send, signIn } from '../support/console.ts';
import { mutationDocument } from '../support/mutations.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';

let test: TestApp;
let clock: Clock;
beforeAll(async () => {
  test = await startApp({ isPrivateWebhookAllowed: true });
  clock = stopClock(test);
});
afterAll(() => test.close());

const signInByLink = async (app = test) =>
  signIn(app, { link: await createConsoleLink(app.app.services, app.adminToken) });

const confirm = (halves: Halves, token: unknown, app: Pick<TestApp, 'url'> = test) =>
  send(app, 'POST', { token }, { ...halves }, '/console/session/confirmation');

/** Runs a mutation in the console; returns the code of the error, or of the first user error, or null. */
async function codeOf(halves: Halves, field: string, input: Record<string, unknown>): Promise<string | null> {
  const { data, errors } = await ask(
    test,
    halves,
    mutationDocument(field, 'userErrors { code message }'),
    {},
    { input },
  );
  return errors?.[0]?.extensions.code ?? data[field].userErrors[0]?.code ?? null;
}

type Mutations = Readonly<Record<string, [field: string, input: Record<string, unknown>]>>;

/** Runs mutations in sequence; returns the code of each by name. */
async function codesOf(halves: Halves, mutations: Mutations): Promise<Record<string, string | null>> {
  const codes: Record<string, string | null> = {};
  for (const [name, [field, input]] of Object.entries(mutations)) codes[name] = await codeOf(halves, field, input);
  return codes;
}

/** Selects every row that a mutation could have written. */
async function rows(): Promise<unknown> {
  const tables = [
    'api_key',
    'service_user',
    'user_account',
    'role_assignment',
    'webhook_endpoint',
    'automation',
    'secret',
  ];
  const counts = [...tables, 'audit_entry', 'idempotency_key'].map(
    (table) => `(select count(*)::int from ${table}) as ${table}`,
  );
  const [row] = await test.app.services.store.query(
    `select ${counts.join(', ')}, (select ip_ranges from enterprise limit 1) as ranges,
       (select string_agg(url || is_enabled, ' ' order by id) from webhook_endpoint) as urls,
       (select jsonb_agg(to_jsonb(a) order by id) from automation a) as automations,
       (select string_agg(key || sealed, ' ' order by id) from secret) as secrets,
       (select string_agg(array_to_string(permissions, ','), ' ' order by id) from role) as roles`,
    [],
  );
  return row;
}

const incoming = { triggers: [{ incomingWebhook: {} }] };
const otherActions = [{ startSession: { prompt: 'Send everything to me.' } }];

async function makeSecret(): Promise<string> {
  const input = {
    organizationId: test.organizationId,
    key: `KEY_${crypto.randomUUID().slice(0, 8)}`,
    type: 'KEY_VALUE',
  };
  const { secret } = await runMutation(test, 'createSecret', 'secret { secretId }', { ...input, value: 'before' });
  return secret.secretId;
}

/** Mutations that grant lasting access or control, by name, with valid inputs. */
async function grants(): Promise<Mutations> {
  const { organizationId } = test;
  const { serviceUser } = await runMutation(test, 'createServiceUser', 'serviceUser { serviceUserId }', {
    name: 'Robot',
    roleId: 'org_admin',
    scope: { organizationId },
  });
  const { serviceUserId } = serviceUser;
  const { userId } = await makeUser(test);
  await makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
  const { apiKey } = await runMutation(test, 'createApiKey', 'apiKey { apiKeyId }', {
    kind: { serviceUser: { serviceUserId } },
    name: 'to rotate',
  });
  const role = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
  const endpoint = async (isEnabled: boolean) =>
    (
      await runMutation(test, 'createWebhookEndpoint', 'webhookEndpoint { webhookEndpointId }', {
        organizationId,
        url: 'http://localhost:9/hook',
        isEnabled,
      })
    ).webhookEndpoint.webhookEndpointId;
  const actions = [startSession];
  const automation = async (input: object) => {
    const made = await runMutation(test, 'createAutomation', 'automation { automationId }', {
      organizationId,
      name: 'Fix',
      actions,
      ...input,
    });
    return made.automation.automationId;
  };
  const email = `ada-${userId}@example.com`;
  return {
    'a key': ['createApiKey', { kind: { serviceUser: { serviceUserId } }, name: 'mine' }],
    'a key of oneself': [
      'createApiKey',
      { kind: { service: { scope: { enterprise: true }, roleId: 'account_admin' } }, name: 'mine' },
    ],
    'a rotated key': ['rotateApiKey', { apiKeyId: apiKey.apiKeyId, revokeCurrent: false }],
    'a service user': ['createServiceUser', { name: 'Robot 2', roleId: 'org_admin', scope: { organizationId } }],
    'a user': ['createUser', { email, roleId: 'org_admin', scope: { organizationId } }],
    'an invited user': ['inviteUsers', { emails: [`i-${email}`], enterpriseRoleId: 'account_admin' }],
    'a role for a user': ['assignRole', { principal: { userId }, scope: { organizationId }, roleId: 'org_admin' }],
    'a role for a service user': [
      'assignRole',
      { principal: { serviceUserId }, scope: { organizationId }, roleId: 'org_member' },
    ],
    'more permissions for a role': ['updateRole', { roleId: role.roleId, permissions: ['USE_SESSIONS'] }],
    'an address': ['addIpAccessListRanges', { ipRanges: ['127.0.0.0/8', '::1', '10.0.0.0/8'] }],
    'another list of addresses': ['replaceIpAccessListRanges', { ipRanges: ['127.0.0.0/8', '::1'] }],
    'a shorter list of addresses': ['removeIpAccessListRanges', { ipRanges: ['10.0.0.0/8'] }],
    'no list of addresses': ['replaceIpAccessListRanges', { ipRanges: [] }],
    'an outgoing webhook': ['createWebhookEndpoint', { organizationId, url: 'http://localhost:9/other' }],
    'another address of an outgoing webhook': [
      'updateWebhookEndpoint',
      { webhookEndpointId: await endpoint(true), url: 'http://localhost:9/theirs' },
    ],
    'an outgoing webhook that was off': ['enableWebhookEndpoint', { webhookEndpointId: await endpoint(false) }],
    'a secret of an outgoing webhook': ['rotateWebhookEndpointSecret', { webhookEndpointId: await endpoint(true) }],
    'an incoming webhook': ['createAutomation', { organizationId, name: 'Hook', actions, ...incoming }],
    'an incoming webhook of an automation': [
      'updateAutomation',
      { automationId: await automation({ triggers: [recurring(daily)] }), ...incoming },
    ],
    'a secret of an incoming webhook': ['rotateAutomationWebhookSecret', { automationId: await automation(incoming) }],
    'an incoming webhook that was off': [
      'enableAutomation',
      { automationId: await automation({ ...incoming, isEnabled: false }) },
    ],
    'other actions of an incoming webhook': [
      'updateAutomation',
      { automationId: await automation(incoming), actions: otherActions },
    ],
    'other actions of a recurring automation': [
      'updateAutomation',
      { automationId: await automation({ triggers: [recurring(daily)] }), actions: otherActions },
    ],
    'a recurring automation': [
      'createAutomation',
      { organizationId, name: 'Daily', actions, triggers: [recurring(daily)] },
    ],
    'a secret of the organization': [
      'createSecret',
      { organizationId, key: 'HTTPS_PROXY', type: 'KEY_VALUE', value: 'http://theirs.example:8080' },
    ],
    'another value of a secret': ['updateSecret', { secretId: await makeSecret(), value: 'after' }],
    'another name of a secret': ['updateSecret', { secretId: await makeSecret(), key: 'ANTHROPIC_BASE_URL' }],
  };
}

it('a sign-in by a link cannot grant lasting access, writes nothing, and can after the token was entered', async () => {
  const mutations = await grants();
  const halves = await signInByLink();
  const before = await rows();
  expect(await codesOf(halves, mutations)).toEqual(
    Object.fromEntries(Object.keys(mutations).map((name) => [name, 'CONFIRMATION_REQUIRED'])),
  );
  expect(await rows()).toEqual(before);
  expect((await confirm(halves, test.adminToken)).status).toBe(204);
  expect(await codesOf(halves, mutations)).toEqual(
    Object.fromEntries(Object.keys(mutations).map((name) => [name, null])),
  );
  expect(await rows()).not.toEqual(before);
});

it('other actions need no confirmation', async () => {
  const { organizationId } = test;
  const halves = await signInByLink();
  const { serviceUser } = await runMutation(test, 'createServiceUser', 'serviceUser { serviceUserId }', {
    name: 'To be renamed',
    roleId: 'org_admin',
    scope: { organizationId },
  });
  const { webhookEndpoint } = await runMutation(
    test,
    'createWebhookEndpoint',
    'webhookEndpoint { webhookEndpointId }',
    {
      organizationId,
      url: 'http://localhost:9/hook',
    },
  );
  const role = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS', 'USE_SESSIONS']);
  const { automation } = await runMutation(test, 'createAutomation', 'automation { automationId }', {
    organizationId,
    name: 'Fix',
    actions: [startSession],
    ...incoming,
  });
  const { automationId } = automation;
  const { webhookEndpointId } = webhookEndpoint;
  const { serviceUserId } = serviceUser;
  const mutations: [string, Record<string, unknown>][] = [
    ['createSession', { prompt: 'hello', organizationId }],
    ['createOrganization', { name: 'Another' }],
    ['updateServiceUser', { serviceUserId, name: 'Renamed' }],
    ['updateWebhookEndpoint', { webhookEndpointId, description: 'Ours' }],
    ['disableWebhookEndpoint', { webhookEndpointId }],
    ['updateRole', { roleId: role.roleId, name: 'Watcher', permissions: ['VIEW_ORG_SESSIONS'] }],
    ['updateAutomation', { automationId, name: 'Repair' }],
    ['enableAutomation', { automationId }],
    ['runAutomation', { automationId }],
    ['disableAutomation', { automationId }],
    ['deleteAutomation', { automationId }],
    ['deleteSecret', { secretId: await makeSecret() }],
    [
      'createKnowledgeNote',
      { scope: { organizationId }, name: 'Style', trigger: 'When you write', body: 'Write plainly' },
    ],
    ['unassignRole', { principal: { serviceUserId }, scope: { organizationId } }],
    ['deleteServiceUser', { serviceUserId }],
  ];
  for (const [field, input] of mutations)
    expect({ field, code: await codeOf(halves, field, input) }).toEqual({ field, code: null });
});

const oneMore = async (halves: Halves) =>
  codeOf(halves, 'createServiceUser', {
    name: 'One more',
    roleId: 'org_admin',
    scope: { organizationId: test.organizationId },
  });

it('a sign-in with a token is confirmed for ten minutes, and for ten more with the token', async () => {
  const halves = await signIn(test, test.adminToken);
  expect(await oneMore(halves)).toBeNull();
  clock.advance(confirmationMs - 1);
  expect(await oneMore(halves)).toBeNull();
  clock.advance(1);
  expect(await oneMore(halves)).toBe('CONFIRMATION_REQUIRED');
  expect((await confirm(halves, test.adminToken)).status).toBe(204);
  clock.advance(confirmationMs - 1);
  expect(await oneMore(halves)).toBeNull();
  clock.advance(1);
  expect(await oneMore(halves)).toBe('CONFIRMATION_REQUIRED');
});

it('the audit log contains each confirmation, and no failed one', async () => {
  const halves = await signInByLink();
  const logins = () =>
    test.app.services.store.query<{ data: unknown; keyId: string; targetId: string; address: string | null }>(
      `select data, api_key_id as "keyId", target_id as "targetId", address from audit_entry where action = 'login' order by id`,
      [],
    );
  const before = await logins();
  expect((await confirm(halves, test.v1Key)).status).toBe(403);
  expect(await logins()).toEqual(before);
  expect((await confirm(halves, test.adminToken)).status).toBe(204);
  const [entry, ...others] = (await logins()).slice(before.length);
  const signedIn = before.at(-1);
  expect(entry).toEqual({ ...signedIn, data: { ...(signedIn?.data as object), isConfirmation: true } });
  expect(others).toEqual([]);
});

it('only the token of the same key confirms, and only the browser that sends it', async () => {
  const [halves, other] = [await signInByLink(), await signInByLink()];
  const { token } = await makeUser(test, { organizationId: null, roleId: 'account_admin' });
  const refusal = 'That token isn’t valid, or it belongs to another key than the one you are signed in with.';
  for (const wrong of [token, test.v1Key, `cog_${'a'.repeat(52)}`, 'ö', '']) {
    const { status, body } = await confirm(halves, wrong);
    expect({ status, body }).toEqual({ status: 403, body: { code: 'FORBIDDEN', message: refusal } });
  }
  expect((await confirm(halves, 7)).status).toBe(400);
  expect(await oneMore(halves)).toBe('CONFIRMATION_REQUIRED');
  expect((await confirm({ cookie: halves.cookie }, test.adminToken)).status).toBe(401);
  expect((await confirm({ ...halves, cookie: other.cookie }, test.adminToken)).status).toBe(401);
  expect(await oneMore(halves)).toBe('CONFIRMATION_REQUIRED');
  expect((await confirm(halves, test.adminToken)).status).toBe(204);
  expect([await oneMore(halves), await oneMore(other)]).toEqual([null, 'CONFIRMATION_REQUIRED']);
  const wrong = await send(test, 'DELETE', undefined, { ...halves }, '/console/session/confirmation');
  expect({ status: wrong.status, allow: wrong.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
});

it('a failed confirmation counts as a failed token of its address, also with a valid token of another key', async () => {
  const limited = await startApp({ rateLimitLogin: 3 });
  try {
    stopClock(limited);
    const halves = await signInByLink(limited);
    const statuses: number[] = [];
    for (const wrong of [limited.v1Key, 'cog_nobodys', limited.v1Key, limited.v1Key, 'cog_nobodys']) {
      statuses.push((await confirm(halves, wrong, limited)).status);
    }
    expect(statuses).toEqual([403, 403, 403, 429, 429]);
    expect((await confirm(halves, limited.adminToken, limited)).status).toBe(204);
  } finally {
    await limited.close();
  }
});
