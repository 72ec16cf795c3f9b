import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveStoredKey } from '../../src/domain/library/provider-keys/resolve.ts';
import { resealSecrets } from '../../src/domain/library/secrets/reseal-secrets.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { requireNoSecrets, secretCanary } from '../support/leaks.ts';
import { runMutation } from '../support/people.ts';
import { dumpDatabase } from '../support/postgres-copies.ts';
import { makeUser } from '../support/principals.ts';
import { startProvider } from '../support/provider.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeOrganization } from '../support/sessions.ts';

const key = `sk-${secretCanary}-key`;
const body = JSON.stringify({ data: [{ id: 'small' }] });

let test: TestApp;
/** Everything that the service logged and answered. */
const seen: string[] = [];
beforeAll(async () => {
  test = await startApp({ isPrivateProviderAllowed: true, rateLimitProvider: 4 });
  const { log } = test.app.services;
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level] = (fields, message) =>
      seen.push(`${message} ${JSON.stringify(fields)} ${(fields as { err?: Error }).err?.stack}`);
  }
});
afterAll(() => test.close());

const run = async (token: string, field: string, selection: string, input: Record<string, unknown>) => {
  const answer = await runMutation(test, field, selection, input, token);
  seen.push(JSON.stringify(answer));
  return answer;
};
const create = (token: string, input: Record<string, unknown>) =>
  run(token, 'createProviderKey', 'providerKey { id name hasKey } wasReplayed', {
    provider: 'COMPATIBLE',
    key,
    ...input,
  });
const check = (token: string, input: Record<string, unknown>) =>
  run(token, 'testProviderKey', 'test { isOk code message } providerKey { lastFailure { message } }', input);
/** Runs with the variable PROVIDER_ALLOW_PRIVATE off. */
async function withoutPrivate<T>(act: () => Promise<T>): Promise<T> {
  const services = test.app.services as { isPrivateProviderAllowed: boolean };
  services.isPrivateProviderAllowed = false;
  try {
    return await act();
  } finally {
    services.isPrivateProviderAllowed = true;
  }
}

it('keeps keys out of the database, the log, responses and errors', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Canaries');
  const [good, bad] = [await startProvider({ body }), await startProvider({ status: 401, body: key })];
  const scope = { organizationId };
  const input = { scope, name: 'Good', baseUrl: good.url, idempotencyKey: 'once' };
  const first = await create(token, input);
  expect(await create(token, input)).toMatchObject({ providerKey: first.providerKey, wasReplayed: true });
  const again = await create(token, { ...input, key: `${key}-other` });
  expect(again.userErrors).toMatchObject([{ code: 'IDEMPOTENCY_CONFLICT' }]);
  const other = await create(token, { scope, name: 'Bad', baseUrl: bad.url });
  const id = { providerKeyId: first.providerKey.id };
  await run(token, 'updateProviderKey', 'providerKey { version }', { ...id, key: `${key}-next` });
  await run(token, 'updateProviderKey', 'providerKey { version }', { ...id, key: `${key}\n` });
  expect(await check(token, id)).toMatchObject({ test: { isOk: true } });
  expect(await check(token, { providerKeyId: other.providerKey.id })).toMatchObject({ test: { code: 'KEY_REFUSED' } });
  expect(good.seen[0]?.headers.authorization).toBe(`Bearer ${key}-next`);
  const document = `{ organizations(first: 100) { nodes { providerKeys { nodes { id name baseUrl hasKey models lastFailure { message } } } } }
    enterprise { auditLog(first: 100) { nodes { action data } } } }`;
  for (const viewer of [token, test.adminToken]) seen.push(JSON.stringify(await graphql(test, viewer, document)));
  await run(token, 'deleteProviderKey', 'deletedProviderKeyId', { providerKeyId: other.providerKey.id });
  await requireNoSecrets(test.app.services.store);
  if (test.databaseUrl !== null) {
    const dump = await dumpDatabase(test.databaseUrl);
    expect(dump).toContain('COPY public.provider_key ');
    expect(dump).not.toContain(secretCanary);
  }
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.join('\n')).not.toContain(secretCanary);
});

it('sends nothing into private networks unless the operator allows it, not even for a key that was stored before', async () => {
  const { organizationId } = await makeOrganization(test, 'Closed');
  const { token } = await makeUser(test, { organizationId });
  const server = await startReceiver();
  const stored = await create(token, { scope: { viewer: true }, name: 'Local', baseUrl: server.url });
  await withoutPrivate(async () => {
    for (const baseUrl of [
      'http://llm.example/v1',
      'https://127.0.0.1/v1',
      'https://10.1.2.3',
      'https://[fd00::1]',
      'https://2130706433',
    ]) {
      const made = await create(token, { scope: { viewer: true }, name: 'Other', baseUrl });
      expect([baseUrl, made.userErrors]).toMatchObject([
        baseUrl,
        [{ code: 'INVALID_INPUT', path: ['input', 'baseUrl'] }],
      ]);
      const tried = await check(token, { provider: 'COMPATIBLE', baseUrl });
      expect(tried.userErrors).toMatchObject([{ path: ['input', 'baseUrl'] }]);
    }
    const message = expect.stringContaining('the host has no address that the service is allowed to connect to');
    const refused = { test: { code: 'NOT_REACHABLE', message } };
    expect(await check(token, { providerKeyId: stored.providerKey.id })).toMatchObject(refused);
    const named = { provider: 'COMPATIBLE', baseUrl: `https://localhost:${server.port}` };
    expect(await check(token, named)).toMatchObject(refused);
    const models = '{ viewer { providerKeys { nodes { models } } } }';
    expect((await graphql(test, token, models)).data.viewer.providerKeys.nodes).toEqual([{ models: null }]);
  });
  expect(server.received).toEqual([]);
});

it('limits the requests that a viewer causes in a minute', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Busy');
  const { token: other } = await makeUser(test, { organizationId });
  const server = await startProvider({ body });
  const input = { provider: 'COMPATIBLE', baseUrl: server.url };
  // All requests are in the same minute.
  const now = test.app.services.now();
  Object.assign(test.app.services, { now: () => now });
  const answers = await Promise.all(Array.from({ length: 8 }, () => check(token, input)));
  const refused = answers.filter(({ error }) => error === 'RATE_LIMITED');
  expect(refused.length).toBeGreaterThanOrEqual(4);
  expect(server.seen.length).toBe(8 - refused.length);
  expect(await check(other, input)).toMatchObject({ test: { isOk: true } });
  Object.assign(test.app.services, { now: () => new Date() });
});

it('encrypts keys again after SECRET_KEY was changed', async () => {
  const { services } = test.app;
  const { organizationId, token } = await makeOrganization(test, 'Rotated');
  await create(token, { scope: { organizationId }, name: 'Kept', baseUrl: 'http://127.0.0.1:1' });
  const present = 'the key that comes after it in the tests';
  const previousSecretKey = 'a secret key that is only for the tests';
  const rotating = createKeyring({ secretKey: present, previousSecretKey });
  await resealSecrets({ ...services, keyring: rotating }, () => false);
  const keyring = createKeyring({ secretKey: present, previousSecretKey: null });
  const owner = { organizationId: organizationId.replace('org-', ''), userId: null };
  const found = await resolveStoredKey({ ...services, keyring }, { ...owner, providers: ['compatible'] });
  expect(found?.key).toBe(key);
});
