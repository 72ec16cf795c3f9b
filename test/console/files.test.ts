import { readFile } from 'node:fs/promises';
import { crc32, deflateSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { damageSegment, type SavedWorkspace, saveWorkspace } from '../support/saved-workspace.ts';
import { createSession } from '../support/sessions.ts';

const server = `import { createServer } from 'node:http';

/** Answers every request. */
export function start(port: number): void {
  createServer((request, response) => {
    response.end('Hello');
  }).listen(port);
}
`;

/** Encodes an image of one colour. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, Buffer.from([40, 110, 200]))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

const latin1 = (name: string) => Buffer.from(name).toString('latin1');

const workspace: SavedWorkspace = {
  files: {
    'workspace/src/server.ts': { content: server },
    'workspace/src/deep/er/index.ts': { content: 'export const deep = true;\n' },
    'workspace/README.md': { content: '# Site\n\nRead this first.\n' },
    'workspace/run.sh': { content: '#!/bin/sh\nnode src/server.ts\n', mode: 0o755 },
    'workspace/logo.png': { content: png(300, 200) },
    'workspace/fake.png': { content: Buffer.from([0x89, 0x50, 0, 1, 2, 3]) },
    'workspace/icon.svg': { content: '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>\n' },
    'workspace/data.bin': { content: Buffer.from([0, 1, 2, 3]) },
    'workspace/empty.txt': { content: '' },
    'workspace/.gitignore': { content: 'node_modules\n' },
    'workspace/latest': { target: '../../etc/passwd' },
    'workspace/numbers.txt': { content: Array.from({ length: 3_000 }, (_, n) => `${n + 1}\n`).join('') },
    [`workspace/${latin1('gpj\u202eexe.txt')}`]: { content: 'const admin = false; // \u202e } if (isAdmin) {\n' },
    'workspace/<img src=x>\u001b[31m': { content: 'x' },
    ...Object.fromEntries(
      Array.from({ length: 250 }, (_, n) => [`workspace/many/file-${1_000 + n}`, { content: `${n}` }]),
    ),
  },
  ignored: { 'workspace/node_modules/left/index.js': { content: 'module.exports = 1;\n' } },
  missing: [
    { path: 'workspace/core.dump', reason: 'TOO_LARGE', bytes: 5_000_000_000, files: 1 },
    { path: 'workspace/node_modules/.cache', reason: 'UNREADABLE', bytes: null, files: 12 },
  ],
};

describe.skipIf(missing !== null)('the files of a session', { timeout: 180_000 }, () => {
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

  const open = (id: string, query = '?tab=files', width = 1_920) =>
    openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}${query}`, width });
  const save = async (files: SavedWorkspace = workspace) => {
    const id = await createSession(test, { title: 'Build the site' });
    return { id, saved: await saveWorkspace(test, id, files) };
  };
  const entry = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Entries' }).getByTitle(name, { exact: true });
  const file = (page: Page, path: string) => page.getByRole('region', { name: path, exact: true });
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const crumb = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Path' }).getByRole('button', { name });

  it('browses directories, and shows each kind of file', async () => {
    const { id } = await save();
    const window = await open(id, '');
    const { page } = window;
    await page.getByRole('tab', { name: 'Files', exact: true }).click();
    await entry(page, 'src').waitFor();
    expect(new URL(page.url()).search).toBe('?tab=files');
    await page.getByText(/^as of \d+:\d\d:\d\d\s[AP]M, \d+ s ago$/).waitFor();
    await page.getByText('2 parts of the workspace are not saved').click();
    await page.getByText('core.dump: it exceeds a limit (4.66 GiB)').waitFor();
    await window.pictures('files');

    await entry(page, 'src').click();
    await entry(page, 'server.ts').click();
    const text = file(page, 'src/server.ts');
    await text.locator('.hljs-string', { hasText: "'Hello'" }).waitFor();
    expect(new URL(page.url()).searchParams.get('path')).toBe('src/server.ts');
    await window.pictures('files-text');
    for (const theme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      expect(await seriousFindings(page)).toEqual([]);
    }
    await crumb(page, 'workspace').click();
    await entry(page, 'logo.png').click();
    const image = file(page, 'logo.png');
    await image.getByText('300 × 200 pixels').waitFor();
    await image.getByRole('img', { name: 'logo.png' }).waitFor();
    await window.picture('files-image');
    await entry(page, 'fake.png').click();
    await file(page, 'fake.png').getByText('Can’t display this image.').waitFor();
    await entry(page, 'icon.svg').click();
    await file(page, 'icon.svg').getByText('onload').waitFor();
    await entry(page, 'data.bin').click();
    await file(page, 'data.bin').getByText('This is a binary file.').waitFor();
    await entry(page, 'empty.txt').click();
    await file(page, 'empty.txt').getByText('This file is empty.').waitFor();
    await entry(page, 'latest').click();
    await file(page, 'latest').getByText('../../etc/passwd').waitFor();
    await entry(page, 'gpj[U+202E]exe.txt').click();
    await file(page, 'gpj[U+202E]exe.txt').getByText('[U+202E] } if').waitFor();
    await entry(page, '<img src=x>[U+001B][31m').waitFor();
    await entry(page, 'numbers.txt').click();
    const long = file(page, 'numbers.txt');
    await long.getByText('1,000 of 3,000 lines shown').waitFor();
    await long.getByRole('button', { name: 'Show 1,000 more lines' }).click();
    await long.getByText('2,000 of 3,000 lines shown').waitFor();
    await page.goBack();
    await file(page, 'gpj[U+202E]exe.txt').waitFor();
    expect(window.consoleErrors).toEqual([]);
    expect(window.foreign).toEqual([]);
  });

  it('loads a large directory in pages, and downloads files and directories', async () => {
    const { id } = await save();
    const { page } = await open(id, '?tab=files&path=many');
    await page.getByText('100 of 250 entries').waitFor();
    const entries = page.getByRole('list', { name: 'Entries' }).getByRole('listitem');
    await expect
      .poll(async () => {
        await page
          .getByRole('button', { name: 'Show more' })
          .click({ timeout: 1_000 })
          .catch(() => undefined);
        return entries.count();
      })
      .toBe(251);
    const downloaded = async (name: string) => {
      const started = page.waitForEvent('download');
      await page.getByRole('button', { name, exact: true }).click();
      const download = await started;
      return [download.suggestedFilename(), await readFile(await download.path(), 'latin1')] as const;
    };
    const [archive, content] = await downloaded('Download this directory');
    expect(archive).toBe('many.tar');
    expect(content).toContain('many/file-1249');
    await entry(page, 'file-1249').click();
    await file(page, 'many/file-1249').getByText('249', { exact: true }).waitFor();
    expect(await downloaded('Download')).toEqual(['file-1249', '249']);
  });

  it('shows newer files after a refresh, and older ones by a link to their checkpoint', async () => {
    const { id, saved } = await save();
    const { page } = await open(id, '?tab=files&path=README.md');
    await file(page, 'README.md').getByText('Read this first.').waitFor();
    await saveWorkspace(test, id, { files: { 'workspace/README.md': { content: '# New\n' } } });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await file(page, 'README.md').getByText('# New').waitFor();
    await entry(page, 'src').waitFor({ state: 'detached' });
    await page.goto(`/sessions/${id}?tab=files&path=src%2Fserver.ts&checkpoint=checkpoint-${saved.id}`);
    await file(page, 'src/server.ts').waitFor();
    await page.goto(`/sessions/${id}?tab=files&path=src%2Fserver.ts`);
    await page.getByText('File not found').waitFor();
    await page.getByRole('button', { name: 'Go to the workspace' }).click();
    await entry(page, 'README.md').waitFor();
  });

  it('says that nothing is saved, or that a checkpoint is damaged', async () => {
    const id = await createSession(test);
    const window = await open(id);
    const { page } = window;
    await page.getByText('No files saved yet').waitFor();
    await window.picture('files-empty');
    const { segmentIds } = await saveWorkspace(test, id, { files: { 'workspace/a.txt': { content: 'a' } } });
    for (const segmentId of segmentIds) await damageSegment(test, segmentId);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('The checkpoint is damaged. Choose another one').first().waitFor();
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    // A newer one is shown by itself.
    await saveWorkspace(test, id, { files: { 'workspace/a.txt': { content: 'a' } } });
    await entry(page, 'a.txt').waitFor();
  });

  it('shows the first files, and then newer ones, by itself', async () => {
    const id = await createSession(test);
    const { page, consoleErrors } = await open(id);
    await page.getByText('No files saved yet').waitFor();
    await saveWorkspace(test, id, { files: { 'workspace/a.txt': { content: 'a' } } });
    await entry(page, 'a.txt').waitFor();
    const time = page.locator('.files-time time');
    const before = await time.getAttribute('datetime');
    await entry(page, 'a.txt').focus();
    await saveWorkspace(test, id, {
      files: { 'workspace/a.txt': { content: 'a' }, 'workspace/b/c.txt': { content: 'c' } },
    });
    await entry(page, 'b').waitFor();
    expect(Date.parse((await time.getAttribute('datetime')) ?? '')).toBeGreaterThan(Date.parse(before ?? ''));
    expect(await page.evaluate(() => document.activeElement?.getAttribute('title'))).toBe('a.txt');
    expect(await page.getByText('Newer files are available.').count()).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  it('offers newer files to a reader of a file or a directory, and moves nothing before', async () => {
    const files = {
      'workspace/README.md': { content: '# Old\n' },
      'workspace/src/a.ts': { content: 'let a;\n' },
    };
    const { id, saved } = await save({ files });
    const window = await open(id, '?tab=files&path=README.md');
    const { page } = window;
    await file(page, 'README.md').getByText('# Old').waitFor();
    await saveWorkspace(test, id, {
      files: { 'workspace/README.md': { content: '# New\n' }, 'workspace/b.txt': { content: 'b' } },
    });
    const offer = page.getByRole('button', { name: 'Show newer files' });
    await offer.waitFor();
    await window.pictures('files-newer');
    expect(await seriousFindings(page)).toEqual([]);
    expect(await file(page, 'README.md').getByText('# Old').count()).toBe(1);
    expect(await entry(page, 'b.txt').count()).toBe(0);
    await offer.click();
    await file(page, 'README.md').getByText('# New').waitFor();
    await entry(page, 'b.txt').waitFor();
    await offer.waitFor({ state: 'detached' });
    // The files of an older checkpoint stay as they are.
    await page.goto(`/sessions/${id}?tab=files&path=src&checkpoint=checkpoint-${saved.id}`);
    await entry(page, 'a.ts').waitFor();
    expect(await offer.count()).toBe(0);
  });

  it('works on a phone', async () => {
    const { id } = await save();
    const window = await open(id, '?tab=files', 390);
    const { page } = window;
    await entry(page, 'src').click();
    await entry(page, 'server.ts').click();
    await file(page, 'src/server.ts').getByText('Answers every request').waitFor();
    await entry(page, 'server.ts').waitFor({ state: 'hidden' });
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await crumb(page, 'src').click();
    await entry(page, 'deep').waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
  });
});
