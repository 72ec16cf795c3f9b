import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';
import { seedSession } from '../support/usage.ts';

const url = 'https://github.com/acme/site/pull/12';

describe.skipIf(missing !== null)('the pull requests of a session in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp({ roles: ['api'], isHttpForgeAllowed: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  it('show title, branches, checks, reviews and mergeability, with hidden characters by their numbers', async () => {
    const organizationId = parseId('organization', test.organizationId) ?? '';
    const other = 'https://git.test/acme/docs/pulls/3';
    const pullRequests = [
      { url, state: 'open' },
      { url: other, state: 'merged' },
    ];
    const id = await seedSession(test, { organizationId, pullRequests });
    const check = (name: string, state: string, page: string | null = null) => ({ id: name, name, state, url: page });
    await test.app.services.store.prisma.pullRequest.create({
      data: {
        ...{ sessionId: id, url, repositoryId: newId(), number: 12, title: 'Fix \u202Ethe login', isDraft: true },
        ...{ headBranch: 'switchyard/fix-1', baseBranch: 'main', mergeability: 'conflicting', readAt: new Date() },
        checks: [check('unit tests', 'failed', 'https://github.com/acme/site/runs/1'), check('lint', 'passed')],
        reviews: [{ author: 'ann', state: 'changes_requested', url: null, submittedAt: null }],
      },
    });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/devin-${id}` });
    const { page } = window;
    const details = page.getByRole('tabpanel', { name: 'Details' });
    const line = page.locator('.session-repositories');
    await line.getByRole('link', { name: 'acme/site #12' }).waitFor();
    expect(await line.locator('.pull-request').allTextContents()).toEqual([
      'Pull requestacme/site #12 Draft',
      'Pull requestgit.test/acme/docs #3 Merged',
    ]);
    expect(await line.getByRole('link').first().getAttribute('href')).toBe(url);
    await details.getByText('Fix [U+202E]the login', { exact: true }).waitFor();
    await details.getByText('Conflicts with its base', { exact: true }).waitFor();
    await details.getByText('Draft', { exact: true }).waitFor();
    await details.getByText('requested changes', { exact: false }).waitFor();
    await details.getByText('Checks: 1 failed, 1 passed', { exact: true }).click();
    expect(await details.getByRole('link', { name: 'unit tests' }).getAttribute('href')).toContain('/runs/1');
    // The service has not read the other one.
    await details.getByRole('link', { name: 'git.test/acme/docs #3' }).waitFor();
    await details.getByText('Merged', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-pull-requests');
    await page.setViewportSize({ width: 375, height: 844 });
    await page.getByRole('tab', { name: 'Details' }).click();
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    await window.picture('session-pull-requests');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are reviewed by a session that a dialog starts, with the reason in the dialog if that is refused', async () => {
    const gitea = await startGitea();
    onTestFinished(() => gitea.close());
    const access = { providerType: 'GITEA_TOKEN', name: 'Reviews', host: gitea.url, token: giteaToken };
    await runMutation(test, 'createGitConnection', 'gitConnection { gitConnectionId }', access);
    gitea.pulls.push({
      ...{ path: 'acme/site', number: 1, title: 'Fix', body: '', state: 'open', head: 'fix', base: 'main' },
      isMerged: false,
    });
    const window = await openSignedIn(browser, test, test.adminToken, { at: '/manage/repositories' });
    const { page } = window;
    await page.getByRole('button', { name: 'Review a pull request' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Pull request URL').fill('https://github.com/acme/site/pull/1');
    await dialog.getByRole('button', { name: 'Start review', exact: true }).click();
    await dialog.getByText('There is no repository', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('review-pull-request');
    await dialog.getByLabel('Pull request URL').fill(`${gitea.url}/acme/site/pulls/1`);
    await dialog.getByLabel('Additional instructions').fill('Look at the tests.');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Start review', exact: true }).click();
    const details = page.getByRole('tabpanel', { name: 'Details' });
    await details.getByText('The session will review this pull request.', { exact: false }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are opened by a button, with the reason in the dialog if that is refused', async () => {
    const gitea = await startGitea();
    onTestFinished(() => gitea.close());
    const access = { providerType: 'GITEA_TOKEN', name: 'Forge', host: gitea.url, token: giteaToken };
    const selection = 'gitConnection { gitConnectionId }';
    const { gitConnection } = await runMutation(test, 'createGitConnection', selection, access);
    const organizationId = parseId('organization', test.organizationId) ?? '';
    const sessionId = await createSession(test, { prompt: 'Fix the login' });
    const id = parseId('session', sessionId) ?? '';
    const { store } = test.app.services;
    const { enterpriseId } = await store.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
    const [repositoryId, at] = [newId(), new Date()];
    const times = { createdAt: at, updatedAt: at };
    const gitConnectionId = parseId('gitConnection', gitConnection.gitConnectionId) ?? '';
    const where = { host: new URL(gitea.url).host, path: 'acme/site', gitConnectionId };
    await store.prisma.repository.create({
      data: { id: repositoryId, enterpriseId, pathKey: 'acme/site', ...where, ...times },
    });
    await store.prisma.sessionRepository.create({
      data: {
        ...{ sessionId: id, position: 0, repositoryId, baseRef: 'main', branch: 'switchyard/fix', directory: '.' },
        ...{ isReadOnly: false, state: 'READY', ...where, ...times },
      },
    });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${sessionId}` });
    const { page } = window;
    await page.getByRole('button', { name: 'Open pull request' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The agent hasn’t pushed this branch.').waitFor();
    await window.pictures('open-pull-request-unpushed');
    await dialog.getByRole('button', { name: 'Ask the agent to push' }).click();
    await page.getByText('Message sent. Open the pull request when the agent has pushed.').waitFor();
    await page.getByText('Commit your changes and push the branch switchyard/fix.').first().waitFor();
    await page.getByRole('button', { name: 'Open pull request' }).click();
    await dialog.getByLabel('Title').fill('Fix the login');
    await dialog.getByLabel('Base').fill('switchyard/fix');
    await dialog.getByRole('button', { name: 'Open', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('open-pull-request');
    await dialog.getByLabel('Base').fill('main');
    await dialog.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByText('Pull request opened.', { exact: true }).waitFor();
    const details = page.getByRole('tabpanel', { name: 'Details' });
    await details.getByText('Fix the login', { exact: true }).waitFor();
    await details.getByText('Open', { exact: true }).waitFor();
    expect(gitea.pulls).toMatchObject([{ title: 'Fix the login', head: 'switchyard/fix', base: 'main' }]);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });
});
