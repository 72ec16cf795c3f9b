import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { makeOrganization } from '../support/sessions.ts';
import { seedSession, use } from '../support/usage.ts';

describe.skipIf(missing !== null)('the usage in the console', { timeout: 120_000 }, () => {
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
    const rows = page.getByRole('region', { name: 'ACUs by user, as a table' }).getByRole('row');
    await expect.poll(() => rows.allTextContents()).toEqual(['UserACUs', 'Switchyard<0.01']);
    const total = page.locator('.totals .card').filter({ has: page.getByText('ACUs', { exact: true }) });
    expect(await total.textContent()).toBe('ACUs<0.01');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows the usage by day, user and playbook, with its results, and exports it as CSV', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Used');
    const organizationUuid = parseId('organization', organizationId) as string;
    const days = [
      ['2026-03-01', 1.5, 'exit'],
      ['2026-03-03', 4, 'error'],
    ] as const;
    for (const [day, acus, status] of days) {
      const session = await seedSession(test, { organizationId: organizationUuid, createdAt: day, status });
      await use(test, session, acus, day);
    }
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('No data for these days.').first().waitFor();
    await page.getByLabel('From').fill('2026-03-01');
    await page.getByLabel('To').fill('2026-03-04');
    const rowsOf = (title: string) =>
      page
        .getByRole('region', { name: `${title}, as a table` })
        .getByRole('row')
        .allTextContents();
    await expect
      .poll(() => rowsOf('ACUs by day'))
      .toEqual(['DayACUs', '2026-03-011.5', '2026-03-020', '2026-03-034', '2026-03-040']);
    expect(await rowsOf('ACUs by user')).toEqual(['UserACUs', 'Switchyard5.5']);
    expect(await rowsOf('ACUs by playbook')).toEqual(['PlaybookACUs', 'No playbook5.5']);
    expect(await rowsOf('Sessions by outcome')).toContain('Failed1');
    expect(await rowsOf('Sessions by outcome')).toContain('Finished1');
    expect(await rowsOf('Sessions by size')).toContain('S, less than 31');
    expect(await page.getByRole('img', { name: 'ACUs by day, as a chart' }).count()).toBe(1);
    const heights = await page
      .getByRole('img', { name: 'ACUs by day, as a chart' })
      .locator('rect')
      .evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().height)));
    expect(heights.map((height) => height > 0)).toEqual([true, false, true, false]);
    expect((heights[0] as number) / (heights[2] as number)).toBeCloseTo(1.5 / 4, 1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV: ACUs by day' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toBe(
      'Day,ACUs\r\n2026-03-01,1.5\r\n2026-03-02,0\r\n2026-03-03,4\r\n2026-03-04,0\r\n',
    );
    await page.getByLabel('To').fill('2026-02-01');
    await page.getByText('The first day must not be after the last.').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
