import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { holdSockets, missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { directoryOf, homeWorkerOf, readDeletedAt, sweep, waitUntilReleased } from '../support/workspaces.ts';

const deleted = 'The workspace and its files were deleted. Messages, attachments and usage are kept.';
const resumed = 'If the session is resumed, it starts with an empty workspace.';

const deleteButton = (page: Page) =>
  page.getByRole('tabpanel', { name: 'Details' }).getByRole('button', { name: 'Delete workspace' });
const status = (page: Page) => page.getByRole('status').filter({ hasText: 'The workspace and its files were deleted' });

describe.skipIf(missing !== null)('a session’s workspace on its page', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp({ roles: ['api', 'worker'] });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const finish = async (title: string, token?: string) => {
    const organization = token === undefined ? {} : { organizationId: test.organizationId };
    const id = await createSession(test, { prompt: 'write a.txt hello', title, ...organization }, token);
    await waitUntilEnded(test, id);
    return id;
  };

  it('can be deleted after a confirmation, until the session is resumed with an empty one', async () => {
    const id = await finish('With files');
    const window = await openSignedIn(browser, test, test.adminToken);
    const { page, consoleErrors: pageErrors } = window;
    await page.goto(`/sessions/${id}`);
    const dialog = page.getByRole('dialog');
    await deleteButton(page).click();
    await dialog.getByText('Messages, attachments and usage are kept.').waitFor();
    await window.pictures('delete-workspace');
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect({ isThere: existsSync(directoryOf(test, id)), notes: await status(page).count() }).toEqual({
      isThere: true,
      notes: 0,
    });

    await deleteButton(page).click();
    await dialog.getByRole('button', { name: 'Delete workspace' }).click();
    await status(page).waitFor();
    expect(await status(page).textContent()).toBe(`${deleted} ${resumed}`);
    const deletedAt = await readDeletedAt(test, id);
    expect(await page.locator('.banner time').getAttribute('datetime')).toBe(deletedAt);
    expect(await deleteButton(page).count()).toBe(0);
    await expect.poll(() => existsSync(directoryOf(test, id)), { interval: 20 }).toBe(false);
    await window.pictures('workspace-deleted');
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    await page.getByRole('article').first().waitFor();

    await page.getByLabel('Message to the agent').fill('list');
    await page.keyboard.press('Enter');
    await status(page).waitFor({ state: 'hidden' });
    await deleteButton(page).waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is shown as deleted by retention', async () => {
    const id = await createSession(test, { prompt: 'write a.txt hello\nask More?', title: 'Old' });
    await waitUntilWaiting(test, id);
    await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
    await waitUntilEnded(test, id);
    await waitUntilReleased(test, id);
    expect(await sweep(test, { workerId: await homeWorkerOf(test, id), workspaceRetentionMs: 0 })).toBe(1);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken, {
      at: `/sessions/${id}`,
    });
    await status(page).waitFor();
    // It cannot be resumed.
    expect(await status(page).textContent()).toBe(deleted);
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    expect(await deleteButton(page).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('can be deleted by users who may manage the session, but not while it is at work', async () => {
    const { token } = await makeUser(test);
    const [foreign, own] = [await finish('Of somebody else'), await finish('Own', token)];
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token, {
      at: `/sessions/${foreign}`,
    });
    await page.getByText('You can only view this session.').waitFor();
    expect(await deleteButton(page).count()).toBe(0);
    await page.goto(`/sessions/${own}`);
    await deleteButton(page).waitFor();
    await page.getByLabel('Message to the agent').fill('ask More?');
    await page.keyboard.press('Enter');
    await page.locator('#main').getByText('Needs you', { exact: true }).waitFor();
    expect(await deleteButton(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Suspend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend this session?' });
    await dialog.getByText('The agent’s question closes without an answer').waitFor();
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await deleteButton(page).waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('stays if the service refuses, with the reason', async () => {
    const id = await finish('Resumed meanwhile');
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken);
    const letOn = await holdSockets(page);
    await page.goto(`/sessions/${id}`);
    await deleteButton(page).click();
    await runMutation(test, 'sendMessage', 'session { id }', { sessionId: id, body: 'ask More?' });
    await waitUntilWaiting(test, id);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete workspace' }).click();
    await page.getByText('uses its workspace: suspend, archive or terminate it first.').waitFor();
    expect(await status(page).count()).toBe(0);
    expect(existsSync(directoryOf(test, id))).toBe(true);
    letOn();
    await deleteButton(page).waitFor({ state: 'hidden' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
