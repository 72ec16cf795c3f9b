import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openWindow, seriousFindings } from '../support/console-browser.ts';
import { type IdentityProvider, startIdentityProvider, writeProviders } from '../support/identity-provider.ts';

type Opened = Awaited<ReturnType<typeof openBrowser>>;

describe.skipIf(missing !== null)('the sign-in page with an identity provider', () => {
  let test: TestApp;
  let browser: Opened;
  let idp: IdentityProvider;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    idp = await startIdentityProvider('corp');
    const settings = { label: 'Corp', issuer: idp.issuer, defaultRole: { roleId: 'account_admin' } };
    const file = await writeProviders([{ id: 'corp', ...settings }]);
    remove = file.remove;
    test = await startApp({ oidcProvidersPath: file.path });
    await idp.serve(test.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
    await idp?.close();
    await remove?.();
  });

  it('signs in, shows refusals, and confirms in another tab', async () => {
    idp.account = { sub: 'eve', email: 'eve@evil.example', email_verified: true };
    const window = await openWindow(browser, test, { width: 390, theme: 'dark' });
    onTestFinished(() => window.page.context().close());
    const { page } = window;
    await page.goto('/manage/users');
    const button = page.getByRole('button', { name: 'Continue with Corp' });
    await button.waitFor();
    await window.inThemes(async (theme) => expect([theme, await seriousFindings(page)]).toEqual([theme, []]));
    const { width } = (await button.boundingBox()) ?? { width: 0 };
    expect(width).toBeLessThan(390);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await window.pictures('sign-in-with-provider');

    await button.click();
    await page.getByRole('button', { name: 'Sign in here' }).click();
    await page.getByRole('button', { name: 'Sign in here' }).click();
    await page.getByRole('alert').getByText('Email addresses of your domain can’t sign in').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await window.pictures('sign-in-refused-by-provider');

    // The provider still has its session, and now knows the user by another address.
    idp.account = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve' };
    await page.goto('/manage/users');
    // The credentials were entered an hour ago, as the provider says.
    idp.alter = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1_000) - 3_600 });
    await button.click();
    await page.locator('#main').waitFor();
    idp.alter = null;
    expect(new URL(page.url()).pathname).toBe('/manage/users');

    // An act that needs a confirmation: the form stays while another tab signs in again.
    await page.goto('/manage/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Create user', exact: true }).click();
    const confirm = page.getByRole('button', { name: 'Confirm with Corp' });
    await confirm.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('confirm-with-provider');
    const [tab] = await Promise.all([page.context().waitForEvent('page'), confirm.click()]);
    await tab.getByRole('button', { name: 'Sign in here' }).click();
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('link', { name: 'new@example.com' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    expect(window.consoleErrors.filter((text) => !text.includes('403'))).toEqual([]);
  });
});
