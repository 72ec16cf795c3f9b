import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';

const pages = ['/', '/inbox', '/sessions', '/usage', '/manage/automations', '/manage/secrets'];

describe.skipIf(missing !== null)('the navigation', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const column = (page: Page) => page.getByRole('complementary', { name: 'Console' });
  const settings = (page: Page) => column(page).getByRole('link', { name: 'Settings', exact: true });
  const shapeOf = async (page: Page) => {
    await column(page).getByRole('link', { name: 'A view' }).waitFor();
    return column(page).evaluate((side) => ({
      width: side.getBoundingClientRect().width,
      lines: [...side.querySelectorAll('nav :is(a, h2)')]
        .filter((each) => each.checkVisibility())
        .map((each) => `${each.textContent?.trim()} ${each.getBoundingClientRect().y}`),
    }));
  };

  it('has the same links and headings at the same places on all pages, without scrolling', async () => {
    const { organizationId } = await makeOrganization(all.test, 'Same places');
    const { token } = await makeUser(all.test, { organizationId, roleId: 'org_admin' });
    const view = { organizationId, name: 'A view', filter: { isArchived: true } };
    await runMutation(all.test, 'setSavedView', 'savedView { name }', view, token);
    const { page, pictures, consoleErrors } = await all.open('/sessions', token);
    const wanted = await shapeOf(page);
    expect(wanted.lines.map((line) => line.split(' ')[0])).toEqual(expect.arrayContaining(['Work', 'Manage']));
    for (const at of pages) {
      await page.goto(at);
      expect(await shapeOf(page), at).toEqual(wanted);
      const { bottom, list } = await settings(page).evaluate((link) => ({
        bottom: link.getBoundingClientRect().bottom,
        list: link.closest('nav')?.getBoundingClientRect().bottom ?? 0,
      }));
      expect(bottom, at).toBeLessThanOrEqual(list);
    }
    await page.goto('/');
    await page.getByRole('region', { name: 'Inbox' }).waitFor();
    await pictures('navigation');
    // A closed group is closed on every page.
    await column(page).getByRole('heading', { name: 'Manage' }).click();
    const secrets = column(page).getByRole('link', { name: 'Secrets' });
    await secrets.waitFor({ state: 'hidden' });
    const closed = await shapeOf(page);
    await page.goto('/usage');
    expect(await shapeOf(page)).toEqual(closed);
    expect(await secrets.isVisible()).toBe(false);
    expect(consoleErrors).toEqual([]);
  });

  it('has pages that their names alone lead to', async () => {
    const { page } = await all.open('/manage/organization');
    await settings(page).waitFor({ state: 'detached' });
    const pathsOf = async () => {
      const links = column(page).locator('nav a');
      return links.evaluateAll((found) => found.map((each) => new URL((each as HTMLAnchorElement).href).pathname));
    };
    const managed = await pathsOf();
    await column(page).getByRole('link', { name: 'Back to sessions' }).click();
    await settings(page).waitFor();
    const paths = [...managed, ...(await pathsOf())].filter((path) => path.startsWith('/manage/'));
    expect(paths).toEqual(expect.arrayContaining(['/manage/webhooks', '/manage/enterprise', '/manage/git']));
    for (const path of new Set(paths)) {
      await page.goto(path.replace('/manage', ''));
      await expect.poll(() => new URL(page.url()).pathname, { message: path }).toBe(path);
    }
    await page.goto('/home');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/');
    await page.goto('/webhooks/');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/manage/webhooks');
  });
});
