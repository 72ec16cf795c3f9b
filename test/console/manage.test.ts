import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, pick } from '../support/console-browser.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('managing an organization in the console', { timeout: 240_000 }, () => {
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

  const open = async (path: string) => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: path });
    return window;
  };
  const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
  /** The values that a dialog shows once, read after it was closed again. */
  const takeSecret = async (page: Page, label: string): Promise<string> => {
    const text = await page.getByRole('dialog').locator('code').first().textContent();
    expect(await page.getByRole('dialog').getByText(label, { exact: true }).count()).toBe(1);
    await inDialog(page, 'I’ve saved it').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The page continues: its content may be hidden for a moment while the next part loads.
    await expect.poll(() => page.content()).not.toContain(text);
    return text ?? '';
  };

  it('a playbook can be created, shown, changed and deleted', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/playbooks');
    await page.getByRole('button', { name: 'New playbook' }).first().click();
    await page.getByLabel('Title').fill('Fix the build');
    await page.getByLabel('Macro').fill('no macro');
    await page.getByLabel('Instructions', { exact: true }).fill('Do **this** first.');
    await page.getByRole('button', { name: 'Preview' }).click();
    expect(await page.locator('.preview strong').textContent()).toBe('this');
    await page.getByRole('button', { name: 'Create playbook' }).click();
    await page.getByLabel('Structured output schema').fill('{"type": ');
    await page.getByRole('button', { name: 'Create playbook' }).click();
    await page.getByText('This is not valid JSON').waitFor();
    await page.getByText('This must be “!” followed by letters').waitFor();
    await page.getByLabel('Macro').fill('!fix');
    await page.getByLabel('Structured output schema').fill('{"type": "object"}');
    await page.getByRole('button', { name: 'Create playbook' }).click();
    await page.getByRole('link', { name: 'Fix the build' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByLabel('Title').fill('Fix it');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Fix it' }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: '!fix' }).waitFor();
    await page.getByRole('button', { name: 'Delete Fix it' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByText('No playbooks yet').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a note can be put into a folder, found, disabled and deleted, and so can the folder', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/knowledge');
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name').fill('Backend');
    await inDialog(page, 'Create folder').click();
    await page.getByRole('button', { name: 'Backend', exact: true }).click();
    await page.getByRole('button', { name: 'New note' }).first().click();
    await page.getByLabel('Name').fill('Where logs are');
    await page.getByLabel('Trigger').fill('When something fails');
    await page.getByLabel('Text', { exact: true }).fill('In /var/log.');
    await page.getByRole('button', { name: 'Create note' }).click();
    await page.getByText('in Backend').waitFor();
    await page.getByLabel('Search').fill('nothing like that');
    await page.getByText('No matches').waitFor();
    await page.getByLabel('Search').fill('VAR/LOG');
    await page.getByRole('link', { name: 'Where logs are' }).waitFor();
    await page.getByRole('button', { name: 'Disable Where logs are' }).click();
    await page.getByText('Disabled').waitFor();
    await page.reload();
    await page.getByText('Disabled').waitFor();
    await page.getByRole('link', { name: 'Where logs are' }).click();
    await page.getByLabel('Name').fill('Logs');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Delete Logs' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByText('No notes yet').waitFor();
    await page.getByRole('button', { name: 'Backend', exact: true }).click();
    await page.getByRole('button', { name: 'Delete Backend' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByRole('button', { name: 'Backend', exact: true }).waitFor({ state: 'detached' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('an automation can be created with its next three occurrences, disabled, run, changed and deleted', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/automations/new');
    await page.getByLabel('Name').fill('Sweep');
    await pick(page, 'Time zone', 'UTC');
    await page.getByLabel('Frequency').selectOption('Daily');
    await page.getByLabel('Time', { exact: true }).fill('07:30');
    const times = page.locator('.times time');
    await page.getByText('Every day at 7:30 AM (UTC)', { exact: true }).waitFor();
    await expect
      .poll(async () => (await times.allTextContents()).filter((time) => time.includes('7:30')).length)
      .toBe(3);
    await page.getByLabel('Frequency').selectOption('Custom rule');
    await page.getByLabel('Rule', { exact: true }).fill('FREQ=MINUTELY');
    await page.getByText('more often than every 15 minutes').waitFor();
    await page.getByLabel('Frequency').selectOption('Weekly');
    await page.getByLabel('Tuesday').uncheck();
    await page.getByText('Every Monday, Wednesday, Thursday, and Friday at 7:30 AM (UTC)').waitFor();
    for (const day of ['Monday', 'Wednesday', 'Thursday', 'Friday']) await page.getByLabel(day).uncheck();
    await page.getByText('Select at least one day.').waitFor();
    await page.getByLabel('Prompt').fill('Sweep the floor.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('alert').getByText('Select at least one day.').waitFor();
    for (const day of ['Monday', 'Wednesday', 'Thursday', 'Friday']) await page.getByLabel(day).check();
    await page.getByText('Every Monday, Wednesday, Thursday, and Friday at 7:30 AM (UTC)').waitFor();
    await page.getByText('Session options', { exact: true }).click();
    await page.getByLabel('Tags').fill('floor');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Next runs' }).waitFor();
    expect(await times.count()).toBe(5);
    await page.getByRole('button', { name: 'Disable Sweep' }).click();
    await page.getByText('Disabled Sweep.').waitFor();
    await page.getByRole('heading', { name: 'Next runs' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Enable Sweep' }).click();
    await page.getByRole('heading', { name: 'Next runs' }).waitFor();
    await page.getByRole('button', { name: 'Run now: Sweep' }).click();
    await page.getByRole('cell', { name: 'started' }).waitFor();
    await page.getByRole('link', { name: 'View session' }).waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await page.getByLabel('Tags').inputValue()).toBe('floor');
    expect(await page.getByLabel('Tuesday').isChecked()).toBe(false);
    await page.getByLabel('Name').fill('Sweep well');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Sweep well' }).waitFor();
    await page.getByRole('button', { name: 'Delete Sweep well' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByText('No automations yet').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('the URL of an incoming webhook can be copied, and its secret once', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/automations/new');
    await page.getByLabel('Name').fill('Fix the build');
    await page.getByLabel('Trigger', { exact: true }).selectOption('webhook:incoming');
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Field').fill('body.state');
    await page.getByLabel('Operator').selectOption('EQ');
    await page.getByLabel('Value', { exact: true }).fill('broken');
    await page.getByLabel('Prompt').fill('Fix it.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('dialog').waitFor();
    const first = await takeSecret(page, 'Secret');
    expect(first.length).toBeGreaterThan(20);
    await page.getByText('Webhook URL').waitFor();
    expect(await page.locator('.copy-line code').textContent()).toContain(test.url);
    await page.getByText('body.state is "broken"').waitFor();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await inDialog(page, 'Rotate').click();
    await page.getByRole('dialog').getByText('Save it now').waitFor();
    expect(await takeSecret(page, 'Secret')).not.toBe(first);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a webhook can be created with a secret shown once, tested, changed and deleted', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('URL').fill('http://127.0.0.1/hook');
    await inDialog(page, 'Create webhook').click();
    // In the page's words: neither the API's name of the field nor a setting of the service.
    const refused = (await page.getByRole('dialog').getByRole('alert').textContent()) ?? '';
    expect(refused).toBe('Enter a URL that starts with https://.');
    await page.getByLabel('URL').fill('https://hooks.example.com/switchyard');
    await page.getByLabel('Session messages', { exact: true }).uncheck();
    await inDialog(page, 'Create webhook').click();
    await page.getByRole('dialog').getByText('Save it now').waitFor();
    await takeSecret(page, 'Secret');
    await page.getByRole('cell', { name: /^Session status changes, Pull request opened,/ }).waitFor();
    await page.getByRole('link', { name: 'https://hooks.example.com/switchyard' }).click();
    await page.getByText('No deliveries').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('cell', { name: 'Pending' }).waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('link', { name: 'All webhooks' }).click();
    await page.getByRole('cell', { name: 'Disabled' }).waitFor();
    await page.getByRole('button', { name: 'Edit https' }).click();
    await inDialog(page, 'Save').click();
    await page.getByRole('button', { name: 'Delete https' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByText('No webhooks yet').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a member can be added, get another role, and be removed', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/members');
    await page.getByRole('button', { name: 'Add member' }).first().click();
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Name').fill('Ada');
    for (const name of ['Add member', 'I’ve saved it']) await inDialog(page, name).click();
    const row = page.getByRole('row', { name: /Ada/ });
    await row.getByText('Member').waitFor();
    await page.getByRole('button', { name: 'Edit Ada' }).click();
    await pick(page, 'Role', 'Admin');
    await inDialog(page, 'Save').click();
    await row.getByText('Admin').waitFor();
    await page.getByRole('button', { name: 'Remove Ada' }).click();
    await inDialog(page, 'Remove').click();
    await row.waitFor({ state: 'detached' });
    // They are still users of the enterprise, and only get a role again.
    await page.getByRole('button', { name: 'Add member' }).first().click();
    await page.getByLabel('Email').fill('ADA@example.com');
    await pick(page, 'Role', 'Admin');
    await inDialog(page, 'Add member').click();
    await row.getByText('Admin').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a role can be created from permissions, changed and deleted', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/roles');
    await page.getByRole('button', { name: 'New role' }).first().click();
    await page.getByLabel('Name').fill('Reader');
    await page.getByLabel('View sessions').check();
    await inDialog(page, 'Create role').click();
    const row = page.getByRole('row', { name: /Reader/ });
    await row.getByText('1 permission').waitFor();
    await page.getByRole('button', { name: 'Edit Reader' }).click();
    await page.getByLabel('View automations').check();
    await inDialog(page, 'Save').click();
    await row.getByText('2 permissions').waitFor();
    await page.getByRole('button', { name: 'Delete Reader' }).click();
    await inDialog(page, 'Delete').click();
    await row.waitFor({ state: 'detached' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('a service user can be created, and its key is shown once, rotated and revoked', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/service-users');
    await page.getByRole('button', { name: 'New service user' }).first().click();
    await page.getByLabel('Name').fill('Pipeline');
    await inDialog(page, 'Create service user').click();
    await page.getByRole('heading', { level: 1, name: 'Pipeline' }).waitFor();
    await page.getByText('Created Pipeline. Create a key for it.').waitFor();
    await page.getByText('Member in').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('Nightly');
    await inDialog(page, 'Create key').click();
    await page.getByRole('dialog').getByText('Save it now').waitFor();
    const first = await takeSecret(page, 'Token');
    const statusOf = async (token: string) =>
      (await fetch(`${test.url}/v3/self`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await statusOf(first)).toBe(200);
    await page.getByRole('button', { name: 'Rotate Nightly' }).click();
    await inDialog(page, 'Rotate').click();
    await page.getByRole('dialog').getByText('Save it now').waitFor();
    const second = await takeSecret(page, 'Token');
    expect(await statusOf(first)).toBe(401);
    expect(await statusOf(second)).toBe(200);
    await page.getByRole('button', { name: 'Revoke Nightly' }).click();
    await inDialog(page, 'Revoke').click();
    await page.getByText('No keys yet.').waitFor();
    expect(await statusOf(second)).toBe(401);
    await page.getByRole('link', { name: 'All service users and keys' }).click();
    await page.getByRole('button', { name: 'Delete Pipeline' }).click();
    await inDialog(page, 'Delete').click();
    await page.getByRole('link', { name: 'Pipeline' }).waitFor({ state: 'detached' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('the organization has a name, limits and tags, and the enterprise limits and addresses', async () => {
    const { page, consoleErrors: pageErrors } = await open('/manage/organization');
    await page.getByLabel('ACU limit per session').fill('12');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Organization saved.').waitFor();
    await page.getByLabel('New tags').fill('backend, docs');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Sessions can have only these tags.').waitFor();
    await pick(page, 'Default tag', 'docs');
    await page.getByText('Default tag set to docs.').waitFor();
    await page.getByRole('button', { name: 'Remove backend' }).click();
    await page.getByRole('button', { name: 'Remove backend' }).waitFor({ state: 'detached' });
    await page.reload();
    expect(await page.getByLabel('ACU limit per session').inputValue()).toBe('12');
    expect(await page.getByLabel('Default tag').inputValue()).toBe('docs');
    await page.goto('/manage/enterprise');
    await page.getByLabel('Monthly ACU limit for the enterprise').fill('500');
    await page.getByRole('button', { name: 'Save limit' }).click();
    await page.getByText('Enterprise limit saved.').waitFor();
    await page
      .getByRole('button', { name: /Edit the limit of/ })
      .first()
      .click();
    await page.getByRole('dialog').getByLabel('Monthly ACU limit').fill('40');
    await inDialog(page, 'Save').click();
    await page.getByRole('cell', { name: '40', exact: true }).waitFor();
    // The service refuses a list that would lock out its sender.
    await page.getByLabel('IP addresses and ranges').fill('203.0.113.7');
    await page.getByRole('button', { name: 'Save list' }).click();
    await inDialog(page, 'Save list').click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('IP addresses and ranges').fill('127.0.0.0/8\n::1');
    await page.getByRole('button', { name: 'Save list' }).click();
    await inDialog(page, 'Save list').click();
    await page.getByText('IP access list saved.').waitFor();
    await page.getByLabel('IP addresses and ranges').fill('');
    await page.getByRole('button', { name: 'Save list' }).click();
    await inDialog(page, 'Save list').click();
    await page.getByText('All IP addresses are allowed.').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('the audit log can be filtered, and all pages exported as CSV and JSON', async () => {
    for (let n = 0; n < 120; n++) {
      const input = {
        scope: { organizationId: test.organizationId },
        title: n === 0 ? '=1+1' : `Playbook ${n}`,
        body: 'One step',
      };
      await runMutation(test, 'createPlaybook', 'playbook { id }', input);
    }
    const { page, consoleErrors: pageErrors } = await open('/manage/audit-log');
    await pick(page, 'Action', 'Create playbook');
    const cells = page.getByRole('cell', { name: /playbook/ });
    await expect.poll(() => cells.count()).toBeGreaterThanOrEqual(50);
    const exportAs = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return readFile(await download.path(), 'utf8');
    };
    const entries = JSON.parse(await exportAs('Export JSON')) as { action: string; auditLogId: string }[];
    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['CREATE_PLAYBOOK']));
    expect(entries.length).toBeGreaterThanOrEqual(120);
    expect(new Set(entries.map(({ auditLogId }) => auditLogId)).size).toBe(entries.length);
    const csv = await exportAs('Export CSV');
    expect(csv.split('\r\n')[0]).toBe(
      'auditLogId,createdAt,action,actorName,apiKeyId,address,organizationId,targetId,data',
    );
    for (const { auditLogId } of entries) expect(csv).toContain(auditLogId);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No matches').waitFor();
    await page.reload();
    await page.getByText('No matches').waitFor();
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-01-01');
    await page.getByRole('button', { name: 'Clear' }).click();
    await cells.first().waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('the audit log can be filtered by an actor, and so is its export', async () => {
    const { organizationId } = test;
    const { userId, token } = await makeUser(test, { roleId: 'org_admin' });
    await runMutation(test, 'updateUser', 'user { id }', { userId, name: 'Grace of the log' });
    await createSession(test, { organizationId, title: 'By Grace' }, token);
    const { serviceUserId, token: bot } = await makeManager(test, 'USE_SESSIONS');
    await createSession(test, { organizationId, title: 'By the bot' }, bot);
    const { page, consoleErrors: pageErrors } = await open('/manage/audit-log');
    await page.getByRole('cell', { name: 'Grace of the log' }).first().waitFor();
    await pick(page, 'Actor', 'Manager');
    const actorCells = page.locator('td[data-label="Actor"]');
    await expect.poll(async () => new Set(await actorCells.allTextContents())).toEqual(new Set(['Manager']));
    expect(new URL(page.url()).searchParams.get('by')).toBe(serviceUserId);
    await page.getByRole('combobox', { name: 'Actor' }).click();
    await page.keyboard.type('grace');
    await page.getByRole('option', { name: 'Grace of the log' }).click();
    await expect.poll(async () => new Set(await actorCells.allTextContents())).toEqual(new Set(['Grace of the log']));
    await pick(page, 'Action', 'Create session');
    await expect.poll(() => actorCells.count()).toBe(1);
    await page.reload();
    await expect.poll(() => page.getByRole('combobox', { name: 'Actor' }).inputValue()).toBe('Grace of the log');
    await expect.poll(() => actorCells.count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export JSON' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    const entries = JSON.parse(text) as Record<'action' | 'actorName', string>[];
    expect(entries.map(({ action, actorName }) => [action, actorName])).toEqual([
      ['CREATE_SESSION', 'Grace of the log'],
    ]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
