import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';

describe.skipIf(missing !== null)('the form of automations', { timeout: 240_000 }, () => {
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
  const openNew = async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/automations/new' });
    return window;
  };

  it('shows the URL and the request of an incoming webhook with its secret', async () => {
    const { page, consoleErrors: pageErrors } = await openNew();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByLabel('Name').fill('Fix the build');
    await page.getByLabel('Trigger', { exact: true }).selectOption('webhook:incoming');
    await page.getByLabel('Prompt').fill('Fix it.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    const shown = page.getByRole('dialog').locator('code');
    await shown.first().waitFor();
    const [secret = '', address = ''] = await shown.allTextContents();
    expect(address).toMatch(new RegExp(`^${test.url}/webhooks/automations/`));
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.').waitFor();
    const curl = await page.evaluate(() => navigator.clipboard.readText());
    expect(curl.split(' \\\n  ')).toEqual([
      `curl -s ${address}`,
      `-H "X-Webhook-Secret: ${secret}"`,
      `-H 'Content-Type: application/json'`,
      `-d '{}'`,
    ]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('reports once that a rule is too frequent', async () => {
    const { page, consoleErrors: pageErrors } = await openNew();
    await page.getByLabel('Name').fill('Sweep');
    await page.getByLabel('Frequency').selectOption('Custom rule');
    await page.getByLabel('Rule', { exact: true }).fill('FREQ=MINUTELY');
    const problem = page.getByText('more often than every 15 minutes');
    await problem.waitFor();
    await page.getByLabel('Prompt').fill('Sweep.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    await expect.poll(() => problem.count()).toBe(1);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
