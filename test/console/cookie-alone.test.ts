import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { ask, type Halves, openSocket, send, signIn } from '../support/console.ts';
import { makeOrganization } from '../support/sessions.ts';
import { refusedEverywhere, type Target, tryEverywhere } from '../support/stolen-cookie.ts';
import { upload } from '../support/uploads.ts';

let test: TestApp;
let target: Target;
beforeAll(async () => {
  test = await startApp();
  const { body } = await upload(test, test.v1Key, '/v1/attachments', { name: 'plan.txt', content: 'secret plan' });
  const { organizationId } = test;
  target = { test, organizationId, attachment: new URL(body).pathname.replace('/v1/', '/') };
});
afterAll(() => test.close());

const viewerQuery = '{ viewer { permissions } }';
const statusOf = async (halves: Halves, headers: Record<string, string> = {}) =>
  (await ask(test, halves, viewerQuery, headers)).status;
const both = (one: Required<Halves>, other: Required<Halves>): Required<Halves> => ({
  ...one,
  'switchyard-page-secret': other['switchyard-page-secret'],
});

it('gives no access anywhere, and ends nothing', async () => {
  const halves = await signIn(test, test.adminToken);
  const open = await openSocket(test, halves, test.url);
  expect(await tryEverywhere(target, { cookie: halves.cookie })).toEqual(refusedEverywhere);
  // A sign-in with another token and this cookie does not end the sign-in either.
  const { token } = await makeOrganization(test, 'Thief');
  await signIn(test, token, { cookie: halves.cookie });
  expect(await statusOf(halves)).toBe(200);
  expect(open.socket.readyState).toBe(open.socket.OPEN);
});

it('gives no access with a wrong or malformed page secret, or with one half of the sign-in as both', async () => {
  const { cookie, 'switchyard-page-secret': secret } = await signIn(test, test.adminToken);
  const code = cookie.replace('switchyard=', '');
  for (const wrong of ['a'.repeat(52), '', `${secret} `.repeat(2), secret.toUpperCase(), code]) {
    expect(await statusOf({ cookie, 'switchyard-page-secret': wrong })).toBe(401);
    expect((await openSocket(test, { cookie, 'switchyard-page-secret': wrong }, test.url)).first).toBe(4403);
  }
  expect(await statusOf({ cookie: `switchyard=${secret}`, 'switchyard-page-secret': secret })).toBe(401);
  expect(await statusOf({ cookie: `switchyard=${secret}`, 'switchyard-page-secret': code })).toBe(401);
});

it('gives no more access than the page secret alone', async () => {
  const { 'switchyard-page-secret': secret } = await signIn(test, test.adminToken);
  const answers = await tryEverywhere(target, { 'switchyard-page-secret': secret });
  // The page secret is enough to sign out: the cookie may have been overwritten.
  expect(answers).toEqual({ ...refusedEverywhere, 'the sign-out': 204 });
});

it('is valid only with the page secret of the same sign-in, so that a planted cookie signs nobody in', async () => {
  const { token } = await makeOrganization(test, 'Planted');
  const [victim, attacker] = [await signIn(test, test.adminToken), await signIn(test, token)];
  const planted = both(attacker, victim);
  expect(await tryEverywhere(target, { ...planted, 'switchyard-sign-in': '' })).toEqual({
    ...refusedEverywhere,
    'the sign-out': 204,
  });
  // Signing out ended the page's sign-in, regardless of its current cookie, and not that of the planted cookie.
  expect([await statusOf(victim), await statusOf(attacker)]).toEqual([401, 200]);
});

it('is found among planted cookies of the same name, before or after it', async () => {
  const { token } = await makeOrganization(test, 'Tossed');
  const [victim, attacker] = [await signIn(test, token), await signIn(test, test.adminToken)];
  const { cookie } = victim;
  for (const cookies of [
    `${attacker.cookie}; ${cookie}`,
    `${cookie}; ${attacker.cookie}`,
    `switchyard=; switchyard=${'a'.repeat(52)}; other=1; ${cookie}`,
    `${Array.from({ length: 50 }, (_, n) => `switchyard=${'abcdefghijklmnopqrstuvwxyz234567'[n % 32]?.repeat(52)}`).join('; ')}; ${cookie}`,
  ]) {
    const sent = { ...victim, cookie: cookies };
    const { status, data } = await ask(test, sent, '{ viewer { organization { name } } }');
    expect({ status, name: data?.viewer.organization.name }).toEqual({ status: 200, name: 'Tossed' });
    expect((await openSocket(test, sent, test.url)).first).toBe('in');
  }
});

it('is not valid for a page on another port of the host', async () => {
  const halves = await signIn(test, test.adminToken);
  const { hostname, port } = new URL(test.url);
  for (const origin of [
    `http://${hostname}:${Number(port) + 1}`,
    `http://${hostname}`,
    `https://${hostname}:${port}`,
  ]) {
    expect(await statusOf(halves, { origin })).toBe(401);
    expect((await openSocket(test, halves, origin)).first).toBe(4403);
    expect((await send(test, 'POST', { token: test.adminToken }, { ...halves, origin })).status).toBe(403);
    expect((await send(test, 'DELETE', undefined, { ...halves, origin })).status).toBe(403);
    const confirmation = '/console/session/confirmation';
    const sent = await send(test, 'POST', { token: test.adminToken }, { ...halves, origin }, confirmation);
    expect(sent.status).toBe(403);
  }
  expect(await statusOf(halves)).toBe(200);
});

it('changes nothing in the pages, which are the same for everybody', async () => {
  const { cookie } = await signIn(test, test.adminToken);
  for (const path of ['/', '/sessions', '/sign-in', '/nowhere']) {
    const open = async (headers: Record<string, string>) => {
      const response = await fetch(test.url + path, { headers: { accept: 'text/html', ...headers } });
      return { status: response.status, cookies: response.headers.getSetCookie(), text: await response.text() };
    };
    expect(await open({ cookie })).toEqual(await open({}));
  }
});
