import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { ask, signIn } from '../support/console.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const client = { 'client_id': 'switchyard-cli' };

let test: TestApp;
let clock: Clock;
beforeAll(async () => {
  test = await startApp({ rateLimitLogin: 5 });
  clock = stopClock(test);
});
afterAll(() => test.close());
// Each test has a minute of its own for wrong codes, and no programs of others that wait.
beforeEach(() => clock.advance(15 * 60_000));

/** Sends a form like a program, and returns the status and the body. */
async function post(path: string, form: Record<string, string> | string, type = 'application/x-www-form-urlencoded') {
  const body = typeof form === 'string' ? form : new URLSearchParams({ ...client, ...form }).toString();
  const response = await fetch(test.url + path, { method: 'POST', headers: { 'content-type': type }, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

const begin = async (name = 'Switchyard on laptop') =>
  (await post('/oauth/device_authorization', { 'client_name': name })).body;
const redeem = async (deviceCode: string) =>
  (await post('/oauth/token', { 'grant_type': deviceGrant, 'device_code': deviceCode })).body;
const approve = (userCode: string, token?: string, more: object = {}) =>
  runMutation(
    test,
    'approveDeviceAuthorization',
    'apiKey { kind name display expiresAt }',
    { userCode, ...more },
    token,
  );
const deny = (userCode: string, token?: string) =>
  runMutation(test, 'denyDeviceAuthorization', 'isDenied', { userCode }, token);
const find = (userCode: string, token: string) =>
  graphql(
    test,
    token,
    'query($userCode: String!) { deviceAuthorization(userCode: $userCode) { clientName address expiresAt } }',
    {
      userCode,
    },
  );
const viewer = '{ viewer { principalType principal { ... on User { userId } } } }';

it('gives a program a token of the user who approves it', async () => {
  const { userId, token } = await makeUser(test);
  const begun = await begin();
  expect(begun).toEqual({
    'device_code': expect.stringMatching(/^cog_[a-z2-7]{52}$/),
    'user_code': expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    'verification_uri': `${test.url}/device`,
    'expires_in': 600,
    interval: 5,
  });
  const { 'device_code': deviceCode, 'user_code': userCode } = begun;
  expect(await redeem(deviceCode)).toMatchObject({ error: 'authorization_pending' });
  clock.advance(2_000);
  expect(await redeem(deviceCode)).toMatchObject({ error: 'slow_down' });
  expect((await graphql(test, deviceCode, viewer)).errors?.[0].extensions.code).toBe('UNAUTHENTICATED');
  expect((await find(userCode, token)).data.deviceAuthorization).toEqual({
    clientName: 'Switchyard on laptop',
    address: expect.stringMatching(/127\.0\.0\.1|::1/),
    expiresAt: expect.any(String),
  });

  const expiresAt = new Date(test.app.services.now().getTime() + 3_600_000).toISOString();
  const approved = await approve(userCode.toLowerCase().replace('-', ' '), token, { expiresAt });
  expect(approved).toMatchObject({
    apiKey: { kind: 'PERSONAL_ACCESS_TOKEN', name: 'Switchyard on laptop', display: `${deviceCode.slice(0, 8)}…` },
    userErrors: [],
  });
  const granted = { 'access_token': deviceCode, 'token_type': 'Bearer', 'expires_in': 3_600 };
  expect(await redeem(deviceCode)).toEqual(granted);
  // A lost response loses no token.
  expect(await redeem(deviceCode)).toEqual(granted);
  expect((await graphql(test, deviceCode, viewer)).data.viewer).toMatchObject({ principal: { userId } });
  // The code is used up.
  expect((await find(userCode, token)).data.deviceAuthorization).toBeNull();
  expect(await approve(userCode, token)).toMatchObject({ error: 'NOT_FOUND' });

  expect(await post('/oauth/revoke', { token: deviceCode })).toMatchObject({ status: 200, body: null });
  expect(await post('/oauth/revoke', { token: deviceCode })).toMatchObject({ status: 200, body: null });
  expect((await graphql(test, deviceCode, viewer)).errors?.[0].extensions.code).toBe('UNAUTHENTICATED');
  // Nobody gets a token that has ended.
  expect(await redeem(deviceCode)).toMatchObject({ error: 'access_denied' });
  const actions = await test.app.services.store.query<{ action: string; data: object }>(
    `select action, data from audit_entry where user_id = $1 and action in ('create_pat', 'revoke_pat') order by created_at, id`,
    [userId.replace('user-', '')],
  );
  expect(actions).toMatchObject([
    { action: 'create_pat', data: { isDevice: true, name: 'Switchyard on laptop' } },
    { action: 'revoke_pat', data: {} },
  ]);
});

it('does not count a token as revoked at an address that the IP access list refuses', async () => {
  const { token } = await makeUser(test);
  const { store } = test.app.services;
  await store.execute(`update enterprise set ip_ranges = '{198.51.100.0/24}'`);
  const refused = await post('/oauth/revoke', { token });
  await store.execute(`update enterprise set ip_ranges = '{}'`);
  expect(refused).toMatchObject({ status: 403, body: { error: 'access_denied' } });
  expect((await graphql(test, token, viewer)).data.viewer).toMatchObject({ principalType: 'USER' });
});

it('stores neither code', async () => {
  const { 'device_code': deviceCode, 'user_code': userCode } = await begin();
  const rows = await test.app.services.store.query<{ text: string }>(
    'select d::text as text from device_authorization d',
  );
  const stored = rows.map(({ text }) => text).join('\n');
  expect(stored).toContain('Switchyard on laptop');
  for (const code of [deviceCode, userCode, userCode.replace('-', '')]) expect(stored).not.toContain(code);
});

it('asks for a confirmation in the console', async () => {
  const { token } = await makeUser(test);
  const halves = await signIn(test, token);
  const { 'user_code': userCode, 'device_code': deviceCode } = await begin();
  const document = `mutation($input: ApproveDeviceAuthorizationInput!) { approveDeviceAuthorization(input: $input) { apiKey { name } userErrors { code } } }`;
  clock.advance(9 * 60_000);
  const late = await begin();
  clock.advance(2 * 60_000);
  const refused = await ask(test, halves, document, {}, { input: { userCode: late.user_code } });
  expect(JSON.stringify(refused)).toContain('CONFIRMATION_REQUIRED');
  expect(await redeem(late.device_code)).toMatchObject({ error: 'authorization_pending' });
  expect(await redeem(deviceCode)).toMatchObject({ error: 'expired_token' });
  const fresh = await signIn(test, token);
  expect(JSON.stringify(await ask(test, fresh, document, {}, { input: { userCode } }))).toContain('NOT_FOUND');
  expect(
    (await ask(test, fresh, document, {}, { input: { userCode: late.user_code } })).data.approveDeviceAuthorization,
  ).toMatchObject({ apiKey: { name: 'Switchyard on laptop' }, userErrors: [] });
  expect(await redeem(late.device_code)).toMatchObject({ 'token_type': 'Bearer' });
});

it('lets the person refuse', async () => {
  const { token } = await makeUser(test);
  const { 'user_code': userCode, 'device_code': deviceCode } = await begin();
  expect(await deny(userCode, token)).toMatchObject({ isDenied: true, userErrors: [] });
  expect(await redeem(deviceCode)).toMatchObject({ error: 'access_denied' });
  expect(await approve(userCode, token)).toMatchObject({ error: 'NOT_FOUND' });
  expect((await graphql(test, deviceCode, viewer)).errors?.[0].extensions.code).toBe('UNAUTHENTICATED');
});

it('is decided once by people who decide at the same time', async () => {
  const [ann, ben] = [await makeUser(test), await makeUser(test)];
  const { 'user_code': userCode } = await begin();
  const decided = await Promise.all([
    approve(userCode, ann.token),
    approve(userCode, ben.token),
    deny(userCode, ben.token),
  ]);
  const succeeded = decided.filter(({ userErrors }) => userErrors?.length === 0);
  expect(succeeded).toHaveLength(1);
  expect(decided.filter(({ error }) => error === 'NOT_FOUND')).toHaveLength(2);
});

describe('who may approve', () => {
  it('a service user that manages service users gets a key of its own kind', async () => {
    const { 'user_code': userCode, 'device_code': deviceCode } = await begin();
    expect(await approve(userCode, test.adminToken)).toMatchObject({
      apiKey: { kind: 'SERVICE_USER' },
      userErrors: [],
    });
    await redeem(deviceCode);
    expect((await graphql(test, deviceCode, viewer)).data.viewer).toMatchObject({ principalType: 'SERVICE_USER' });
  });

  it('not a service user that manages none, a service key, or a key of one organization', async () => {
    const { userId } = await makeUser(test);
    const { organizationId } = test;
    const tokens = [
      (await makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP')).token,
      await makeKey(test, { kind: 'SERVICE', organizationId }),
      await makeKey(test, { kind: 'PERSONAL', userId, organizationId }),
    ];
    const { 'user_code': userCode } = await begin();
    for (const token of tokens) {
      expect(JSON.stringify(await approve(userCode, token))).toContain('FORBIDDEN');
      expect((await find(userCode, token)).errors?.[0].extensions.code).toBe('FORBIDDEN');
    }
    expect((await approve(userCode)).userErrors).toEqual([]);
  });

  it('not with an expiry after that of the own key', async () => {
    const { userId } = await makeUser(test);
    const expiresAt = new Date(test.app.services.now().getTime() + 3_600_000).toISOString();
    const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId, expiresAt });
    const { 'user_code': userCode } = await begin();
    expect((await approve(userCode, token)).userErrors).toMatchObject([
      { code: 'INVALID_INPUT', path: ['input', 'expiresAt'] },
    ]);
    expect(await approve(userCode, token, { expiresAt })).toMatchObject({ apiKey: { expiresAt } });
  });
});

describe('limits', () => {
  it('of wrong codes of a viewer, who is refused a right one then too', async () => {
    const { token } = await makeUser(test);
    const { 'user_code': userCode } = await begin();
    const codes: string[] = [];
    for (let n = 0; n < 7; n++) {
      const { errors } = await find('BBBB-BBBB', token);
      codes.push(errors ? errors[0].extensions.code : 'none');
    }
    expect(codes).toEqual(['none', 'none', 'none', 'none', 'none', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(JSON.stringify(await approve('BBBB-BBBB', token))).toContain('RATE_LIMITED');
    expect((await find(userCode, token)).errors?.[0].extensions.code).toBe('RATE_LIMITED');
    expect(JSON.stringify(await approve(userCode, token))).toContain('RATE_LIMITED');
    // Others at the same address are not.
    const { token: other } = await makeUser(test);
    for (let n = 0; n < 7; n++) expect((await find(userCode, other)).data.deviceAuthorization).not.toBeNull();
    expect((await approve(userCode, other)).userErrors).toEqual([]);
  });

  it('of unknown device codes from an address', async () => {
    for (let n = 0; n < 5; n++) expect(await redeem(`cog_${'a'.repeat(52)}`)).toMatchObject({ error: 'invalid_grant' });
    const refused = await post('/oauth/token', { 'grant_type': deviceGrant, 'device_code': 'x' });
    expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('of programs that wait in one network', async () => {
    const answers = [];
    for (let n = 0; n < 31; n++) answers.push(await post('/oauth/device_authorization', {}));
    expect(answers.slice(0, 30).every(({ status }) => status === 200)).toBe(true);
    expect(answers[30]).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
    clock.advance(10 * 60_000);
    expect((await post('/oauth/device_authorization', {})).status).toBe(200);
  });
});

describe('bad requests', () => {
  it.each([
    ['another method', () => fetch(`${test.url}/oauth/token`), 405, 'invalid_request'],
    ['JSON', () => post('/oauth/token', '{}', 'application/json'), 400, 'invalid_request'],
    ['no client', () => post('/oauth/token', 'a=b'), 401, 'invalid_client'],
    ['another client', () => post('/oauth/token', { 'client_id': 'other' }), 401, 'invalid_client'],
    ['a repeated parameter', () => post('/oauth/token', 'client_id=a&client_id=b'), 400, 'invalid_request'],
    ['another grant', () => post('/oauth/token', { 'grant_type': 'password' }), 400, 'unsupported_grant_type'],
    ['no device code', () => post('/oauth/token', { 'grant_type': deviceGrant }), 400, 'invalid_request'],
    ['no token', () => post('/oauth/revoke', {}), 400, 'invalid_request'],
    [
      'a long name',
      () => post('/oauth/device_authorization', { 'client_name': 'x'.repeat(101) }),
      400,
      'invalid_request',
    ],
    [
      'control characters',
      () => post('/oauth/device_authorization', { 'client_name': 'a\u202eb' }),
      400,
      'invalid_request',
    ],
    ['a body that is too long', () => post('/oauth/token', `client_id=${'x'.repeat(9_000)}`), 400, 'invalid_request'],
  ] as const)('%s', async (_name, request, status, error) => {
    const response: Awaited<ReturnType<typeof post>> | Response = await request();
    const body = response instanceof Response ? await response.json() : response.body;
    expect({ status: response.status, body }).toMatchObject({
      status,
      body: { error, 'error_description': expect.stringMatching(/\.$/) },
    });
  });

  it('of GraphQL: a text that is no code', async () => {
    const { errors } = await find('1234', test.adminToken);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('WDJB-MJHT'),
      extensions: { code: 'INVALID_INPUT' },
    });
  });
});

it('describes itself as RFC 8414 asks', async () => {
  const metadata = await (await fetch(`${test.url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({
    issuer: test.url,
    'device_authorization_endpoint': `${test.url}/oauth/device_authorization`,
    'token_endpoint': `${test.url}/oauth/token`,
    'revocation_endpoint': `${test.url}/oauth/revoke`,
    'grant_types_supported': [deviceGrant],
  });
});
