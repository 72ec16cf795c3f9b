import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { forgeAccount, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { createSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

describe.skipIf(missing !== null)('the page of a session with repositories', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const command = [process.execPath, '-e', shellAgent];
    const agentsConfig = await writeProfiles({}, { id: 'shell', command, sandbox: 'none', mcp: false });
    test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const connect = async (url: string) => {
    const { username, password: token } = forgeAccount;
    const input = { providerType: 'GIT_HTTPS', name: url, host: url, username, token };
    const { gitConnection } = await runMutation(
      test,
      'createGitConnection',
      'gitConnection { gitConnectionId }',
      input,
    );
    const permission = { organizationId: test.organizationId, ...gitConnection, groupPrefix: 'acme' };
    await runMutation(test, 'createGitPermission', 'gitPermission { id }', permission);
  };
  const log = (page: Page) => page.getByRole('log');
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  it('shows the clone, its branch and base, pushes with their commits, and refused pushes with the reason', async () => {
    const forge = await startGitForge();
    await forge.addRepository('acme/site');
    await connect(forge.url);
    const prompt = [
      'echo x >page; git add page; git commit -qm "Add \u202Ea page"; git push -q',
      'git push -q origin HEAD:main || true',
      // A pull request that the prompt names is not the session's.
      'echo https://github.com/acme/site/pull/$((11 + 1))',
    ].join('\n');
    const id = await createSession(test, {
      agent: 'shell',
      title: 'Add a page',
      prompt,
      repositories: [{ repository: 'acme/site' }],
    });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    await log(page).getByText(`${forge.host}/acme/site is ready.`).waitFor();
    await log(page).getByText('Pushed 1 commit to switchyard/add-a-page', { exact: false }).waitFor();
    await log(page).getByRole('listitem').getByText('Add [U+202E]a page', { exact: true }).waitFor();
    await log(page).getByText(`Push to main of ${forge.host}/acme/site refused: `, { exact: false }).waitFor();
    await log(page).getByText('this session may push to its own branches only', { exact: false }).first().waitFor();
    const link = log(page).getByRole('link', { name: 'acme/site #12' }).last();
    expect(await link.getAttribute('href')).toBe('https://github.com/acme/site/pull/12');
    const details = page.getByRole('tabpanel', { name: 'Details' });
    const commit = await forge.git('acme/site', 'rev-parse', 'main');
    await details.getByText(`main at ${commit.slice(0, 7)}`, { exact: true }).waitFor();
    await details.getByText('Ready', { exact: true }).waitFor();
    // A server with git alone has no pull requests.
    expect(await page.getByRole('button', { name: 'Open pull request' }).count()).toBe(0);
    await details.getByText('switchyard/add-a-page', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-repository');
    await page.setViewportSize({ width: 375, height: 844 });
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await page.goto('/sessions');
    await page.getByText('PR open', { exact: true }).waitFor();
    await window.pictures('sessions-pull-request');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows once why a repository could not be cloned, and how to try again', async () => {
    const forge = await startGitForge();
    await connect(forge.url);
    const input = { agent: 'shell', title: 'Too early', prompt: 'cat README.md' };
    const id = await createSession(test, { ...input, repositories: [{ repository: `${forge.host}/acme/late` }] });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    const again = page.getByRole('button', { name: /^(Retry|Try again)$/ });
    await again.waitFor();
    await log(page).getByText(`${forge.host}/acme/late could not be cloned.`, { exact: false }).waitFor();
    expect(await again.count()).toBe(1);
    await log(page).getByText(`or the connection "${forge.url}" may not use it.`, { exact: false }).waitFor();
    expect(await log(page).getByText('cannot be used', { exact: false }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-repository-failed');
    await forge.addRepository('acme/late', { 'README.md': 'It is there now.\n' });
    await again.click();
    await log(page).getByText('It is there now.', { exact: false }).waitFor();
    await log(page).getByText(`${forge.host}/acme/late is ready.`).waitFor();
    expect(await again.count()).toBe(0);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });
});
