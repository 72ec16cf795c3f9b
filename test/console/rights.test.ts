import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeKey, makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the console for users with few permissions', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let id: string;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
    id = await createSession(test, { title: 'Of somebody else' });
    await say(test, id, 'Some words.');
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const read = async (token: string) => {
    const window = await openSignedIn(browser, test, token);
    const { page } = window;
    await page.getByRole('link', { name: 'Of somebody else' }).click();
    await page.getByText('Some words.').waitFor();
    await page.getByRole('heading', { name: 'About' }).waitFor();
    await page.goto('/sessions');
    await page.getByRole('link', { name: 'Of somebody else' }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    return page;
  };

  it('a member reads others’ sessions, and sees no action without permission', async () => {
    const { token } = await makeUser(test);
    const page = await read(token);
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(1);
    expect(await page.getByRole('link', { name: 'Secrets' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Of somebody else' }).click();
    await page.getByText('You can only view this session.').waitFor();
    for (const name of ['Suspend', 'Terminate', 'Archive']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await page.getByLabel('Message to the agent').count()).toBe(0);
    await page.context().close();
  });

  it('a member who opens the address of a page without permission is told so', async () => {
    const { token } = await makeUser(test);
    const { page } = await openSignedIn(browser, test, token);
    const paths = [
      'secrets',
      'organization',
      'webhooks',
      'service-users',
      'automations/new',
      'playbooks/new',
      'knowledge/new',
    ];
    for (const path of paths) {
      await page.goto(`/manage/${path}`);
      await page.getByText('You can’t use this page').waitFor();
      expect(await page.locator('#main').getByRole('button').count(), path).toBe(0);
    }
    await page.context().close();
  });

  it('a user who may only view sees no action to create', async () => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
    const { token } = await makeUser(test, { roleId });
    const page = await read(token);
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(0);
    await page.context().close();
  });

  it('shows in each of two organizations the user’s permitted actions', async () => {
    const { userId, token } = await makeUser(test);
    const other = await makeOrganization(test, 'Where it manages');
    const { organizationId } = other;
    const role = roleInput({ userId, organizationId, roleId: 'org_admin' });
    expect((await runMutation(test, 'assignRole', '', role)).userErrors).toEqual([]);
    const managed = await createSession(test, { title: 'Of the other' }, other.token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    const choose = async (name: string) => {
      await page.getByRole('combobox', { name: 'Organization' }).click();
      await page.getByRole('listbox').getByRole('option', { name }).click();
    };
    const secrets = page.getByRole('link', { name: 'Secrets' });
    await page.getByRole('link', { name: 'Of the other' }).waitFor();
    await secrets.waitFor();
    const { data } = await graphql(test, token, `{ organization(id: "${test.organizationId}") { name } }`);
    await choose(data.organization.name);
    await page.getByRole('link', { name: 'Of somebody else' }).waitFor();
    expect(await secrets.count()).toBe(0);
    // A session's page offers the actions allowed in its own organization, not in the page's current one.
    await page.goto(`/sessions/${managed}`);
    await page.getByRole('button', { name: 'Terminate' }).waitFor();
    await page.goto(`/sessions/${id}`);
    await page.getByText('ask an administrator for the “Manage sessions” permission').waitFor();
    await choose('Where it manages');
    await secrets.waitFor();
    await page.goto(`/sessions/${id}`);
    await page.getByText('ask an administrator for the “Manage sessions” permission').waitFor();
    expect(await page.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a personal key of version 1 opens its organization', async () => {
    const { userId } = await makeUser(test);
    const token = await makeKey(test, { kind: 'PERSONAL', userId, organizationId: test.organizationId });
    const page = await read(token);
    await page.context().close();
  });

  it('a user who may not see sessions gets a message', async () => {
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_AUTOMATIONS']);
    const { token } = await makeUser(test, { roleId });
    const { page } = await openSignedIn(browser, test, token);
    await page.getByText('Ask an administrator for the “View sessions” permission.').waitFor();
    await page.context().close();
  });
});
