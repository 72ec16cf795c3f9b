import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';

/** The number of fields that begin at different distances from the left: the columns of a form. */
const columnsOf = async (fields: Locator) =>
  new Set(
    await fields
      .locator('> .field')
      .evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().left))),
  ).size;

const isMarked = (page: Page, label: string) =>
  page
    .getByRole('dialog')
    .locator('label', { hasText: label })
    .first()
    .evaluate((element) => getComputedStyle(element, '::after').content.includes('*'));

describe.skipIf(missing !== null)('the forms of the console', { timeout: 240_000 }, () => {
  const service = useConsole();

  it('have at most two columns in a wide window, and one on a phone', async () => {
    const window = await service.open('/manage/knowledge/new');
    const { page } = window;
    await page.setViewportSize({ width: 1_600, height: 900 });
    const trigger = page.getByLabel('Trigger');
    await trigger.waitFor();
    expect(await columnsOf(page.locator('.fields').filter({ has: trigger }))).toBe(2);
    // The example is not cut off.
    expect(await trigger.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    await page.getByRole('button', { name: 'Create note' }).waitFor();
    await window.pictures('note-form');

    await page.goto(`${service.test.url}/manage/organization`);
    const limits = page.getByRole('group', { name: 'Limits' });
    await limits.getByLabel('Monthly ACU limit').waitFor();
    await page.setViewportSize({ width: 1_600, height: 900 });
    expect(await columnsOf(limits.locator('.fields'))).toBe(2);
    expect(await limits.getByLabel('Name', { exact: true }).count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await columnsOf(limits.locator('.fields'))).toBe(1);
    await window.pictures('organization-form');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('mark what is required, and name what their buttons create', async () => {
    const { page } = await service.open('/manage/legal-holds');
    await page.getByRole('button', { name: 'New hold' }).click();
    expect([await isMarked(page, 'Session'), await isMarked(page, 'Reason')]).toEqual([true, true]);
    await page.getByRole('dialog').getByLabel('What to keep').selectOption('An organization');
    expect(await isMarked(page, 'Organization')).toBe(true);
    await page.goto(`${service.test.url}/manage/groups`);
    await page.getByRole('button', { name: 'Register groups' }).click();
    expect(await isMarked(page, 'Group names')).toBe(true);
    for (const [at, opener, submit] of [
      ['users', 'New user', 'Create user'],
      ['organizations', 'New organization', 'Create organization'],
      ['members', 'Add member', 'Add member'],
      ['roles', 'New role', 'Create role'],
      ['webhooks', 'New webhook', 'Create webhook'],
      ['secrets', 'New secret', 'Create secret'],
    ] as const) {
      await page.goto(`${service.test.url}/manage/${at}`);
      await page.getByRole('button', { name: opener }).first().click();
      await page.getByRole('dialog').getByRole('button', { name: submit, exact: true }).waitFor();
    }
  });

  it('offer no options of an automation that the service ignores, unless they are stored', async () => {
    const { page } = await service.open('/manage/automations/new');
    await page.getByText('Session options', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Playbook' }).waitFor();
    expect(await page.getByText('Other session options').count()).toBe(0);
  });
});
