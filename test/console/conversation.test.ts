import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { sayMany } from '../support/many-sessions.ts';
import { appendToLog, createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the conversation of a session', { timeout: 240_000 }, () => {
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

  const unprefixedId = (id: string) => id.replace(/^[a-z]+-/, '');
  const run = (sql: string, values: readonly unknown[]) => test.app.services.store.execute(sql, values);
  const terminate = (sessionId: string) =>
    graphql(
      test,
      test.adminToken,
      'mutation($input: TerminateSessionInput!) { terminateSession(input: $input) { userErrors { message } } }',
      { input: { sessionId } },
    );

  it('shows the files of a message by name, and opens them', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'say **hello** and `code`' });
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByRole('heading', { name: 'say hello and code' }).waitFor();
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chosen).setFiles([{ name: 'the note.txt', mimeType: 'text/plain', buffer: Buffer.from('trains') }]);
    await page.getByLabel('Message to the agent').fill('Look at this');
    await page.getByRole('button', { name: 'Send' }).click();
    // The session has not started: the transcript shows its prompt, and the message waits.
    const queued = page.getByRole('region', { name: 'Queued messages' });
    const message = queued.getByRole('listitem').filter({ hasText: 'Look at this' });
    const file = message.getByRole('link', { name: 'the note.txt' });
    await file.waitFor();
    expect(await message.textContent()).not.toContain('ATTACHMENT');
    await picture('message-file');
    const address = (await file.getAttribute('href')) ?? '';
    expect(await (await fetch(address)).text()).toBe('trains');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('folds an interrupted attempt under one line, and shows it again', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Interrupted' });
    const turn = (data: object) => appendToLog(test, id, { kind: 'TURN', data: { phase: 'started', ...data } });
    const sayAgain = (body: string) => appendToLog(test, id, { kind: 'MESSAGE', messageType: 'agent_message', body });
    await turn({ turn: 1, attempt: 1 });
    await sayAgain('I begin');
    await appendToLog(test, id, { kind: 'THOUGHT', body: 'Which way?' });
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, test.adminToken, {
      at: `/sessions/${id}`,
    });
    const begun = page.getByRole('article').filter({ hasText: 'I begin' });
    await begun.waitFor();
    await appendToLog(test, id, { kind: 'NOTICE', body: 'The agent was interrupted.' });
    await turn({ turn: 2, attempt: 2, interruptedSeq: 3 });
    await sayAgain('I begin');
    const line = page.getByText('Interrupted attempt: 2 entries');
    await line.waitFor();
    await page.getByText('The agent was interrupted.').waitFor();
    await expect.poll(() => begun.count()).toBe(1);
    await picture('interrupted-attempt');
    await line.click();
    await expect.poll(() => begun.count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('Hide', { exact: true }).click();
    await expect.poll(() => begun.count()).toBe(1);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('delivers a message once if it is sent again after a lost response, also after a reload', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Lost answers' });
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('mutation useSendMutation(')) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    const field = page.getByLabel('Message to the agent');
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chosen).setFiles([{ name: 'once.txt', mimeType: 'text/plain', buffer: Buffer.from('once') }]);
    await page.getByText('1 of 1 file uploaded').waitFor();
    await field.fill('Only once');
    const failed = page.waitForEvent('requestfailed');
    await page.keyboard.press('Enter');
    await failed;
    await page.reload();
    expect(await field.inputValue()).toBe('Only once');
    await page.getByText(/Send it again, with its files/).waitFor();
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    // The same text again is another message.
    await field.fill('Only once');
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    const document = 'query($id: ID!) { session(id: $id) { messages(first: 9) { nodes { body } } } }';
    const { data } = await graphql(test, test.adminToken, document, { id });
    const bodies = data.session.messages.nodes.map(({ body }: { body: string }) => body.split('\n')[0]);
    expect(bodies).toEqual(['Wait', 'Only once', 'Only once']);
    await page.context().close();
  });

  it('scrolls to the user’s own new message from any position', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Scrolled' });
    await sayMany(test, id, 200);
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByRole('log').getByText('m199', { exact: true }).waitFor();
    const log = page.getByRole('log');
    await log.evaluate((box) => box.scrollTo(0, box.scrollTop - 1_500));
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await page.getByLabel('Message to the agent').fill('My own words');
    await page.keyboard.press('Enter');
    await page.getByText('My own words', { exact: true }).waitFor();
    await expect.poll(() => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(5);
    await page.context().close();
  });

  it('stops following when the list learns of the user’s scrolling before the event', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Scrolling' });
    await sayMany(test, id, 200);
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByRole('log').getByText('m199', { exact: true }).waitFor();
    await page.getByRole('log').evaluate(async (box) => {
      const hold = (event: Event) => event.stopImmediatePropagation();
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const { setTimeout } = window;
      const timers: (() => void)[] = [];
      window.setTimeout = ((run: () => void, ms: number) => {
        timers.push(run);
        return setTimeout(run, ms);
      }) as typeof setTimeout;
      box.dispatchEvent(new Event('scroll'));
      window.setTimeout = setTimeout;
      document.addEventListener('scroll', hold, true);
      box.scrollTo(0, box.scrollTop - 2_000);
      // The timer with which the list finds that scrolling has ended reads the new position.
      for (const run of timers) run();
      for (let frames = 0; frames < 3; frames++) await frame();
      document.removeEventListener('scroll', hold, true);
      box.dispatchEvent(new Event('scroll'));
    });
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await page.context().close();
  });

  it('shows sub-sessions with their status, and of ended ones only that', async () => {
    const [parent, child] = [
      await createSession(test, { prompt: 'Wait', title: 'The parent' }),
      await createSession(test, { prompt: 'Wait', title: 'The child' }),
    ];
    await run('update session set parent_id = $1 where id = $2', [unprefixedId(parent), unprefixedId(child)]);
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { theme: 'dark', at: `/sessions/${parent}` });
    const details = page.getByRole('tabpanel', { name: 'Details' });
    const line = details.getByRole('listitem').filter({ hasText: 'The child' });
    await line.getByText('Queued').waitFor();
    await page.getByText('Waiting for a worker.').waitFor();
    await picture('session-queued');
    await terminate(child);
    await line.getByText('Terminated').waitFor();
    await terminate(parent);
    await page.getByText('This session was terminated and no longer accepts messages.').waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Unarchive' }).waitFor();
    expect(await page.getByText('Unarchive it to go on').count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
