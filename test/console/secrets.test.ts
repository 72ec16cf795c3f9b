import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { heapHas, missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { secretCanary } from '../support/leaks.ts';

describe.skipIf(missing !== null)('the page of secrets', { timeout: 240_000 }, () => {
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

  it('accepts a value, shows a problem beside the name, never shows a value, and deletes', async () => {
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken);
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByText('No secrets yet').waitFor();
    await page.getByRole('button', { name: 'New secret' }).first().click();
    await page.getByLabel('Name').fill('PATH');
    const value = page.getByLabel('Value', { exact: true });
    await value.fill(`${secretCanary}-value`);
    const security = () => value.evaluate((field) => getComputedStyle(field).getPropertyValue('-webkit-text-security'));
    expect(await security()).toBe('disc');
    await page.getByLabel('Show value').check();
    expect(await security()).toBe('none');
    await page.getByLabel('Show value').uncheck();
    await page.getByRole('button', { name: 'Create secret' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Name').fill('my key!');
    const form = page.getByRole('dialog');
    await form.getByText('Agents read the secret from the environment variable my_key_.').waitFor();
    await form.getByLabel('Type').selectOption('Cookies');
    await form.getByText('Agents read the secret').waitFor({ state: 'detached' });
    await form.getByLabel('Type').selectOption('Value');
    await page.getByLabel('Name').fill('API_TOKEN');
    await page.getByRole('button', { name: 'Create secret' }).click();
    await page.getByText('API_TOKEN', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(secretCanary);
    expect(await heapHas(page, secretCanary)).toBe(false);
    await page.reload();
    await page.getByText('API_TOKEN', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit API_TOKEN' }).click();
    await page.getByLabel('Name').fill('api-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'api-key Agents read api_key.' }).waitFor();
    await page.getByRole('button', { name: 'Edit api-key' }).click();
    await page.getByLabel('Name').fill('API_KEY');
    await page.getByLabel('Note').fill('For the shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'API_KEY', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'For the shop' }).waitFor();
    await page.getByRole('button', { name: 'Delete API_KEY' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No secrets yet').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
