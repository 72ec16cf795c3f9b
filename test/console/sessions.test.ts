import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { send } from '../support/console.ts';
import { halvesOf, holdSockets, missing, openBrowser, openSignedIn, pick } from '../support/console-browser.ts';
import { makeManySessions } from '../support/many-sessions.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

/** Resolves when a page that is then loaded has subscribed to its list. */
const untilSubscribed = (page: Page) =>
  new Promise<void>((resolve) => {
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        if (String(payload).includes('sessionListSubscription')) resolve();
      });
    });
  });

describe.skipIf(missing !== null)('the list of sessions', { timeout: 240_000 }, () => {
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

  const openList = async (name: string, path = '/sessions') => {
    const organization = await makeOrganization(test, name);
    const start = (title: string, input: object = {}) =>
      createSession(test, { organizationId: organization.organizationId, title, ...input }, organization.token);
    const open = async () => {
      const window = await openSignedIn(browser, test, organization.token);
      const isFollowed = untilSubscribed(window.page);
      await window.page.goto(path);
      return { ...window, isFollowed, titles: () => window.page.locator('.sessions a').allTextContents() };
    };
    return { ...organization, start, open };
  };

  it('explains the next step if it is empty, and shows the first session at once', async () => {
    const { start, open } = await openList('Empty');
    const { page, titles, consoleErrors: pageErrors } = await open();
    await page.getByText('No sessions yet').waitFor();
    await start('The first');
    await page.getByRole('link', { name: 'The first' }).waitFor();
    await start('The second');
    await page.getByRole('link', { name: 'The second' }).waitFor();
    expect(await titles()).toEqual(['The second', 'The first']);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows a session created between the first read and the subscription', async () => {
    const { start, token } = await openList('Between');
    await start('Before');
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    const letOn = await holdSockets(page);
    await page.goto('/sessions');
    await page.getByRole('link', { name: 'Before' }).waitFor();
    await start('Between');
    letOn();
    await page.getByRole('link', { name: 'Between' }).waitFor();
    expect(await page.locator('.sessions a').allTextContents()).toEqual(['Between', 'Before']);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('loads more pages on scrolling, each session once', async () => {
    const { organizationId, open } = await openList('Many');
    await makeManySessions(test, organizationId, 230);
    const { page } = await open();
    const links = page.locator('.sessions a');
    await links.first().waitFor();
    await expect
      .poll(
        async () => {
          await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
          return links.count();
        },
        { timeout: 60_000 },
      )
      .toBe(230);
    const addresses = await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(new Set(addresses).size).toBe(230);
    await page.context().close();
  });

  it('can be filtered by text, tags and status, which the address contains', async () => {
    const { start, open } = await openList('Narrowed');
    await start('About apples', { tags: ['fruit'] });
    await start('About pears', { tags: ['fruit'] });
    await start('About carrots', { tags: ['roots'] });
    const { page, titles } = await open();
    await page.getByRole('link', { name: 'About apples' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await pick(page, 'Tag', 'fruit');
    await expect.poll(titles).toEqual(['About pears', 'About apples']);
    await page.getByLabel('Search titles').fill('pears');
    await expect.poll(titles).toEqual(['About pears']);
    expect(new URL(page.url()).search).toBe('?tag=fruit&q=pears');
    const isFollowed = untilSubscribed(page);
    await page.reload();
    await expect.poll(titles).toEqual(['About pears']);
    await isFollowed;
    // The filter applies to new sessions too.
    await start('More pears', { tags: ['fruit'] });
    await start('More apples', { tags: ['fruit'] });
    await expect.poll(titles).toEqual(['More pears', 'About pears']);
    await page.getByRole('button', { name: 'Filter (1)' }).click();
    await page.getByLabel('Status').selectOption('Needs you');
    await page.getByText('No matching sessions').waitFor();
    // As if its agent asked, without a worker.
    const asks = `update session set status = 'running', status_detail = 'waiting_for_user' where title = 'More pears' returning id`;
    await test.app.services.store.execute(asks);
    await page.reload();
    await expect.poll(titles).toEqual(['More pears']);
    await page.getByLabel('Status').selectOption('Queued');
    await expect.poll(titles).toEqual(['About pears']);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No matching sessions').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(async () => (await titles()).length).toBe(5);
    await page.context().close();
  });

  it('can be filtered by the creation date, which the address contains', async () => {
    const { start, open } = await openList('Dated');
    await start('Of now');
    for (const [title, days] of [
      ['Of three days ago', 3],
      ['Of two weeks ago', 14],
      ['Of last year', 365],
    ] as const) {
      const id = await start(title);
      const { store } = test.app.services;
      await store.execute(`update session set created_at = created_at - $2::int * interval '1 day' where id = $1`, [
        id,
        days,
      ]);
    }
    const { page, titles, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Of last year' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const created = page.getByLabel('Created', { exact: true });
    await created.selectOption('Last 30 days');
    await expect.poll(titles).toEqual(['Of now', 'Of three days ago', 'Of two weeks ago']);
    await created.selectOption('Last 7 days');
    await expect.poll(titles).toEqual(['Of now', 'Of three days ago']);
    const save = page.getByRole('button', { name: 'Save view', description: /^A view keeps fixed days/ });
    await save.press('Enter');
    await page.getByRole('region', { name: 'Notifications' }).getByText('A view keeps fixed days.').waitFor();
    await created.selectOption('Today');
    await expect.poll(titles).toEqual(['Of now']);
    expect(new URL(page.url()).search).toBe('?created=today');
    await page.reload();
    await expect.poll(titles).toEqual(['Of now']);
    await created.selectOption('Range of days');
    await expect.poll(titles).toEqual(['Of now', 'Of three days ago']);
    const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Created from (UTC)').fill(day(20));
    await page.getByLabel('Created to (UTC)').fill(day(1));
    await expect.poll(titles).toEqual(['Of three days ago', 'Of two weeks ago']);
    expect(new URL(page.url()).search).toBe(`?from=${day(20)}&to=${day(1)}`);
    await page.getByRole('button', { name: 'Save view' }).waitFor();
    await page.getByLabel('Created to (UTC)').fill(day(30));
    await page.getByText('The first day must not be after the last.').waitFor();
    const [from, to] = await Promise.all(
      ['Created from (UTC)', 'Created to (UTC)'].map((label) => page.getByLabel(label).boundingBox()),
    );
    expect(to?.y).toBe(from?.y);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await expect.poll(async () => (await titles()).length).toBe(4);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('names ends in the words of the rows', async () => {
    const { start, open } = await openList('Ends');
    const end = (id: string, reason: string | null) =>
      test.app.services.store.execute(`update session set status = 'exit', ended_by = $2 where id = $1`, [id, reason]);
    await end(await start('By itself'), null);
    await end(await start('By a person'), 'terminated');
    await end(await start('By time'), 'expired');
    const { page, titles } = await open();
    await page.getByRole('link', { name: 'By time' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    for (const [word, title] of [
      ['Finished', 'By itself'],
      ['Terminated', 'By a person'],
      ['Expired', 'By time'],
    ] as const) {
      await page.getByLabel('Status').selectOption(word);
      await expect.poll(titles).toEqual([title]);
      await page.locator('.sessions .badge', { hasText: word }).waitFor();
    }
    await page.context().close();
  });

  it('inserts new sessions by creation time, in any order of arrival', async () => {
    const { organizationId, start, open } = await openList('In its place', '/sessions?q=pears');
    await start('Old pears');
    const [earlier, later] = [await start('About apples'), await start('About plums')];
    const { page, titles, isFollowed } = await open();
    await page.getByRole('link', { name: 'Old pears' }).waitFor();
    await isFollowed;
    const { store, notifier } = test.app.services;
    const rename = (id: string, title: string) =>
      store.execute('update session set title = $2 where id = $1', [id, title]);
    // The one created later comes first.
    await rename(later, 'Ripe pears');
    await rename(earlier, 'Green pears');
    notifier.notify(`organization:${organizationId.replace('org-', '')}`);
    await expect.poll(titles).toEqual(['Ripe pears', 'Green pears', 'Old pears']);
    await page.context().close();
  });

  it('shows complete filters at any window width, and behind a button on a phone', async () => {
    const { start, open } = await openList('Wide and narrow');
    await start('The only one');
    const { page, picture } = await open();
    await page.getByRole('link', { name: 'The only one' }).waitFor();
    const clipped = () =>
      page.locator('.filters :is(input, select)').evaluateAll((all) =>
        (all as HTMLInputElement[]).flatMap((field) => {
          const { offsetWidth, scrollWidth, clientWidth, labels } = field;
          const label = labels?.[0]?.textContent;
          if (field.tagName === 'INPUT') return scrollWidth > clientWidth ? [label] : [];
          // A select does not report its ideal width: it is compared with its automatic width, that of its longest
          // option.
          field.style.width = 'auto';
          const needed = field.offsetWidth;
          field.style.width = '';
          return needed > offsetWidth ? [label] : [];
        }),
      );
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    for (const width of [1_440, 1_280, 1_024, 640]) {
      await page.setViewportSize({ width, height: 800 });
      await picture('filters');
      expect(await clipped(), String(width)).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await picture('filters');
    expect(await clipped()).toEqual([]);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No matching sessions').waitFor();
    // A filter that is set stays.
    await page.getByRole('button', { name: 'Filter (1)' }).click();
    await page.getByLabel('Origin').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Status').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByLabel('Status').waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'The only one' }).waitFor();
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    await page.context().close();
  });

  it('finds sessions with an earlier tag that is no longer allowed', async () => {
    const { organizationId } = test;
    await createSession(test, { organizationId, title: 'Of the past', tags: ['before'] });
    await runMutation(test, 'addAllowedTags', 'allowedTags', { organizationId, tags: ['now'] });
    await createSession(test, { organizationId, title: 'Of today', tags: ['now'] });
    const { page } = await openSignedIn(browser, test, test.adminToken);
    await page.evaluate((id) => localStorage.setItem('switchyard:organization', id), organizationId);
    await page.reload();
    await page.getByRole('link', { name: 'Of today' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await pick(page, 'Tag', 'before');
    await page.getByRole('link', { name: 'Of today' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Of the past' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Of the past' }).waitFor();
    // The field knows the tag when its choices are loaded.
    await expect.poll(() => page.getByRole('combobox', { name: 'Tag' }).inputValue()).toBe('before');
    await pick(page, 'Tag', 'now');
    await page.getByRole('link', { name: 'Of today' }).waitFor();
    await page.context().close();
  });

  it('tags, archives and terminates several at once, by keyboard too', async () => {
    const { start, open } = await openList('Bulk');
    await start('One');
    await start('Two');
    await start('Three');
    const { page, titles, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Three' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Tags').fill('later, soon');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('2 sessions tagged.').waitFor();
    await expect.poll(() => page.locator('.sessions li', { hasText: 'later' }).count()).toBe(2);
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('3 sessions terminated.').waitFor();
    await expect.poll(() => page.locator('.sessions .badge', { hasText: 'Terminated' }).count()).toBe(3);
    await page.getByLabel('Select One').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('1 session archived.').waitFor();
    await page.reload();
    await expect.poll(titles).toEqual(['Three', 'Two']);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('changes all matching sessions, including ones not loaded, and reports each refusal', async () => {
    const { organizationId, start, open } = await openList('Whole');
    for (let n = 0; n < 105; n += 7) await Promise.all(Array.from({ length: 7 }, () => start('One of many')));
    const full = await start('Full of tags', { tags: Array.from({ length: 50 }, (_, n) => `tag${n}`) });
    const { page, consoleErrors: pageErrors } = await open();
    await page.getByRole('link', { name: 'Full of tags' }).waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Select all matching sessions' }).click();
    await page.getByText('All matching sessions are selected').waitFor();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Tags').fill('one more');
    await page.getByRole('button', { name: 'Add' }).click();
    const report = page.getByRole('dialog', { name: 'Done' });
    await report.getByText('105 sessions tagged. 1 failed.').waitFor();
    const refused = report.getByRole('list', { name: 'Failed sessions' }).getByRole('listitem');
    expect(await refused.count()).toBe(1);
    expect(await refused.getByRole('link').textContent()).toContain(full.replace(/^.*-/, ''));
    expect(await refused.textContent()).toContain('50');
    await report.locator('footer').getByRole('button', { name: 'Close' }).click();
    await page.getByText('Select all shown').waitFor();
    const [row] = await test.app.services.store.query<{ n: number }>(
      'select count(*)::int as n from session where organization_id = $1 and tags @> $2',
      [organizationId.replace(/^.*-/, ''), ['one more']],
    );
    expect(row?.n).toBe(105);

    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Select all matching sessions' }).click();
    await page.getByRole('button', { name: 'Terminate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Terminate all matching sessions?' });
    await dialog.getByText('At least 100 sessions will be terminated.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.locator('.sessions .badge', { hasText: 'Terminated' }).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('loads by itself after the service was unreachable at first', async () => {
    const { start, open } = await openList('Away');
    await start('Still there');
    const { page } = await open();
    await page.getByRole('link', { name: 'Still there' }).waitFor();
    await page.route('**/graphql', (route) => route.abort());
    await page.reload();
    await page.getByText('Can’t reach the service.').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('link', { name: 'Still there' }).waitFor();
    await page.context().close();
  });

  it('shows how to sign in again after the sign-in has ended, and none of the earlier data', async () => {
    const { start, open } = await openList('Over');
    await start('Confidential');
    const { page } = await open();
    await page.getByRole('link', { name: 'Confidential' }).waitFor();
    await send(test, 'DELETE', undefined, { ...(await halvesOf(page)) });
    await page.getByText('You were signed out').waitFor();
    expect(await page.getByText('Confidential').count()).toBe(0);
    await page.context().close();
  });
});
