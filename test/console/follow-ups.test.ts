import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { connectForge } from '../support/connected-forge.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';

const url = 'https://git.test/acme/site/pull/12';

describe.skipIf(missing !== null)('the follow-ups of a pull request in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let sessionId: string;
  let repositoryId: string;
  const prisma = () => test.app.services.store.prisma;
  const followUp = (kind: string, state: string, summary: string, body = summary) =>
    prisma().followUp.create({
      data: {
        ...{ id: newId(), sessionId, url, key: `${kind}:${summary}`, kind, state, summary, body },
        createdAt: new Date(),
        ...(state === 'pending' ? { dueAt: new Date() } : { settledAt: new Date() }),
      },
    });
  beforeAll(async () => {
    test = await startApp({ roles: ['api'] });
    browser = await openBrowser();
    await connectForge(test, [test.organizationId]);
    const input = { organizationId: test.organizationId, prompt: 'Look', repositories: [{ repository: 'acme/site' }] };
    const { session } = await runMutation(test, 'createSession', 'session { sessionId }', input);
    sessionId = parseId('session', session.sessionId) ?? '';
    const found = await prisma().repository.findFirstOrThrow();
    repositoryId = found.id;
    await prisma().repository.update({ where: { id: repositoryId }, data: { readAt: new Date() } });
    const pullRequests = [{ url, state: 'open' }];
    await prisma().session.update({ where: { id: sessionId }, data: { pullRequests } });
    await prisma().pullRequest.create({
      data: {
        ...{ sessionId, url, repositoryId, number: 12, title: 'Fix the login', isDraft: false },
        ...{ headBranch: 'fix', baseBranch: 'main', readAt: new Date(), followUpStop: 'checks' },
      },
    });
    await followUp('review', 'suggested', 'ann asked for \u202Echanges', 'Please \u202Erename it');
    await followUp('conflict', 'suggested', 'main conflicts');
    await followUp('checks', 'sent', 'unit tests failed');
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  it('can be sent, dismissed, switched and continued, also by the keyboard', async () => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/devin-${sessionId}` });
    const { page } = window;
    const details = page.getByRole('tabpanel', { name: 'Details' });
    await details.getByText('Review: ann asked for [U+202E]changes', { exact: false }).waitFor();
    await details.getByText('checks failed again after 3 follow-ups in a row', { exact: false }).waitFor();
    await details.getByText('1 earlier follow-up', { exact: true }).click();
    await details.getByText('Failed checks: unit tests failed', { exact: false }).waitFor();
    expect(await details.getByRole('button', { name: /^Send: Failed checks/ }).count()).toBe(0);
    await details.getByLabel(/^Message: Review/).click();
    await details.getByText('Please [U+202E]rename it', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('follow-ups');

    await details.getByRole('button', { name: /^Dismiss: Conflict/ }).focus();
    await page.keyboard.press('Enter');
    await details.getByText('2 earlier follow-ups', { exact: true }).waitFor();
    await details.getByRole('button', { name: /^Send: Review/ }).click();
    await details.getByText('3 earlier follow-ups', { exact: true }).waitFor();
    await details.getByRole('button', { name: 'Continue', exact: true }).click();
    await details.getByText('Follow-ups stopped', { exact: false }).waitFor({ state: 'detached' });
    await details.getByLabel('Follow-ups', { exact: true }).selectOption('OFF');
    await details.getByRole('option', { name: 'Same as the repository', exact: true }).waitFor({ state: 'attached' });
    const states = await prisma().followUp.findMany({ where: { sessionId }, select: { kind: true, state: true } });
    expect(new Map(states.map(({ kind, state }) => [kind, state]))).toEqual(
      new Map([
        ['review', 'sent'],
        ['conflict', 'dismissed'],
        ['checks', 'sent'],
      ]),
    );
    const [pull] = await prisma().pullRequest.findMany({ where: { sessionId } });
    expect(pull).toMatchObject({ followUpMode: 'off', followUpStop: null });

    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('tab', { name: 'Details' }).click();
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are set for a repository on its page', async () => {
    const at = `/manage/repositories/repository-${repositoryId}`;
    const window = await openSignedIn(browser, test, test.adminToken, { at });
    const { page } = window;
    const form = page.getByRole('form', { name: 'Follow-ups' });
    await form.getByLabel('Mode', { exact: true }).selectOption('AUTO');
    await form.getByLabel('Comments from people', { exact: true }).selectOption('EVERYONE');
    await form.getByLabel('Comments from bots', { exact: true }).selectOption('ALL');
    await form.getByLabel('Accounts whose comments always count').fill('renovate[bot], hubot');
    await form.getByLabel('Archive a session when its pull requests are merged or closed').check();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('repository-follow-ups');
    await form.getByRole('button', { name: 'Save follow-ups', exact: true }).click();
    await page.getByText('Follow-up settings saved.', { exact: true }).waitFor();
    const { settings } = await prisma().repository.findUniqueOrThrow({ where: { id: repositoryId } });
    expect(settings).toMatchObject({ followUpBotLogins: ['renovate[bot]', 'hubot'], isArchivedWhenMerged: true });
    await page.setViewportSize({ width: 390, height: 844 });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });
});
