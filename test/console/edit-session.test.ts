import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the title and the tags of a session', { timeout: 240_000 }, () => {
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

  it('are edited in the details, and a refusal is shown at its field', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Edited');
    const id = await createSession(test, { organizationId, title: 'Before', tags: ['one'] }, token);
    await runMutation(test, 'replaceAllowedTags', 'allowedTags', { organizationId, tags: ['one', 'two'] });
    const at = `/sessions/${id.replace('devin-', '')}`;
    const { page, picture, consoleErrors } = await openSignedIn(browser, test, token, { at });
    await page.getByRole('button', { name: 'Edit title and tags' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit session' });
    expect(await dialog.getByLabel('Tags').inputValue()).toBe('one');
    await dialog.getByLabel('Title').fill('After');
    await dialog.getByLabel('Tags').fill('two, three');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('three').waitFor();
    await picture('edit-session');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel('Tags').fill('two, one');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'After', exact: true }).waitFor();
    const { data } = await graphql(test, token, `{ session(id: "${id}") { title tags } }`);
    expect(data.session).toEqual({ title: 'After', tags: ['two', 'one'] });
    expect(await page.locator('.session-facts .tag').allTextContents()).toEqual(['two', 'one']);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });
});
