import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { holdSockets, missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { writeProfiles } from '../support/profiles.ts';
import { answerQuestion, readAnswers, waitForQuestion } from '../support/questions.ts';
import { createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('questions in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const agentsConfig = await writeProfiles({ permission: 'ask' });
    test = await startApp({ roles: ['api', 'worker'], agentsConfig });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  /** A session whose agent asks for permission to do what its prompt says, and the id of its question. */
  async function start(prompt: string): Promise<{ id: string; questionId: string }> {
    const id = await createSession(test, { prompt });
    onTestFinished(async () => {
      await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
    });
    return { id, questionId: (await waitForQuestion(test, id, 'May I run')).questionId };
  }
  const open = async (id: string) => {
    const window = await openSignedIn(browser, test, test.adminToken);
    onTestFinished(() => window.page.context().close());
    return { ...window, go: () => window.page.goto(`/sessions/${id}`) };
  };
  const card = (page: Page, text: string) => page.getByRole('region', { name: 'Question' }).filter({ hasText: text });

  it('answers each permission by its own buttons', async () => {
    const { id } = await start('tool Deploy\ntool Restart');
    const { page, consoleErrors: pageErrors, pictures, go } = await open(id);
    await go();
    const first = card(page, 'Deploy');
    await first.getByText('Permission needed').waitFor();
    expect(await first.getByRole('button').allTextContents()).toEqual(['1 Allow once', '2 Always allow', '3 Reject']);
    // The message that repeats the question for other clients is not shown.
    expect(await page.getByRole('main').getByText('Always allow').count()).toBe(1);
    await pictures('session-permission');
    await first.getByRole('button', { name: 'Reject' }).click();
    const second = card(page, 'Restart');
    await second.getByRole('button', { name: 'Allow once' }).waitFor();
    expect(await first.getByRole('button').count()).toBe(0);
    expect(await first.getByText('was not answered').count()).toBe(0);
    await second.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('Finished', { exact: true }).waitFor();
    const { permissions } = await readAnswers(test, id);
    expect(permissions.map(({ title, decision }) => `${title} ${decision}`)).toEqual([
      'Deploy DENIED',
      'Restart ALLOWED',
    ]);
    const log = page.getByRole('log');
    await log.getByText(/denied: Deploy \(Reject\)$/).waitFor();
    await log.getByText(/allowed: Restart \(Allow once\)$/).waitFor();
    // Each decision is in one row, and the request for it in none.
    expect(await log.getByText('May I run').count()).toBe(0);
    expect(await log.getByText('Allow once').count()).toBe(1);
    expect(pageErrors).toEqual([]);
  });

  it('shows that a question that somebody else answered is no longer open', async () => {
    const { id, questionId } = await start('tool Deploy\ntool Restart');
    const { page, go } = await open(id);
    const letOn = await holdSockets(page);
    await go();
    const first = card(page, 'Deploy');
    await first.getByRole('button', { name: 'Allow once' }).waitFor();
    await answerQuestion(test, id, questionId, { optionId: '3' });
    await waitForQuestion(test, id, 'May I run Restart?');
    await first.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('This question is no longer open').waitFor();
    letOn();
    await card(page, 'Restart').getByRole('button', { name: 'Reject' }).waitFor();
    expect(await first.getByRole('button').count()).toBe(0);
    expect((await readAnswers(test, id)).permissions.map(({ decision }) => decision)).toEqual(['DENIED']);
    // A second Escape, which was meant to stop the agent too, does not leave the page. A later one does.
    await page.evaluate(() => {
      const now = performance.now();
      Object.assign(globalThis, { passedMs: 0 });
      performance.now = () => now + (globalThis as any).passedMs;
      (document.activeElement as HTMLElement).blur();
    });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).pathname).toBe(`/sessions/${id}`);
    await page.evaluate(() => Object.assign(globalThis, { passedMs: 1_001 }));
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sessions');
  });

  it('sends text entered during an open permission as the next turn', async () => {
    const { id } = await start('tool Deploy\nsay deployed');
    const { page, go } = await open(id);
    await go();
    const question = card(page, 'Deploy');
    await question.getByText('Or reply in your own words below.').waitFor();
    await page.getByText('Enter to reply in your own words').waitFor();
    await page.getByLabel('Message to the agent').fill('say yes indeed');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('yes indeed', { exact: true }).waitFor();
    await question.waitFor({ state: 'detached' });
    await page.getByRole('log').getByText('Answered in words instead of a choice. The agent didn’t run it.').waitFor();
    expect(await page.getByText('Denied').count()).toBe(0);
    // The reply was the prompt of a turn of its own, which ends as others do.
    await page.getByText('Finished', { exact: true }).waitFor();
    expect((await readAnswers(test, id)).permissions.map(({ decision }) => decision)).toEqual(['CANCELLED']);
  });
});
