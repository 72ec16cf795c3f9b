import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confirmationMs } from '../../src/auth/confirmation.ts';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { missing, openBrowser, openSignedIn, openWindow, seriousFindings } from '../support/console-browser.ts';

describe.skipIf(missing !== null)('actions that grant lasting access, in the console', { timeout: 240_000 }, () => {
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

  const openByLink = async () => {
    const window = await openWindow(browser, test);
    const link = await createConsoleLink(test.app.services, test.adminToken);
    await window.page.goto(`/sign-in#link=${link}`);
    await window.page.locator('#main').waitFor();
    return window;
  };
  const fillUser = async (page: Page, email: string) => {
    await page.goto('/manage/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('dialog').getByRole('button', { name: 'Create user', exact: true }).click();
    await page.getByRole('heading', { name: 'Confirm with your token' }).waitFor();
  };
  const confirm = (page: Page) => page.getByRole('dialog', { name: 'Confirm with your token' });
  const usersOf = async (email: string) => {
    const [row] = await test.app.services.store.query<{ n: number }>(
      'select count(*)::int as n from user_account where email = $1',
      [email],
    );
    return row?.n;
  };

  it('run once the token was entered, and the form is not filled in again', async () => {
    const window = await openByLink();
    const { page, consoleErrors: pageErrors } = window;
    await fillUser(page, 'ada@example.com');
    const field = confirm(page).getByLabel('Token');
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('autocomplete')).toBe('off');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('confirmation');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('step-up');
    expect(await usersOf('ada@example.com')).toBe(0);
    await field.fill(test.v1Key);
    await page.keyboard.press('Enter');
    await confirm(page)
      .getByText('That token isn’t valid, or it belongs to another key than the one you are signed in with.')
      .waitFor();
    await window.pictures('step-up-refused');
    expect(await usersOf('ada@example.com')).toBe(0);
    await field.fill(test.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await usersOf('ada@example.com')).toBe(1);
    // It is also valid for the next mutation, in other tabs too.
    const second = await page.context().newPage();
    await second.goto('/manage/users');
    await second.getByRole('button', { name: 'New user' }).click();
    await second.getByLabel('Email').fill('bob@example.com');
    await second.getByRole('dialog').getByRole('button', { name: 'Create user', exact: true }).click();
    await second.getByRole('button', { name: 'I’ve saved it' }).click();
    await second.getByRole('link', { name: 'bob@example.com' }).waitFor();
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain(test.adminToken);
    expect(pageErrors.filter((text) => !text.includes('status of 403'))).toEqual([]);
    await page.context().close();
  });

  it('do not run without a confirmation, and the input stays in the form', async () => {
    const { page, consoleErrors: pageErrors } = await openByLink();
    await fillUser(page, 'eve@example.com');
    await confirm(page).getByRole('button', { name: 'Cancel' }).click();
    const form = page.getByRole('dialog');
    await form.getByText('Confirm with the token').waitFor();
    expect(await form.getByLabel('Email').inputValue()).toBe('eve@example.com');
    expect(await form.getByLabel('Name').inputValue()).toBe('Ada');
    expect(await usersOf('eve@example.com')).toBe(0);
    await form.getByRole('button', { name: 'Create user', exact: true }).click();
    await confirm(page).getByLabel('Token').fill(test.adminToken);
    await page.keyboard.press('Enter');
    await expect.poll(() => usersOf('eve@example.com'), { timeout: 60_000 }).toBe(1);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show how to sign in if the sign-in has ended meanwhile', async () => {
    const { page } = await openByLink();
    await fillUser(page, 'joe@example.com');
    await test.app.services.store.execute('delete from console_session', []);
    await confirm(page).getByLabel('Token').fill(test.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in to Switchyard' }).waitFor();
    expect(await usersOf('joe@example.com')).toBe(0);
    await page.context().close();
  });

  it('need no token for ten minutes after a sign-in with one', async () => {
    const later = await startApp();
    try {
      const clock = stopClock(later);
      const { page } = await openSignedIn(browser, later, later.adminToken, { at: '/manage/service-users' });
      const add = async (name: string) => {
        await page.getByRole('button', { name: 'New service user' }).first().click();
        await page.getByLabel('Name').fill(name);
        await page.getByRole('dialog').getByRole('button', { name: 'Create service user', exact: true }).click();
      };
      await add('First');
      await page.getByRole('heading', { level: 1, name: 'First' }).waitFor();
      clock.advance(confirmationMs);
      await page.goto('/manage/service-users');
      await add('Second');
      await confirm(page).getByLabel('Token').fill(later.adminToken);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor();
      await page.context().close();
    } finally {
      await later.close();
    }
  });
});
