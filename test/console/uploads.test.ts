import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { createSession } from '../support/sessions.ts';

/** Brings files to a page as a hand does: drags them over it, and lets go; or pastes them where the focus is. */
const bring = (page: Page, how: 'dragover' | 'drop' | 'paste', files: Record<string, string>, text?: string) =>
  page.evaluate(
    ([kind, named, words]) => {
      const data = new DataTransfer();
      for (const [name, content] of Object.entries(named)) data.items.add(new File([content], name));
      if (words !== undefined) data.setData('text/plain', words);
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

describe.skipIf(missing !== null)('files in the console', { timeout: 120_000 }, () => {
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

  it('are dropped, pasted or chosen for a message, shown with their progress, and go along with it', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Takes files' });
    const { page, complaints, foreign, picture } = await openSignedIn(browser, test, test.adminToken);
    await page.goto(`/sessions/${id}`);
    const message = page.getByLabel('Message to the agent');
    await message.fill('Look at these');
    await bring(page, 'dragover', { 'notes.txt': 'trains' });
    await page.getByText('Drop the files').waitFor();
    await bring(page, 'drop', { 'notes.txt': 'trains' });
    expect(await page.getByText('Drop the files').count()).toBe(0);
    await message.focus();
    await bring(page, 'paste', { 'pasted.txt': 'pasted' });
    // What has words as well is pasted as words, by the browser.
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
    await expect.poll(() => page.getByRole('list', { name: 'Files that go along' }).count()).toBe(0);
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
    await page.context().close();
  });

  it('hold a message back until they are there, are cancelled while they are sent, and tried again', async () => {
    const id = await createSession(test, { prompt: 'Wait', title: 'Slow files' });
    const { page } = await openSignedIn(browser, test, test.adminToken);
    await page.goto(`/sessions/${id}`);
    const send = page.getByRole('button', { name: 'Send' });
    await page.getByLabel('Message to the agent').fill('With a file');
    expect(await send.isEnabled()).toBe(true);
    // An upload that gets nowhere.
    await page.route('**/attachments/uploads/**', () => undefined);
    await bring(page, 'drop', { 'slow.txt': 'slow' });
    await page.getByRole('progressbar', { name: 'Upload of slow.txt' }).waitFor();
    expect(await send.isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Cancel the upload of slow.txt' }).click();
    await expect.poll(() => send.isEnabled()).toBe(true);
    await page.unroute('**/attachments/uploads/**');
    await page.route('**/attachments/uploads/**', (route) => route.abort(), { times: 1 });
    await bring(page, 'drop', { 'lost.txt': 'lost' });
    await page.getByText('It could not be sent: the connection broke').waitFor();
    expect(await send.isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Try again to upload lost.txt' }).click();
    await page.getByText('1 of 1 files uploaded').waitFor({ state: 'attached' });
    await bring(page, 'drop', { 'large.txt': 'x'.repeat(1_048_577) });
    await page.getByText('It is larger than the 1 MiB that a file may have.').waitFor();
    await page.getByRole('button', { name: 'Remove large.txt' }).click();
    await send.click();
    await expect.poll(() => filesOf(id)).toEqual([{ name: 'lost.txt', sizeBytes: 4 }]);
    await page.context().close();
  });

  it('go along with a new session, on a phone too', async () => {
    const { page, complaints, picture } = await openSignedIn(browser, test, test.adminToken, { width: 390 });
    await page.goto('/sessions');
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('What is to be done').fill('Read it');
    await bring(page, 'drop', { 'plan.md': '# Plan' });
    await page.getByText('1 of 1 files uploaded').waitFor({ state: 'attached' });
    expect(await seriousFindings(page)).toEqual([]);
    await picture('new-session-files');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL('**/sessions/*');
    const id = new URL(page.url()).pathname.split('/').at(-1) as string;
    expect(await filesOf(id)).toEqual([{ name: 'plan.md', sizeBytes: 6 }]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
