import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings, type WindowOptions } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

/** More than one page of any list. */
const many = Array.from({ length: 150 }, (_, index) => String(index + 1).padStart(3, '0'));

/** Allows for other load on the machine. */
const soon = { timeout: 60_000 };

describe.skipIf(missing !== null)('selecting one of many', { timeout: 240_000 }, () => {
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

  const makeEach = async (field: string, selection: string, inputOf: (number: string) => object) => {
    // Ten at once: the order of concurrent creations does not matter here.
    for (let from = 0; from < many.length; from += 10) {
      const made = await Promise.all(
        many.slice(from, from + 10).map((number) => runMutation(test, field, selection, { ...inputOf(number) })),
      );
      for (const { userErrors } of made) expect(userErrors).toEqual([]);
    }
  };
  /** The last one is the newest; returns their ids in order. */
  const makePlaybooks = async (organizationId: string): Promise<Record<string, string>> => {
    const rows = await test.app.services.store.query<{ number: string; id: string }>(
      `insert into playbook (id, enterprise_id, organization_id, title, body, created_at, updated_at)
       select md5(o.id || i.number), o.enterprise_id, o.id, 'Playbook ' || i.number, 'Do it.', t.made, t.made
         from organization o, unnest($2::text[]) with ordinality i(number, place),
              lateral (select $3::timestamptz + i.place * interval '1 second' as made) t
        where o.id = $1 returning id, right(title, 3) "number"`,
      [parseId('organization', organizationId), many, new Date(Date.now() - 3_600_000)],
    );
    return Object.fromEntries(rows.map(({ number, id }) => [number, `playbook-${id}`]));
  };
  const open = (token: string, path: string, options: WindowOptions = {}) =>
    openSignedIn(browser, test, token, { ...options, at: path });
  const picker = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true });
  const options = (page: Page) => page.getByRole('listbox').getByRole('option');

  it('finds a playbook of the second page by typing, keeps it in the address, and shows its name when that is opened', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Many playbooks');
    const ids = await makePlaybooks(organizationId);
    await createSession(test, { organizationId, title: 'By the third', playbookId: ids['003'] }, token);
    await createSession(test, { organizationId, title: 'By the last', playbookId: ids['150'] }, token);
    const { page, consoleErrors: pageErrors, picture } = await open(token, '/sessions');
    await page.getByRole('link', { name: 'By the last' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await picker(page, 'Playbook').click();
    await options(page).nth(50).waitFor();
    await picture('picker');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.type('BOOK 003');
    await expect.poll(() => options(page).allTextContents(), soon).toEqual(['Playbook 003']);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'By the last' }).waitFor({ state: 'detached' });
    expect(await page.locator('.sessions a').allTextContents()).toEqual(['By the third']);
    expect(new URL(page.url()).searchParams.get('playbook')).toBe(ids['003']);
    await page.reload();
    await expect.poll(() => picker(page, 'Playbook').inputValue(), soon).toBe('Playbook 003');
    await picker(page, 'Playbook').click();
    await page.getByRole('option', { name: 'Any playbook' }).click();
    await page.getByRole('link', { name: 'By the last' }).waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('reaches the end of a list by keys, page after page; Escape closes the list and not the dialog around it', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Keys');
    await makePlaybooks(organizationId);
    const { page, consoleErrors: pageErrors } = await open(token, '/sessions');
    await page.getByRole('button', { name: 'New session' }).first().click();
    const field = picker(page.getByRole('dialog') as unknown as Page, 'Playbook');
    await field.focus();
    expect(await field.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Playbook' }).first().waitFor();
    expect(await field.getAttribute('aria-expanded')).toBe('true');
    const active = () =>
      field.evaluate((input) => {
        const id = input.getAttribute('aria-activedescendant');
        const option = id === null ? null : document.getElementById(id);
        return { text: option?.textContent, position: Number(option?.getAttribute('aria-posinset')) };
      });
    expect(await active()).toEqual({ text: 'None', position: 1 });
    await expect
      .poll(async () => {
        await page.keyboard.press('PageDown');
        return (await active()).position;
      }, soon)
      .toBe(151);
    expect(await options(page).count()).toBe(151);
    expect(await options(page).last().getAttribute('aria-setsize')).toBe('151');
    expect(await options(page).last().isVisible()).toBe(true);
    expect(new Set(await options(page).allTextContents()).size).toBe(151);
    await page.keyboard.press('Escape');
    expect(await field.getAttribute('aria-expanded')).toBe('false');
    expect(await field.inputValue()).toBe('None');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.type('no such');
    await page.getByText('No matches').first().waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('None');
    await field.focus();
    await page.keyboard.type('077');
    await page.getByRole('option', { name: 'Playbook 077' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('Playbook 077');
    await page.getByLabel('Prompt').fill('Do it.');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Playbook 077').first().waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('loads more when the list is scrolled by touch, and finds creators of sessions and tags', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Many people');
    await makeEach('createUser', 'user { id }', (number) => ({
      scope: { organizationId },
      email: `one-${number}@many.example.com`,
      name: `Somebody ${number}`,
      roleId: 'org_member',
    }));
    await runMutation(test, 'addAllowedTags', 'allowedTags', {
      organizationId,
      tags: many.map((each) => `tag-${each}`),
    });
    await createSession(test, { organizationId, title: 'Tagged', tags: ['tag-140'] }, token);
    await createSession(test, { organizationId, title: 'Tagged otherwise', tags: ['tag-001'] }, token);
    const { page, consoleErrors: pageErrors } = await open(test.adminToken, '/sessions', { width: 390 });
    await page.evaluate((id) => localStorage.setItem('switchyard:organization', id), organizationId);
    await page.reload();
    await page.getByRole('link', { name: 'Tagged otherwise' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await picker(page, 'Started by').click();
    await options(page).nth(90).waitFor();
    expect(await options(page).count()).toBeLessThan(110);
    await page.getByRole('listbox').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    // By anyone, by me, and all.
    await expect.poll(() => options(page).count(), soon).toBe(152);
    await page.keyboard.type('one-009@');
    await expect.poll(() => options(page).allTextContents(), soon).toEqual(['Somebody 009one-009@many.example.com']);
    await options(page).first().click();
    await page.getByText('No matching sessions').first().waitFor();
    await page.getByRole('button', { name: 'Clear' }).first().click();
    await picker(page, 'Tag').click();
    await page.keyboard.type('140');
    // Enter waits until the tags are read.
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Tagged otherwise' }).waitFor({ state: 'detached' });
    // The list is empty while it loads.
    await expect.poll(() => page.locator('.sessions a').allTextContents(), soon).toEqual(['Tagged']);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('finds an organization beyond the first hundred, and stays in it', async () => {
    await makeEach('createOrganization', 'organization { id }', (number) => ({ name: `Organization ${number}` }));
    const { page, consoleErrors: pageErrors } = await open(test.adminToken, '/sessions');
    const choice = picker(page, 'Organization');
    await choice.click();
    await page.keyboard.type('organization 002');
    await page.getByRole('option', { name: 'Organization 002' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => choice.inputValue(), soon).toBe('Organization 002');
    await page.getByText('No sessions yet').waitFor();
    await page.reload();
    await expect.poll(() => choice.inputValue(), soon).toBe('Organization 002');
    await page.goto('/manage/organization');
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue(), soon).toBe('Organization 002');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('puts a note into a folder beyond the first hundred, and a folder into another', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Many folders');
    await makeEach('createKnowledgeFolder', 'knowledgeFolder { id }', (number) => ({
      scope: { organizationId },
      name: `Folder ${number}`,
    }));
    const { page, consoleErrors: pageErrors } = await open(token, '/manage/knowledge/new');
    await page.getByLabel('Name').fill('Where logs are');
    await page.getByLabel('Trigger').fill('When something fails');
    await page.getByLabel('Text', { exact: true }).fill('In /var/log.');
    await picker(page, 'Folder').click();
    await page.keyboard.type('012');
    await page.getByRole('option', { name: 'Folder 012' }).click();
    await page.getByRole('button', { name: 'Create note' }).click();
    await page.getByText('in Folder 012').waitFor();
    await page.getByRole('link', { name: 'Where logs are' }).click();
    await expect.poll(() => picker(page, 'Folder').inputValue(), soon).toBe('Folder 012');
    await page.goto('/manage/knowledge');
    await page.getByRole('button', { name: 'Folder 150', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Folder 150' }).click();
    await picker(page, 'Parent folder').click();
    await page.keyboard.type('150');
    await page.getByText('No matches').first().waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('older 001');
    await page.getByRole('option', { name: 'Folder 001' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Folder 150', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Folder 150' }).click();
    expect(await picker(page, 'Parent folder').inputValue()).toBe('Folder 001');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
