import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { ask, signIn } from '../support/console.ts';
import { halvesOf, missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { makeOrganization } from '../support/sessions.ts';
import { refusedEverywhere, tryEverywhere } from '../support/stolen-cookie.ts';
import { upload } from '../support/uploads.ts';

/** A page on another port of the service's host, such as an agent can serve, with the requests that it received. */
async function serveOther(test: Pick<TestApp, 'url'>, setCookies: readonly string[] = [], script = '') {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers, url }, response) => {
    if (url === '/preview') received.push(headers);
    const set = url === '/preview' && setCookies.length > 0 ? { 'set-cookie': [...setCookies] } : {};
    response.writeHead(200, { 'content-type': 'text/html', ...set });
    response.end(`<!doctype html><title>Preview</title><h1>Preview</h1><script>${script}</script>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { hostname } = new URL(test.url);
  return { received, url: `http://${hostname}:${(server.address() as AddressInfo).port}/preview` };
}

describe.skipIf(missing !== null)('a server on another port of the host', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let attachment: string;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
    const { body } = await upload(test, test.v1Key, '/v1/attachments', { name: 'plan.txt', content: 'secret plan' });
    attachment = new URL(body).pathname.replace('/v1/', '/');
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const openConsole = async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/users' });
    await window.page.getByRole('heading', { name: 'Users' }).waitFor();
    return window;
  };
  const target = () => ({ test, attachment, organizationId: test.organizationId });
  const isIn = async (page: Page) => {
    await page.goto('/manage/users');
    await page.getByText('admin@localhost').first().waitFor();
  };

  it('receives the administrator’s cookie, and cannot use it', async () => {
    const { page, consoleErrors: pageErrors } = await openConsole();
    const { cookie } = await halvesOf(page);
    const other = await serveOther(test);
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    expect(other.received[0]?.cookie).toBe(cookie);
    expect(await tryEverywhere(target(), { cookie: other.received[0]?.cookie ?? '' })).toEqual(refusedEverywhere);
    // Its pages have a separate storage.
    expect(await preview.evaluate(() => JSON.stringify(localStorage))).toBe('{}');
    await isIn(page);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot send requests through a page in the administrator’s browser either', async () => {
    const { page } = await openConsole();
    const other = await serveOther(test);
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    const answers = await preview.evaluate(async (url) => {
      const statusOf = (path: string, init: RequestInit) =>
        fetch(url + path, { credentials: 'include', ...init }).then(
          ({ status }) => status,
          () => 'blocked',
        );
      const json = { 'content-type': 'application/json', 'switchyard-client': 'console' };
      const body = JSON.stringify({ query: '{ viewer { permissions } }' });
      const closed = new Promise((resolve) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
        socket.onopen = () => socket.send('{"type":"connection_init"}');
        socket.onmessage = () => resolve('in');
        socket.onclose = ({ code }) => resolve(code);
      });
      return [
        await statusOf('/graphql', { method: 'POST', headers: json, body }),
        await statusOf('/graphql', { method: 'POST', mode: 'no-cors', body }),
        await statusOf('/console/session', { method: 'DELETE', headers: json }),
        await closed,
      ];
    }, test.url);
    expect(answers).toEqual(['blocked', 0, 'blocked', 4403]);
    await isIn(page);
    await page.context().close();
  });

  it('cannot sign a user in as another by replacing the console’s cookie', async () => {
    const { token } = await makeOrganization(test, 'Attackers');
    const theirs = await signIn(test, token);
    const { page } = await openConsole();
    const other = await serveOther(test, [`${theirs.cookie}; Path=/; HttpOnly; SameSite=Strict`]);
    const before = await halvesOf(page);
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    const planted = await halvesOf(page);
    expect(planted).toEqual({ ...before, cookie: theirs.cookie });
    expect(await tryEverywhere(target(), { cookie: planted.cookie })).toEqual(refusedEverywhere);
    await page.goto('/sessions');
    await page.getByLabel('Token').waitFor();
    expect(await page.getByText('Attackers').count()).toBe(0);
    // The console asks before it uses a link, even if nobody is signed in: the link may be the attacker's.
    await page.goto(`/sign-in#link=${'a'.repeat(52)}`);
    await page.getByRole('heading', { name: 'You were signed in before' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Token').fill(test.adminToken);
    await page.keyboard.press('Enter');
    await page.locator('#main').waitFor();
    await isIn(page);
    // This sign-in ended the one before the planted cookie. The attacker's sign-in still belongs to the attacker.
    expect((await ask(test, before, '{ __typename }')).status).toBe(401);
    expect((await ask(test, theirs, '{ viewer { organization { name } } }')).data.viewer.organization.name).toBe(
      'Attackers',
    );
    await page.context().close();
  });

  it('cannot sign a user out with a cookie beside the console’s', async () => {
    const { token } = await makeOrganization(test, 'Attackers');
    const theirs = await signIn(test, token);
    const { page, consoleErrors: pageErrors } = await openConsole();
    // Browsers send the cookie with the longer path first.
    const other = await serveOther(test, [
      `${theirs.cookie}; Path=/graphql`,
      `${theirs.cookie}; Path=/console`,
      `switchyard=${'a'.repeat(52)}; Path=/graphql/`,
    ]);
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    expect(
      (await page.context().cookies(`${test.url}/graphql`)).filter(({ name }) => name === 'switchyard'),
    ).toHaveLength(2);
    await isIn(page);
    expect(await page.getByText('Attackers').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  /** Cookies of a server on another port, 3,900 bytes each. */
  const bulk = (count: number) =>
    Array.from({ length: count }, (_, n) => `bulk${n}=${'x'.repeat(3_890)}; Path=/; Max-Age=86400`);

  it('locks nobody out with cookies of 23 KB', async () => {
    const { page, consoleErrors: pageErrors } = await openConsole();
    const other = await serveOther(test, bulk(6));
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    await isIn(page);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('locks nobody out with larger cookies, which the browser then deletes', async () => {
    const { page } = await openConsole();
    const halves = await halvesOf(page);
    const other = await serveOther(test, bulk(30));
    const preview = await page.context().newPage();
    await preview.goto(other.url);
    const ended = page.waitForResponse((response) => response.request().method() === 'DELETE' && response.ok());
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect((await ended).status()).toBe(204);
    await page.getByLabel('Token').waitFor();
    expect((await ask(test, halves, '{ __typename }')).status).toBe(401);
    const refused = await page.goto('/manage/users');
    expect(refused?.status()).toBe(431);
    await page.getByText('The address and the headers of the request have more than 64 KiB.').waitFor();
    // Connections from before the first such request are not measured.
    await expect.poll(async () => (await page.goto('/manage/users'))?.status(), { timeout: 60_000 }).toBe(200);
    expect(await page.context().cookies(test.url)).toEqual([]);
    await page.context().close();
  });
});
