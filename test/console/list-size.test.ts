import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { makeManySessions } from '../support/many-sessions.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the size of the list of sessions', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('says how many sessions match, and has 12 rows in a window of a laptop', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Counted');
    await makeManySessions(all.test, organizationId, 60);
    const start = (title: string) => createSession(all.test, { organizationId, title, tags: ['one', 'two'] }, token);
    await say(all.test, await start('With a last message'), 'The last message is in the row.');
    const { page, consoleErrors } = await all.open('/sessions', token);
    const size = page.locator('.list-size');
    await expect.poll(() => size.textContent()).toBe('61 sessions');
    const row = page.locator('.sessions li').filter({ hasText: 'With a last message' });
    await row.getByText('The last message is in the row.').waitFor();
    const heights = await page
      .locator('.sessions li')
      .evaluateAll((all) => all.slice(0, 12).map((each) => each.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThanOrEqual(60);
    expect(heights.reduce((sum, height) => sum + height, 0)).toBeLessThan(800);
    await start('Newer');
    await page.getByRole('link', { name: 'Newer' }).waitFor();
    await expect.poll(() => size.textContent()).toBe('62 sessions');
    await page.getByLabel('Search titles').fill('last message');
    await expect.poll(() => size.textContent()).toBe('1 session');
    expect(consoleErrors).toEqual([]);
  });
});
