import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { createSession } from '../support/sessions.ts';

/** Brings files to a page like a user: drags and drops them, or pastes them into the focused element. */
const bring = (page: Page, how: 'dragover' | 'drop' | 'paste', files: Record<string, string>, text?: string) =>
  page.evaluate(
    ([kind, named, plainText]) => {
      const data = new DataTransfer();
      for (const [name, content] of Object.entries(named)) data.items.add(new File([content], name));
      if (plainText !== undefined) data.setData('text/plain', plainText);
      const init = { bubbles: true, cancelable: true };
      const target = document.activeElement ?? document.body;
      const event =
        kind === 'paste'
          ? new ClipboardEvent(kind, { ...init, clipboardData: data })
          : new DragEvent(kind, { ...init, dataTransfer: data });
      return target.dispatchEvent(event);
    },
    [how, files, text] as const,
  );

describe.skipIf(missing !== null)('files in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp({ maxAttachmentBytes: 1_048_576 });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const filesOf = async (id: string) => {
    const document = 'query($id: ID!) { session(id: $id) { attachments { nodes { name sizeBytes } } } }';
    return (await graphql(test, test.adminToken, document, { id })).data.session.attachments.nodes;
  };

  it('can be dropped, pasted or selected for a message, show their progress, and are sent with it', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Takes files' });
    const {
      page,
      consoleErrors: pageErrors,
      foreign,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const message = page.getByLabel('Message to the agent');
    await message.fill('Look at these');
    await bring(page, 'dragover', { 'notes.txt': 'trains' });
    await page.getByText('Drop files to attach').waitFor();
    await bring(page, 'drop', { 'notes.txt': 'trains' });
    expect(await page.getByText('Drop files to attach').count()).toBe(0);
    await message.focus();
    await bring(page, 'paste', { 'pasted.txt': 'pasted' });
    // Content that also has text is pasted as text by the browser.
    expect(await bring(page, 'paste', { 'cells.txt': 'cells' }, 'cells')).toBe(true);
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).press('Enter');
    const file = { name: 'chosen.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen') };
    await (await chosen).setFiles([file]);
    await page.getByText('3 of 3 files uploaded').waitFor({ state: 'attached' });
    await picture('session-files');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove pasted.txt' }).click();
    await message.press('Enter');
    await expect.poll(async () => (await filesOf(id)).length).toBe(2);
    expect(await filesOf(id)).toEqual([
      { name: 'notes.txt', sizeBytes: 6 },
      { name: 'chosen.txt', sizeBytes: 6 },
    ]);
    await expect.poll(() => page.getByRole('list', { name: 'Attached files' }).count()).toBe(0);
    expect({ pageErrors, foreign }).toEqual({ pageErrors: [], foreign: [] });
    await page.context().close();
  });

  it('delay a message until they are uploaded, and can be cancelled and retried', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Slow files' });
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const send = page.getByRole('button', { name: 'Send' });
    await page.getByLabel('Message to the agent').fill('With a file');
    expect(await send.isEnabled()).toBe(true);
    // An upload that never completes.
    await page.route('**/attachments/uploads/**', () => undefined);
    await bring(page, 'drop', { 'slow.txt': 'slow' });
    await page.getByRole('progressbar', { name: 'Upload of slow.txt' }).waitFor();
    expect(await send.isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Cancel the upload of slow.txt' }).click();
    await expect.poll(() => send.isEnabled()).toBe(true);
    await page.unroute('**/attachments/uploads/**');
    await page.route('**/attachments/uploads/**', (route) => route.abort(), { times: 1 });
    await bring(page, 'drop', { 'lost.txt': 'lost' });
    await page.getByText('The upload failed. Check the connection').waitFor();
    expect(await send.isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Retry the upload of lost.txt' }).click();
    await page.getByText('1 of 1 file uploaded').waitFor({ state: 'attached' });
    await bring(page, 'drop', { 'large.txt': 'x'.repeat(1_048_577) });
    await page.getByText('large.txt is too large (1.01 MiB). The limit is 1 MiB.').waitFor();
    expect(await page.getByRole('button', { name: 'Retry the upload of large.txt' }).count()).toBe(0);
    expect(await send.isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Remove large.txt' }).click();
    await send.click();
    await expect.poll(() => filesOf(id)).toEqual([{ name: 'lost.txt', sizeBytes: 4 }]);
    await page.context().close();
  });

  it('are refused before the upload if empty, too large, or folders, with the reason', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Refused files' });
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    const message = page.getByLabel('Message to the agent');
    await message.waitFor();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/attachments/uploads/')) sent.push(request.postData() ?? '');
    });
    const large = 'x'.repeat(1_048_577);
    await bring(page, 'drop', { 'large.txt': large, 'empty.txt': '', 'larger.txt': large, 'small.txt': 'small' });
    await page.getByText('empty.txt is empty.').waitFor();
    await page.getByText('larger.txt is too large (1.01 MiB). The limit is 1 MiB.').waitFor();
    await page.getByText('1 of 4 files uploaded').waitFor({ state: 'attached' });
    expect(sent).toHaveLength(1);
    await page.getByText('Remove the files that can’t be sent').waitFor();
    await picture('session-files-refused');
    for (const name of ['large.txt', 'empty.txt', 'larger.txt']) {
      await page.getByRole('button', { name: `Remove ${name}` }).click();
    }
    // A message needs text.
    const note = page.getByText('Write a message to send with the files.');
    await note.waitFor();
    expect(await message.getAttribute('aria-describedby')).toBe(await note.getAttribute('id'));
    await message.press('Enter');
    expect(await filesOf(id)).toEqual([]);
    await message.fill('Read it');
    await note.waitFor({ state: 'hidden' });
    // A folder, dropped like by a user.
    const folder = await mkdtemp(join(tmpdir(), 'folder-'));
    const window = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await window.send('Input.dispatchDragEvent', { type, x: 600, y: 300, data });
    }
    await page.getByText(`${basename(folder)} is a folder: attach its files or an archive instead.`).waitFor();
    await rm(folder, { recursive: true });
    await message.press('Enter');
    await expect.poll(() => filesOf(id)).toEqual([{ name: 'small.txt', sizeBytes: 5 }]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are uploaded three at a time, and can be cancelled together', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Many files' });
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}` });
    await page.getByLabel('Message to the agent').fill('All of them');
    let active = 0;
    let maxActive = 0;
    const waiting: (() => void)[] = [];
    await page.route('**/attachments/uploads/**', async (route) => {
      maxActive = Math.max(maxActive, ++active);
      await new Promise<void>((resolve) => waiting.push(resolve));
      active--;
      await route.continue();
    });
    const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}.txt`, `${n}`]));
    await bring(page, 'drop', files(105));
    await page
      .getByText('You can attach up to 100 files. Not attached: f100.txt, f101.txt, f102.txt and 2 more.')
      .waitFor();
    await page.getByText('0 of 100 files', { exact: true }).waitFor();
    await expect.poll(() => waiting.length).toBe(3);
    await picture('session-many-files');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await expect.poll(() => page.getByRole('list', { name: 'Attached files' }).count()).toBe(0);
    for (const resume of waiting.splice(0)) resume();
    await page.getByRole('button', { name: 'Close' }).click();
    await bring(page, 'drop', files(20));
    await expect
      .poll(
        async () => {
          for (const resume of waiting.splice(0)) resume();
          return page.getByText('20 of 20 files', { exact: true }).count();
        },
        { timeout: 60_000, interval: 20 },
      )
      .toBe(1);
    expect(maxActive).toBe(3);
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => page.getByRole('list', { name: 'Attached files' }).count()).toBe(0);
    const document = 'query($id: ID!) { session(id: $id) { attachments { totalCount } } }';
    const { data } = await graphql(test, test.adminToken, document, { id });
    expect(data.session.attachments.totalCount).toBe(20);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are sent with a new session, on a phone too', async () => {
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { width: 390, at: '/sessions' });
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('Prompt').fill('Read it');
    await bring(page, 'drop', { 'plan.md': '# Plan' });
    await page.getByText('1 of 1 file uploaded').waitFor({ state: 'attached' });
    expect(await seriousFindings(page)).toEqual([]);
    await picture('new-session-files');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL('**/sessions/*');
    const id = new URL(page.url()).pathname.split('/').at(-1) as string;
    expect(await filesOf(id)).toEqual([{ name: 'plan.md', sizeBytes: 6 }]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
