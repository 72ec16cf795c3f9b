import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { forgeAccount, type GitForge, makeDirectory, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const server = `import { createServer } from 'node:http';

/** Answers every request. */
export function start(port: number): void {
  createServer((request, response) => {
    response.end('Hello');
  }).listen(port);
}
`;

/** Commands of an agent that changes files of each kind. Some names and lines are hostile. */
const work = String.raw`
sed -i "s/'Hello'/'Hello, world'/; s/port: number/port: number, host = 'localhost'/" src/server.ts
git mv manual/guide.md manual/handbook.md
git rm -q old.txt
chmod +x run.sh
mkdir -p src/deep/er
printf 'export const deep = true;\n' >src/deep/er/index.ts
printf '\0\1\2\3' >logo.bin
printf 'const admin = false; // \342\200\256 } if (isAdmin) {\r\nplain\n' >src/trick.js
printf x >"$(printf 'gpj\342\200\256exe.txt')"
printf x >"$(printf '<img src=x>\033[31m')"
seq 1 3000 >numbers.txt
head -c 200000 /dev/zero | tr '\0' x >line.txt
git add -A
git commit -qm 'Greet the world'
printf 'not committed\n' >notes.txt
truncate -s 20M huge
`;

describe.skipIf(missing !== null)('the changes of a session', { timeout: 180_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const command = [process.execPath, '-e', shellAgent];
    const agentsConfig = await writeProfiles({}, { id: 'shell', command, sandbox: 'none', mcp: false });
    test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  /** Starts a forge with two repositories, until the end of the test. */
  const connect = async (): Promise<GitForge> => {
    const forge = await startGitForge();
    const { username, password: token } = forgeAccount;
    const connection = { providerType: 'GIT_HTTPS', name: forge.url, host: forge.url, username, token };
    const { gitConnection } = await runMutation(
      test,
      'createGitConnection',
      'gitConnection { gitConnectionId }',
      connection,
    );
    const permission = { organizationId: test.organizationId, ...gitConnection, groupPrefix: 'acme' };
    await runMutation(test, 'createGitPermission', 'gitPermission { id }', permission);
    await forge.addRepository('acme/site', {
      'src/server.ts': server,
      'manual/guide.md': '# Guide\n\nRead this first.\nThen that.\n',
      'old.txt': 'old\n',
      'run.sh': '#!/bin/sh\n',
    });
    await forge.addRepository('acme/docs', { 'index.md': '# Docs\n' });
    return forge;
  };

  const start = async (forge: GitForge, prompt: string, ...names: string[]) => {
    const input = { agent: 'shell', title: 'Greet the world', prompt };
    const repositories = names.map((name) => ({ repository: `${forge.host}/acme/${name}` }));
    return createSession(test, { ...input, repositories });
  };
  /** Waits until the changes of a turn are stored, which is shortly after its end. */
  const stored = async (id: string, turn: number, repositories = 1) => {
    const query = 'query($id: ID!, $turn: Int) { session(id: $id) { changes(turn: $turn) { fileCount } } }';
    const read = async () => (await graphql(test, test.adminToken, query, { id, turn })).data.session.changes;
    // Thousands of files take a slow machine longer than a poll usually waits.
    await expect.poll(read, { timeout: 150_000 }).toHaveLength(repositories);
  };
  const send = (id: string, body: string) => runMutation(test, 'sendMessage', '', { sessionId: `devin-${id}`, body });
  const open = (id: string, query = '?tab=changes') =>
    openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}${query}`, width: 1_920 });
  const tab = (page: Page, name: string) => page.getByRole('tab', { name });
  const tree = (page: Page) => page.getByRole('tree', { name: 'Changed files' });
  const item = (page: Page, name: string) => tree(page).getByRole('treeitem', { name });
  const card = (page: Page, path: string) => page.getByRole('region', { name: path, exact: true });
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  it('shows the diff of each kind of file, hostile names and long files', async () => {
    const forge = await connect();
    const id = await start(forge, work, 'site');
    await stored(id, 1);
    const window = await open(id, '');
    const { page } = window;
    await tab(page, 'Changes 13 files').waitFor();
    await page.getByRole('tab', { name: 'Details' }).focus();
    await page.keyboard.press('Home');
    await item(page, 'server.ts').waitFor();
    expect(new URL(page.url()).search).toBe('?tab=changes');
    const panel = page.getByRole('tabpanel', { name: 'Changes' });
    await panel.getByText('13 files', { exact: true }).waitFor();
    const base = await forge.git('acme/site', 'rev-parse', 'main');
    await panel.getByText(base.slice(0, 7), { exact: true }).waitFor();

    await item(page, 'server.ts').click();
    const changed = card(page, 'src/server.ts').locator('.diff-code-insert');
    await changed.getByText("host = 'localhost'").waitFor();
    // Colours and changed words.
    await changed.locator('.hljs-string').first().waitFor();
    await changed.locator('.diff-code-edit').first().waitFor();
    await item(page, 'handbook.md').click();
    await card(page, 'manual/handbook.md').getByText('Renamed without other changes.').waitFor();
    await card(page, 'manual/handbook.md').getByText('manual/guide.md').waitFor();
    await item(page, 'logo.bin').click();
    await card(page, 'logo.bin').getByText('Binary file, 4 B.').waitFor();
    await item(page, 'run.sh').click();
    await card(page, 'run.sh').getByText('Only the mode changed: 100644 → 100755.').waitFor();
    await item(page, 'notes.txt').click();
    await card(page, 'notes.txt').getByText('not committed').waitFor();

    await item(page, 'trick.js').click();
    await card(page, 'src/trick.js').getByText('[U+202E]').waitFor();
    await card(page, 'src/trick.js').getByText('[CR]').waitFor();
    await item(page, 'gpj[U+202E]exe.txt').waitFor();
    await item(page, '<img src=x>[U+001B][31m').click();
    await card(page, '<img src=x>[U+001B][31m').waitFor();

    await panel.getByText('The changes exceed a limit', { exact: false }).waitFor();
    await item(page, 'huge').click();
    await card(page, 'huge').getByText('The diff exceeds a limit and is not stored (20 MiB).').waitFor();

    // A long diff is opened by a click, and shown in parts.
    await item(page, 'numbers.txt').click();
    const long = card(page, 'numbers.txt');
    await long.getByText('1,000 of 3,000 lines shown').waitFor();
    expect(await long.locator('.diff-line').count()).toBe(1_000);
    await long.getByRole('button', { name: 'Show 1,000 more lines' }).click();
    await long.getByText('2,000 of 3,000 lines shown').waitFor();
    await item(page, 'line.txt').click();
    await card(page, 'line.txt').getByText('(198,000 more characters)').waitFor();
    expect(new URL(page.url()).searchParams.get('file')).toBe('line.txt');
    expect(window.consoleErrors).toEqual([]);
    expect(window.foreign).toEqual([]);
    await page.context().close();
  });

  it('filters, opens folders with keys, remembers the view and opens links to files', async () => {
    const forge = await connect();
    const id = await start(forge, work, 'site');
    await stored(id, 1);
    const window = await open(id, '?tab=changes&file=src%2Fserver.ts');
    const { page } = window;
    await card(page, 'src/server.ts').getByText("'Hello, world'").waitFor();
    await window.pictures('changes');
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    // The tree: one stop of the Tab key.
    await tree(page).focus();
    await page.keyboard.press('Home');
    const folder = item(page, 'manual');
    // In the order of the diffs.
    const above = (await tree(page).getByRole('treeitem').allTextContents()).findIndex((text) =>
      text.endsWith('manual'),
    );
    for (let n = 0; n < above; n += 1) await page.keyboard.press('ArrowDown');
    expect(await tree(page).getAttribute('aria-activedescendant')).toBe(await folder.getAttribute('id'));
    await page.keyboard.press('ArrowLeft');
    expect(await folder.getAttribute('aria-expanded')).toBe('false');
    await item(page, 'handbook.md').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.closest('section')?.ariaLabel === 'manual/handbook.md');
    await page.keyboard.press('Enter');
    await card(page, 'manual/handbook.md').getByText('Renamed').last().waitFor({ state: 'attached' });
    expect(await page.evaluate(() => document.activeElement?.ariaExpanded)).toBe('false');

    await page.getByLabel('Filter files by path').fill('DEEP');
    await item(page, 'server.ts').waitFor({ state: 'detached' });
    await item(page, 'src/deep/er').waitFor();
    await item(page, 'index.ts').waitFor();
    await page.waitForURL(/find=DEEP/);
    await page.getByLabel('Filter files by path').fill('nothing like this');
    await page.getByText('No file path contains this text.').waitFor();
    await page.getByLabel('Filter files by path').fill('server');
    await page.getByText('Side by side').click();
    await page.locator('.diff-split').waitFor();
    await window.pictures('changes-split');
    await page.reload();
    await page.locator('.diff-split').waitFor();
    // No room for two columns.
    await page.setViewportSize({ width: 375, height: 844 });
    await page.locator('.diff-unified').waitFor();
    await page.getByRole('button', { name: 'Files' }).click();
    await item(page, 'server.ts').waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await window.picture('changes-files-of-phone');
    // To the conversation, and back.
    await tab(page, 'Conversation').click();
    await page.getByRole('log').waitFor();
    await item(page, 'server.ts').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1_920, height: 800 });
    await page.goBack();
    await item(page, 'server.ts').waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows the changes of a turn and of each repository, and offers the patch and the bundle', async () => {
    const forge = await connect();
    const id = await start(
      forge,
      'cd site; echo one >one; git add .; git commit -qm One; echo x >>../docs/index.md',
      'site',
      'docs',
    );
    await stored(id, 1, 2);
    await send(id, 'echo two >site/two');
    await stored(id, 2, 2);
    const window = await open(id);
    const { page } = window;
    await item(page, 'two').waitFor();
    await page.getByLabel('Turn', { exact: true }).selectOption('Turn 1');
    await item(page, 'two').waitFor({ state: 'detached' });
    await item(page, 'one').waitFor();
    await page.waitForURL(/turn=1/);
    await page.getByLabel('Repository').selectOption({ label: `${forge.host}/acme/docs (1)` });
    await item(page, 'index.md').waitFor();
    await page.goBack();
    await item(page, 'one').waitFor();
    await page.goBack();
    await item(page, 'two').waitFor();
    await page.getByText('Download', { exact: true }).click();
    await page.getByText('git apply site.patch').waitFor();
    await page.getByText(/^git fetch site\.bundle switchyard\/greet-the-world/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('changes-downloads');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'site.patch' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('site.patch');
    expect(await readFile(await download.path(), 'utf8')).toContain('+two');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('compares an open turn when it is opened, and reports newer changes without moving the page', async () => {
    const forge = await connect();
    const directory = await makeDirectory();
    const gates = ['a', 'b'].map((name) => join(directory, name));
    for (const gate of gates) execFileSync('mkfifo', [gate]);
    const id = await start(forge, `echo half >half; cat ${gates[0]} ${gates[1]}; echo rest >rest`, 'site');
    const window = await open(id, '');
    const { page } = window;
    // Taken when the command reads it: then there is a change.
    await writeFile(gates[0] as string, '');
    // The tab compares the repositories when it opens.
    await tab(page, 'Changes').click();
    await item(page, 'half').waitFor();
    await page.getByRole('button', { name: 'Refresh' }).waitFor();
    await tab(page, 'Changes 1 file').waitFor();
    await writeFile(gates[1] as string, '');
    await page.getByRole('button', { name: 'Show newer changes' }).waitFor();
    await tab(page, 'Changes 2 files').waitFor();
    expect(await item(page, 'rest').count()).toBe(0);
    await window.pictures('changes-newer');
    await page.getByRole('button', { name: 'Show newer changes' }).click();
    await item(page, 'rest').waitFor();
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Changes');
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows thousands of files without loading all of their hunks', async () => {
    const forge = await connect();
    const id = await start(
      forge,
      'mkdir many; cd many; for n in $(seq 1000 3999); do echo $n >file$n.txt; done',
      'site',
    );
    await stored(id, 1);
    const window = await open(id, '');
    const { page } = window;
    let hunks = 0;
    let names = 0;
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('filesStoreHunksQuery')) hunks += 1;
      if (body.includes('query filesStoreQuery')) names += 1;
    });
    await tab(page, 'Changes 3,000 files').click();
    await item(page, 'file1000.txt').waitFor();
    await card(page, 'many/file1000.txt').getByText('1000', { exact: true }).waitFor();
    await page.getByText('100 of 3,000 files').waitFor();
    expect({ hunks: hunks < 5, names }).toEqual({ hunks: true, names: 1 });
    expect(await page.locator('.file-card').count()).toBeLessThan(30);
    expect(await page.getByRole('treeitem').count()).toBeLessThan(80);
    await window.pictures('changes-many');
    // The end of the list loads more.
    await page.getByRole('button', { name: 'Show more files' }).click();
    await page.getByText('200 of 3,000 files').waitFor();
    await page.getByLabel('Filter files by path').fill('file3999');
    await item(page, 'file3999.txt').waitFor();
    await card(page, 'many/file3999.txt').getByText('3999', { exact: true }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(2);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows lines without colours if the highlighter does not answer', async () => {
    const forge = await connect();
    const id = await start(forge, work, 'site');
    await stored(id, 1);
    const { page } = await open(id, '');
    await page.route('**/highlight-worker-*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;); };' }),
    );
    const opened = page.waitForEvent('worker');
    await tab(page, 'Changes').click();
    await (await opened).waitForEvent('close');
    await item(page, 'server.ts').click();
    await card(page, 'src/server.ts').locator('.diff-code-insert').first().getByText("host = 'localhost'").waitFor();
    expect(await page.locator('[class*="hljs"]').count()).toBe(0);
    await page.context().close();
  });

  it('explains why there are no changes', async () => {
    const forge = await connect();
    const none = await start(forge, 'echo x');
    await waitUntilEnded(test, `devin-${none}`);
    const { page, pictures, consoleErrors } = await open(none);
    await page.getByText('Only changes in repositories are compared', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await pictures('changes-no-repository');
    const idle = await start(forge, 'echo x', 'site');
    await stored(idle, 1);
    await page.goto(`/sessions/${idle}?tab=changes`);
    await page.getByText('The repositories are as they were when the session began.').waitFor();
    await page.goto(`/sessions/${idle}?tab=changes&turn=7`);
    await page.getByText('No changes are stored for this turn.').waitFor();
    // An older session.
    await test.app.services.store.execute('update session set changes_at = null where id = $1 returning id', [idle]);
    await test.app.services.store.execute('delete from repository_change where session_id = $1 returning turn', [idle]);
    await page.goto(`/sessions/${idle}?tab=changes`);
    await page.getByText('No turn has ended since the repositories were cloned', { exact: false }).waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows errors with a retry', async () => {
    const forge = await connect();
    const id = await start(forge, 'echo x >x', 'site');
    await stored(id, 1);
    const { page } = await open(id, '');
    await tab(page, 'Changes 1 file').waitFor();
    const failing = {
      status: 200,
      contentType: 'application/json',
      body: '{"errors":[{"message":"The file storage cannot be read."}]}',
    };
    let isBroken = true;
    await page.route('**/graphql', (route) => {
      const isFiles = route.request().postData()?.includes('filesStoreQuery');
      return isBroken && isFiles ? route.fulfill(failing) : route.continue();
    });
    await tab(page, 'Changes').click();
    await page.getByText('The file storage cannot be read.').waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await item(page, 'x').waitFor();
    await page.context().close();
  });
});
