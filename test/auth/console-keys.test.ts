import { expect, it } from 'vitest';
import { ask, signIn } from '../support/console.ts';
import { makeManager } from '../support/people.ts';
import { makeKey } from '../support/principals.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const document = `mutation($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { apiKey { expiresAt } token userErrors { message path } } }`;

/** Creates a key of a service user like a page of the console. */
async function makeInConsole(token: string, input: object): Promise<any> {
  const { data } = await ask(test, await signIn(test, token), document, {}, { input });
  return data.createApiKey;
}

it('a key created in the console does not end with the sign-in', async () => {
  const { serviceUserId } = await makeManager(test, 'MANAGE_ACCOUNT_SERVICE_USERS');
  const input = { kind: { serviceUser: { serviceUserId } }, name: 'Made in a browser' };
  const made = await makeInConsole(test.adminToken, input);
  expect(made).toMatchObject({ apiKey: { expiresAt: null }, userErrors: [] });
});

it('a key created in the console ends no later than the key of the sign-in', async () => {
  const { serviceUserId } = await makeManager(test, 'MANAGE_ACCOUNT_SERVICE_USERS');
  const dayMs = 24 * 60 * 60 * 1_000;
  const expiresAt = new Date(Date.now() + 30 * dayMs).toISOString();
  const own = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId, name: 'Ends', expiresAt });
  const input = { kind: { serviceUser: { serviceUserId } }, name: 'Made in a browser' };
  const refused = await makeInConsole(own, input);
  expect(refused).toMatchObject({ apiKey: null, userErrors: [{ path: ['input', 'expiresAt'] }] });
  const before = new Date(Date.now() + 20 * dayMs).toISOString();
  const made = await makeInConsole(own, { ...input, expiresAt: before });
  expect(made).toMatchObject({ apiKey: { expiresAt: before }, userErrors: [] });
});
