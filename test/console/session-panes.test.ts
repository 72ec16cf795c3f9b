import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { appendToLog, createSession, say, toolCall } from '../support/sessions.ts';

const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const log = (page: Page) => page.getByRole('log');
const separator = (page: Page) => page.getByRole('separator', { name: 'Resize the conversation' });
/** The width of the conversation in percent of that of both panes. */
const percentOf = (page: Page) =>
  page.getByLabel('Conversation', { exact: true }).evaluate((element) => {
    const all = element.parentElement?.clientWidth ?? Number.NaN;
    return Math.round((element.getBoundingClientRect().width / all) * 100);
  });
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

describe.skipIf(missing !== null)('the panes of a session page', { timeout: 240_000 }, () => {
  const service = useConsole();
  const { open } = service;

  it('shows a tab beside the live conversation, and remembers it for other sessions', async () => {
    const [id, other] = [
      await createSession(service.test, { prompt: 'Wait' }),
      await createSession(service.test, { prompt: 'Wait' }),
    ];
    const window = await open(`/sessions/${id}`);
    const { page, consoleErrors } = window;
    await page.getByRole('tabpanel', { name: 'Details' }).getByText('About', { exact: true }).waitFor();
    await tab(page, 'Files').click();
    expect(new URL(page.url()).search).toBe('?tab=files');
    await page.getByText('No files saved yet').waitFor();
    await say(service.test, id, 'said beside the files');
    await log(page).getByText('said beside the files').waitFor();
    await window.pictures('session-panes');
    await page.setViewportSize({ width: 1_920, height: 1_080 });
    await window.picture('session-panes');
    await page.setViewportSize({ width: 1_280, height: 800 });
    // The files of another session are not remembered before there are any.
    await page.goto(`/sessions/${other}`);
    await page.getByRole('tabpanel', { name: 'Details' }).waitFor();
    const entries = [{ content: 'Step', status: 'pending', priority: 'medium' }];
    await appendToLog(service.test, other, { kind: 'PLAN', data: { entries } });
    await tab(page, 'Plan 0/1').waitFor();
    // It does not change by itself.
    expect(await page.getByRole('tabpanel', { name: 'Plan' }).count()).toBe(0);
    await page.goto(`/sessions/${other}`);
    await page.getByRole('tabpanel', { name: 'Plan' }).getByText('0 of 1 steps done').waitFor();
    await appendToLog(service.test, other, toolCall(1));
    await tab(page, 'Terminal').click();
    await page.goto(`/sessions/${id}`);
    await page.getByRole('tabpanel', { name: 'Details' }).waitFor();
    await page.goto(`/sessions/${other}`);
    await page.getByRole('tabpanel', { name: 'Terminal' }).waitFor();
    // A link to a tab opens it.
    await page.goto(`/sessions/${other}?tab=details`);
    await page.getByRole('tabpanel', { name: 'Details' }).waitFor();
    expect(await page.getByRole('tabpanel', { name: 'Terminal' }).count()).toBe(0);
    // A session without a repository has no changes, but files.
    await tab(page, 'Changes').click();
    await page.getByText('No repository', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Show files' }).click();
    await page.getByRole('tabpanel', { name: 'Files' }).waitFor();
    expect(consoleErrors).toEqual([]);
  });

  it('can be closed and opened', async () => {
    const id = await createSession(service.test, { prompt: 'Wait' });
    const { page } = await open(`/sessions/${id}?tab=files`);
    const toggle = page.getByRole('button', { name: 'Side panel' });
    await toggle.click();
    await expect.poll(() => toggle.getAttribute('aria-expanded')).toBe('false');
    expect({ tabs: await page.getByRole('tab').count(), separators: await separator(page).count() }).toEqual({
      tabs: 0,
      separators: 0,
    });
    await page.reload();
    await log(page).waitFor();
    expect(await page.getByRole('tab').count()).toBe(0);
    await toggle.click();
    await page.getByRole('tabpanel', { name: 'Files' }).waitFor();
  });

  it('is resized by keys and by the pointer, and keeps its width', async () => {
    const id = await createSession(service.test, { prompt: 'Wait' });
    const { page } = await open(`/sessions/${id}`);
    await separator(page).waitFor();
    await expect.poll(() => percentOf(page)).toBe(56);
    await separator(page).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await separator(page).getAttribute('aria-valuenow')).toBe('60');
    await expect.poll(() => percentOf(page)).toBe(60);
    await page.keyboard.press('Home');
    expect(await separator(page).getAttribute('aria-valuenow')).toBe('30');
    // It waits until the page does not move any more.
    await separator(page).hover();
    const box = await separator(page).boundingBox();
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 200, 420, { steps: 4 });
    await page.mouse.up();
    const chosen = Number(await separator(page).getAttribute('aria-valuenow'));
    expect(chosen).toBeGreaterThan(40);
    await expect.poll(() => percentOf(page)).toBe(chosen);
    await page.reload();
    await separator(page).waitFor();
    expect(await separator(page).getAttribute('aria-valuenow')).toBe(String(chosen));
    await expect.poll(() => percentOf(page)).toBe(chosen);
    await separator(page).dblclick();
    expect(await separator(page).getAttribute('aria-valuenow')).toBe('56');
    await separator(page).focus();
    await page.keyboard.press('Enter');
    await separator(page).waitFor({ state: 'detached' });
  });

  it('are pages where there is little room, below a header of one line', async () => {
    const id = await createSession(service.test, {
      prompt: 'Wait',
      title: 'A title that is much longer than a phone is wide',
    });
    const { page, picture } = await open(`/sessions/${id}`);
    await page.setViewportSize({ width: 390, height: 844 });
    await tab(page, 'Conversation').waitFor();
    await log(page).waitFor();
    const tabs = await page.getByRole('tablist').boundingBox();
    const head = await page.locator('.session-head').boundingBox();
    expect((head?.height ?? 0) + (tabs?.height ?? 0)).toBeLessThan(90);
    expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
    await tab(page, 'Details').click();
    expect(await log(page).count()).toBe(0);
    const panel = page.getByRole('tabpanel', { name: 'Details' });
    await panel.waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await picture('session-details-of-phone');
    // Their dialog is not a part of the hidden page.
    await tab(page, 'Conversation').click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Terminate session');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Terminate', exact: true }).click();
    await page.getByText('This session was terminated and no longer accepts messages.').waitFor();
    await page.goBack();
    await panel.waitFor();
  });

  it('have a menu of all actions where there is little room, which the keyboard can use', async () => {
    const id = await createSession(service.test, { prompt: 'Wait', title: 'Actions' });
    const { page, picture } = await open(`/sessions/${id}`);
    await page.setViewportSize({ width: 390, height: 844 });
    const opener = page.getByRole('button', { name: 'Session actions' });
    await opener.click();
    const menu = page.getByRole('menu', { name: 'Session actions' });
    const focused = () => menu.locator(':focus').textContent();
    expect(await menu.getByRole('menuitem').allTextContents()).toEqual([
      'Rename session',
      'Suspend session',
      'Terminate session',
      'Archive session',
    ]);
    await expect.poll(focused).toBe('Rename session');
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page)).toEqual([]);
    await picture('session-menu-of-phone');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('Archive session');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await expect.poll(() => opener.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await menu.waitFor();
    await log(page).click();
    await menu.waitFor({ state: 'detached' });
    await opener.click();
    await menu.getByRole('menuitem', { name: 'Rename session' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit session' });
    await dialog.getByLabel('Title').fill('Renamed by menu');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed by menu' }).waitFor();
    await opener.click();
    await menu.getByRole('menuitem', { name: 'Archive session' }).click();
    await page.getByText('Session archived.').waitFor();
  });
});
