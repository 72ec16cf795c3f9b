import { describe, expect, it } from 'vitest';
import { missing, openSignedIn, pick, seriousFindings, useConsole } from '../support/console-browser.ts';
import { makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the legal holds, in the console', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('are created on a session and on an organization, and released', async () => {
    const { test } = all;
    const id = await createSession(test, { prompt: 'Keep this', title: 'Keep this' });
    const window = await openSignedIn(all.browser, test, test.adminToken, { at: '/manage/legal-holds' });
    const { page } = window;
    const dialog = page.getByRole('dialog');
    const create = dialog.getByRole('button', { name: 'Create hold' });
    await page.getByText('No legal holds', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New hold' }).click();
    await dialog.getByLabel('Reason').fill('Case 12 <b>bold</b>');
    await create.click();
    await dialog.getByText('Session is required.').waitFor();
    await dialog.getByLabel('Session', { exact: true }).fill('devin-0');
    await create.click();
    await dialog.getByRole('alert').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('legal-hold-form');
    await dialog.getByLabel('Session', { exact: true }).fill(`${test.url}/sessions/${id}`);
    await create.click();
    await page.getByRole('row', { name: /Keep this.*Case 12 <b>bold<\/b>/ }).waitFor();
    await page.getByRole('button', { name: 'New hold' }).click();
    await dialog.getByLabel('What to keep').selectOption('An organization');
    await pick(page, 'Organization', 'Default');
    await dialog.getByLabel('Reason').fill('Case 13');
    await create.click();
    await page.getByRole('row', { name: /Default.*Case 13/ }).waitFor();
    await window.inThemes(async (theme) => {
      await window.picture('legal-holds');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await page.getByRole('button', { name: 'Release the hold on Keep this' }).click();
    await dialog.getByText('You can’t restore a released hold.', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByText('Hold released.').waitFor();
    await page.getByRole('button', { name: 'Release the hold on Keep this' }).waitFor({ state: 'detached' });
    // A released hold stays in the list.
    await page.getByRole('row', { name: /Keep this/ }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are not shown to members of an organization', async () => {
    const { token } = await makeUser(all.test);
    const { page } = await openSignedIn(all.browser, all.test, token, { at: '/manage/legal-holds' });
    await page.getByText('You can’t view legal holds').waitFor();
    await page.context().close();
  });
});
