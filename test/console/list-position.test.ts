import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { makeManySessions } from '../support/many-sessions.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the list of sessions, left for a session', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const rows = (page: Page) => page.locator('ul.sessions > li');
  const top = (page: Page) => page.evaluate(() => Math.round(scrollY));

  it('has its filters, its rows and its place when the user returns, and what changed meanwhile', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Returning');
    const ids = await makeManySessions(all.test, organizationId, 120);
    const path = '/sessions?state=finished';
    const { page, consoleErrors } = await all.open(path, token);
    await rows(page).nth(49).scrollIntoViewIfNeeded();
    await expect.poll(() => rows(page).count()).toBeGreaterThan(99);
    const link = (n: number) => page.locator(`ul.sessions a[href="/sessions/${ids[n]}"]`);
    const ways = {
      back: () => page.goBack(),
      link: () => page.getByRole('link', { name: 'All sessions' }).click(),
      navigation: () => page.getByRole('navigation').getByRole('link', { name: 'Sessions', exact: true }).click(),
      escape: () => page.keyboard.press('Escape'),
    };
    for (const [way, goBack] of Object.entries(ways)) {
      await link(80).hover();
      const before = await top(page);
      expect(before, way).toBeGreaterThan(1_000);
      const count = await rows(page).count();
      await link(80).click();
      await page.getByRole('heading', { name: 'one of many' }).waitFor();
      await page.getByRole('log').waitFor();
      await goBack();
      await link(80).waitFor();
      expect(new URL(page.url()).search, way).toBe('?state=finished');
      expect(await rows(page).count(), way).toBeGreaterThanOrEqual(count);
      await expect.poll(() => top(page), { message: way }).toBe(before);
    }
    // Changes while the user was away: one session left the list, and one came.
    await link(80).click();
    await page.getByRole('heading', { name: 'one of many' }).waitFor();
    await all.test.app.services.store.execute('update session set is_archived = true where id = $1', [ids[70]]);
    await all.test.app.services.store.execute(`update session set title = 'Renamed meanwhile' where id = $1`, [
      ids[90],
    ]);
    await page.goBack();
    await page.getByText('Renamed meanwhile').waitFor();
    await expect.poll(() => link(70).count()).toBe(0);
    expect(await link(99).count()).toBe(1);
    // From another page, the list starts at its top.
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await createSession(all.test, { organizationId, title: 'The newest' }, token);
    await page.getByRole('navigation').getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByText('The newest').waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(await top(page)).toBe(0);
    expect(consoleErrors).toEqual([]);
  });
});
