import { readFile } from 'node:fs/promises';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeUser } from '../rest/rest-app.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { draftWriter } from '../support/drafts.ts';
import { followLive } from '../support/live.ts';
import { sayMany } from '../support/many-sessions.ts';
import { appendToLog, createSession, say } from '../support/sessions.ts';
import { uploadTo } from '../support/uploads.ts';

const idOf = (digit: string) => digit.repeat(32);
const paragraphs = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${name} paragraph ${n}\n\n`).join('');

describe.skipIf(missing !== null)('a session’s page while its agent works', { timeout: 240_000 }, () => {
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

  const messages = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });
  /** Resolves when a session is watched live. A draft without a worker, which would repeat it, reaches nobody before. */
  const untilWatched = () => expect.poll(() => test.app.watches.live.count()).toBeGreaterThan(0);
  /** The distance of a message from the top of the window. */
  const topOf = async (page: Page, text: string) => Math.round((await messages(page, text).boundingBox())?.y ?? -1);

  it('shows the output of a tool as a terminal, and hostile output as text', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Output' });
    const { write, complete } = draftWriter(test, id);
    const call = { toolCallId: 'c1', title: 'npm test', toolKind: 'execute', locations: [], diffs: [] };
    const state = { kind: 'TOOL_CALL', data: { ...call, status: 'in_progress', output: null } } as const;
    await appendToLog(test, id, state);
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    await page.getByText('npm test').waitFor();
    const terminal = page.getByRole('region', { name: 'Output of npm test' });
    const of = { kind: 'tool_output', toolCallId: 'c1' } as const;
    await untilWatched();
    write(idOf('a'), 'start\n\u001b[32mok\u001b[0m 10%\r', of);
    await terminal.getByText('ok').waitFor();
    const hostile = [
      '\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007 <img src=x onerror=alert(1)> https://evil.example',
      '\u001b[31;1mFAIL\u001b[0m \u001b[38;5;208morange\u001b[0m \u001b[7mreverse\u001b[0m \u001b[30mblack\u001b[0m \u001b[44mblue\u001b[0m',
      ...Array.from({ length: 60 }, (_, n) => `line ${n}`),
    ];
    write(idOf('a'), `100%\u001b[K\n${hostile.join('\n')}\n`);
    await terminal.getByText('line 59').waitFor();
    const text = (await terminal.textContent()) ?? '';
    expect(text.startsWith('start\n100%\nlink <img src=x onerror=alert(1)> https://evil.example\nFAIL orange')).toBe(
      true,
    );
    expect(await terminal.locator('a, img').count()).toBe(0);
    const fromEnd = () => terminal.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await expect.poll(fromEnd).toBeLessThan(2);
    await terminal.evaluate((box) => box.scrollTo(0, 0));
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('live-output');
    const whole = await uploadTo(test, test.organizationId, { name: 'output.txt', content: 'The whole output' });
    const output = { output: 'line 59\n', outputBytes: 16, outputAttachmentId: whole.attachment_id };
    await complete(idOf('a'), { kind: 'TOOL_CALL', body: '', data: { ...call, status: 'completed', ...output } });
    await page.getByText('done', { exact: true }).waitFor();
    // The screen has more than the entry, and stays; so does the place to which the user scrolled.
    expect(await terminal.textContent()).toBe(text);
    expect(await terminal.evaluate((box) => box.scrollTop)).toBe(0);
    // The link works after its URL has expired.
    const link = page.getByRole('link', { name: 'Download full output' });
    await link.evaluate((element: HTMLAnchorElement) => {
      element.href = element.href.replace(/expires=\d+/, 'expires=1');
    });
    const downloading = page.waitForEvent('download');
    await link.click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('output.txt');
    expect(await readFile(await download.path(), 'utf8')).toBe('The whole output');
    // Of a long output, the entry has the end only.
    const end = { ...output, output: Array.from({ length: 450 }, (_, n) => `end ${n}\n`).join('') };
    const long = { ...call, toolCallId: 'c2', title: 'npm run long', status: 'completed', ...end };
    await appendToLog(test, id, { kind: 'TOOL_CALL', data: long });
    await page.getByText('npm run long').click();
    const box = page.getByRole('region', { name: 'Output of npm run long' });
    await box.getByText('end 449').waitFor();
    const heightOf = async () => (await box.boundingBox())?.height ?? 0;
    const small = await heightOf();
    await page.getByRole('button', { name: 'Show the last 450 lines' }).click();
    await expect.poll(heightOf).toBeGreaterThan(small);
    await page.getByText('The beginning of the output isn’t shown.').waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
    // Otherwise the next test would take this page for its own.
    await expect.poll(() => test.app.watches.live.count()).toBe(0);
  });

  it('shows text as it is written, and keeps its place and its element when the entry follows', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Live' });
    await sayMany(test, id, 60);
    const { write, complete } = draftWriter(test, id);
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const { page } = window;
    await page.getByRole('log').getByText('m59', { exact: true }).waitFor();
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/graphql/, (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
    await page.reload();
    await page.getByRole('log').getByText('m59', { exact: true }).waitFor();
    // Another user views the session, and types.
    const member = (await makeUser(test, test.organizationId)).v3Token;
    const presence = 'mutation($input: SendPresenceInput!) { sendPresence(input: $input) { userErrors { code } } }';
    await graphql(test, member, presence, { input: { sessionId: id, clientId: 'other', isTyping: true } });
    await page.getByRole('list', { name: 'Also viewing' }).getByRole('listitem').waitFor();
    await page.getByText('is typing…').waitFor();
    // Another client keeps the session watched while the page is not connected.
    const other = followLive(test, test.adminToken, id);
    await untilWatched();

    write(idOf('1'), '## First\n\nSee **the [manual](https://exam');
    const first = messages(page, 'First');
    await first.getByText('the manual', { exact: true }).waitFor();
    expect(await first.getByRole('link').count()).toBe(0);
    await first.evaluate((article) => article.setAttribute('data-mark', 'kept'));
    write(idOf('1'), 'ple.com)**:\n\n```ts\nconst a = 1;');
    await first.getByText('const a = 1;').waitFor();
    const code = `const a = 1;\n${Array.from({ length: 90 }, (_, n) => (n % 3 === 0 ? '\n' : `  const b${n} = a;\n`)).join('')}`;
    write(idOf('1'), code.slice('const a = 1;'.length));
    await first.getByText('const b89 = a;').waitFor();
    expect(await first.getAttribute('aria-busy')).toBe('true');
    // The lines of long code are in several elements: neither its text nor its height depends on them.
    const block = await first.locator('pre').evaluate((pre) => {
      getSelection()?.selectAllChildren(pre);
      const selected = getSelection()?.toString();
      getSelection()?.removeAllRanges();
      const height = pre.clientHeight;
      const text = pre.textContent;
      const plain = document.createElement('code');
      plain.textContent = text;
      const whole = pre.cloneNode() as HTMLElement;
      whole.append(plain);
      pre.after(whole);
      const parts = pre.querySelectorAll('.lines').length;
      const isAsHigh = whole.clientHeight === height;
      whole.remove();
      return { text, selected, parts, isAsHigh };
    });
    expect(block).toEqual({ text: code, selected: code.trimEnd(), parts: 3, isAsHigh: true });
    // Screen readers announce the message once it is complete, and not each of its parts.
    const announced = page.locator('.for-readers[aria-live="polite"]');
    expect(await announced.textContent()).toBe('');
    await window.pictures('live-message');
    // The note below the transcript disappears after some seconds, and the transcript is then higher.
    await page.getByText('is typing…').waitFor({ state: 'detached' });
    const before = await first.boundingBox();
    await complete(idOf('1'));
    await page.locator('[data-mark="kept"][data-seq]').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await announced.textContent()).toMatch(/^Agent: First See the manual: const a = 1; .*…$/);
    expect(await first.getAttribute('aria-busy')).toBe('false');
    expect(await first.count()).toBe(1);
    expect(await first.boundingBox()).toEqual(before);
    expect(await first.getByRole('link').getAttribute('href')).toBe('https://example.com');

    // The transcript follows the end, but not while the user reads further up.
    write(idOf('2'), paragraphs('Second', 20));
    const log = page.getByRole('log');
    const fromEnd = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await page.getByText('Second paragraph 19').waitFor();
    await expect.poll(fromEnd).toBeLessThan(2);
    await log.evaluate((box) => box.scrollBy(0, -300));
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    const top = await topOf(page, 'Second paragraph');
    write(idOf('2'), paragraphs('Later', 30));
    await page.getByText('Later paragraph 29').waitFor({ state: 'attached' });
    expect(await topOf(page, 'Second paragraph')).toBe(top);
    await complete(idOf('2'));
    await page.locator('[data-seq]').filter({ hasText: 'Later paragraph 29' }).waitFor();
    expect(await topOf(page, 'Second paragraph')).toBe(top);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await expect.poll(fromEnd).toBeLessThan(2);

    // After a break, nothing is missing and nothing is there twice.
    write(idOf('3'), 'Third, before the break');
    await messages(page, 'before the break').waitFor();
    await sockets.at(-1)?.close({ code: 4000 });
    await page.getByText('Connection lost').waitFor();
    write(idOf('3'), ', during it');
    await say(test, id, 'An entry of the break');
    await messages(page, 'An entry of the break').waitFor();
    await messages(page, 'Third, before the break, during it').waitFor();
    write(idOf('3'), ', after it');
    await complete(idOf('3'));
    await page.locator('[data-seq]').filter({ hasText: 'Third, before the break, during it, after it' }).waitFor();
    expect(await messages(page, 'Third').count()).toBe(1);
    expect(await messages(page, 'An entry of the break').count()).toBe(1);

    write(idOf('4'), 'I think about **trains**', { kind: 'thought' });
    await page.getByText('Thinking').waitFor();
    await window.picture('live-thought');
    write(idOf('4'), '', { offset: 0, isDone: true });
    await page.getByText('Thinking').waitFor({ state: 'detached' });
    other.stop();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });
});
