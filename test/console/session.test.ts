import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleLink } from '../../src/domain/identity/keys/console-links.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import {
  holdSockets,
  missing,
  openBrowser,
  openSignedIn,
  openWindow,
  seriousFindings,
  shownSeqs,
} from '../support/console-browser.ts';
import { sayMany } from '../support/many-sessions.ts';
import { writeProfiles } from '../support/profiles.ts';
import { optionCommand } from '../support/programs.ts';
import { waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession, say } from '../support/sessions.ts';

/** The log position of a message in the middle of the screen. */
const middleSeq = (page: Page) =>
  page.getByRole('log').evaluate((box) => {
    const { top, height } = box.getBoundingClientRect();
    const rows = [...box.querySelectorAll('[data-seq]')];
    const row = rows.find((each) => each.getBoundingClientRect().top > top + height / 2);
    return Number(row?.getAttribute('data-seq'));
  });

describe.skipIf(missing !== null)('a session’s page', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const offer = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small' };
    const options = ['small', 'large'].map((value) => ({ value, name: `The ${value} one` }));
    const file = join(tmpdir(), `switchyard-console-options-${process.pid}.json`);
    await writeFile(file, JSON.stringify({ configOptions: [{ ...offer, options }] }));
    const offering = { id: 'offering', command: optionCommand(file), mcp: false, 'retry_delays_ms': [0] };
    const agentsConfig = await writeProfiles({}, offering);
    test = await startApp({ roles: ['api', 'worker'], agentsConfig });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  /** A session without a worker, whose log the test writes. */
  const quietSession = async (title: string) => {
    const id = await createSession(test, { prompt: 'sleep 600', title });
    await test.app.services.store.execute('delete from run where session_id = $1', [id]);
    return id;
  };

  it('opens from a link; a session can be started, watched, answered and archived there', async () => {
    const window = await openWindow(browser, test);
    const { page } = window;
    const code = await createConsoleLink(test.app.services, test.adminToken);
    await page.goto(`/sign-in#link=${code}`);
    await page.getByRole('heading', { name: 'Getting started', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Skip', exact: true }).click();
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    expect(page.url()).not.toContain(code);
    await page.getByRole('button', { name: 'New session' }).first().click();
    const commands = ['plan Read it; Change it', 'write hello.ts export const hello = 1;', 'list', 'ask Which colour?'];
    await page.getByLabel('Prompt').fill(commands.join('\n'));
    await page.getByLabel('Title', { exact: true }).fill('From the console');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'From the console' }).waitFor();
    await page.locator('#main').getByText('Needs you', { exact: true }).waitFor();
    const question = page.getByRole('region', { name: 'Question' });
    expect(await question.textContent()).toContain('Which colour?');
    await page.getByRole('tab', { name: 'Plan 0/2 steps done' }).waitFor();
    await window.pictures('session-blocked');
    await page.getByLabel('Message to the agent').fill('Blue, **please**');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('You answered: Blue').waitFor();
    await page.getByText('Finished', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('This session is archived').waitFor();
    await page.getByRole('button', { name: 'Unarchive' }).click();
    await page.getByLabel('Message to the agent').waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('keeps live data when the response to a message arrives later', async () => {
    const id = await createSession(test, { prompt: 'ask Which colour?', title: 'Late' });
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken);
    let letOn: () => void = () => undefined;
    const isLetOn = new Promise<void>((resolve) => {
      letOn = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('mutation useAnswerMutation(')) return route.continue();
      const response = await route.fetch();
      await isLetOn;
      await route.fulfill({ response });
    });
    await page.goto(`/sessions/${id}`);
    await page.locator('#main').getByText('Needs you', { exact: true }).waitFor();
    const box = page.getByLabel('Message to the agent');
    await box.fill('Blue');
    await page.keyboard.press('Enter');
    await page.getByText('Finished', { exact: true }).waitFor();
    const isAnswered = page.waitForResponse(
      (response) => response.request().postData()?.includes('useAnswerMutation') ?? false,
    );
    letOn();
    await (await isAnswered).finished();
    await expect.poll(() => box.inputValue()).toBe('');
    expect(await page.getByText('Finished', { exact: true }).count()).toBe(1);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows events between the first read and the subscription', async () => {
    const id = await createSession(test, { prompt: 'ask Which colour?', title: 'Between' });
    await waitUntilWaiting(test, id);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken);
    const letOn = await holdSockets(page);
    await page.goto(`/sessions/${id}`);
    await page.locator('#main').getByText('Needs you', { exact: true }).waitFor();
    const answer = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }';
    await graphql(test, test.adminToken, answer, { input: { sessionId: id, body: 'Blue' } });
    await waitUntilEnded(test, id);
    letOn();
    await page.getByText('Finished', { exact: true }).waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('suspends, resumes and terminates', async () => {
    const commands = [
      'plan Find what is slow; Make it quick; Measure it again',
      'say I look at the **search** first: most of the time goes there.',
      'write search.ts export const search = (words: string) => index.get(words);',
      'tool Measure the search',
      'say It was read from the disk each time. Kept in memory, `840 ms` became `12 ms`.',
      'sleep 600',
    ];
    const id = await createSession(test, { prompt: commands.join('\n'), title: 'Make the search quick' });
    const {
      page,
      consoleErrors: pageErrors,
      pictures,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByRole('main').getByText('Working', { exact: true }).waitFor();
    await page.getByText('The agent is working.', { exact: true }).waitFor();
    // The prompt, and the two messages of the agent.
    await page.getByRole('article').nth(2).waitFor();
    await page.getByLabel('Message to the agent').fill('And this');
    await page.keyboard.press('Enter');
    await page.getByText('The agent will read your message after this turn.').waitFor();
    await pictures('session-working');
    await page.getByRole('button', { name: 'Suspend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend this session?' });
    await dialog.getByText('The agent stops now, and its turn ends unfinished.').waitFor();
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Suspended', { exact: true }).waitFor();
    await page.getByText('The turn was stopped because the session was suspended.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('This session was terminated and no longer accepts messages.').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows until when a session waits for its provider, and continues it now', async () => {
    const id = await createSession(test, { prompt: 'refuse 429 Please retry in 3600s.', title: 'Limited' });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    const wait = /^Waiting for the provider’s limit until (\w+ \d+, )?\d{1,2}:\d\d/;
    const limit =
      /^The model’s provider has reached its limit. The session continues (at|on \w+ \d+,) \d{1,2}:\d\d\s[AP]M\.$/;
    const banner = page.getByRole('status').getByText(limit);
    await banner.waitFor();
    await page.getByText('Provider limit', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-waiting-for-quota');
    await page.getByRole('button', { name: 'Continue now' }).click();
    await page.getByText('The session continues without waiting for the model provider’s limit').waitFor();
    // The agent refuses again.
    await banner.waitFor();
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Limited' }).getByText(wait).waitFor();
    await page.getByRole('link', { name: 'Limited' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#main').getByText('Needs you', { exact: true }).waitFor();
    expect(await banner.count()).toBe(0);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('offers the options of an agent, for a session and for a new one', async () => {
    const id = await createSession(test, { prompt: 'Hello', title: 'Options', agent: 'offering' });
    await waitUntilEnded(test, id);
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    const model = page.getByLabel('Model');
    await model.selectOption('The large one');
    const document = 'query($id: ID!) { session(id: $id) { options { optionId value } } }';
    const read = async () => (await graphql(test, test.adminToken, document, { id })).data.session.options;
    await expect.poll(read).toEqual([{ optionId: 'model', value: 'large' }]);
    await window.picture('session-options');
    await page.goto('/sessions');
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('Agent', { exact: true }).selectOption('offering');
    await page.getByLabel('Model').selectOption('The large one');
    await window.picture('new-session-options');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('stops the turn with Escape, but not while something else uses the key, and interrupts with a message', async () => {
    const id = await createSession(test, { prompt: 'say I begin.\nsleep 600', title: 'Stopped' });
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    await page.getByText('I begin.', { exact: true }).waitFor();
    const stop = page.getByRole('button', { name: 'Stop (Esc)' });
    await stop.waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stop.getAttribute('aria-busy')).toBeNull();
    await window.pictures('session-stop');
    const field = page.getByLabel('Message to the agent');
    const queued = page.getByRole('region', { name: 'Queued messages' });
    await page.getByLabel('When to send').selectOption('After this turn (default)');
    for (const text of ['say Later.', 'say Never.']) {
      await field.fill(text);
      await field.press('Enter');
      await queued.getByText(text).waitFor();
    }
    await page.getByText('Enter to queue · Ctrl+Enter to stop the agent and send · Esc to stop').waitFor();
    expect(await page.getByRole('article').filter({ hasText: 'Later.' }).count()).toBe(0);
    const height = (await field.boundingBox())?.y;
    await queued.getByRole('button', { name: 'Withdraw' }).last().click();
    await page.getByText('Withdrawn', { exact: true }).waitFor();
    // The list is read again after the entry of the log.
    await queued.getByRole('button', { name: 'Withdraw' }).nth(1).waitFor({ state: 'detached' });
    await queued.getByRole('button', { name: 'Edit' }).click();
    await queued.getByRole('textbox').press('Escape');
    await queued.getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.type(' And more.');
    expect(await queued.getByRole('textbox').inputValue()).toBe('say Later. And more.');
    await queued.getByRole('textbox').fill('say Edited.');
    await window.pictures('session-queued');
    await queued.getByRole('textbox').press('Enter');
    await queued.getByText('say Edited.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await field.fill('say Now this.\nsleep 600');
    await page.getByLabel('When to send').selectOption('Stop and send now');
    await field.press('Enter');
    await page.getByRole('article').filter({ hasText: 'Agent' }).getByText('Now this.').waitFor();
    // The agent has received it: the transcript shows it, once, where the turn started.
    await page.getByRole('article').filter({ hasText: 'Edited.' }).first().waitFor();
    expect(await queued.count()).toBe(0);
    await field.fill('say Held.');
    await page.getByLabel('When to send').selectOption('After this turn (default)');
    await field.press('Enter');
    await queued.getByText('say Held.').waitFor();
    await field.fill('A text that stays');
    // Somebody who writes may mean the text: the first Escape leaves the field.
    await page.keyboard.press('Escape');
    expect(await field.evaluate((each) => each === document.activeElement)).toBe(false);
    expect(await stop.getAttribute('aria-busy')).toBeNull();
    await page.keyboard.press('Escape');
    await page.getByText('Administrator stopped the turn.').last().waitFor();
    await stop.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('A text that stays');
    expect(await field.getAttribute('placeholder')).toBe('Send a follow-up…');
    expect((await field.boundingBox())?.y).toBe(height);
    await queued.getByText('Held: sent with your next message').waitFor();
    await page.getByText('Resends your last message and anything queued.').waitFor();
    for (const name of ['Archive', 'Undo']) await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('The session was unarchived.').waitFor();
    await queued.getByText('say Held.').waitFor();
    expect(await page.getByText('Session resumed').count()).toBe(0);
    await window.pictures('session-held');
    await page.getByRole('button', { name: 'Retry' }).click();
    await stop.waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows agents’ output without executing it', async () => {
    const id = await quietSession('Hostile');
    const texts = [
      '<img src=x onerror="document.title=1"><script>document.title = 2</script><b>not bold</b>',
      '[run](javascript:document.title=3) [data](data:text/html,x) ![pixel](https://evil.example.com/x.png)',
      '<iframe src="https://evil.example.com"></iframe>',
      // Deeper than the parser's recursion allows.
      `${'>'.repeat(4_000)} deep down`,
      `${'*_'.repeat(1_000)}${'_*'.repeat(1_000)}`,
    ];
    const {
      page,
      consoleErrors: pageErrors,
      foreign,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await say(test, id, ...texts);
    // The inbox shows the last message too.
    const log = page.getByRole('log');
    await log.getByText('not bold').waitFor();
    await log.getByRole('link', { name: 'pixel' }).waitFor();
    await log.getByText('deep down').waitFor();
    expect(await log.locator('img, script, iframe, b:text("not bold")').count()).toBe(0);
    const links = await log.locator('a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(links.filter((href) => href && !href.startsWith('https://'))).toEqual([]);
    // The number is that of the sessions that need the user.
    expect(await page.title()).toMatch(/^(\(\d+\) )?Hostile · Switchyard$/);
    const row = page.getByRole('region', { name: 'Inbox' }).locator('.inbox-row').filter({ hasText: 'Hostile' });
    await row.getByText('*_*_*_', { exact: false }).waitFor();
    expect(await row.locator('img, script, iframe, a[href*="evil"]').count()).toBe(0);
    expect({ pageErrors, foreign }).toEqual({ pageErrors: [], foreign: [] });
    await page.context().close();
  });

  it('opens a long transcript at its end, renders a part of it, and reaches its beginning', async () => {
    const id = await quietSession('Long transcript');
    await sayMany(test, id, 1_000);
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByRole('log').getByText('m999', { exact: true }).waitFor();
    expect((await shownSeqs(page)).length).toBeLessThan(60);
    const log = page.getByRole('log');
    const distance = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    expect(await distance()).toBeLessThan(5);
    // New entries are followed while the user is at the end …
    for (const text of ['new', 'newer', 'the newest']) {
      await say(test, id, text);
      await log.getByText(text, { exact: true }).waitFor();
      await expect.poll(distance).toBeLessThan(5);
    }
    // … and do not move the text that the user reads further up.
    await log.evaluate((box) => box.scrollTo(0, box.scrollTop - 2_000));
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    // On the screen: the list corrects the position when it learns the heights of rows above.
    const read = log.locator(`[data-seq="${await middleSeq(page)}"]`);
    const topOf = async () => (await read.boundingBox())?.y ?? Number.NaN;
    const top = await topOf();
    await say(test, id, 'even newer');
    await expect.poll(distance).toBeGreaterThan(1_500);
    expect(Math.abs((await topOf()) - top)).toBeLessThan(3);
    const seen = new Set<number>();
    await expect
      .poll(
        async () => {
          await log.evaluate((box) => box.scrollTo(0, Math.max(0, box.scrollTop - 1_500)));
          for (const seq of await shownSeqs(page)) seen.add(seq);
          return page.getByText('sleep 600').count();
        },
        { timeout: 60_000, interval: 60 },
      )
      .toBe(1);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await page.getByRole('log').getByText('even newer').waitFor();
    // The end is followed even if many entries arrive at once.
    await sayMany(test, id, 2_000);
    await page.getByRole('log').getByText('m1999', { exact: true }).waitFor();
    await expect.poll(distance).toBeLessThan(5);
    await page.context().close();
  });
});
