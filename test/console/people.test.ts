import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, pick } from '../support/console-browser.ts';
import { makeManager, rolesOf, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';

/** Allows for other load on the machine. */
const soon = { timeout: 60_000 };

describe.skipIf(missing !== null)(
  'the users and the organizations of an enterprise, in the console',
  { timeout: 120_000 },
  () => {
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

    const open = async (path: string, token: string = test.adminToken) => {
      const window = await openSignedIn(browser, test, token, { at: path });
      return window;
    };
    const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
    const settings = (page: Page) => page.getByRole('navigation', { name: 'Settings' });

    it('a user can be created in one organization, added to another, get a role on the enterprise, leave and be deleted', async () => {
      const { page, consoleErrors: pageErrors } = await open('/manage/users');
      const { organization } = await runMutation(test, 'createOrganization', 'organization { organizationId }', {
        name: 'The other one',
      });
      await page.reload();
      await page.getByRole('button', { name: 'New user' }).click();
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Name').fill('Ada');
      await inDialog(page, 'Create user').click();
      await inDialog(page, 'I’ve saved it').click();
      const row = page.getByRole('row', { name: /Ada/ });
      await row.getByText('(Member)').waitFor();
      await page.getByRole('link', { name: 'Ada' }).click();
      await page.getByRole('heading', { name: 'Ada' }).waitFor();
      const userId = (await page.locator('.facts code').first().textContent()) ?? '';
      await page.getByRole('button', { name: 'Add to organization' }).click();
      await inDialog(page, 'Add to organization').click();
      await page.getByText('Select an organization.').waitFor();
      const where = page.getByRole('dialog').getByRole('combobox', { name: 'Organization' });
      await where.click();
      await page.keyboard.type('the other');
      await page.getByRole('option', { name: 'The other one' }).click();
      expect(await where.inputValue()).toBe('The other one');
      await pick(page, 'Role', 'Admin');
      await inDialog(page, 'Add to organization').click();
      const membership = page.getByRole('row', { name: /The other one/ });
      await membership.getByText('Admin').waitFor();
      await page.getByRole('button', { name: 'Add enterprise role' }).click();
      await inDialog(page, 'Save').click();
      await page.getByRole('cell', { name: 'Enterprise', exact: true }).waitFor();
      const has = async () => (await rolesOf(test, userId)).map(([where, role]) => `${where}: ${role}`);
      await expect.poll(has, soon).toContain('null: account_member');
      expect(await has()).toContain(`${organization.organizationId}: org_admin`);
      await page.getByRole('button', { name: 'Remove from The other one' }).click();
      await inDialog(page, 'Remove').click();
      await membership.waitFor({ state: 'detached' });
      expect(await has()).toEqual(['null: account_member', `org-${test.organizationId}: org_member`]);
      await page.getByLabel('Name').fill('Ada L.');
      await page.getByRole('button', { name: 'Save name' }).click();
      await page.getByRole('heading', { name: 'Ada L.' }).waitFor();
      await page.getByRole('button', { name: 'Deactivate' }).click();
      await inDialog(page, 'Deactivate').click();
      await page.getByText('This user has no access until you reactivate them.').waitFor();
      expect(await page.getByRole('button', { name: 'Create sign-in link' }).count()).toBe(0);
      for (const list of ['/manage/users', '/manage/members']) {
        await page.goto(`${test.url}${list}`);
        await page
          .getByRole('row', { name: /Ada L\./ })
          .getByText('Deactivated')
          .waitFor();
      }
      await page.goto(`${test.url}/manage/users`);
      await page.getByRole('link', { name: 'Ada L.' }).click();
      await page.getByRole('button', { name: 'Reactivate' }).click();
      await page.getByRole('button', { name: 'Deactivate' }).waitFor();
      await page.getByRole('button', { name: 'Create sign-in link' }).waitFor();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await inDialog(page, 'Delete').click();
      await page.getByRole('heading', { name: 'Users' }).waitFor();
      await page.getByText('admin@localhost').first().waitFor();
      await expect.poll(() => page.getByRole('link', { name: 'Ada L.' }).count(), soon).toBe(0);
      expect(pageErrors).toEqual([]);
      await page.context().close();
    });

    it('a user is found by a part of the name or the address, also on pages that were not read', async () => {
      for (let n = 0; n < 130; n += 10) {
        await Promise.all(
          Array.from({ length: 10 }, (_, at) =>
            runMutation(test, 'createUser', 'user { id }', {
              email: `worker-${n + at}@crowd.example.com`,
              roleId: 'org_member',
              scope: { organizationId: test.organizationId },
            }),
          ),
        );
      }
      const { page, consoleErrors: pageErrors } = await open('/manage/users');
      await page.getByRole('link', { name: 'worker-' }).first().waitFor();
      await page.getByLabel('Search').fill('admin@local');
      await page.getByText('admin@localhost').first().waitFor();
      await page.reload();
      expect(await page.getByLabel('Search').inputValue()).toBe('admin@local');
      await page.getByText('admin@localhost').first().waitFor();
      expect(await page.getByRole('link', { name: 'worker-' }).count()).toBe(0);
      await page.getByLabel('Search').fill('nobody of that name');
      await page.getByText('No matches').waitFor();
      expect(pageErrors).toEqual([]);
      await page.context().close();
    });

    it('an organization can be created, limited, opened, and deleted only after its name was typed', async () => {
      const { page, consoleErrors: pageErrors } = await open('/manage/organizations');
      await page.getByRole('button', { name: 'New organization' }).first().click();
      await page.getByLabel('Name').fill('Backend');
      await page.getByLabel('Monthly ACU limit').fill('50');
      await inDialog(page, 'Create organization').click();
      const row = page.getByRole('row', { name: /Backend/ });
      await row.getByText('50', { exact: true }).waitFor();
      const id = (await row.locator('.under').textContent()) ?? '';
      await page.getByRole('button', { name: 'Edit Backend' }).click();
      await page.getByLabel('Name').fill('Backend two');
      await page.getByLabel('ACU limit per session').fill('7');
      await inDialog(page, 'Save').click();
      await page
        .getByRole('row', { name: /Backend two/ })
        .getByText('7', { exact: true })
        .waitFor();
      const { session } = await runMutation(test, 'createSession', 'session { sessionId }', {
        organizationId: id,
        prompt: 'Do it.',
        title: 'In the new one',
      });
      expect(session).toBeTruthy();
      await page.getByRole('button', { name: 'Open Backend two' }).click();
      await page.getByRole('link', { name: 'In the new one' }).waitFor();
      await page.goto('/manage/organizations');
      await page.getByRole('button', { name: 'Delete Backend two' }).click();
      await page.getByLabel('Organization name').fill('Backend');
      await inDialog(page, 'Delete').click();
      await page.getByText('Enter the name Backend two').waitFor();
      await page.getByLabel('Organization name').fill('Backend two');
      await inDialog(page, 'Delete').click();
      await page.getByRole('row', { name: /Backend two/ }).waitFor({ state: 'detached' });
      // Its pages were open: another organization replaces it.
      await page.goto('/sessions');
      await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
      await expect.poll(() => page.getByText('Backend two').count(), soon).toBe(0);
      expect(pageErrors).toEqual([]);
      await page.context().close();
    });

    it('a user without permission gets no links to them, and a message at their URLs', async () => {
      const { token } = await makeUser(test, { roleId: 'org_admin' });
      await createSession(test, { title: 'Something to see' }, token);
      const { page } = await open('/sessions', token);
      await page.getByRole('link', { name: 'Something to see' }).waitFor();
      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await settings(page).getByRole('link', { name: 'Members' }).waitFor();
      expect(await settings(page).getByRole('link', { name: 'Users', exact: true }).count()).toBe(0);
      expect(await settings(page).getByRole('link', { name: 'Organizations' }).count()).toBe(0);
      await page.goto('/manage/organizations');
      await page.getByText('You can’t view organizations').waitFor();
      await page.goto('/manage/users');
      await page
        .getByText(/You can’t view users/)
        .first()
        .waitFor();
      await page.context().close();
    });

    it('the administrator of the first start is listed, with keys that can be rotated', async () => {
      const { page, consoleErrors: pageErrors, picture } = await open('/manage/service-users');
      const list = page.getByRole('region', { name: 'Enterprise service users' });
      await list.getByRole('link').first().waitFor();
      await picture('enterprise-service-users');
      await list.getByRole('link').first().click();
      await page.getByText('in the enterprise').waitFor();
      await page
        .getByRole('button', { name: /^Rotate/ })
        .first()
        .waitFor();
      expect(pageErrors).toEqual([]);
      await page.context().close();
    });

    it('a user who may only view users cannot change them', async () => {
      const { token } = await makeManager(test, 'VIEW_ACCOUNT_MEMBERSHIP', 'READ_ACCOUNT_META', 'VIEW_ORG_SESSIONS');
      const { page, consoleErrors: pageErrors } = await open('/manage/users', token);
      await page.locator('.row-link').first().waitFor();
      expect(await page.getByRole('button', { name: 'New user' }).count()).toBe(0);
      await page.locator('.row-link').first().click();
      await page.getByRole('heading', { name: 'Roles' }).waitFor();
      expect(await page.getByRole('button', { name: /Remove|Edit|Delete|Add to|Save/ }).count()).toBe(0);
      await settings(page).getByRole('link', { name: 'Users', exact: true }).waitFor();
      expect(await settings(page).getByRole('link', { name: 'Organizations' }).count()).toBe(0);
      expect(pageErrors).toEqual([]);
      await page.context().close();
    });
  },
);
