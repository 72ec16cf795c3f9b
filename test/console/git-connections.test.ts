import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { startApp, type TestApp } from '../support/app.ts';
import {
  heapHas,
  missing,
  openBrowser,
  openSignedIn,
  openWindow,
  seriousFindings,
} from '../support/console-browser.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the page of git connections', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let gitea: Awaited<ReturnType<typeof startGitea>>;
  beforeAll(async () => {
    test = await startApp({ isHttpForgeAllowed: true });
    browser = await openBrowser();
    gitea = await startGitea();
  });
  afterAll(async () => {
    await gitea?.close();
    await browser?.close();
    await test?.close();
  });

  const dialog = (page: Page) => page.getByRole('dialog');
  const button = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true });
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  it('connects a forge, whose credential it never shows again, and tests it before and after', async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/git' });
    const { page } = window;
    await page.getByText('No Git providers yet', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-empty');
    await page.getByRole('button', { name: 'Add Git provider', exact: true }).click();
    await dialog(page).getByLabel('App ID').waitFor();
    await window.pictures('git-app-form');
    await dialog(page).getByLabel('Type').selectOption({ label: 'Gitea or Forgejo' });
    expect(await dialog(page).getByLabel('Host').inputValue()).toBe('');
    await dialog(page).getByLabel('Host').fill('http://');
    await dialog(page).getByLabel('Name').fill('Team forge');
    await dialog(page).getByLabel('Token', { exact: true }).fill(giteaToken);
    await button(page, 'Add Git provider').click();
    await dialog(page).getByRole('alert').waitFor();
    expect(await dialog(page).getByLabel('Host').getAttribute('aria-invalid')).toBe('true');
    await dialog(page).getByLabel('Host').fill(gitea.url);
    await dialog(page).getByLabel('Token', { exact: true }).fill('another');
    await button(page, 'Test').click();
    const status = dialog(page).getByRole('status');
    await status.getByText('refused the credential', { exact: false }).waitFor();
    await dialog(page).getByLabel('Token', { exact: true }).fill(giteaToken);
    await button(page, 'Test').click();
    const abilities = dialog(page).getByRole('list', { name: 'Permissions of the connection' });
    await abilities.getByText('Clone repositories').waitFor();
    await dialog(page).getByText('robot', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-form-tested');
    await button(page, 'Add Git provider').click();
    await page.getByText('Connected Team forge.', { exact: true }).waitFor();
    const row = page.getByRole('row', { name: /Team forge/ });
    // The test of the form is not stored, so the stored connection is tested.
    await dialog(page).getByRole('heading', { name: 'Test Team forge' }).waitFor();
    await abilities.getByText('Clone repositories').waitFor();
    await button(page, 'Done').click();
    await row.getByText('robot', { exact: true }).waitFor();
    await row.getByText('Works', { exact: true }).waitFor();
    const kept = await page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }]));
    expect((await page.content()) + kept).not.toContain(giteaToken);
    await expect.poll(() => heapHas(page, giteaToken)).toBe(false);

    await row.getByRole('button', { name: 'Test Team forge' }).click();
    await abilities.getByText('Clone repositories').waitFor();
    await button(page, 'Done').click();
    await row.getByText('robot', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-connections');

    await row.getByRole('button', { name: 'Webhooks of Team forge' }).click();
    await dialog(page).getByText('None. All webhooks are refused.', { exact: true }).waitFor();
    await dialog(page).getByText('/webhooks/git/git-connection-', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-webhooks');
    await button(page, 'Create secret').click();
    await page.getByRole('heading', { name: 'Webhook secret of Team forge' }).waitFor();
    await button(page, 'I’ve saved it').click();
    await dialog(page).getByText('Stored', { exact: true }).waitFor();
    await button(page, 'Done').click();

    await row.getByRole('button', { name: 'Edit Team forge' }).click();
    expect(await dialog(page).getByLabel('Token', { exact: true }).getAttribute('required')).toBeNull();
    await dialog(page).getByLabel('Host').fill('http://127.0.0.1:1');
    await dialog(page).getByText('Enter it again, because the host changes.', { exact: true }).waitFor();
    await dialog(page).getByLabel('Host').fill(gitea.url);
    await dialog(page).getByLabel('Name').fill('Our forge');
    await button(page, 'Save').click();
    await page.getByText('Saved Our forge.', { exact: true }).waitFor();
    expect(await dialog(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Delete Our forge' }).click();
    await button(page, 'Delete').click();
    await page.getByText('No Git providers yet', { exact: true }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('gives organizations permissions, and limits them to reading', async () => {
    const access = { providerType: 'GITEA_TOKEN', host: gitea.url, token: giteaToken, name: 'Forge' };
    await runMutation(test, 'createGitConnection', 'gitConnection { id }', access);
    const other = await makeOrganization(test, 'Other team');
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/git', width: 375 });
    const { page } = window;
    await page.getByRole('combobox', { name: 'Organization' }).last().click();
    await page.getByRole('listbox').getByRole('option', { name: 'Other team' }).click();
    await page.getByText('No permissions', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add permission' }).click();
    await dialog(page).getByLabel('Repositories').selectOption({ label: 'One repository' });
    await dialog(page).getByLabel('Repository', { exact: true }).fill('acme/../site');
    await button(page, 'Add permission').click();
    await dialog(page).getByRole('alert').waitFor();
    await dialog(page).getByLabel('Repository', { exact: true }).fill('acme/site');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-permission-form');
    await button(page, 'Add permission').click();
    await page.getByText('Permission added.', { exact: true }).waitFor();
    await page.setViewportSize({ width: 375, height: 844 });
    await page.getByRole('button', { name: 'Make read-only: acme/site' }).click();
    await page.getByRole('button', { name: 'Allow pushes: acme/site' }).waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('git-permissions');
    const [row] = await test.app.services.store.query(
      'select repo_path, read_only, organization_id from git_permission',
      [],
    );
    expect(row).toMatchObject({ 'repo_path': 'acme/site', 'read_only': true });
    expect(other.organizationId).toContain(String((row as { organization_id: string }).organization_id));
    await page.getByRole('button', { name: 'Remove acme/site' }).click();
    await button(page, 'Remove').click();
    await page.getByText('No permissions', { exact: true }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('asks for the token of a user who signed in by a link', async () => {
    const { page } = await openWindow(browser, test);
    await page.goto(`/sign-in#link=${await createConsoleLink(test.app.services, test.adminToken)}`);
    await page.locator('#main').waitFor();
    await page.goto('/manage/git');
    await page.getByRole('button', { name: 'Add Git provider', exact: true }).click();
    await dialog(page).getByLabel('Type').selectOption({ label: 'Other Git server (HTTPS)' });
    await dialog(page).getByLabel('Host').fill('https://git.example.com');
    // A test of a server with git alone needs a repository; connecting it does not.
    await button(page, 'Test').click();
    await page.getByText('Enter a repository for the test.', { exact: true }).waitFor();
    await button(page, 'Add Git provider').click();
    const confirm = page.getByRole('dialog', { name: 'Confirm with your token' });
    await confirm.getByLabel('Token').fill(test.adminToken);
    await page.keyboard.press('Enter');
    await page.getByText('Connected https://git.example.com.', { exact: true }).waitFor();
    // A server with git alone is tested with a repository, which the user names.
    await dialog(page).getByLabel('Repository to test').waitFor();
    await button(page, 'Done').click();
    await page.getByRole('button', { name: 'Add Git provider', exact: true }).click();
    await dialog(page).getByLabel('Host').fill('git.example.com');
    await dialog(page)
      .getByText('The connection https://git.example.com has the same host.', { exact: false })
      .waitFor();
    await page.context().close();
  });

  it('is hidden from members', async () => {
    const { token } = await makeUser(test, { organizationId: `org-${test.organizationId}` });
    const { page } = await openSignedIn(browser, test, token, { at: '/manage/git' });
    await page.getByText('You can’t manage Git providers', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('navigation', { name: 'Settings' }).waitFor();
    expect(await page.getByRole('link', { name: 'Git', exact: true }).count()).toBe(0);
    await page.context().close();
  });
});
