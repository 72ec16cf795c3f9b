import { describe, expect, it } from 'vitest';
import { missing, openSignedIn, useConsole } from '../support/console-browser.ts';

describe.skipIf(missing !== null)('the page of an object that does not exist', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it.each(['users', 'groups', 'service-users', 'webhooks', 'playbooks', 'knowledge', 'automations', 'repositories'])(
    'is a page with a heading and a way back: %s',
    async (path) => {
      const at = `/manage/${path}/nobody`;
      const { page } = await openSignedIn(all.browser, all.test, all.test.adminToken, { at });
      await page.getByRole('heading', { level: 1, name: 'not found' }).waitFor();
      expect(await page.title()).toContain('not found');
      await page
        .getByRole('main')
        .getByRole('link', { name: /^Back to / })
        .click();
      await expect.poll(() => new URL(page.url()).pathname).toBe(`/manage/${path}`);
      await page.context().close();
    },
  );
});
