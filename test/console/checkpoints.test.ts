import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prefixedId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, pick, seriousFindings } from '../support/console-browser.ts';
import { makeRole } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { saveWorkspace } from '../support/saved-workspace.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the checkpoints of a session', { timeout: 180_000 }, () => {
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

  const open = (at: string, token = test.adminToken) => openSignedIn(browser, test, token, { at });
  const addTurn = async (id: string, body: string) => {
    await test.app.services.store.execute('update run set turn_count = turn_count + 1 where session_id = $1', [id]);
    await say(test, id, body);
  };
  /** Starts a session with two turns, each with a checkpoint at its end. */
  const withTurns = async (title: string) => {
    const id = await createSession(test, { title });
    for (const body of ['First answer', 'Second answer']) {
      await addTurn(id, body);
      await saveCheckpoint(test, id, { kind: 'TURN_END', agentSessionId: 'agent-1' });
    }
    return id;
  };
  const choose = async (page: Page, point: string, act: string) => {
    await pick(page, 'Checkpoint', point);
    await page.getByRole('button', { name: act }).click();
    return page.getByRole('dialog');
  };
  const message = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });

  it('reverts a session to the end of a turn, and marks later messages', async () => {
    const id = await withTurns('Write the parser');
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    await message(page, 'Second answer').waitFor();
    const dialog = await choose(page, 'End of turn 1', 'Rewind to here');
    await dialog.getByText('Pushed commits and pull requests stay').waitFor();
    await window.inThemes(() => window.picture('rewind-dialog'));
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await page.getByText('were reverted to the end of turn 1. The log continues.').waitFor();
    await message(page, 'Second answer').getByText('Reverted', { exact: true }).waitFor();
    expect(await message(page, 'First answer').getByText('Reverted', { exact: true }).count()).toBe(0);
    await addTurn(id, 'Third answer');
    await message(page, 'Third answer').waitFor();
    expect(await page.getByText('Reverted', { exact: true }).count()).toBe(1);
    await dialog.waitFor({ state: 'detached' });
    await window.inThemes(async (theme) => {
      await window.picture('rewound');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await pick(page, 'Checkpoint', 'Rewind to turn 1');
    // Forward again, to a turn that the first rewind reverted.
    await choose(page, 'End of turn 2', 'Rewind to here');
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await message(page, 'Third answer').getByText('Reverted', { exact: true }).waitFor();
    expect(await page.getByText('Reverted', { exact: true }).count()).toBe(1);
    await dialog.waitFor({ state: 'detached' });
    await window.inThemes(async (theme) => {
      await window.picture('rewound-forward');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    expect(window.consoleErrors).toEqual([]);
  });

  it('forks a session, and links the fork to it', async () => {
    const id = await withTurns('Write the lexer');
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    const dialog = await choose(page, 'End of turn 1', 'Fork from here');
    const title = dialog.getByLabel('Title');
    expect(await title.getAttribute('placeholder')).toBe('The title of this session');
    await dialog.getByLabel('Prompt').fill('Try another way');
    expect(await title.getAttribute('placeholder')).toBe('From the prompt');
    await window.inThemes(() => window.picture('fork-dialog'));
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('heading', { name: 'Try another way' }).waitFor();
    await page.getByText('Forked from Write the lexer, end of turn 1').waitFor();
    await window.picture('fork');
    const facts = page.getByRole('term');
    await facts.filter({ hasText: 'Forked from' }).waitFor();
    expect(await facts.filter({ hasText: 'Parent' }).count()).toBe(0);
    await page.getByText('Forked from').getByRole('link', { name: 'Write the lexer' }).click();
    await message(page, 'Second answer').waitFor();
    expect(page.url()).toContain(id);
    const child = await createSession(test, { title: 'Look around' });
    await test.app.services.store.execute('update session set parent_id = $1 where id = $2', [id, child]);
    await page.reload();
    for (const [heading, name] of [
      ['Forks', 'Try another way'],
      ['Sub-sessions', 'Look around'],
    ] as const) {
      const part = page.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });
      await part.getByRole('link', { name }).waitFor();
      expect(await part.getByRole('listitem').count()).toBe(1);
    }
    await window.picture('forks');
    expect(window.consoleErrors).toEqual([]);
  });

  it('saves snapshots, from which new sessions start', async () => {
    const id = await withTurns('Install the tools');
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    const dialog = await choose(page, 'End of turn 2', 'Save as snapshot');
    await dialog.getByLabel('Name').fill('Tools');
    await window.picture('snapshot-dialog');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved the snapshot Tools.').waitFor();

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/manage/snapshots');
    await page.getByRole('link', { name: 'Install the tools' }).waitFor();
    await page.getByRole('button', { name: 'Copy ID of Tools' }).click();
    await page.getByText('Copied.').waitFor();
    const snapshotId = await page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('button', { name: 'Edit Tools' }).click();
    await dialog.getByLabel('Name').fill('Node tools');
    await dialog.getByLabel('Description').fill('Node 24 and pnpm');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Node 24 and pnpm').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await window.pictures('snapshots');
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));

    await page.goto('/sessions?new=yes');
    await dialog.getByLabel('Prompt').fill('Build the site');
    await pick(page, 'Snapshot', 'Node tools');
    await window.picture('new-session-snapshot');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'Build the site' }).waitFor();
    await page.getByRole('definition').getByText(snapshotId, { exact: true }).waitFor();
    const startedId = new URL(page.url()).pathname.split('/').at(-1);
    const { data } = await graphql(
      test,
      test.adminToken,
      'query($id: ID!) { session(id: $id) { checkpoint { kind } forkedFrom { session { title } } } }',
      { id: startedId },
    );
    expect(data.session.checkpoint).toEqual({ kind: 'FORK' });

    await page.goto('/manage/snapshots');
    await page.getByRole('button', { name: 'Delete Node tools' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No snapshots yet').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('rewinds on a phone', async () => {
    const id = await withTurns('On a phone');
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: `/sessions/${id}`, width: 390 });
    const tabs = page.getByRole('tablist');
    const fades = () =>
      tabs.evaluate((each) =>
        ['--fade-start', '--fade-end'].map((name) => getComputedStyle(each).getPropertyValue(name)),
      );
    await expect.poll(fades).toEqual(['0px', '30px']);
    await page.getByRole('tab', { name: 'Details' }).click();
    await expect.poll(fades).toEqual(['30px', '0px']);
    const dialog = await choose(page, 'End of turn 1', 'Rewind to here');
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await page.getByText('The session was rewound to “End of turn 1”.').waitFor();
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
  });

  it('offers nothing to those who may only view', async () => {
    const id = await withTurns('Read only');
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
    const { token } = await makeUser(test, { roleId });
    const { page } = await open(`/sessions/${prefixedId('session', id)}`, token);
    await message(page, 'Second answer').waitFor();
    expect(await page.getByRole('heading', { name: 'Checkpoints' }).count()).toBe(0);
  });

  it('shows the files of an older checkpoint', async () => {
    const id = await createSession(test);
    await addTurn(id, 'Old');
    await saveWorkspace(test, id, { files: { 'workspace/old.txt': { content: 'old' } } });
    await addTurn(id, 'New');
    await saveWorkspace(test, id, { files: { 'workspace/new.txt': { content: 'new' } } });
    const window = await open(`/sessions/${id}?tab=files`);
    const { page } = window;
    const entry = (name: string) => page.getByRole('list', { name: 'Entries' }).getByTitle(name, { exact: true });
    await entry('new.txt').waitFor();
    await pick(page, 'Checkpoint', 'During turn 1');
    await entry('old.txt').waitFor();
    expect(new URL(page.url()).searchParams.get('checkpoint')).toMatch(/^checkpoint-/);
    await window.pictures('files-older');
    expect(await seriousFindings(page)).toEqual([]);
    await pick(page, 'Checkpoint', 'Newest checkpoint');
    await entry('new.txt').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });
});
