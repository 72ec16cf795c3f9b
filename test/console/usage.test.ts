import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { makeOrganization } from '../support/sessions.ts';
import { seedSession, use } from '../support/usage.ts';

describe.skipIf(missing !== null)('the usage in the console', { timeout: 240_000 }, () => {
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

  it('shows a value below the displayed precision as such, not as zero', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Little used');
    const organizationUuid = parseId('organization', organizationId) as string;
    const createdAt = new Date();
    await use(test, await seedSession(test, { organizationId: organizationUuid, createdAt }), 0.0002, createdAt);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('button', { name: 'Show as table: ACUs by user' }).click();
    const rows = page.getByRole('region', { name: 'ACUs by user, as a table' }).getByRole('row');
    await expect.poll(() => rows.allTextContents()).toEqual(['UserACUs', 'Switchyard<0.01']);
    expect(await totalsOf(page)).toContain('Agent compute units (ACUs)<0.01Previously: 0');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows the usage by day, user and playbook, as charts and tables, and exports it as CSV', async () => {
    const { organizationUuid, token } = await used('Used', [
      ['2026-02-27', 2, 'exit'],
      ['2026-03-01', 1.5, 'exit'],
      ['2026-03-03', 4, 'error'],
    ]);
    expect(organizationUuid).not.toBe('');
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, token, { at: '/usage' });
    await page.getByText('No data for these days.').first().waitFor();
    await page.getByLabel('From').fill('2026-03-01');
    await page.getByLabel('To').fill('2026-03-04');
    await expect.poll(() => new URL(page.url()).search).toBe('?from=2026-03-01&to=2026-03-04');
    await page.getByRole('slider', { name: 'ACUs by day, as a chart' }).waitFor();
    // The chart of the first day alone may still be shown.
    const readHeights = () =>
      page
        .locator('.chart rect.value')
        .evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().height)));
    await expect
      .poll(async () => (await readHeights()).map((height) => height > 0))
      .toEqual([true, false, true, false]);
    const heights = await readHeights();
    expect((heights[0] as number) / (heights[2] as number)).toBeCloseTo(1.5 / 4, 1);
    await picture('usage');
    const rowsOf = async (title: string) => {
      await page.getByRole('button', { name: `Show as table: ${title}` }).click();
      return page
        .getByRole('region', { name: `${title}, as a table` })
        .getByRole('row')
        .allTextContents();
    };
    expect(await rowsOf('ACUs by day')).toEqual([
      'DayACUsPrevious period',
      'Mar 4, 20260.000',
      'Mar 3, 20264.002',
      'Mar 2, 20260.000',
      'Mar 1, 20261.500',
    ]);
    expect(await rowsOf('ACUs by user')).toEqual(['UserACUs', 'Switchyard5.50']);
    expect(await rowsOf('ACUs by playbook')).toEqual(['PlaybookACUs', 'No playbook5.50']);
    expect(await rowsOf('Sessions by outcome')).toContain('Failed1');
    expect(await rowsOf('Sessions by size')).toContain('S, less than 31');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV: ACUs by day' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toBe(
      'Day,ACUs,Previous period\r\n2026-03-01,1.5,0\r\n2026-03-02,0,0\r\n2026-03-03,4,2\r\n2026-03-04,0,0\r\n',
    );
    await page.getByLabel('To').fill('2026-02-01');
    await page.getByText('The first day must not be after the last.').waitFor();
    // The last range stays visible, and the fields where they are.
    const [from, to] = [await page.getByLabel('From').boundingBox(), await page.getByLabel('To').boundingBox()];
    expect(to?.y).toBe(from?.y);
    await page.locator('.stale').getByRole('region', { name: 'ACUs by day, as a table' }).waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('compares the totals with the previous period, until that is switched off', async () => {
    const { token } = await used('Compared', [
      ['2026-02-27', 2, 'exit'],
      ['2026-03-03', 3, 'exit'],
    ]);
    const { page } = await openSignedIn(browser, test, token, { at: '/usage?from=2026-03-01&to=2026-03-04' });
    await expect
      .poll(() => totalsOf(page))
      .toEqual([
        'Agent compute units (ACUs)3+50% from 2',
        'Sessions started10% from 1',
        'ACUs per session3ACUs divided by sessions started.+50% from 2',
        'Pull requests opened00 merged so far',
      ]);
    await page.getByLabel('Compare with the previous period').uncheck();
    await expect.poll(async () => (await totalsOf(page))[0]).toBe('Agent compute units (ACUs)3');
    expect(new URL(page.url()).searchParams.get('compare')).toBe('no');
    await page.context().close();
  });

  it('shows the values of a day by the mouse, a tap and the keys, and its sessions by a click and Enter', async () => {
    const { token } = await used('Explored', [
      ['2026-02-27', 2, 'exit'],
      ['2026-03-01', 1.5, 'exit'],
      ['2026-03-03', 4, 'exit'],
    ]);
    const at = '/usage?from=2026-03-01&to=2026-03-04';
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, token, { at });
    const chart = page.getByRole('slider', { name: 'ACUs by day, as a chart' });
    const tip = page.locator('.chart-tip');
    const middleOf = async (day: number) => {
      const { x, y, width, height } = await page
        .locator('.chart rect.value')
        .nth(day)
        .evaluate((bar) => {
          const { x: left, width: wide } = bar.getBoundingClientRect();
          const box = (bar.closest('svg') as SVGElement).getBoundingClientRect();
          return { x: left, y: box.y, width: wide, height: box.height };
        });
      return [x + width / 2, y + height / 2] as const;
    };
    await chart.waitFor();
    await page.mouse.move(...(await middleOf(2)));
    await expect.poll(() => tip.textContent()).toBe('Mar 3, 20264 ACUsFeb 27, 2026: 2 ACUs');
    await picture('usage-tooltip');
    await page.setViewportSize({ width: 390, height: 844 });
    await chart.scrollIntoViewIfNeeded();
    for (const day of [1, 2]) {
      await page.mouse.move(...(await middleOf(day)));
      await tip.getByText(`Mar ${day + 1}, 2026`).waitFor();
      await expect
        .poll(async () => {
          const [inner, outer] = [await tip.boundingBox(), await chart.boundingBox()];
          if (!inner || !outer) return false;
          return inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width + 1;
        })
        .toBe(true);
    }
    await picture('usage-tooltip');
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.mouse.move(...(await middleOf(2)));
    await page.mouse.click(...(await middleOf(2)));
    const sessions = page.getByRole('region', { name: 'Sessions that used ACUs on Mar 3, 2026' });
    await expect
      .poll(() => sessions.getByRole('row').allTextContents())
      .toEqual(['SessionStarted byACUs', expect.stringMatching(/^Session .*Switchyard4$/)]);
    expect(new URL(page.url()).searchParams.get('day')).toBe('2026-03-03');
    await picture('usage-sessions');
    await page.goBack();
    await sessions.waitFor({ state: 'detached' });
    const [clientX, clientY] = await middleOf(0);
    await chart.dispatchEvent('pointerdown', { pointerType: 'touch', clientX, clientY, bubbles: true });
    await expect.poll(() => tip.textContent()).toBe('Mar 1, 20261.5 ACUsFeb 25, 2026: 0 ACUsShow sessions');
    await chart.dispatchEvent('click', { clientX, clientY, bubbles: true });
    expect(new URL(page.url()).searchParams.get('day')).toBeNull();
    expect(await tip.getByRole('link').getAttribute('href')).toContain('day=2026-03-01');

    await page.getByLabel('Compare with the previous period').focus();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Show as table: ACUs by day' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('Mar 4, 2026: 0');
    await page.keyboard.press('Home');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('Mar 1, 2026: 1.5');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect
      .poll(() => chart.getAttribute('aria-valuetext'))
      .toBe('Mar 3, 2026: 4 ACUs. Previous period, Feb 27, 2026: 2 ACUs');
    expect(await tip.textContent()).toContain('Mar 3, 2026');
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'detached' });
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Sessions that used ACUs on Mar 1, 2026' }).getByRole('link').waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('lists the sessions of a day below the chart, those with most ACUs first', async () => {
    const { token } = await used('Sorted', [
      ['2026-03-03', 2, 'exit'],
      ['2026-03-03', 7, 'exit'],
      ['2026-03-03', 4, 'exit'],
    ]);
    const at = '/usage?from=2026-03-01&to=2026-03-04&day=2026-03-03';
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, token, { at });
    const sessions = page.getByRole('region', { name: 'Sessions that used ACUs on Mar 3, 2026' });
    await sessions.getByText('Most ACUs first.').waitFor();
    expect(await sessions.getByRole('row').locator('td:last-child').allTextContents()).toEqual(['7', '4', '2']);
    const chart = page.getByRole('slider', { name: 'ACUs by day, as a chart' });
    const [above, below] = [await chart.boundingBox(), await sessions.boundingBox()];
    expect(below?.y).toBeGreaterThan((above?.y ?? 0) + (above?.height ?? 0));
    await picture('usage-sessions-sorted');
    // The fields for the days do not overlap, in the narrowest window either.
    await page.setViewportSize({ width: 320, height: 700 });
    const [from, to] = [page.getByLabel('From'), page.getByLabel('To', { exact: true })];
    const [first, last] = [await from.boundingBox(), await to.boundingBox()];
    if (!first || !last) throw new Error('The fields are not visible.');
    expect(first.y + first.height <= last.y || first.x + first.width <= last.x).toBe(true);
    expect(last.x + last.width).toBeLessThanOrEqual(320);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('explains the unit, and shows the cost of models where it is known', async () => {
    const { token, organizationUuid } = await used('Costly', [
      ['2026-02-27', 4, 'exit'],
      ['2026-03-02', 1, 'exit'],
    ]);
    const at = '/usage?from=2026-03-01&to=2026-03-04';
    const { page, consoleErrors, pictures } = await openSignedIn(browser, test, token, { at });
    await expect.poll(async () => (await totalsOf(page))[0]).toBe('Agent compute units (ACUs)1−75% from 4');
    expect((await totalsOf(page)).join()).not.toContain('Model cost');
    const question = page.locator('summary').and(page.getByLabel('What is an ACU?'));
    const answer = page.getByText('An ACU measures the work of agents', { exact: false });
    expect(await answer.isVisible()).toBe(false);
    await question.focus();
    await page.keyboard.press('Enter');
    await answer.waitFor();
    await page.keyboard.press('Escape');
    await answer.waitFor({ state: 'hidden' });
    await question.click();
    await answer.waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    await test.app.services.store.execute('update usage set cost_usd = 0.5 * acus where organization_id = $1', [
      organizationUuid,
    ]);
    await page.reload();
    await expect
      .poll(async () => (await totalsOf(page))[1])
      .toBe('Model cost$0.50Models without a known price aren’t included.−75% from $2');
    await page.getByRole('button', { name: 'Show as table: ACUs by day' }).click();
    const table = page.getByRole('region', { name: 'ACUs by day, as a table' });
    expect(await table.getByRole('row').nth(0).textContent()).toBe('DayACUsModel cost (USD)Previous period');
    expect(await table.getByRole('row').nth(3).textContent()).toBe('Mar 2, 20261$0.500');
    await page.getByRole('button', { name: 'Show as chart: ACUs by day' }).click();
    const chart = page.getByRole('slider', { name: 'ACUs by day, as a chart' });
    await chart.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('Mar 2, 2026: 1 ACU, $0.50');
    await pictures('usage-cost');
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('moves nothing below the sums when they arrive', async () => {
    const { token } = await used('Still', [['2026-03-02', 1, 'exit']]);
    const { page } = await openSignedIn(browser, test, token, { at: '/sessions' });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('organizationUsageQuery')) await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('status', { name: 'Loading usage' }).waitFor();
    const heightOf = () => page.locator('.totals').evaluate((totals) => totals.getBoundingClientRect().height);
    const before = await heightOf();
    release();
    await page.getByText('Pull requests opened').waitFor();
    expect(await heightOf()).toBe(before);
    await page.context().close();
  });

  it('leads from an outcome to the sessions that it counts', async () => {
    const { token } = await used('Outcomes', [
      ['2026-03-01', 1, 'exit'],
      ['2026-03-03', 1, 'error'],
      ['2026-03-09', 1, 'error'],
    ]);
    const at = '/usage?from=2026-03-01&to=2026-03-04';
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, token, { at });
    await page
      .getByRole('list', { name: 'Sessions by outcome, as a chart' })
      .getByRole('link', { name: 'Failed' })
      .click();
    const rows = page.getByRole('list', { name: 'Sessions', exact: true }).getByRole('listitem');
    await page.getByRole('list', { name: 'Filters from Usage' }).waitFor();
    await picture('sessions-of-usage');
    await expect.poll(() => rows.count()).toBe(1);
    const filters = page.getByRole('list', { name: 'Filters from Usage' });
    expect(await filters.getByRole('button').allTextContents()).toEqual(['Failed', 'Including archived']);
    await picture('sessions-of-usage');
    await filters.getByRole('button', { name: 'Remove filter: Failed' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    const [from, to] = [page.getByLabel('Created from (UTC)'), page.getByLabel('Created to (UTC)')];
    expect([await from.inputValue(), await to.inputValue()]).toEqual(['2026-03-01', '2026-03-04']);
    await page.getByLabel('Created', { exact: true }).selectOption('Any creation date');
    await expect.poll(() => rows.count()).toBe(3);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows the budget of the month with its limit, and says when it is spent', async () => {
    const today = new Date();
    const { token, organizationUuid } = await used('Limited', [[today, 7, 'exit']]);
    const setLimit = (limit: number) =>
      test.app.services.store.execute('update organization set max_cycle_acu_limit = $2 where id = $1', [
        organizationUuid,
        limit,
      ]);
    await setLimit(20);
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, token, { at: '/usage?period=month' });
    await page.getByText('7 of 20 ACUs used (35%)').waitFor();
    expect(await page.getByRole('slider', { name: /^ACU budget/ }).count()).toBe(1);
    await picture('usage-budget');
    expect(await page.locator('.chart .limit').count()).toBe(1);
    // Near the limit, the line of the usage ends below it: the label is above it, where the month begins.
    const box = (part: string) => page.locator(`.chart ${part}`).evaluate((each) => each.getBoundingClientRect());
    const [label, line] = [await box('.limit-label'), await box('.limit')];
    expect(label.bottom).toBeLessThanOrEqual(line.top + 1);
    expect(label.right).toBeLessThan(line.left + line.width / 2);
    await setLimit(5);
    await page.reload();
    await page.getByText('The budget is spent.').waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  /** The texts of the sums, without the explanation of their unit. */
  const totalsOf = (page: Page) =>
    page
      .locator('.totals .card')
      .evaluateAll((cards) =>
        cards.map((card) =>
          [...card.querySelectorAll('dt, dd')]
            .map(
              (part) =>
                part.firstChild?.textContent?.trim() +
                [...part.querySelectorAll('small')].map((each) => each.textContent).join(''),
            )
            .join(''),
        ),
      );

  /** Makes an organization with one session for each entry, started on its day. */
  async function used(name: string, entries: readonly (readonly [day: string | Date, acus: number, status: string])[]) {
    const { organizationId, token } = await makeOrganization(test, name);
    const organizationUuid = parseId('organization', organizationId) as string;
    for (const [day, acus, status] of entries) {
      const session = await seedSession(test, { organizationId: organizationUuid, createdAt: day, status });
      await use(test, session, acus, day);
    }
    return { organizationUuid, token };
  }
});
