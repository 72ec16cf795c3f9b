import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, openWindow, secretKey, signInAlone } from '../support/console-browser.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

const secretOf = (page: Page) => page.evaluate((key) => localStorage.getItem(key), secretKey);

describe.skipIf(missing !== null)('tabs of one browser', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  /** A browser with two tabs; the first shows a session of an organization. */
  const twoTabs = async () => {
    const [own, other] = [await makeOrganization(test, 'Alices'), await makeOrganization(test, 'Bobs')];
    const session = await createSession(test, { title: 'Only hers' }, own.token);
    const window = await openSignedIn(browser, test, own.token, { at: `/sessions/${session}` });
    await window.page.getByRole('heading', { name: 'Only hers' }).waitFor();
    return { own, other, session, window, second: await window.page.context().newPage() };
  };

  it('show nothing of one user when another has signed in in one of them', async () => {
    const { own, other, session, window, second } = await twoTabs();
    const first = window.page;
    await first.getByLabel('Message to the agent').fill('Half written by her');
    // As after a crash of the page, or through a link: the cookie is replaced, and no tab is notified.
    await second.goto('/sign-in');
    await signInAlone(second, other.token);
    await first.getByText('Session not found').waitFor();
    await say(test, session, 'after the other has come');
    expect(await first.getByText('after the other has come').count()).toBe(0);
    // The input of one user does not appear for another.
    expect(await first.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Half written');
    expect(own.organizationId).not.toBe(other.organizationId);
    expect(window.consoleErrors).toEqual([]);
    await first.context().close();
  });

  it('send requests as the user that they show, not as the one who signed in since', async () => {
    const { own, other, window, second } = await twoTabs();
    const first = window.page;
    // Without a socket, it gets no notification.
    await first.goto('/manage/playbooks');
    await first.getByRole('button', { name: 'New playbook' }).first().waitFor();
    const isList = (request: Request) => request.postData()?.includes('query sessionsPageQuery(') ?? false;
    let isFirst = true;
    await first.route('**/graphql', async (route) => {
      if (!isFirst || !isList(route.request())) return route.continue();
      isFirst = false;
      await second.goto('/sign-in');
      await signInAlone(second, other.token);
      await route.continue();
    });
    const answered = first.waitForResponse((response) => isList(response.request()));
    await first.getByRole('link', { name: 'Sessions' }).click();
    expect((await answered).status()).toBe(401);
    // It reloads with the other user.
    await first.getByText('No sessions yet').waitFor();
    expect(await first.getByText('Only hers').count()).toBe(0);
    expect(own.token).not.toBe(other.token);
    await first.context().close();
  });

  it('do not accept a response for an earlier sign-in as one for the current one', async () => {
    const { other, window, second } = await twoTabs();
    const first = window.page;
    const before = await secretOf(first);
    const viewerStatus = new Promise<number>((resolve) => {
      void first.route('**/graphql', async (route) => {
        if (!route.request().postData()?.includes('query viewerQuery')) return route.continue();
        const response = await route.fetch();
        resolve(response.status());
        await expect.poll(() => secretOf(first)).not.toBe(before);
        await route.fulfill({ response });
      });
    });
    // The service ends the previous sign-in and closes its socket; only then does the other tab store the new page
    // secret.
    await second.route('**/console/session', async (route) => {
      const response = await route.fetch();
      expect(await viewerStatus).toBe(401);
      await route.fulfill({ response });
    });
    await second.goto('/sign-in');
    await signInAlone(second, other.token);
    await first.getByText('Session not found').waitFor();
    await first.unrouteAll({ behavior: 'wait' });
    await first.context().close();
  });

  it('all sign out when one signs out, and sign in when one signs in', async () => {
    const { own, window, second } = await twoTabs();
    const first = window.page;
    await first.goto('/manage/playbooks');
    await first.getByRole('button', { name: 'New playbook' }).first().waitFor();
    await second.goto('/sessions');
    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) {
      await page.getByLabel('Token').waitFor();
      expect(await page.getByText('You were signed out').count()).toBe(0);
      expect(await page.getByText('You signed out in another tab.').count()).toBe(page === first ? 1 : 0);
      expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('token');
    }
    await second.getByLabel('Token').fill(own.token);
    await second.keyboard.press('Enter');
    await second.getByText('Only hers').waitFor();
    await first.getByRole('button', { name: 'New playbook' }).first().waitFor();
    await first.context().close();
  });

  it('sign in even if they are notified before they have the page secret', async () => {
    const { own, window, second } = await twoTabs();
    const first = window.page;
    await second.goto('/manage/playbooks');
    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) await page.getByLabel('Token').waitFor();
    let isDelivered: () => void = () => undefined;
    const delivered = new Promise<void>((resolve) => {
      isDelivered = resolve;
    });
    const refused = new Promise<number>((resolve) => {
      let isFirst = true;
      void first.route('**/graphql', async (route) => {
        const query = route.request().postData() ?? '';
        // Its response would arrive in time to help.
        if (query.includes('query viewerQuery')) await delivered;
        if (!isFirst || !query.includes('query gateQuery')) return route.continue();
        isFirst = false;
        const response = await route.fetch();
        resolve(response.status());
        await expect.poll(() => secretOf(first)).not.toBeNull();
        await route.fulfill({ response });
        await first.evaluate(() => new Promise(requestAnimationFrame));
        isDelivered();
      });
    });
    await second.evaluate(() => new BroadcastChannel('switchyard').postMessage('in'));
    expect(await refused).toBe(401);
    await signInAlone(second, own.token);
    await first.getByRole('heading', { name: 'Only hers' }).waitFor();
    await first.unrouteAll({ behavior: 'wait' });
    await first.context().close();
  });

  it('a sign-in link asks a signed-in user first, and a used link says so', async () => {
    const { window, second } = await twoTabs();
    await second.goto(`/sign-in#link=${'a'.repeat(52)}`);
    // A signed-in user is asked: a link that somebody sent may lead into the sender's account.
    await second.getByRole('heading', { name: 'You’re already signed in' }).waitFor();
    await second.keyboard.press('Enter');
    await second.getByText('Only hers').waitFor();
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByLabel('Token').waitFor();
    await second.goto(`/sign-in?again#link=${'a'.repeat(52)}`);
    await second.getByText("That link isn't valid").waitFor();
    expect(await second.getByLabel('Token').getAttribute('aria-invalid')).toBeNull();
    await window.page.context().close();
  });

  it('a page that is loaded again before the answer arrives signs in with the same link', async () => {
    const { page, consoleErrors } = await openWindow(browser, test);
    const code = await createConsoleLink(test.app.services, test.adminToken);
    // The service answers, and the page does not get it.
    let isLost = false;
    const answered = new Promise<number>((resolve) => {
      void page.route('**/console/session', async (route) => {
        if (isLost || route.request().method() !== 'POST') return route.continue();
        isLost = true;
        resolve((await route.fetch()).status());
      });
    });
    await page.goto(`/sign-in#link=${code}`);
    expect(await answered).toBe(200);
    // The route stays: without it, the browser would send the request again, and the page could get its answer before it is loaded again.
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(page.url()).not.toContain('sign-in');
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('link')))).toEqual([]);
    // Nobody else can use it.
    const other = await openWindow(browser, test);
    await other.page.goto(`/sign-in#link=${code}`);
    await other.page.getByText("That link isn't valid").waitFor();
    await other.page.reload();
    await other.page.getByLabel('Token').waitFor();
    expect(await other.page.getByText("That link isn't valid").count()).toBe(0);
    expect(consoleErrors).toEqual([]);
    await Promise.all([page.context().close(), other.page.context().close()]);
  });
});
