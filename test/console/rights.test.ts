import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { makeRole } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the console for whoever may do less', { timeout: 120_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let id: string;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
    id = await createSession(test, { title: 'Of somebody else' });
    await say(test, id, 'Some words.');
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const read = async (token: string) => {
    const window = await openSignedIn(browser, test, token);
    const { page } = window;
    await page.getByRole('link', { name: 'Of somebody else' }).click();
    await page.getByText('Some words.').waitFor();
    await page.getByRole('heading', { name: 'About' }).waitFor();
    await page.goto('/sessions');
    await page.getByRole('link', { name: 'Of somebody else' }).waitFor();
    expect(window.complaints).toEqual([]);
    return page;
  };

  it('a member reads what others do, and is offered nothing that it may not do to it', async () => {
    const { token } = await makeUser(test);
    const page = await read(token);
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Secrets' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Of somebody else' }).click();
    await page.getByText('You may read this session.').waitFor();
    for (const name of ['Suspend', 'Terminate', 'Archive']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await page.getByLabel('Message to the agent').count()).toBe(0);
    await page.context().close();
  });

  it('who may only look is offered nothing to start', async () => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
    const { token } = await makeUser(test, { roleId });
    const page = await read(token);
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(0);
    await page.context().close();
  });

  it('a personal key of the first version opens its organization', async () => {
    const { userId } = await makeUser(test);
    const token = await makeKey(test, { kind: 'PERSONAL', userId, organizationId: test.organizationId });
    const page = await read(token);
    await page.context().close();
  });

  it('who may not see sessions is told so', async () => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_AUTOMATIONS']);
    const { token } = await makeUser(test, { roleId });
    const { page } = await openSignedIn(browser, test, token);
    await page.getByText(/Missing permission/).waitFor();
    await page.context().close();
  });
});
