import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetRegistrations } from '../../src/domain/github-apps/registration-form.ts';
import { graphql } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import type { ForgeAnswer } from '../support/forges/forge-server.ts';
import { installationId, startGithub, type TestGithub } from '../support/forges/github.ts';
import { makeManager } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ isHttpForgeAllowed: true, baseUrl: 'https://switchyard.example.com' });
const code = 'c4n4ryc0de0fthemanifestflow';
const webhookSecret = 'c4n4ry-of-the-new-app';
let github: TestGithub;
let clock: Clock;
let count = 0;

beforeAll(async () => {
  github = await startGithub();
});
beforeEach(() => {
  clock = stopClock(test);
});
afterEach(() => github.intercept(() => null));
afterAll(() => github.close());

const run = async (name: string, selection: string, input: object, token: string | null = test.adminToken) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const document = `mutation($input: ${type}!) { ${name}(input: $input) { ${selection} userErrors { code message path } } }`;
  const { data, errors } = await graphql(test, token, document, { input });
  return { ...data?.[name], errors: errors?.map(({ extensions }) => extensions.code) };
};
const begin = (more: object = {}, token = test.adminToken) =>
  run(
    'beginGithubAppRegistration',
    'registrationUrl expiresAt',
    { name: `App ${++count}`, host: github.url, ...more },
    token,
  );
const complete = (state: string, token = test.adminToken, ofGithub = code) =>
  run(
    'completeGithubAppRegistration',
    'installationUrl gitConnection { gitConnectionId providerType name host appId installationId hasCredential hasWebhookSecret }',
    { code: ofGithub, state },
    token,
  );
const stateOf = (url: string) => new URL(url).searchParams.get('state') ?? '';
const newState = async (more: object = {}) => stateOf((await begin(more)).registrationUrl);
const openPage = (url: string) => fetch(`${test.url}${url.slice('https://switchyard.example.com'.length)}`);

/** The answer as GitHub describes it, with the secrets of the emulator's App. */
const app = (more: object = {}) => ({
  'id': 12_345,
  'slug': 'switchyard-test',
  'node_id': 'A_1',
  'owner': { login: 'acme', id: 1 },
  'name': 'Switchyard for acme',
  'external_url': 'https://switchyard.example.com',
  'html_url': `${github.url}/apps/switchyard-test`,
  'client_id': 'Iv1.1',
  'client_secret': 'c4n4ry-client-secret',
  'webhook_secret': webhookSecret,
  'pem': github.privateKey,
  'permissions': { contents: 'write' },
  'events': ['push'],
  ...more,
});

/** Answers the exchange of the code. */
function convertTo(answer: () => ForgeAnswer): void {
  github.intercept(({ method, url }) =>
    method === 'POST' && url.pathname === `/api/v3/app-manifests/${code}/conversions` ? answer() : null,
  );
}
const convert = (more: object = {}) => convertTo(() => ({ status: 201, body: app(more) }));

describe('the page of a registration', () => {
  it('posts the manifest to the chosen host only', async () => {
    const { registrationUrl, expiresAt } = await begin({ githubOrganization: 'acme' });
    expect(Date.parse(expiresAt) - test.app.services.now().getTime()).toBe(60 * 60 * 1_000);
    const page = await openPage(registrationUrl);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain(`form-action ${github.url};`);
    expect(page.headers.get('content-security-policy')).not.toContain('script-src');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const html = await page.text();
    const action = /action="([^"]+)"/.exec(html)?.[1];
    expect(action).toBe(`${github.url}/organizations/acme/settings/apps/new?state=${stateOf(registrationUrl)}`);
    const manifest = JSON.parse((/name="manifest" value="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"'));
    expect(manifest).toMatchObject({
      'name': 'Switchyard for acme',
      'url': 'https://switchyard.example.com',
      'public': false,
      'redirect_url': 'https://switchyard.example.com/manage/git/github-app',
      'default_permissions': { contents: 'write', 'pull_requests': 'write', metadata: 'read', checks: 'read' },
      'hook_attributes': { active: true },
    });
    const id = /git-connection-[0-9a-f]{32}/.exec(manifest.setup_url)?.[0];
    expect(manifest.hook_attributes.url).toBe(`https://switchyard.example.com/webhooks/git/${id}`);
    expect(manifest.default_events).toContain('pull_request_review_comment');
  });

  it('goes to the personal account without an organization, and asks for the name', async () => {
    const html = await (await openPage((await begin()).registrationUrl)).text();
    expect(html).toContain(`action="${github.url}/settings/apps/new?state=`);
    expect(html).not.toContain('&quot;name&quot;');
  });

  it('is missing for any other state, and accepts no other method', async () => {
    for (const state of ['', 'a'.repeat(52), "'--", '../../x']) {
      const page = await fetch(`${test.url}/console/github-app?state=${encodeURIComponent(state)}`);
      expect(page.status).toBe(404);
      expect(page.headers.get('content-security-policy')).toContain("form-action 'none'");
    }
    expect((await fetch(`${test.url}/console/github-app`, { method: 'POST' })).status).toBe(405);
    const { registrationUrl } = await begin();
    clock.advance(60 * 60 * 1_000);
    expect((await openPage(registrationUrl)).status).toBe(404);
  });
});

it('stores the App, whose secrets no answer has, and records its installation', async () => {
  convert({ 'html_url': 'https://evil.example.com/apps/x' });
  const name = 'Acme at GitHub';
  const made = await complete(await newState({ name, host: `  ${github.url} ` }));
  expect(made).toMatchObject({
    userErrors: [],
    installationUrl: `${github.url}/github-apps/switchyard-test/installations/new`,
  });
  const stored = { providerType: 'GITHUB_APP', name, host: github.url, appId: '12345', installationId: null };
  expect(made.gitConnection).toEqual({
    ...stored,
    gitConnectionId: made.gitConnection.gitConnectionId,
    hasCredential: true,
    hasWebhookSecret: true,
  });
  expect(JSON.stringify(made)).not.toMatch(/c4n4ry|PRIVATE KEY/);
  const [exchange] = github.requests.filter(({ url }) => url.pathname.includes('/app-manifests/'));
  expect(exchange?.headers.authorization).toBeUndefined();

  // Somebody else's installation is refused by GitHub itself.
  const { gitConnectionId } = made.gitConnection;
  const installed = (id: string | null, token?: string) =>
    run(
      'completeGithubAppInstallation',
      'gitConnection { installationId version }',
      { gitConnectionId, installationId: id },
      token,
    );
  expect(await installed('999')).toMatchObject({ gitConnection: null, userErrors: [{ code: 'INVALID_STATE' }] });
  const after = { gitConnection: { installationId: String(installationId), version: 2 }, userErrors: [] };
  expect(await installed(null)).toMatchObject(after);
  expect(await installed(String(installationId))).toMatchObject(after);
  const { test: tested } = await run('testGitConnection', 'test { isOk message }', { gitConnectionId });
  expect(tested).toMatchObject({ isOk: true });
  const entries = await test.app.services.store.query<{ action: string; data: object }>(
    `select action, data from audit_entry where target_id = $1 order by created_at, id`,
    [gitConnectionId.replace('git-connection-', '')],
  );
  expect(entries).toMatchObject([
    { action: 'create_git_connection', data: { name, providerType: 'github_app' } },
    { action: 'update_git_connection', data: { changed: 'installationId' } },
    { action: 'test_git_connection' },
  ]);
  const { token } = await makeUser(test, { organizationId: `org-${test.organizationId}` });
  expect(await installed(null, token)).toMatchObject({ errors: ['FORBIDDEN'] });
});

it('keeps the installation of a connection that has one', async () => {
  convert();
  const { gitConnection } = await complete(await newState());
  const { gitConnectionId } = gitConnection;
  await run('updateGitConnection', 'gitConnection { id }', { gitConnectionId, installationId: '77' });
  const input = { gitConnectionId, installationId: String(installationId) };
  expect(await run('completeGithubAppInstallation', 'gitConnection { id }', input)).toMatchObject({
    userErrors: [{ code: 'INVALID_STATE' }],
  });
});

it('uses a state once, of two calls at once too', async () => {
  convert();
  const state = await newState();
  const answers = await Promise.all([complete(state), complete(state)]);
  expect(answers.filter(({ gitConnection }) => gitConnection !== null)).toHaveLength(1);
  const refused = { gitConnection: null, userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'state'] }] };
  expect(answers.find(({ gitConnection }) => gitConnection === null)).toMatchObject(refused);
  expect(await complete(state)).toMatchObject(refused);
  expect((await openPage(`https://switchyard.example.com/console/github-app?state=${state}`)).status).toBe(404);
});

it('refuses the state of another administrator, of another key and of an hour ago, without a request', async () => {
  convert();
  const before = github.requests.length;
  const { token, serviceUserId } = await makeManager(test, 'MANAGE_ENTERPRISE_SETTINGS');
  const others = await makeManager(test, 'MANAGE_ENTERPRISE_SETTINGS');
  const state = stateOf((await begin({}, token)).registrationUrl);
  const refused = { gitConnection: null, userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'state'] }] };
  const anotherKey = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
  for (const each of [others.token, anotherKey, test.adminToken])
    expect(await complete(state, each)).toMatchObject(refused);
  const member = await makeUser(test, { organizationId: `org-${test.organizationId}` });
  expect(await complete(state, member.token)).toMatchObject({ errors: ['FORBIDDEN'] });
  for (const each of ['a'.repeat(52), state.toUpperCase(), `${state}\u0000`]) {
    expect(await complete(each, token)).toMatchObject(refused);
  }
  clock.advance(60 * 60 * 1_000);
  expect(await complete(state, token)).toMatchObject(refused);
  expect(github.requests.length).toBe(before);
  await forgetRegistrations(test.app.services);
  const [{ count: left } = { count: -1 }] = await test.app.services.store.query<{ count: number }>(
    'select count(*)::int as count from github_app_registration where expires_at <= $1::timestamptz',
    [test.app.services.now()],
  );
  expect(left).toBe(0);
});

it('needs the permission, a valid host, a login and a free name', async () => {
  const { token } = await makeUser(test, { organizationId: `org-${test.organizationId}` });
  expect(await begin({}, token)).toMatchObject({ errors: ['FORBIDDEN'] });
  const refused = async (input: object, path: string, code = 'INVALID_INPUT') =>
    expect(await begin(input)).toMatchObject({ registrationUrl: null, userErrors: [{ code, path: ['input', path] }] });
  await refused({ host: 'ftp://github.com' }, 'host');
  await refused({ host: 'https://user:password@github.com' }, 'host');
  await refused({ host: 'https://github.com/?a=b' }, 'host');
  await refused({ githubOrganization: '../settings' }, 'githubOrganization');
  await refused({ githubOrganization: 'a"><script>' }, 'githubOrganization');
  convert();
  await complete(await newState({ name: 'Taken' }));
  await refused({ name: 'taken' }, 'name', 'NOT_UNIQUE');
});

it('gives the connection another name if its own was taken in the meantime', async () => {
  convert();
  const [one, two] = [await newState({ name: 'Twice' }), await newState({ name: 'twice' })];
  expect((await complete(one)).gitConnection.name).toBe('Twice');
  expect((await complete(two)).gitConnection.name).toBe('twice 2');
});

describe('a GitHub that answers otherwise', () => {
  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const hostile: readonly [string, () => ForgeAnswer][] = [
    ['a body of another type', () => ({ status: 201, body: [] })],
    ['an id of another type', () => ({ status: 201, body: app({ id: { $gt: 0 } }) })],
    ['a value that is not a key', () => ({ status: 201, body: app({ pem: 'c4n4ry' }) })],
    ['a key of another algorithm', () => ({ status: 201, body: app({ pem: ecKey }) })],
    ['a key of megabytes', () => ({ status: 201, body: app({ pem: 'x'.repeat(3_000_000) }) })],
    ['a slug that leaves the path', () => ({ status: 201, body: app({ slug: '../../evil' }) })],
    ['a secret that is empty', () => ({ status: 201, body: app({ 'webhook_secret': '' }) })],
    ['a body of many megabytes', () => ({ status: 201, body: Buffer.alloc(6_000_000, ' ') })],
    ['JSON that nests deeply', () => ({ status: 201, body: '['.repeat(100_000) })],
    ['no JSON', () => ({ status: 201, body: '<html>' })],
    ['another host', () => ({ status: 307, headers: { location: 'http://169.254.169.254/latest' } })],
    ['a refusal', () => ({ status: 404, body: { message: `Not Found ${code}` } })],
    ['an invalid code', () => ({ status: 422, body: { message: 'Validation failed' } })],
  ];
  it.each(hostile)('%s: stores nothing, says why, and ends the state', async (_name, answer) => {
    convertTo(answer);
    const state = await newState();
    const refused = await complete(state);
    expect(refused).toMatchObject({
      gitConnection: null,
      installationUrl: null,
      userErrors: [{ code: 'INVALID_STATE' }],
    });
    expect(refused.userErrors[0].message).toMatch(/^Delete the App at GitHub and start again\. /);
    expect(refused.userErrors[0].message).not.toMatch(/c4n4ry|xxxx/);
    convert();
    expect(await complete(state)).toMatchObject({ userErrors: [{ path: ['input', 'state'] }] });
  });

  it('lets the caller try again if it does not answer', async () => {
    const state = await newState();
    convertTo(() => ({ status: 502, body: 'bad gateway' }));
    expect((await complete(state)).userErrors[0].message).toMatch(/^Try again in a moment\. /);
    convertTo(() => ({ status: 403, headers: { 'retry-after': '60' }, body: {} }));
    expect(await complete(state)).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
    convert();
    expect(await complete(state)).toMatchObject({ userErrors: [], gitConnection: { appId: '12345' } });
  });

  it('may have no webhook', async () => {
    convert({ 'webhook_secret': null });
    expect((await complete(await newState())).gitConnection).toMatchObject({ hasWebhookSecret: false });
  });
});

it('keeps the newest registrations of an enterprise', async () => {
  for (let n = 0; n < 52; n++) await begin();
  const [row] = await test.app.services.store.query('select count(*)::int as count from github_app_registration');
  expect(row).toEqual({ count: 50 });
});
