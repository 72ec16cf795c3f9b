import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { heapHas, missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { secretCanary } from '../support/leaks.ts';
import { makeUser } from '../support/principals.ts';
import { writeProfiles } from '../support/profiles.ts';
import { startProvider } from '../support/provider.ts';

const key = `sk-${secretCanary}-of-the-team`;
const models = { body: JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }] }) };

describe.skipIf(missing !== null)('the pages of agents and model keys', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const house = { id: 'house', name: 'House agent', command: ['/bin/true'] };
    test = await startApp({ agentsConfig: await writeProfiles({}, house) });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const dialog = (page: Page) => page.getByRole('dialog');
  const keyField = (page: Page) => dialog(page).getByLabel('Key', { exact: true });

  it('accept a key that they never show again, and test it before and after', async () => {
    const good = await startProvider(models);
    const bad = await startProvider({ status: 401, body: '{}' });
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/model-keys' });
    const { page } = window;
    await page.getByText('No enterprise keys', { exact: false }).waitFor();
    const enterprise = page.getByRole('region', { name: 'Enterprise', exact: true });
    const add = enterprise.getByRole('button', { name: 'Add key' });
    await add.click();
    await dialog(page).getByLabel('Provider').selectOption({ label: 'OpenAI-compatible server' });
    expect(await keyField(page).getAttribute('type')).toBe('password');
    expect(await keyField(page).getAttribute('autocomplete')).toBe('off');
    await dialog(page).getByLabel('Name').fill('Team');
    await dialog(page).getByLabel('Base URL').fill('ftp://example.com/v1');
    await keyField(page).fill(key);
    await dialog(page).getByRole('button', { name: 'Add key', exact: true }).click();
    await dialog(page).getByRole('alert').waitFor();
    expect(await dialog(page).getByLabel('Base URL').getAttribute('aria-invalid')).toBe('true');
    const status = dialog(page).getByRole('status');
    await dialog(page).getByLabel('Base URL').fill(`${bad.url}/v1`);
    await dialog(page).getByRole('button', { name: 'Test key' }).click();
    await status.getByText('The provider refuses the key', { exact: false }).waitFor();
    await dialog(page).getByLabel('Base URL').fill(`${good.url}/v1`);
    await dialog(page).getByRole('button', { name: 'Test key' }).click();
    await status.getByText('offers 2 models', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.picture('model-key-form');
    await dialog(page).getByRole('button', { name: 'Add key', exact: true }).click();
    await enterprise.getByText('Not used yet', { exact: true }).waitFor();
    await expect.poll(() => add.evaluate((button) => button === document.activeElement)).toBe(true);
    // Before and after it was saved.
    expect(good.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`, `Bearer ${key}`]);
    const kept = await page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }]));
    expect((await page.content()) + kept).not.toContain(secretCanary);
    await expect.poll(() => heapHas(page, secretCanary)).toBe(false);

    await enterprise.getByRole('button', { name: 'Test Team' }).click();
    await page.getByText('The provider accepts the key "Team" of the enterprise', { exact: false }).waitFor();
    await enterprise.getByRole('button', { name: 'Edit Team' }).click();
    await dialog(page).getByLabel('Base URL').fill(`${bad.url}/v1`);
    await dialog(page).getByText('Enter the key again, because the base URL changes.', { exact: true }).waitFor();
    await keyField(page).fill(key);
    await dialog(page).getByLabel('Monthly budget (USD)').fill('50');
    await dialog(page).getByText('Your own server needs prices for a budget.', { exact: false }).waitFor();
    await dialog(page).getByRole('spinbutton', { name: 'Input', exact: true }).fill('1');
    await dialog(page).getByRole('spinbutton', { name: 'Output', exact: true }).fill('2');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await status.getByText('The provider refuses the key', { exact: false }).waitFor();
    await dialog(page).getByRole('button', { name: 'Replace key', exact: true }).waitFor();
    await dialog(page).getByRole('button', { name: 'Use anyway' }).click();
    await enterprise.getByText('$0.00 of $50', { exact: true }).waitFor();
    await enterprise.getByRole('button', { name: 'Test Team' }).click();
    await enterprise.getByText('Key refused', { exact: true }).waitFor();
    await use(12.5);
    await page.reload();
    await enterprise.getByText('$12.50 of $50', { exact: true }).waitFor();
    await enterprise.getByText('3 calls', { exact: true }).waitFor();
    await window.picture('model-keys');
    await page.getByLabel('Usage period').selectOption({ label: 'Last month' });
    await enterprise.getByText('None', { exact: true }).waitFor();
    await enterprise.getByRole('button', { name: 'Delete Team' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No enterprise keys', { exact: false }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('list every agent of sessions: those to install, the built-in one and those of the operator', async () => {
    const { page, consoleErrors, inThemes, picture } = await openSignedIn(browser, test, test.adminToken, {
      at: '/manage/agents',
    });
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
    await row('Demo agent').getByText('Built in', { exact: true }).waitFor();
    await row('Demo agent').getByText('Default', { exact: true }).waitFor();
    expect(await row('House agent').getByText('Configured by the operator', { exact: true }).count()).toBe(1);
    for (const name of ['Demo agent', 'House agent']) expect(await row(name).getByRole('button').count()).toBe(0);
    expect(await row('Claude Code').count()).toBe(1);
    await inThemes(async (theme) => {
      await picture('agents-all');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('give a user keys of their own, which an administrator does not see', async () => {
    const { token } = await makeUser(test, { organizationId: `org-${test.organizationId}` });
    const { page } = await openSignedIn(browser, test, token, { at: '/sessions', width: 375 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'My model keys', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Model keys', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'My model keys', exact: true }).click();
    await page.getByText('You have no keys', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Add key' }).click();
    const provider = await startProvider(models);
    await dialog(page).getByLabel('Provider').selectOption({ label: 'OpenAI-compatible server' });
    await dialog(page).getByLabel('Base URL').fill(`${provider.url}/v1`);
    await keyField(page).fill(key);
    await page.keyboard.press('Enter');
    const { host } = new URL(provider.url);
    await page.getByRole('button', { name: `Edit ${host}` }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    await page.goto('/manage/model-keys');
    await page.getByText('You can’t manage model keys', { exact: true }).waitFor();
    const admin = await openSignedIn(browser, test, test.adminToken, { at: '/manage/model-keys' });
    await admin.page.getByText('No enterprise keys', { exact: false }).waitFor();
    expect(await admin.page.getByText(host, { exact: true }).count()).toBe(0);
    for (const each of [page, admin.page]) await each.context().close();
  });

  async function use(costUsd: number): Promise<void> {
    await test.app.services.store.execute(
      `insert into provider_key_usage (provider_key_id, day, organization_id, user_id, calls, input_tokens, output_tokens, cost_usd)
       select id, $1::date, $2, '', 3, 4000, 500, $3::float8 from provider_key where name = 'Team'`,
      [new Date().toISOString().slice(0, 10), test.organizationId, costUsd],
    );
  }
});
