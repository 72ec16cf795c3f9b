import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeEndpoint } from '../support/webhooks.ts';

describe.skipIf(missing !== null)('the deliveries of a webhook, in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp({ roles: ['api', 'scheduler'], isPrivateWebhookAllowed: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  it('shows each attempt and its response, and sends a delivery again', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => void response.writeHead(200).end('Thank you'));
    const { organizationId } = test;
    const { id } = await makeEndpoint(test, test.adminToken, { organizationId, url: receiver.url });
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken, {
      at: `/manage/webhooks/${id}`,
    });
    await page.getByRole('button', { name: 'Send test event' }).click();
    await receiver.waitFor((received) => received.length === 1);
    const delivered = page.getByRole('cell', { name: 'Delivered', exact: true });
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return delivered.count();
      })
      .toBe(1);
    await page.locator('summary', { hasText: '1: 200' }).click();
    await page.getByText('Thank you').waitFor();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await receiver.waitFor((received) => received.length === 2);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No deliveries').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
