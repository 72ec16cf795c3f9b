import { describe, expect, it } from 'vitest';
import { missing, openSignedIn, pick, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { patchOf, scim } from '../support/scim.ts';

describe.skipIf(missing !== null)('the groups of identity providers, in the console', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('are registered, get roles, lose them and are deleted', async () => {
    const { test } = all;
    await runMutation(test, 'createOrganization', 'organization { organizationId }', { name: 'Of the group' });
    const window = await openSignedIn(all.browser, test, test.adminToken, { at: '/manage/groups' });
    const { page } = window;
    const dialog = page.getByRole('dialog');
    await page.getByText('No groups', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Register groups' }).click();
    await dialog.getByRole('button', { name: 'Register groups', exact: true }).click();
    await dialog.getByText('Enter at least one group name.').waitFor();
    await dialog.getByLabel('Group names').fill(`okta:dev\n${'x'.repeat(317)}`);
    await dialog.getByRole('button', { name: 'Register groups', exact: true }).click();
    await dialog.getByText('is too long. The limit is 316 characters.', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('groups-register');
    await dialog.getByLabel('Group names').fill('okta:dev\n\n okta:ops \nokta:dev');
    await dialog.getByRole('button', { name: 'Register groups', exact: true }).click();
    await page.getByText('2 groups registered.').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('dev');
    await page.getByRole('link', { name: 'okta:ops' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'okta:dev' }).click();
    await page.getByRole('heading', { name: 'okta:dev' }).waitFor();
    await page.getByText('This group has no roles.', { exact: false }).waitFor();
    await page.getByText('This group has no members.', { exact: false }).waitFor();

    await page.getByRole('button', { name: 'Add to organization' }).click();
    await dialog.getByRole('combobox', { name: 'Organization' }).click();
    await page.getByRole('option', { name: 'Of the group' }).click();
    await dialog.getByRole('button', { name: 'Add to organization', exact: true }).click();
    await dialog.getByText('Give the group a role on the enterprise first.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Add enterprise role' }).click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('row', { name: /Enterprise/ }).waitFor();
    await page.getByRole('button', { name: 'Add to organization' }).click();
    await dialog.getByRole('combobox', { name: 'Organization' }).click();
    await page.getByRole('option', { name: 'Of the group' }).click();
    await pick(page, 'Role', 'Admin');
    await dialog.getByRole('button', { name: 'Add to organization', exact: true }).click();
    await page.getByRole('row', { name: /Of the group.*Admin/ }).waitFor();
    await window.inThemes(async (theme) => {
      await window.picture('group');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await page.getByRole('link', { name: 'All groups' }).click();
    await page.getByRole('row', { name: /okta:dev.*Of the group \(Admin\)/ }).waitFor();
    await window.pictures('groups');
    await page.getByRole('link', { name: 'okta:dev' }).click();
    await page.getByRole('button', { name: 'Remove from Enterprise' }).click();
    await dialog.getByText('immediately lose all roles of this group', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('This group has no roles.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('link', { name: 'okta:ops' }).waitFor();
    await page.getByRole('link', { name: 'okta:dev' }).waitFor({ state: 'detached' });
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('show their members in pages', async () => {
    const { test } = all;
    const post = async (path: string, body: object) => (await scim(test, test.adminToken, 'POST', path, body)).body;
    const value: { value: string }[] = [];
    for (let n = 100; n < 152; n++) {
      const user = await post('/Users', { userName: `member-${n}@example.com`, displayName: `Member ${n}` });
      value.push({ value: user.id });
    }
    const { id } = await post('/Groups', { displayName: 'scim:crew', members: value });
    await scim(
      test,
      test.adminToken,
      'PATCH',
      `/Users/${value[0]?.value}`,
      patchOf({ op: 'replace', value: { active: false } }),
    );
    const window = await openSignedIn(all.browser, test, test.adminToken, { at: `/manage/groups/${id}` });
    const { page } = window;
    const members = page.getByRole('region', { name: 'Members' });
    await members.getByRole('row', { name: /Member 100.*Deactivated.*member-100@example\.com/ }).waitFor();
    expect(await members.getByRole('row').count()).toBe(51);
    await window.pictures('group-members');
    expect(await seriousFindings(page)).toEqual([]);
    await members.getByRole('button', { name: 'Show more' }).click();
    await members.getByRole('link', { name: 'Member 151' }).click();
    await page.getByRole('heading', { name: 'Member 151' }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are not shown to members of an organization', async () => {
    const { token } = await makeUser(all.test);
    const { page } = await openSignedIn(all.browser, all.test, token, { at: '/manage/groups' });
    await page.getByText('You can’t view groups').waitFor();
    expect(await page.getByRole('link', { name: 'Groups', exact: true }).count()).toBe(0);
    await page.context().close();
  });
});
