import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import type { ForgeAnswer, ForgeRequest } from '../support/forges/forge-server.ts';
import { installationId, startGithub, type TestGithub } from '../support/forges/github.ts';

const code = 'c4n4ryc0de0fthemanifestflow';
const html = (body: string): ForgeAnswer => ({
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html>${body}`,
});

/** The pages of GitHub with which a person creates and installs an App. */
class AppPages {
  manifest: Record<string, string> = {};
  state: string | null = null;

  private readonly privateKey: string;

  constructor({ privateKey }: TestGithub) {
    this.privateKey = privateKey;
  }

  answer({ method, url, body }: ForgeRequest): ForgeAnswer | null {
    const { pathname } = url;
    if (method === 'POST' && pathname === '/organizations/acme/settings/apps/new') {
      this.manifest = JSON.parse(new URLSearchParams(body).get('manifest') ?? '{}');
      this.state = url.searchParams.get('state');
      return html('<form method="post" action="/settings/apps"><button>Create GitHub App for acme</button></form>');
    }
    if (method === 'POST' && pathname === '/settings/apps') {
      return { status: 302, headers: { location: `${this.manifest.redirect_url}?code=${code}&state=${this.state}` } };
    }
    if (method === 'POST' && pathname === `/api/v3/app-manifests/${code}/conversions`) {
      const secrets = { 'pem': this.privateKey, 'webhook_secret': 'c4n4ry-of-the-app' };
      return { status: 201, body: { id: 12_345, slug: 'switchyard-test', name: 'Switchyard for acme', ...secrets } };
    }
    if (pathname === '/github-apps/switchyard-test/installations/new') {
      const query = `installation_id=${installationId}&setup_action=install`;
      return html(`<a href="${this.manifest.setup_url}?${query}">Install</a>`);
    }
    return null;
  }
}

describe.skipIf(missing !== null)('the creation of a GitHub App', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let github: TestGithub;
  let pages: AppPages;
  beforeAll(async () => {
    test = await startApp({ isHttpForgeAllowed: true });
    browser = await openBrowser();
    github = await startGithub();
    pages = new AppPages(github);
    github.intercept((request) => pages.answer(request));
  });
  afterAll(async () => {
    await github?.close();
    await browser?.close();
    await test?.close();
  });

  const begin = async (page: Page, host: string) => {
    await page.getByRole('button', { name: 'Create GitHub App' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Organization', { exact: true }).fill('acme');
    await dialog.getByLabel('Host').fill(host);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  };

  it('leads to GitHub and back, stores the App, and tests its installation', async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/git' });
    const { page } = window;
    await page.getByText('No Git providers yet', { exact: true }).waitFor();
    await window.pictures('github-app-empty');
    await page.getByRole('button', { name: 'Create GitHub App' }).click();
    await page.getByRole('dialog').getByLabel('Organization', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('github-app-form');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await begin(page, 'ftp://x');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('dialog').getByLabel('Host').fill(github.url);
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();

    const { host } = new URL(github.url);
    await page.getByRole('heading', { name: `Create a GitHub App at ${host}` }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('github-app-continue');
    await page.getByRole('button', { name: `Continue to ${host}` }).click();
    await page.getByRole('button', { name: 'Create GitHub App for acme' }).click();

    await page.getByText(`App created and connected as acme on ${github.url}.`, { exact: true }).waitFor();
    expect(page.url()).toBe(`${test.url}/manage/git/github-app`);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('github-app-created');
    await page.getByRole('link', { name: 'Install App' }).click();
    await page.getByRole('link', { name: 'Install', exact: true }).click();
    await page.getByText('accepts the connection.', { exact: false }).waitFor();
    expect(page.url()).toMatch(/\/manage\/git\/git-connection-[0-9a-f]{32}\/installed$/);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('github-app-installed');
    await page.getByRole('link', { name: 'Git settings' }).click();
    await page
      .getByRole('row', { name: /acme on/ })
      .getByText('switchyard-test[bot]')
      .waitFor();
    const [row] = await test.app.services.store.query('select app_id, installation_id from git_connection');
    expect(row).toEqual({ 'app_id': '12345', 'installation_id': String(installationId) });
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('sends the form to no other host, and does not take a code that it did not ask for', async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/git' });
    const { page } = window;
    await page.getByRole('row', { name: /acme on/ }).waitFor();
    await begin(page, 'github.com');
    const button = page.getByRole('button', { name: 'Continue to github.com' });
    await button.waitFor();
    // As if somebody could change the page.
    const blocked = page.waitForEvent('console', (message) => /form-action/.test(message.text()));
    await page.locator('form').evaluate((form, url) => {
      form.setAttribute('action', url);
      (form as HTMLFormElement).requestSubmit();
    }, `${github.url}/steal`);
    await blocked;
    expect(github.requests.some(({ url }) => url.pathname === '/steal')).toBe(false);

    const exchanges = () => github.requests.filter(({ url }) => url.pathname.includes('app-manifests')).length;
    const before = exchanges();
    await page.goto(`/manage/git/github-app?code=${code}&state=${'a'.repeat(52)}`);
    await page.getByRole('alert').waitFor();
    expect(page.url()).toBe(`${test.url}/manage/git/github-app`);
    await window.pictures('github-app-refused');
    expect(exchanges()).toBe(before);
    await page.context().close();
  });
});
