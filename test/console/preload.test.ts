import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { createSession, say } from '../support/sessions.ts';

/** Counts the requests of a page for a query, by the query’s name. */
function countRequests(page: Page, name: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes(`query ${name}(`)) count += 1;
  });
  return () => count;
}

describe.skipIf(missing !== null)('a link to a session', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });
  let sessionId = '';

  const openList = async (title: string) => {
    sessionId = await createSession(all.test, { prompt: 'Wait', title });
    await say(all.test, sessionId, 'one', 'two');
    const window = await all.open('/sessions');
    const { page } = window;
    const link = page.getByRole('link', { name: title, exact: true });
    await link.waitFor();
    const [pages, transcripts] = ['sessionPageQuery', 'transcriptStorePageQuery'].map((name) =>
      countRequests(page, name),
    );
    const isPreloaded = () =>
      page.waitForResponse((each) => each.request().postData()?.includes('sessionPageQuery') ?? false);
    return { window, page, link, isPreloaded, counts: () => [pages?.(), transcripts?.()] };
  };
  const shown = (page: Page) => page.getByRole('log').getByRole('article').locator('.markdown').allTextContents();

  it('loads the page and the end of the log in one request, which the click uses, with what came meanwhile once', async () => {
    const { window, page, link, isPreloaded, counts } = await openList('Hovered');
    const response = isPreloaded();
    await link.hover();
    await (await response).finished();
    await say(all.test, sessionId, 'three', 'four');
    await link.click();
    await page.getByRole('log').getByText('four', { exact: true }).waitFor();
    expect((await shown(page)).map((text) => text.trim())).toEqual(['Wait', 'one', 'two', 'three', 'four']);
    await say(all.test, sessionId, 'five');
    await page.getByRole('log').getByText('five', { exact: true }).waitFor();
    expect((await shown(page)).length).toBe(6);
    expect(counts()).toEqual([1, 0]);
    // Coming back later, the link is loaded again.
    await page.getByRole('link', { name: 'All sessions' }).click();
    await link.waitFor();
    await say(all.test, sessionId, 'six');
    await link.click();
    await page.getByRole('log').getByText('six', { exact: true }).waitFor();
    expect(counts()).toEqual([2, 0]);
    expect(window.consoleErrors).toEqual([]);
  });

  it('loads once while the pointer and the focus come and go', async () => {
    const { page, link, isPreloaded, counts } = await openList('Often hovered');
    const response = isPreloaded();
    await link.focus();
    await (await response).finished();
    for (let n = 0; n < 3; n++) {
      await link.hover();
      await page.getByRole('heading', { name: 'Sessions', exact: true }).hover();
    }
    await link.press('Enter');
    await page.getByRole('log').getByText('two', { exact: true }).waitFor();
    expect(counts()).toEqual([1, 0]);
    const heading = page.getByRole('heading', { name: 'Often hovered' });
    expect(await heading.evaluate((each) => each === document.activeElement)).toBe(true);
  });

  it('loads nothing for a finger that scrolls, and at once for a tap', async () => {
    await createSession(all.test, { prompt: 'Wait', title: 'Not touched' });
    const { page, link, isPreloaded, counts } = await openList('Touched');
    const touch = (type: string) =>
      link.evaluate(
        (element, name) =>
          element.dispatchEvent(new PointerEvent(name, { pointerType: 'touch', bubbles: true, isPrimary: true })),
        type,
      );
    await touch('pointerover');
    await touch('pointerdown');
    await touch('pointercancel');
    // The page of another session is requested after it, and by then the first one would have been.
    const other = isPreloaded();
    await page.getByRole('link', { name: 'Not touched', exact: true }).hover();
    await (await other).finished();
    expect(counts()).toEqual([1, 0]);
    const response = isPreloaded();
    await touch('pointerdown');
    await touch('pointerup');
    await (await response).finished();
    expect(counts()).toEqual([2, 0]);
  });

  it('sends the request for the first page while its code is still loading', async () => {
    const id = await createSession(all.test, { prompt: 'Wait', title: 'Opened directly' });
    const { page } = await all.open('/sessions');
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/session-page-[\w-]+\.js$/, async (route) => {
      await isReleased;
      await route.continue();
    });
    const pages = countRequests(page, 'sessionPageQuery');
    const response = page.waitForResponse((each) => each.request().postData()?.includes('sessionPageQuery') ?? false);
    await page.goto(`/sessions/${id}`, { waitUntil: 'commit' });
    await (await response).finished();
    expect(await page.getByRole('log').count()).toBe(0);
    release();
    await page.getByRole('log').getByText('Wait', { exact: true }).waitFor();
    expect(pages()).toBe(1);
  });
});
