import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { createSession, say } from '../support/sessions.ts';
import { seedSession, use } from '../support/usage.ts';

/** The colours that tell an element from others like it. */
const look = (element: Locator) =>
  element.first().evaluate((node) => {
    const { backgroundColor, color, borderTopStyle } = getComputedStyle(node);
    return { backgroundColor, color, borderTopStyle };
  });

describe.skipIf(missing !== null)('the console with forced colours', { timeout: 240_000 }, () => {
  const service = useConsole();

  it('marks what is selected, current or pressed', async () => {
    const id = await createSession(service.test, { prompt: 'Colour it', title: 'Colour it' });
    await createSession(service.test, { prompt: 'Another', title: 'Another' });
    await say(service.test, id, 'And this');
    const { page, picture } = await service.open(`/sessions/${id}`);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.emulateMedia({ forcedColors: 'active' });
    const differ = async (marked: Locator, plain: Locator) => {
      await marked.first().waitFor();
      const [one, other] = [await look(marked), await look(plain)];
      expect(one.backgroundColor).not.toBe(other.backgroundColor);
      expect(one.color).not.toBe(one.backgroundColor);
    };
    const tab = page.getByRole('tablist', { name: 'Parts of the session' }).getByRole('tab');
    await differ(tab.and(page.locator('[aria-selected="true"]')), tab.and(page.locator('[aria-selected="false"]')));
    await differ(page.locator('.inbox-row[data-current]'), page.locator('.inbox-row:not([data-current])'));
    expect(await look(page.locator('.message.user'))).toMatchObject({ borderTopStyle: 'solid' });
    await picture('forced-colors-session');

    await page.goto(`${service.test.url}/sessions`);
    const pages = page.getByRole('navigation').getByRole('link');
    await differ(pages.and(page.locator('[aria-current]')), pages.and(page.locator(':not([aria-current])')));
    await page.getByRole('button', { name: 'Filter' }).click();
    const archived = page.getByRole('button', { name: 'Archived', exact: true });
    const before = await look(archived);
    await archived.click();
    await expect.poll(async () => (await look(archived)).backgroundColor).not.toBe(before.backgroundColor);
    await picture('forced-colors-sessions');
  });

  it('shows the bars of Usage', async () => {
    const { organizationId } = service.test;
    const now = new Date();
    await use(service.test, await seedSession(service.test, { organizationId, createdAt: now }), 3, now);
    const { page, picture } = await service.open('/usage');
    await page.emulateMedia({ forcedColors: 'active' });
    const track = page.locator('.bars .track').first();
    await track.waitFor();
    const [bar, empty] = [await look(track.locator('i')), await look(track)];
    expect(bar.backgroundColor).not.toBe(empty.backgroundColor);
    const fill = await page
      .locator('.chart rect.value')
      .first()
      .evaluate((node) => getComputedStyle(node).fill);
    expect(fill).toBe(bar.backgroundColor);
    await picture('forced-colors-usage');
  });
});
