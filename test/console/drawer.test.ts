import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';

describe.skipIf(missing !== null)('the menu over a narrow page', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });
  const open = async () => {
    const window = await openSignedIn(all.browser, all.test, all.test.adminToken, { at: '/sessions', width: 390 });
    onTestFinished(() => window.page.context().close());
    await window.page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    return window;
  };
  const menu = (page: Page) => page.getByRole('button', { name: 'Menu' });
  const hasFocus = (page: Page, of: string) =>
    page.evaluate((css) => document.activeElement?.matches(css) ?? false, of);

  it('takes the focus, keeps it, and gives it back on Escape', async () => {
    const { page, consoleErrors } = await open();
    await menu(page).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    await expect.poll(() => hasFocus(page, '.side .brand')).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Shift+Tab');
    await expect.poll(() => hasFocus(page, '.side .foot > button')).toBe(true);
    await page.keyboard.press('Tab');
    await expect.poll(() => hasFocus(page, '.side .brand')).toBe(true);
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press('Tab');
      expect(await hasFocus(page, '.side *')).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(page, '[aria-label="Menu"]')).toBe(true);
    expect(new URL(page.url()).pathname).toBe('/sessions');
    expect(consoleErrors).toEqual([]);
  });

  it('leaves the focus to the page that is chosen in it, and Escape first to the palette', async () => {
    const { page } = await open();
    await menu(page).click();
    await page.locator('.side').getByRole('button', { name: /Go to/ }).click();
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor({ state: 'detached' });
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Playbooks' }).click();
    await page.getByRole('heading', { name: 'Playbooks', exact: true }).waitFor();
    await expect.poll(() => hasFocus(page, '#main :is(h1, h2)')).toBe(true);
    await menu(page).click();
    await expect.poll(() => hasFocus(page, '.side .brand')).toBe(true);
    await page.mouse.click(380, 400);
    await expect.poll(() => hasFocus(page, '[aria-label="Menu"]')).toBe(true);
  });
});
