import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

function withResolvers() {
  const settle: (() => void)[] = [];
  const promise = new Promise<void>((done) => settle.push(done));
  return { promise, resolve: () => settle[0]?.() };
}

describe.skipIf(missing !== null)('actions in the console', { timeout: 240_000 }, () => {
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

  const read = async (token: string, id: string) => {
    const document = 'query($id: ID!) { session(id: $id) { isArchived status tags } }';
    return (await graphql(test, token, document, { id })).data.session;
  };
  const undo = (page: Page) =>
    page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' });
  /** Delays a mutation until it is released. */
  const delayMutation = async (page: Page, name: string) => {
    const { promise: isReleased, resolve: release } = withResolvers();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes(name)) await isReleased;
      await route.continue();
    });
    return release;
  };
  const openList = async (name: string) => {
    const { organizationId, token } = await makeOrganization(test, name);
    const start = (title: string, tags: readonly string[] = []) =>
      createSession(test, { prompt: title, title, tags, organizationId }, token);
    return { token, start, open: () => openSignedIn(browser, test, token) };
  };

  it('can be undone for one session, and show before the service has answered', async () => {
    const { token, start, open } = await openList('One');
    const id = await start('Kept');
    const { page, consoleErrors: pageErrors, picture } = await open();
    await page.goto(`/sessions/${id}`);
    const release = await delayMutation(page, 'sessionButtonsArchiveMutation');
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('This session is archived').waitFor();
    expect((await read(token, id)).isArchived).toBe(false);
    release();
    // It stays while the pointer is on it.
    await page.getByText('Session archived.').hover();
    expect((await read(token, id)).isArchived).toBe(true);
    await picture('undo');
    expect(await seriousFindings(page)).toEqual([]);
    await undo(page).click();
    await page.getByText('Session unarchived.').waitFor();
    expect((await read(token, id)).isArchived).toBe(false);
    await page.getByLabel('Message to the agent').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('can be undone for several sessions, each to its previous state', async () => {
    const { token, start, open } = await openList('Several');
    const ids = [await start('First', ['old']), await start('Second')];
    await runMutation(test, 'suspendSession', 'session { id }', { sessionId: ids[1] }, token);
    const { page, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Second' }).waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Tags').fill('new');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('2 sessions tagged.').waitFor();
    expect(await Promise.all(ids.map((id) => read(token, id)))).toMatchObject([
      { tags: ['old', 'new'] },
      { tags: ['new'] },
    ]);
    await undo(page).click();
    await page.getByText('Tags of 2 sessions restored.').waitFor();
    expect(await Promise.all(ids.map((id) => read(token, id)))).toMatchObject([{ tags: ['old'] }, { tags: [] }]);
    await expect.poll(() => page.locator('.sessions li', { hasText: 'new' }).count()).toBe(0);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('2 sessions archived.').waitFor();
    await undo(page).click();
    await page.getByText('2 sessions unarchived.').waitFor();
    // Running sessions are resumed, and suspended ones stay suspended.
    await expect
      .poll(() => Promise.all(ids.map((id) => read(token, id))))
      .toMatchObject([
        { isArchived: false, status: 'RESUMING' },
        { isArchived: false, status: 'SUSPENDED' },
      ]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is confirmed first if a turn would end', async () => {
    const { token, start, open } = await openList('Working');
    const [working] = [await start('Works'), await start('Waits')];
    await test.app.services.store.execute(
      `update session set status = 'running', status_detail = 'working' where id = $1`,
      [working],
    );
    const { page, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Works' }).waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Archive 2 sessions?' });
    await dialog.getByText('The turn of 1 session ends unfinished').waitFor();
    expect((await read(token, working)).isArchived).toBe(false);
    await dialog.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('2 sessions archived. The agent of 1 session was suspended.').waitFor();
    expect((await read(token, working)).isArchived).toBe(true);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('say that archiving has suspended a working agent', async () => {
    const { token, start, open } = await openList('At work');
    const id = await start('Works alone');
    await test.app.services.store.execute(
      `update session set status = 'running', status_detail = 'working' where id = $1`,
      [id],
    );
    const { page, consoleErrors: pageErrors } = await open();
    await page.goto(`/sessions/${id}`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('Session archived. Its agent was suspended.').waitFor();
    expect((await read(token, id)).isArchived).toBe(true);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('say so if a session stays suspended, because its agent would receive the messages that wait', async () => {
    const { token, start, open } = await openList('Held');
    const id = await start('Stopped');
    const { store } = test.app.services;
    await store.execute(`update session set status = 'running', status_detail = 'waiting_for_user' where id = $1`, [
      id,
    ]);
    await store.execute('update run set queued_at = null, delivered_seq = 0 where session_id = $1', [id]);
    const { page, consoleErrors: pageErrors } = await open();
    await page.goto(`/sessions/${id}`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await undo(page).click();
    await page
      .getByText('The session stays suspended, because its agent would receive the messages that wait.')
      .waitFor();
    expect(await read(token, id)).toMatchObject({ isArchived: false, status: 'SUSPENDED' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('keep the focus on the button that reverts them', async () => {
    const { start, open } = await openList('Focus');
    const id = await start('By keyboard');
    const { page, consoleErrors: pageErrors } = await open();
    await page.goto(`/sessions/${id}`);
    const focused = (name: string) => page.locator('.session-head button:focus', { hasText: name });
    await page.getByRole('button', { name: 'Archive', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor({ state: 'detached' });
    await focused('Unarchive').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await focused('Archive').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await focused('Suspend').waitFor();
    await page.keyboard.press('Enter');
    await focused('Resume').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show at once, and are reverted with the reason if the service refuses', async () => {
    const { token, start, open } = await openList('Refused');
    const many = Array.from({ length: 50 }, (_, n) => `tag${n}`);
    await start('Full of tags', many);
    const other = await start('Soon full');
    const { page, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Soon full' }).waitFor();
    await page.getByLabel('Select all shown').check();
    const release = await delayMutation(page, 'bulkBarTagMutation');
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Tags').fill('one-more');
    await page.getByRole('button', { name: 'Add' }).click();
    // The other session has room for the tag.
    const tagged = page.locator('.sessions li', { hasText: 'one-more' });
    await expect.poll(() => tagged.count()).toBe(1);
    // Meanwhile another user fills it.
    const input = { selection: { sessionIds: [other] }, tags: many };
    await runMutation(test, 'tagSessions', 'results { sessionId }', input, token);
    release();
    await page.getByRole('dialog', { name: 'Done' }).getByText('0 sessions tagged. 2 failed.').waitFor();
    await page.getByRole('dialog', { name: 'Done' }).getByText('at most 50').first().waitFor();
    await page.getByRole('dialog', { name: 'Done' }).getByRole('button', { name: 'Close' }).first().click();
    await expect.poll(() => tagged.count()).toBe(0);
    expect(await undo(page).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('can be undone for an automation', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Automatic');
    const { automation } = await createAutomation(test, { name: 'Sweep', organizationId }, token);
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, token, { width: 390, theme: 'dark', at: '/manage/automations' });
    const release = await delayMutation(page, 'automationButtonsDisableMutation');
    await page.getByRole('button', { name: 'Disable Sweep' }).click();
    await page.getByRole('button', { name: 'Enable Sweep' }).waitFor();
    release();
    await page.getByText('Disabled Sweep.').waitFor();
    await picture('undo-automation');
    await undo(page).click();
    await page.getByText('Enabled Sweep.').waitFor();
    const document = 'query($id: ID!) { node(id: $id) { ... on Automation { isEnabled } } }';
    const { data } = await graphql(test, token, document, { id: automation.id });
    expect(data.node.isEnabled).toBe(true);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
