import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, openWindow, seriousFindings } from '../support/console-browser.ts';
import { mutationDocument } from '../support/mutations.ts';
import { makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('a sign-in link for a user', { timeout: 120_000 }, () => {
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

  const shownLink = async (page: Page) => {
    const link = page.getByRole('dialog').locator('code');
    await link.waitFor();
    return (await link.textContent()) ?? '';
  };
  const pending = async () => (await test.app.services.store.query('select for_user_id from sign_in_link', [])).length;

  it('is shown with a new member, and signs in by a button only', async () => {
    const admin = await openSignedIn(browser, test, test.adminToken, { at: '/manage/members' });
    const { page } = admin;
    await page.getByRole('button', { name: 'Add member' }).first().click();
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByLabel('Name').fill('Grace');
    await page.getByRole('dialog').getByRole('button', { name: 'Add member', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign-in link for Grace' }).waitFor();
    const url = await shownLink(page);
    expect(url.startsWith(`${test.app.services.baseUrl}/sign-in#user-link=`)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await admin.pictures('sign-in-link');
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('row', { name: /Grace/ }).waitFor();

    const guest = await openWindow(browser, test, { width: 390 });
    const requests: string[] = [];
    guest.page.on('request', (request) => requests.push(`${request.url()} ${request.postData() ?? ''}`));
    await guest.page.goto(`${test.url}/sign-in${new URL(url).hash}`);
    const enter = guest.page.getByRole('button', { name: 'Sign in', exact: true });
    await enter.waitFor();
    // The address has no code any more, and nothing has been sent.
    const code = new URL(url).hash.slice('#user-link='.length);
    expect(guest.page.url()).not.toContain(code);
    expect(requests.join()).not.toContain(code);
    expect(await pending()).toBe(1);
    expect(await seriousFindings(guest.page)).toEqual([]);
    await guest.pictures('sign-in-by-link');
    // A reload keeps it.
    await guest.page.reload();
    await enter.click();
    await guest.page.locator('#main').waitFor();
    expect(await pending()).toBe(0);
    await guest.page.getByRole('link', { name: 'Create a token' }).waitFor();
    await guest.pictures('home-after-link');
    // Also in another tab, and before the user signs out.
    const tab = await guest.page.context().newPage();
    await tab.goto(test.url);
    await tab.getByRole('link', { name: 'Create a token' }).waitFor();
    await tab.getByRole('button', { name: 'Menu' }).click();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    const dialog = tab.getByRole('dialog', { name: 'Sign out without a token?' });
    await dialog.getByText('you can’t sign in again').waitFor();
    expect(await seriousFindings(tab)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create a token' }).click();
    await tab.getByText('No tokens yet.').waitFor();
    await tab.close();
    // The user creates a token, without a further confirmation.
    await guest.page.goto(`${test.url}/manage/my-tokens`);
    await guest.page.getByText('No tokens yet.').waitFor();
    await guest.page.getByRole('button', { name: 'Create token' }).click();
    await guest.page.getByLabel('Name').fill('Laptop');
    await guest.page.getByRole('dialog').getByRole('button', { name: 'Create token', exact: true }).click();
    const token = await shownLink(guest.page);
    expect(token).toMatch(/^cog_/);
    await guest.page.getByRole('button', { name: 'I’ve saved it' }).click();
    await guest.page.getByText('Laptop').waitFor();
    expect(await seriousFindings(guest.page)).toEqual([]);
    await guest.pictures('my-tokens');
    const own = await graphql(test, token, '{ viewer { principal { displayName } } }');
    expect(own.data.viewer.principal).toEqual({ displayName: 'Grace' });
    const stored = await guest.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain(code);

    // A second use is refused, and a person who is signed in is asked.
    await guest.page.goto(`${test.url}/sign-in${new URL(url).hash}`);
    await guest.page.reload();
    await guest.page.getByText('You’re signed in as Grace.').waitFor();
    await guest.page.getByRole('button', { name: 'Use link' }).click();
    await guest.page.getByRole('alert').getByText('That link isn’t valid.').waitFor();
    // With a token, nothing is asked.
    await guest.page.goto(test.url);
    await guest.page.getByRole('button', { name: 'Menu' }).click();
    await guest.page.getByRole('button', { name: 'Sign out' }).click();
    await guest.page.getByRole('heading', { name: 'Sign in to Switchyard' }).waitFor();
    await guest.page.context().close();
    await page.context().close();
  });

  it('says how to confirm later to a user who has no token', async () => {
    const { data } = await graphql(test, test.adminToken, mutationDocument('createUser', 'user { userId }'), {
      input: { email: 'mary@example.com', roleId: 'org_member', scope: { organizationId: test.organizationId } },
    });
    const { userId } = data.createUser.user;
    const link = await graphql(test, test.adminToken, mutationDocument('createSignInLink', 'url'), {
      input: { userId },
    });
    const { page } = await openWindow(browser, test, {});
    await page.goto(`${test.url}/sign-in${new URL(link.data.createSignInLink.url).hash}`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Create a token' }).click();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByLabel('Name').fill('Laptop');
    await test.app.services.store.execute(
      `update console_session set confirmed_at = confirmed_at - interval '11 minutes' where user_id = $1`,
      [userId.replace('user-', '')],
    );
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Create (?:key|token)$/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Confirm your sign-in' });
    await dialog.getByText('Ask an administrator for a new sign-in link').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    // The form stays as it was.
    expect(await page.getByLabel('Name').inputValue()).toBe('Laptop');
    await page.context().close();
  });

  it('can be created and revoked on the page of the user', async () => {
    const { userId } = await makeUser(test, { name: 'Linus' });
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: '/manage/users' });
    await page.getByRole('link', { name: 'Linus' }).click();
    const section = page.getByRole('region', { name: 'Sign-in link' });
    await section.getByRole('button', { name: 'Create sign-in link' }).click();
    expect(await shownLink(page)).toContain('#user-link=');
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await section.getByText('A link is pending until').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await section.getByRole('button', { name: 'Revoke' }).click();
    await section.getByText('A link signs this person in once').waitFor();
    const { data } = await graphql(test, test.adminToken, mutationDocument('revokeSignInLink', 'user { userId }'), {
      input: { userId },
    });
    expect(data.revokeSignInLink).toBeNull();
    await page.context().close();
  });

  it('is in the audit log of the enterprise, and says where it is if only an organization is shown', async () => {
    const { organizationId } = test;
    const sessionId = await createSession(test, { organizationId, title: 'Recorded' });
    const at = '/manage/audit-log?action=CREATE_SIGN_IN_LINK';
    const { page, consoleErrors, pictures } = await openSignedIn(browser, test, test.adminToken, { at });
    const row = page.getByRole('row', { name: /Create sign-in link/ });
    await row.first().waitFor();
    expect(await row.first().locator('td[data-label="Organization"]').textContent()).toBe('Enterprise');
    await pictures('audit-log-enterprise');
    await page.getByLabel('Scope', { exact: true }).selectOption('organization');
    await page.getByText('Actions on the enterprise itself').waitFor();
    await page.goto('/manage/audit-log?action=CREATE_SESSION');
    const link = page
      .getByRole('cell', { name: /Create session/ })
      .getByRole('link')
      .first();
    await link.waitFor();
    expect(await link.textContent()).toBe('Recorded');
    expect(await link.getAttribute('href')).toContain(sessionId.replace('devin-', ''));
    expect(await seriousFindings(page)).toEqual([]);
    await link.click();
    await page.getByRole('heading', { name: 'Recorded' }).waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });
});
