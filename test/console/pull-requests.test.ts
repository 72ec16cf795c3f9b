import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { seedSession } from '../support/usage.ts';

const url = 'https://github.com/acme/site/pull/12';

describe.skipIf(missing !== null)('the pull requests of a session in the console', { timeout: 120_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp({ roles: ['api'] });
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
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByText('Fix [U+202E]the login', { exact: true }).waitFor();
    await details.getByText('Conflicts with its base', { exact: true }).waitFor();
    await details.getByText('draft', { exact: true }).waitFor();
    await details.getByText('asked for changes', { exact: false }).waitFor();
    await details.getByText('Checks: 1 failed, 1 passed', { exact: true }).click();
    expect(await details.getByRole('link', { name: 'unit tests' }).getAttribute('href')).toContain('/runs/1');
    // The service has not read the other one.
    await details.getByRole('link', { name: 'git.test/acme/docs #3' }).waitFor();
    await details.getByText('merged', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-pull-requests');
    await page.setViewportSize({ width: 375, height: 844 });
    await page.getByRole('button', { name: 'Details' }).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await window.picture('session-pull-requests');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });
});
