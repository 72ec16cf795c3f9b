import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('saved views', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('saves the filters of the list under a name, renames and deletes them', async () => {
    const { token } = await makeUser(all.test);
    const window = await all.open('/sessions?state=attention&archived=all', token);
    const { page } = window;
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('My questions');
    await page.keyboard.press('Enter');
    await page.getByText('View “My questions” saved.').waitFor();
    await page.getByText('View: My questions').waitFor();
    const views = page.getByRole('navigation').getByRole('link', { name: /questions/ });
    expect(await views.getAttribute('aria-current')).toBe('page');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('saved-view');

    await page.getByRole('navigation').getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByText('View: My questions').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('my que');
    await page.getByRole('dialog').getByRole('option', { name: 'My questions' }).click();
    await page.getByText('View: My questions').waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ state: 'attention', archived: 'all' });

    await page.getByRole('button', { name: 'Rename view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Open questions');
    await page.keyboard.press('Enter');
    await page.getByText('View: Open questions').waitFor();
    expect(await views.allTextContents()).toEqual([' Open questions']);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Status').selectOption('Working');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Open questions');
    await page.keyboard.press('Enter');
    await page.getByText('You already have a view with this name.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();

    await views.click();
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByText('View “Open questions” deleted.').waitFor();
    await expect.poll(() => views.count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await views.waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('applies a view of another client, whose conditions the filter bar does not have', async () => {
    const { organizationId } = await makeOrganization(all.test, 'Foreign view');
    const { token } = await makeUser(all.test, { organizationId });
    const start = (title: string, tags: string[]) => createSession(all.test, { organizationId, title, tags }, token);
    await start('Has both', ['red', 'blue']);
    await start('Has one', ['red']);
    const view = { organizationId, name: 'Both', filter: { allTags: ['red', 'blue'], isArchived: false } };
    await runMutation(all.test, 'setSavedView', 'savedView { name }', view, token);
    const { page, consoleErrors } = await all.open('/sessions', token);
    await page.getByText('Has one').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Both' }).click();
    await page.getByText('Has one').waitFor({ state: 'detached' });
    await page.getByText('Has both').waitFor();
    await page.getByText('View: Both').waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText('Has one').waitFor();
    expect(consoleErrors).toEqual([]);
  });
});
