import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { graphql, type TestApp } from '../support/app.ts';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

interface Wanted {
  readonly status?: string;
  readonly detail?: string | null;
  readonly endedBy?: string | null;
  readonly acus?: number;
}

/** Puts a session into a state and notifies, like a worker. */
async function change(test: TestApp, id: string, { status, detail, endedBy, acus }: Wanted): Promise<void> {
  const { store, notifier } = test.app.services;
  await store.execute(
    `update session set status = coalesce($2, status), status_detail = $3, ended_by = $4, acus_consumed = coalesce($5, acus_consumed),
                        updated_at = now() where id = $1`,
    [id, status ?? null, detail ?? null, endedBy ?? null, acus ?? null],
  );
  const rows = await store.query<{ organization: string }>(
    'select organization_id as organization from session where id = $1',
    [id],
  );
  notifier.notify(`session:${id}`);
  notifier.notify(`organization:${rows[0]?.organization}`);
}

const done = { status: 'exit', detail: 'finished', endedBy: 'finished' } as const;
const working = { status: 'running', detail: 'working' } as const;
const waiting = { status: 'running', detail: 'waiting_for_user' } as const;

describe.skipIf(missing !== null)('the inbox', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });
  let organizationId: string;
  let user: { token: string; userId: string };
  let other: { token: string; userId: string };
  const ids: Record<string, string> = {};

  const start = async (title: string, state: Wanted, token = user.token) => {
    const id = await createSession(all.test, { organizationId, title, prompt: title }, token);
    await change(all.test, id, state);
    ids[title] = id;
    return id;
  };
  const inbox = (page: Page) => page.getByRole('region', { name: 'Inbox' });
  const group = (page: Page, name: string) => inbox(page).getByRole('list', { name, exact: true });
  const titlesOf = (page: Page, name: string) => group(page, name).getByRole('link').allTextContents();
  const sizes = async (page: Page) => {
    const texts = await inbox(page).locator('summary').allTextContents();
    return Object.fromEntries(texts.map((text) => text.split(/ (?=\d)/)));
  };
  const row = (page: Page, title: string) => inbox(page).locator('.inbox-row').filter({ hasText: title });
  const open = async (title: string, token = user.token, width = 1_280) => {
    const window = await openSignedIn(all.browser, all.test, token, { at: `/sessions/${ids[title]}`, width });
    onTestFinished(() => window.page.context().close());
    await window.page.getByRole('heading', { name: title }).waitFor();
    return window;
  };

  beforeAll(async () => {
    ({ organizationId } = await makeOrganization(all.test, 'Inbox'));
    user = await makeUser(all.test, { organizationId });
    other = await makeUser(all.test, { organizationId });
    await start('Write the release notes', { ...done, acus: 1.42 });
    await start('Move the mail to the new address', { ...done, acus: 0.77 });
    await start('Make the search quick', { ...working, acus: 2.68 });
    await start('Which colour should the button have?', { ...waiting, acus: 0.2 });
    await start('Of somebody else', working, other.token);
    const id = await start('Find out why the nightly build fails since Monday', { status: 'error', acus: 0.31 });
    await say(all.test, id, 'The build fails because **node** is too old.');
    const { store } = all.test.app.services;
    const at = new Date();
    const where = { host: 'github.com', path: 'acme/site' };
    await store.prisma.sessionRepository.create({
      data: {
        ...{ sessionId: id, position: 0, repositoryId: newId(), baseRef: 'main', branch: 'fix', directory: '.' },
        ...{ isReadOnly: false, state: 'READY', gitConnectionId: newId(), createdAt: at, updatedAt: at, ...where },
      },
    });
    await store.prisma.repositoryChange.create({
      data: {
        ...{ sessionId: id, position: 0, turn: 0, fileCount: 2, additions: 1_200, deletions: 7 },
        ...{ isTruncated: false, createdAt: at },
      },
    });
    await store.execute('update session set pull_requests = $2::jsonb where id = $1', [
      id,
      JSON.stringify([{ url: 'https://github.com/acme/site/pull/1', state: 'open' }]),
    ]);
  });

  it('groups the sessions of the user beside a session, with what a row can say, in both themes', async () => {
    const window = await open('Write the release notes');
    const { page } = window;
    await expect
      .poll(() => titlesOf(page, 'Needs you'))
      .toEqual(['Find out why the nightly build fails since Monday', 'Which colour should the button have?']);
    expect(await titlesOf(page, 'Working')).toEqual(['Make the search quick']);
    expect(await titlesOf(page, 'Done')).toEqual(['Move the mail to the new address', 'Write the release notes']);
    expect(await sizes(page)).toEqual({ 'Needs you': '2', Working: '1', Done: '2' });
    const failed = row(page, 'nightly build');
    const facts = await failed.locator('.facts').textContent();
    expect(facts).toMatch(/^FailedPR opensite/);
    expect(facts).toContain('PR open');
    expect(facts).toContain('+1,200 −7');
    expect(facts).toContain('0.31 ACU');
    expect(facts).toContain('The build fails because node is too old.');
    expect(await failed.evaluate((each) => each.getBoundingClientRect().height)).toBe(40);
    expect(await page.title()).toBe('(2) Write the release notes · Switchyard');
    expect(await page.locator('link[rel="icon"]').getAttribute('href')).toContain('icon-attention');
    await window.inThemes(async (theme) => {
      await window.picture('inbox');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await page.setViewportSize({ width: 1_920, height: 1_080 });
    await window.inThemes(() => window.picture('inbox'));
    // The sessions of everybody.
    await inbox(page).getByLabel('Sessions in the inbox').selectOption('Everyone’s');
    await expect.poll(() => titlesOf(page, 'Working')).toEqual(['Of somebody else', 'Make the search quick']);
    expect(window.consoleErrors).toEqual([]);
  });

  it('follows the sessions, counts what needs the user, and marks a session as read by opening it', async () => {
    const window = await open('Write the release notes');
    const { page } = window;
    const marks: string[] = [];
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('useMarkReadMutation')) marks.push(JSON.parse(body).variables.input.sessionId);
    });
    const lists: string[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('query inboxQuery(')) lists.push(request.url());
    });
    await row(page, 'Make the search quick').getByRole('img', { name: 'Unread' }).waitFor();
    await change(all.test, ids['Make the search quick'] ?? '', waiting);
    await expect.poll(() => titlesOf(page, 'Needs you')).toContain('Make the search quick');
    expect(await sizes(page)).toEqual({ 'Needs you': '3', Working: '0', Done: '2' });
    await expect.poll(() => page.title()).toBe('(3) Write the release notes · Switchyard');
    const created = await start('Started meanwhile', working);
    await expect.poll(() => titlesOf(page, 'Working')).toEqual(['Started meanwhile']);
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '3', Working: '1', Done: '2' });
    await say(all.test, created, 'a first message');
    await row(page, 'Started meanwhile').getByText('a first message').waitFor();
    expect(lists).toEqual([]);
    // Opening it marks it; going back to one that was read marks nothing.
    await row(page, 'Started meanwhile').getByRole('link').click();
    await page.getByRole('heading', { name: 'Started meanwhile' }).waitFor();
    await expect.poll(() => marks).toEqual([`devin-${created}`]);
    await row(page, 'Write the release notes').getByRole('link').click();
    await page.getByRole('heading', { name: 'Write the release notes' }).waitFor();
    await row(page, 'Started meanwhile').waitFor();
    expect(await row(page, 'Started meanwhile').getByRole('img', { name: 'Unread' }).count()).toBe(0);
    const read = await graphql(all.test, user.token, `{ session(id: "devin-${created}") { isUnread } }`);
    expect(read.data.session.isUnread).toBe(false);
    // Archived sessions leave the inbox.
    await graphql(
      all.test,
      user.token,
      'mutation($id: ID!) { archiveSession(input: { sessionId: $id }) { userErrors { message } } }',
      { id: created },
    );
    await row(page, 'Started meanwhile').waitFor({ state: 'detached' });
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '3', Working: '0', Done: '2' });
    await change(all.test, ids['Make the search quick'] ?? '', working);
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '2', Working: '1', Done: '2' });
    expect(marks).toEqual([`devin-${created}`]);
    expect(window.consoleErrors).toEqual([]);
  });

  it('is used with the keyboard, pins sessions, and keeps its width and its closed groups', async () => {
    await runMutation(all.test, 'markSessionRead', '', { sessionId: ids['Write the release notes'] }, user.token);
    const window = await open('Move the mail to the new address');
    const { page } = window;
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await row(page, 'Make the search quick').waitFor();
    await row(page, 'Move the mail to the new address').waitFor();
    // From the session of the page.
    await page.keyboard.press('k');
    await expect.poll(() => focused()).toBe('Make the search quick');
    await page.keyboard.press('s');
    await expect.poll(() => titlesOf(page, 'Pinned')).toEqual(['Make the search quick']);
    expect(await sizes(page)).toEqual({ 'Needs you': '2', Pinned: '1', Working: '0', Done: '2' });
    await page.reload();
    await expect.poll(() => titlesOf(page, 'Pinned')).toEqual(['Make the search quick']);
    // A pinned session that needs the user is where those are.
    await change(all.test, ids['Make the search quick'] ?? '', waiting);
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '3', Working: '0', Done: '2' });
    await change(all.test, ids['Make the search quick'] ?? '', working);
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '2', Pinned: '1', Working: '0', Done: '2' });
    await row(page, 'Make the search quick').getByRole('button', { name: 'Unpin Make the search quick' }).click();
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '2', Working: '1', Done: '2' });
    await inbox(page).getByText('Working', { exact: true }).click();
    await page.getByRole('main').focus();
    // The rows are one stop of the Tab key, and arrow keys move between them.
    const stops = () => inbox(page).locator('.inbox-row:has(a[tabindex="0"])').locator('a').allTextContents();
    await expect.poll(stops).toEqual(['Move the mail to the new address']);
    await row(page, 'Which colour').getByRole('link').focus();
    expect(await stops()).toEqual(['Which colour should the button have?']);
    await page.keyboard.press('ArrowUp');
    const above = (await focused()) as string;
    expect(above).not.toBe('Which colour should the button have?');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused()).toBe('Which colour should the button have?');
    await page.getByRole('main').focus();
    await page.keyboard.press('u');
    await expect.poll(() => focused()).toBe('Find out why the nightly build fails since Monday');
    await page.keyboard.press('j');
    await expect.poll(() => focused()).toBe('Which colour should the button have?');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Which colour should the button have?' }).waitFor();
    // The palette pins the session of the page.
    for (const [action, pinned] of [['Pin session', true] as const, ['Unpin session', false] as const]) {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('option', { name: action, exact: true }).click();
      const button = row(page, 'Which colour').getByRole('button', { name: /pin Which/i, pressed: pinned });
      await button.waitFor();
    }
    const edge = page.getByRole('separator', { name: 'Width of the inbox' });
    await edge.focus();
    await page.keyboard.press('End');
    const width = () => inbox(page).evaluate((each) => each.closest('aside')?.getBoundingClientRect().width);
    expect(await width()).toBe(520);
    await page.reload();
    await row(page, 'Which colour').waitFor();
    expect(await width()).toBe(520);
    expect(await row(page, 'Make the search quick').isVisible()).toBe(false);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Pin or unpin the selected session').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('archives a session of a row, or all that are done, and undoes it', async () => {
    const window = await open('Make the search quick');
    const { page } = window;
    const undo = async (text: string) => {
      const toast = page.getByRole('region', { name: 'Notifications' }).locator('.toast', { hasText: text });
      await toast.getByRole('button', { name: 'Undo' }).click();
    };
    await row(page, 'Move the mail').hover();
    const [time, archive] = await Promise.all([
      row(page, 'Move the mail').locator('time').boundingBox(),
      row(page, 'Move the mail')
        .getByRole('button', { name: /^Archive / })
        .boundingBox(),
    ]);
    expect((time?.x ?? 0) + (time?.width ?? 0)).toBeLessThanOrEqual(archive?.x ?? 0);
    await row(page, 'Move the mail').getByRole('link').focus();
    await page.keyboard.press('a');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Write the release notes');
    await expect.poll(() => titlesOf(page, 'Done')).toEqual(['Write the release notes']);
    await undo('1 session archived.');
    await expect.poll(() => titlesOf(page, 'Done')).toHaveLength(2);
    // A session whose turn would end is archived only after a confirmation.
    await row(page, 'Make the search quick').getByRole('link').focus();
    await page.keyboard.press('a');
    const question = page.getByRole('dialog', { name: 'Archive this session?' });
    await question.getByText('the agent stops now, and its turn ends unfinished').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await sizes(page)).toMatchObject({ Done: '2', Working: '1' });
    await inbox(page).getByRole('button', { name: 'Archive all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Archive 2 sessions in Done?' });
    await dialog.getByRole('button', { name: 'Archive', exact: true }).click();
    await expect.poll(() => sizes(page)).toMatchObject({ Done: '0', Working: '1' });
    await inbox(page).getByRole('button', { name: 'Archive all' }).waitFor({ state: 'detached' });
    await undo('2 sessions archived.');
    await expect.poll(() => sizes(page)).toMatchObject({ Done: '2', Working: '1' });
    expect(window.consoleErrors).toEqual([]);
  });

  it('reads more rows at the end of a group, and returns to its place', async () => {
    const { store } = all.test.app.services;
    const owner = parseId('user', user.userId);
    const many = Array.from({ length: 60 }, () => newId());
    await store.execute(
      `insert into session (id, organization_id, title, is_title_derived, status, origin, tags, prompt, user_id, created_at, updated_at)
       select i.id, $2, 'Old ' || i.n, false, 'exit', 'api', '{}', 'x', $3, now() - i.n * interval '1 hour', now()
         from unnest($1::text[]) with ordinality as i(id, n)`,
      [many, parseId('organization', organizationId), owner],
    );
    onTestFinished(async () => {
      await store.execute('delete from session where id = any($1::text[])', [many]);
    });
    const { page } = await open('Write the release notes');
    await expect.poll(() => sizes(page)).toMatchObject({ Done: '62' });
    const rows = group(page, 'Done').getByRole('link');
    expect(await rows.count()).toBe(25);
    await rows.last().scrollIntoViewIfNeeded();
    await expect.poll(() => rows.count()).toBeGreaterThan(25);
    const list = inbox(page).locator('.inbox-scroll');
    const top = await list.evaluate((each) => each.scrollTop);
    expect(top).toBeGreaterThan(100);
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    expect(await inbox(page).count()).toBe(0);
    await page.goBack();
    await rows.first().waitFor();
    await expect.poll(() => list.evaluate((each) => each.scrollTop)).toBe(top);
  });

  it('notifies those who asked for it, and opens the session of a notification', async () => {
    const { page } = await open('Write the release notes');
    await page.context().grantPermissions(['notifications']);
    await page.evaluate(() => {
      const shown: unknown[] = [];
      class Recorded {
        static permission = 'default';
        static requestPermission = async () => {
          Recorded.permission = 'granted';
          return 'granted';
        };
        onclick: (() => void) | null = null;
        constructor(title: string, options: object) {
          shown.push({ title, ...options, press: () => this.onclick?.() });
        }
        close() {}
      }
      Object.assign(globalThis, { Notification: Recorded, shown });
    });
    const shown = () => page.evaluate(() => (globalThis as any).shown.map(({ title, body }: any) => [title, body]));
    await row(page, 'Make the search quick').waitFor();
    await change(all.test, ids['Make the search quick'] ?? '', waiting);
    await expect.poll(() => titlesOf(page, 'Needs you')).toContain('Make the search quick');
    expect(await shown()).toEqual([]);
    await change(all.test, ids['Make the search quick'] ?? '', working);
    await expect.poll(() => titlesOf(page, 'Working')).toContain('Make the search quick');
    await inbox(page).getByRole('button', { name: 'Notify me when a session needs me' }).click();
    await page.getByText('You’ll be notified while the console is open in this browser.').waitFor();
    await change(all.test, ids['Make the search quick'] ?? '', waiting);
    await expect.poll(shown).toEqual([['Make the search quick', 'Needs you']]);
    await page.evaluate(() => (globalThis as any).shown[0].press());
    await page.getByRole('heading', { name: 'Make the search quick' }).waitFor();
    await inbox(page).getByRole('button', { name: 'Stop notifying me' }).click();
    await change(all.test, ids['Make the search quick'] ?? '', working);
    await inbox(page).getByRole('button', { name: 'Notify me when a session needs me' }).waitFor();
  });

  it('is a page in a narrow window, and has no marks for a service key', async () => {
    const window = await open('Write the release notes', user.token, 390);
    const { page } = window;
    expect(await inbox(page).count()).toBe(0);
    const link = page.getByRole('link', { name: 'Open the inbox', description: '2 sessions need you' });
    await link.waitFor();
    expect(await link.evaluate((each) => getComputedStyle(each, '::after').content)).toBe('""');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Inbox 2', exact: true }).click();
    await page.getByRole('heading', { name: 'Inbox', exact: true }).waitFor();
    await expect.poll(() => sizes(page)).toEqual({ 'Needs you': '2', Working: '1', Done: '2' });
    await window.inThemes(async (theme) => {
      await window.picture('inbox-page');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    const key = await makeKey(all.test, { kind: 'SERVICE', organizationId });
    const bot = await open('Write the release notes', key);
    await inbox(bot.page).getByText('No sessions of yours yet').waitFor();
    await inbox(bot.page).getByLabel('Sessions in the inbox').selectOption('Everyone’s');
    await row(bot.page, 'Of somebody else').waitFor();
    expect(await row(bot.page, 'Of somebody else').getByRole('button').count()).toBe(0);
    expect([...window.consoleErrors, ...bot.consoleErrors]).toEqual([]);
  });

  it('reads its counts again after a change that arrives while they are read', async () => {
    const { page } = await open('Write the release notes');
    await group(page, 'Done').waitFor();
    const before = await sizes(page);
    const isOfCounts = (request: Request) => request.postData()?.includes('useLiveInboxCountsQuery') ?? false;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const wasRead = new Promise<void>((resolve) => {
      void page.route('**/graphql', async (route) => {
        if (isHeld || !isOfCounts(route.request())) return route.fallback();
        isHeld = true;
        const response = await route.fetch();
        resolve();
        await held;
        await route.fulfill({ response });
      });
    });
    const id = await start('Changed while it is counted', working);
    await wasRead;
    await change(all.test, id, waiting);
    await group(page, 'Needs you').getByText('Changed while it is counted', { exact: true }).waitFor();
    const again = page.waitForRequest(isOfCounts);
    release();
    await (await (await again).response())?.finished();
    await expect.poll(() => sizes(page)).toEqual({ ...before, 'Needs you': `${Number(before['Needs you']) + 1}` });
  });
});
