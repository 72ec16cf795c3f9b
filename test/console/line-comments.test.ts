import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { forgeAccount, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { createSession } from '../support/sessions.ts';

/** An agent that runs prompts that begin with "sh:" in a shell, and asks for a permission when a prompt is "ask". */
const agent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  let cwd;
  let turn = null;
  const say = (text) =>
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === 'session/new') { cwd = params.cwd; put({ id, result: { sessionId: 's1' } }); }
    if (id === 'may' && result) put({ id: turn, result: { stopReason: result.outcome.outcome === 'cancelled' ? 'cancelled' : 'end_turn' } });
    if (method !== 'session/prompt') return;
    const text = params.prompt.at(-1).text;
    if (text === 'ask') {
      turn = id;
      const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }, { optionId: 'no', name: 'Reject', kind: 'reject_once' }];
      put({ id: 'may', method: 'session/request_permission', params: { sessionId: 's1', toolCall: { toolCallId: 't1', title: 'Deploy' }, options } });
      return;
    }
    if (text.startsWith('sh:')) require('child_process').spawnSync('sh', ['-ec', text.slice(3)], { cwd });
    else say('I got ' + text.length + ' characters.');
    put({ id, result: { stopReason: 'end_turn' } });
  });`;

const work = `sh:
cat >app.js <<'END'
const one = 1;
const mark = '${'```'}';
if (!one) { throw new Error('${'`'}none${'`'}'); }
ATTACHMENT:"https://example.com/attachments/1/a.txt"
export { one, mark };
END
echo gone >gone.txt
sed -i 's/second/changed/' text.txt`;

describe.skipIf(missing !== null)('comments on the changes of a session', { timeout: 180_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    const command = [process.execPath, '-e', agent];
    const agentsConfig = await writeProfiles(
      {},
      { id: 'writer', command, sandbox: 'none', mcp: false, permission: 'ask' },
    );
    test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const changedAt = async (id: string) => {
    const query = 'query($id: ID!) { session(id: $id) { status statusDetail changes { fileCount updatedAt } } }';
    return (await graphql(test, test.adminToken, query, { id })).data.session;
  };
  const send = (id: string, body: string) => runMutation(test, 'sendMessage', '', { sessionId: `devin-${id}`, body });
  /** A session whose first turn has changed three files. */
  const start = async () => {
    const forge = await startGitForge();
    const { username, password: token } = forgeAccount;
    const connection = { providerType: 'GIT_HTTPS', name: forge.url, host: forge.url, username, token };
    const fields = 'gitConnection { gitConnectionId }';
    const { gitConnection } = await runMutation(test, 'createGitConnection', fields, connection);
    const permission = { organizationId: test.organizationId, ...gitConnection, groupPrefix: 'acme' };
    await runMutation(test, 'createGitPermission', 'gitPermission { id }', permission);
    await forge.addRepository('acme/site', { 'text.txt': 'first\nsecond\nthird\n' });
    const repositories = [{ repository: `${forge.host}/acme/site` }];
    const id = await createSession(test, { agent: 'writer', title: 'Comment', prompt: work, repositories });
    await expect.poll(async () => (await changedAt(id)).changes[0]?.fileCount, { timeout: 60_000 }).toBe(3);
    return id;
  };
  const open = async (id: string, width = 1_920) => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}?tab=changes`, width });
    onTestFinished(() => window.page.context().close());
    await line(window.page, 'app.js', 1).waitFor();
    return window;
  };
  const card = (page: Page, path: string) => page.getByRole('region', { name: path, exact: true });
  const line = (page: Page, path: string, number: number, version = 'new version') =>
    card(page, path).getByRole('button', { name: `Comment on line ${number}, ${version}`, exact: true });
  const field = (page: Page) => page.getByRole('textbox', { name: /^Your comment on/ });
  const composer = (page: Page) => page.getByLabel('Message to the agent');
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.ariaLabel);
  const comment = async (page: Page, text: string) => {
    await field(page).fill(text);
    await page.getByRole('button', { name: 'Add comment' }).click();
  };
  /** The newest message of a user as the API has it. */
  const sent = async (id: string): Promise<string> => {
    const query = 'query($id: ID!) { session(id: $id) { messages(last: 20) { nodes { type body } } } }';
    const { data } = await graphql(test, test.adminToken, query, { id });
    return data.session.messages.nodes.findLast(({ type }: { type: string }) => type !== 'AGENT_MESSAGE').body;
  };

  it('collects comments with the mouse, keeps them across a reload, and sends them as one message', async () => {
    const id = await start();
    const { page, consoleErrors, pictures, inThemes } = await open(id);
    await line(page, 'app.js', 2).click();
    await comment(page, 'Why ticks?');
    // A range by dragging.
    await line(page, 'app.js', 3).hover();
    await page.mouse.down();
    await card(page, 'app.js').getByText('export { one, mark };').hover();
    await page.mouse.up();
    await page.getByRole('group', { name: 'lines 3–5, new version' }).waitFor();
    expect(await card(page, 'app.js').locator('.diff-code-selected').count()).toBe(3);
    await comment(page, 'Remove these.');
    await page.getByText('Side by side').click();
    await page.locator('.diff-split').first().waitFor();
    await line(page, 'text.txt', 2, 'old version').click();
    await pictures('line-comments-form');
    await comment(page, 'Keep this line.');
    await line(page, 'text.txt', 3).click();
    await field(page).fill('Half written');
    await page.reload();
    await expect.poll(() => field(page).inputValue()).toBe('Half written');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => focused(page)).toBe('Comment on line 3, new version');
    await pictures('line-comments');
    await inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    // Another tab has them too, and their changes.
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    const others = tab.getByRole('region', { name: 'Comments on the changes' });
    await others.getByText('3 comments').click();
    await others.getByText('Why ticks?').waitFor();
    // Edit one, and remove one.
    await card(page, 'app.js').getByRole('button', { name: 'Edit the comment on app.js, line 2, new version' }).click();
    await field(page).fill('Why three ticks?');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => focused(page)).toBe('Edit the comment on app.js, line 2, new version');
    await others.getByText('Why three ticks?').waitFor();
    await tab.close();
    const list = page.getByRole('region', { name: 'Comments on the changes' });
    await list.getByText('3 comments').click();
    expect(await seriousFindings(page)).toEqual([]);
    await pictures('line-comments-list');
    await list.getByRole('button', { name: 'Remove the comment on text.txt, line 2, old version' }).click();
    await page.getByRole('button', { name: 'Send with 2 comments' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await list.count()).toBe(0);
    expect(await sent(id)).toBe(`**\`app.js\`**, line 2 (new version):

\`\`\`\`
2 | const mark = '\`\`\`';
\`\`\`\`

Why three ticks?

**\`app.js\`**, lines 3–5 (new version):

\`\`\`
3 | if (!one) { throw new Error('\`none\`'); }
4 | ATTACHMENT:"https://example.com/attachments/1/a.txt"
5 | export { one, mark };
\`\`\`

Remove these.`);
    const message = page.getByRole('log').locator('.message.user').last();
    await message.locator('pre', { hasText: "2 | const mark = '```';" }).waitFor();
    await message.locator('pre', { hasText: '4 | ATTACHMENT:"https' }).waitFor();
    expect(await message.locator('pre').count()).toBe(2);
    expect(await message.locator('.attached').count()).toBe(0);
    await message.getByText('Why three ticks?').waitFor();
    await page
      .getByRole('log')
      .getByText(/^I got \d+ characters\.$/)
      .waitFor();
    await page.reload();
    await line(page, 'app.js', 1).waitFor();
    expect(await list.count()).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  it('works with the keyboard alone', async () => {
    const id = await start();
    const { page, consoleErrors } = await open(id);
    await card(page, 'app.js').getByRole('button', { name: 'Copy the path app.js' }).focus();
    // One stop for all lines.
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe('Comment on line 1, new version');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await expect.poll(() => focused(page)).toBe('Comment on line 4, new version');
    expect(await card(page, 'app.js').locator('.diff-code-selected').count()).toBe(3);
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('Your comment on lines 2–4, new version');
    await page.keyboard.type('By keys');
    await page.keyboard.press('Escape');
    expect(await field(page).inputValue()).toBe('By keys');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => focused(page)).toBe('Comment on line 4, new version');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('Comment on line 1, new version');
    expect(await field(page).count()).toBe(0);
    const toWrite = page.getByRole('button', { name: '1 comment', exact: true });
    await toWrite.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('Message to the agent');
    await page.keyboard.type('With words');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('By keys').waitFor();
    expect((await sent(id)).split('\n').slice(0, 3)).toEqual([
      'With words',
      '',
      '**`app.js`**, lines 2–4 (new version):',
    ]);
    expect(consoleErrors).toEqual([]);
  });

  it('works by tap on a phone', async () => {
    const id = await start();
    const { page, consoleErrors, picture } = await open(id, 390);
    const touch = await page.context().newCDPSession(page);
    await touch.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    const tap = async (number: number) => {
      const button = line(page, 'app.js', number);
      await button.scrollIntoViewIfNeeded();
      const box = await button.boundingBox();
      if (!box) throw new Error(`Line ${number} is not visible.`);
      const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    await tap(1);
    await page.getByRole('group', { name: 'line 1, new version' }).waitFor();
    await field(page).fill('From a phone');
    await tap(3);
    await page.getByRole('group', { name: 'lines 1–3, new version' }).waitFor();
    expect(await field(page).inputValue()).toBe('From a phone');
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await picture('line-comments-form');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByRole('button', { name: '1 comment', exact: true }).click();
    await expect.poll(() => focused(page)).toBe('Message to the agent');
    expect(await seriousFindings(page)).toEqual([]);
    await picture('line-comments-composer');
    await page.getByRole('button', { name: 'Send with 1 comment' }).click();
    await page.getByRole('log').getByText('From a phone').waitFor();
    expect(consoleErrors).toEqual([]);
  });

  it('moves comments with their lines, and marks those as outdated whose lines are gone', async () => {
    const id = await start();
    const { page, consoleErrors, picture } = await open(id);
    await line(page, 'app.js', 1).click();
    await comment(page, 'This one goes.');
    await line(page, 'app.js', 5).click();
    await comment(page, 'This one moves.');
    await line(page, 'gone.txt', 1).click();
    await comment(page, 'This file goes.');
    const before = (await changedAt(id)).changes[0].updatedAt;
    await send(id, `sh: sed -i '1s/.*/let one = 1;\\nlet two = 2;/' app.js; rm gone.txt`);
    await expect.poll(async () => (await changedAt(id)).changes[0].updatedAt, { timeout: 60_000 }).not.toBe(before);
    await page.getByRole('button', { name: 'Show newer changes' }).click();
    await card(page, 'app.js').getByText('let two = 2;').waitFor();
    const gone = card(page, 'app.js').getByRole('region', { name: 'Outdated comments' });
    await gone.getByText('const one = 1;').waitFor();
    await card(page, 'app.js').getByRole('article', { name: 'Comment on app.js, line 6, new version' }).waitFor();
    await page.getByRole('region', { name: 'Comments on the changes' }).getByText('3 comments').click();
    await expect.poll(() => page.locator('.comment-list').getByText('Outdated').count()).toBe(2);
    await picture('line-comments-outdated');
    await page.getByRole('button', { name: 'Send with 3 comments' }).click();
    await page.getByRole('log').getByText('This file goes.').waitFor();
    expect((await sent(id)).split('\n').filter((each) => each.startsWith('**'))).toEqual([
      '**`app.js`**, line 1 (new version, since changed):',
      '**`app.js`**, line 6 (new version):',
      '**`gone.txt`**, line 1 (new version, since changed):',
    ]);
    expect(consoleErrors).toEqual([]);
  });

  it('replies with comments to a permission question', async () => {
    const id = await start();
    const { page, consoleErrors } = await open(id);
    await send(id, 'ask');
    const question = page.getByRole('region', { name: 'Question' });
    await question.getByText('Deploy').waitFor();
    await line(page, 'app.js', 1).click();
    await comment(page, 'Fix this first.');
    await page.getByText('Your comments are sent as a reply', { exact: false }).waitFor();
    // Digits choose options, but not while the user writes.
    await line(page, 'app.js', 2).click();
    await page.keyboard.type('1 2');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await question.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await composer(page).focus();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    const log = page.getByRole('log');
    await log.getByText('Answered in words instead of a choice. The agent didn’t run it.').waitFor();
    await log.getByText('Fix this first.').waitFor();
    await log.getByText(/^I got \d+ characters\.$/).waitFor();
    expect(consoleErrors).toEqual([]);
  });
});
