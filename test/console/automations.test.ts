import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { automationFields, automationOptions, createAutomation, recurring } from '../support/automations.ts';
import { missing, openBrowser, openSignedIn, pick, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUsableRepository } from '../support/repositories.ts';

const all = (...conditions: readonly [string, string, unknown?][]) => ({
  all: conditions.map(([field, operator, value = null]) => ({ field, operator: operator.toUpperCase(), value })),
});

/** Every possible option of an automation: a form that knows only the common ones would lose the others. */
const triggers = [
  recurring('RRULE:freq=weekly;BYDAY=MO;byhour=9;BYMINUTE=0;BYSECOND=0', 'Europe/Berlin'),
  recurring('BYSECOND=0;BYMINUTE=30;BYHOUR=7;FREQ=DAILY', 'UTC'),
  recurring('DTSTART:20990301T090000\nRRULE:FREQ=YEARLY;BYMONTH=1,6;BYDAY=-1FR'),
  {
    incomingWebhook: {
      replies: ['POST_RESPONSE', 'NOTIFY_THREAD'],
      conditions: {
        any: [
          all(
            ['body.count', 'eq', '5'],
            ['body.count', 'neq', 5],
            ['body.open', 'eq', true],
            ['body.open', 'neq', 'true'],
            ['body.word', 'eq', ''],
            ['body.word', 'eq', '"quoted"'],
          ),
          all(
            ['body.a', 'contains', '5'],
            ['body.a', 'gt', 2.5],
            ['body.a', 'between', [1, 5]],
            ['body.a', 'in', ['one', ' two ', '[three', 'four\nfive', '']],
            ['body.a', 'not_in', ['plain', 'words, with commas']],
            ['body.a', 'matches', '^\\d+$'],
            ['body.a', 'not_globs', ['src/**', '*.ts']],
            ['body.a', 'is_empty'],
          ),
          all(['headers.x-github-event', 'starts_with', 'pull']),
        ],
      },
    },
  },
  {
    event: {
      eventType: 'session:finished',
      conditions: { any: [all(['title', 'eq', 5], ['tags', 'contains', 'floor'])] },
    },
  },
  { event: { eventType: 'session:error', conditions: null } },
  { event: { eventType: 'pylon:ticket_made', conditions: { any: [all(['anything', 'not_contains', 'x'])] } } },
];

describe.skipIf(missing !== null)('the form of automations in the console', { timeout: 240_000 }, () => {
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

  const made = async (input: object): Promise<any> => (await createAutomation(test, { ...input })).automation;
  const read = async (id: string): Promise<any> => {
    const document = `query ($id: ID!) { node(id: $id) { ... on Automation { ${automationFields} } } }`;
    const { data } = await graphql(test, test.adminToken, document, { id });
    return data.node;
  };
  const openForm = async (id: string) => {
    const window = await openSignedIn(browser, test, test.adminToken, { at: `/manage/automations/${id}` });
    await window.page.getByRole('button', { name: 'Edit', exact: true }).click();
    return window;
  };
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  };

  const makeRich = async () => {
    const { playbook } = await runMutation(test, 'createPlaybook', 'playbook { id playbookId }', {
      scope: { organizationId: test.organizationId },
      title: 'By hand',
      body: 'Do it.',
    });
    const { session } = await runMutation(test, 'createSession', 'session { sessionId }', {
      organizationId: test.organizationId,
      prompt: 'say hi',
    });
    const automation = await made({
      name: 'Rich',
      triggers,
      actions: [
        {
          startSession: {
            prompt: 'Sweep it.\n\nWell.  ',
            session: {
              tags: ['floor', 'a, b'],
              playbookId: playbook.playbookId,
              repos: ['owner/name'],
              platform: 'linux',
              bypassApproval: false,
              notifications: { email: { when: 'ALWAYS', recipients: ['a@example.com'] } },
            },
          },
        },
        { messageSession: { prompt: 'Well?', targetSessionId: session.sessionId, autoCreate: true } },
      ],
      ...automationOptions,
    });
    return { automation, playbook, session };
  };

  it('keeps all options that a program set, with and without another change', async () => {
    const { automation, session } = await makeRich();
    const before = await read(automation.id);
    const { page, consoleErrors: pageErrors, picture } = await openForm(automation.id);
    await page.getByText('Trigger 7', { exact: true }).waitFor();
    expect(await page.getByLabel('Prompt').first().inputValue()).toBe('Sweep it.\n\nWell.  ');
    await picture('automation-rich-form');
    await save(page);
    expect(await read(automation.id)).toEqual(before);
    await picture('automation-rich');
    // Nothing was written, not even the last editor and time.
    expect((await read(automation.id)).updatedAt).toBe(before.updatedAt);
    await page.getByText('body.count is "5" and body.count is not 5').waitFor();
    await page.getByText('or', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: /say hi/ }).waitFor();

    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const trigger = page.getByRole('group', { name: 'Trigger 4' });
    await trigger.getByRole('group', { name: 'Match all conditions' }).last().getByLabel('Value').fill('push');
    await page.getByText('Concurrent, queued and missed runs').click();
    await page.getByLabel('Max concurrent sessions').fill('4');
    await page.getByRole('group', { name: 'Action 2' }).getByLabel('Prompt').fill('And now?');
    await save(page);
    const after = await read(automation.id);
    const wanted = structuredClone(before);
    wanted.triggers[3].conditions.any[2].all[0].value = 'push';
    wanted.concurrency.maxConcurrentRuns = 4;
    wanted.actions[1].prompt = 'And now?';
    const still = ({ updatedAt: _at, updatedBy: _by, ...rest }: any) => rest;
    expect(still(after)).toEqual(still(wanted));
    expect(session.sessionId).toBe(after.actions[1].targetSessionId);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows a problem beside its field, and edits options without a field as JSON', async () => {
    const { automation, playbook } = await makeRich();
    await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', { playbookId: playbook.playbookId });
    const before = await read(automation.id);
    const { page, consoleErrors: pageErrors, picture } = await openForm(automation.id);
    const problemOf = async (within: ReturnType<Page['getByRole']>, label: string) => {
      const field = within.getByLabel(label, { exact: true });
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
      const described = (await field.getAttribute('aria-describedby')) ?? '';
      return page.locator(`[id="${described.split(' ').at(-1)}"]`).textContent();
    };
    const trigger = (n: number) => page.getByRole('group', { name: `Trigger ${n}` });
    const group = trigger(4).getByRole('group', { name: 'Match all conditions' }).nth(1);
    await group.getByLabel('Value').nth(1).fill('many');
    await trigger(1).getByLabel('Frequency').selectOption('Custom rule');
    await trigger(1).getByLabel('Rule', { exact: true }).fill('FREQ=MINUTELY');
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('Other settings (JSON)').fill('{"tools": ');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await problemOf(page.getByRole('main'), 'Other settings (JSON)')).toContain('not valid JSON');
    await page.getByLabel('Other settings (JSON)').fill('{"tool": {}}');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await problemOf(page.getByRole('main'), 'Other settings (JSON)')).toContain('Unknown setting "tool"');
    await page.getByLabel('Other settings (JSON)').fill('{"metadata": {"team": "other"}}');
    await page.getByRole('button', { name: 'Save' }).click();
    await picture('automation-problems');
    await group.getByRole('alert').waitFor();
    expect(await group.getByRole('alert').textContent()).toContain('"value" of the operator gt must be a number');
    await picture('automation-problems');
    await group.getByLabel('Value').nth(1).fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await problemOf(trigger(1), 'Rule')).toContain('15 minutes');
    await trigger(1).getByLabel('Rule', { exact: true }).fill('FREQ=HOURLY');
    await page.getByRole('group', { name: 'Action 2' }).getByLabel('Prompt').fill('And now?');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await problemOf(page.getByRole('group', { name: 'Action 1' }), 'Playbook')).toContain('does not exist');
    expect(await read(automation.id)).toEqual(before);
    await page.getByLabel('Playbook').click();
    await page.getByRole('option', { name: 'None', exact: true }).click();
    await save(page);
    const after = await read(automation.id);
    expect(after).toMatchObject({ metadata: { team: 'other' }, tools: null, templateId: null });
    expect(after.actions[0]).toEqual({
      ...before.actions[0],
      session: { ...before.actions[0].session, playbook: null },
    });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows a wrong rule as an error once its field is left', async () => {
    const at = '/manage/automations/new';
    const { page, consoleErrors } = await openSignedIn(browser, test, test.adminToken, { at });
    await page.getByLabel('Frequency').selectOption('Custom rule');
    const rule = page.getByLabel('Rule', { exact: true });
    await rule.fill('FREQ=NEVER');
    const preview = page.getByRole('region', { name: 'Next runs' });
    await preview.getByRole('status').waitFor();
    expect(await preview.getByRole('alert').count()).toBe(0);
    await rule.blur();
    await preview.getByRole('alert').waitFor();
    await rule.fill('FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0');
    await page.locator('.times time').first().waitFor();
    expect(await preview.getByRole('alert').count()).toBe(0);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('has groups of triggers, and takes no empty time for midnight', async () => {
    const at = '/manage/automations/new';
    const { page, consoleErrors } = await openSignedIn(browser, test, test.adminToken, { at });
    const trigger = page.getByLabel('Trigger', { exact: true });
    await trigger.waitFor();
    const groups = trigger.locator('optgroup');
    expect(await groups.evaluateAll((all) => all.map((each) => (each as HTMLOptGroupElement).label))).toEqual([
      ...['General', 'Sessions', 'GitHub', 'GitLab', 'Gitea'],
    ]);
    const time = page.getByLabel('Time', { exact: true });
    await time.fill('');
    const preview = page.getByRole('region', { name: 'Next runs' });
    await preview.getByText('Enter a time.').waitFor();
    expect(await time.inputValue()).toBe('');
    await page.getByLabel('Name').fill('Without a time');
    await page.getByLabel('Prompt').fill('Sweep the floor.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('alert').first().waitFor();
    expect(new URL(page.url()).pathname).toBe(at);
    await time.fill('07:30');
    await preview.getByText('Weekdays at 7:30 AM', { exact: false }).waitFor();
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('shows a few fields at first, the schedule in words, and a line for what the others have', async () => {
    const at = '/manage/automations/new';
    const { page, consoleErrors, picture } = await openSignedIn(browser, test, test.adminToken, { at });
    await pick(page, 'Time zone', 'Europe/Berlin');
    await page.getByText('Weekdays at 9:00 AM (Europe/Berlin)', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.times time').count()).toBe(3);
    const visibleFields = () => page.locator('form :is(input, select, textarea):visible').count();
    expect(await visibleFields()).toBe(8);
    const group = (title: string) => page.locator('.field-group', { has: page.getByText(title, { exact: true }) });
    expect(await group('Limits').locator('summary').textContent()).toBe('Limits No limit');
    await picture('automation-form');
    await group('Limits').locator('summary').click();
    await page.getByLabel('ACU limit per session').fill('10');
    expect(await page.getByLabel('Per', { exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Max runs').fill('5');
    await page.getByLabel('Per', { exact: true }).selectOption('Day');
    await group('Limits').locator('summary').click();
    expect(await visibleFields()).toBe(8);
    expect(await group('Limits').locator('summary').textContent()).toBe('Limits 10 ACUs per session · 5 runs per day');
    await page.getByLabel('Name').fill('Limited');
    await page.getByLabel('Prompt').fill('Sweep.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Limited' }).waitFor();
    const [, , , id] = new URL(page.url()).pathname.split('/');
    expect((await read(id ?? '')).limits).toEqual({
      maxAcuLimit: 10,
      invocations: { maxPerWindow: 5, windowSeconds: 86_400 },
    });
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('fits a phone, and is accessible', async () => {
    const { automation } = await makeRich();
    for (const theme of ['light', 'dark'] as const) {
      const { page, picture } = await openSignedIn(browser, test, test.adminToken, { width: 390, theme });
      for (const [address, button, sign] of [
        [`/manage/automations/${automation.id}`, 'Edit', 'Trigger 7'],
        ['/manage/automations/new', 'Add trigger', 'Trigger 2'],
      ] as const) {
        await page.goto(address);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.getByText(sign, { exact: true }).waitFor();
        await picture(`automation-form-${button.split(' ')[0]}`);
        expect(await seriousFindings(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      }
      await page.context().close();
    }
  });

  it('adds triggers, groups of conditions and actions, and removes them', async () => {
    const { session } = await runMutation(test, 'createSession', 'session { sessionId url }', {
      organizationId: test.organizationId,
      prompt: 'say hi',
    });
    const {
      page,
      consoleErrors: pageErrors,
      picture,
    } = await openSignedIn(browser, test, test.adminToken, { at: '/manage/automations/new' });
    await page.getByLabel('Name').fill('Built');
    await page.getByLabel('Frequency').selectOption('Daily');
    await page.getByRole('button', { name: 'Add trigger' }).click();
    const trigger = (n: number) => page.getByRole('group', { name: `Trigger ${n}` });
    await trigger(2).getByLabel('Frequency').selectOption('Monthly');
    // Each shows its next three occurrences.
    await expect.poll(() => trigger(1).locator('.times time').count()).toBe(3);
    await expect.poll(() => trigger(2).locator('.times time').count()).toBe(3);
    await trigger(2).getByLabel('Trigger', { exact: true }).selectOption('session:finished');
    await trigger(2).getByRole('button', { name: 'Add condition' }).click();
    const groups = trigger(2).getByRole('group', { name: 'Match all conditions' });
    await groups.first().getByLabel('Field').fill('title');
    expect(await groups.first().getByLabel('Operator').locator('option').count()).toBe(16);
    await groups.first().getByLabel('Value').fill('5');
    await groups.first().getByRole('button', { name: 'Add condition' }).click();
    await groups.first().getByLabel('Field').nth(1).fill('acus_consumed');
    await groups.first().getByLabel('Operator').nth(1).selectOption('between');
    await groups.first().getByLabel('Value').nth(1).fill('1, 2.5');
    await trigger(2).getByRole('button', { name: 'Add alternative' }).click();
    await groups.nth(1).getByLabel('Field').fill('tags');
    await groups.nth(1).getByLabel('Operator').selectOption('IN');
    await groups.nth(1).getByLabel('Value').fill('one\ntwo');
    await groups.nth(1).getByRole('button', { name: 'Add condition' }).click();
    await groups.nth(1).getByRole('button', { name: 'Remove condition 2' }).click();
    await picture('automation-built-form');
    await page.getByRole('button', { name: 'Remove trigger 1' }).click();
    await page.getByLabel('Prompt').fill('Look at it.');
    await page.getByRole('button', { name: 'Add action' }).click();
    const second = page.getByRole('group', { name: 'Action 2' });
    await second.getByLabel('Target session').fill(session.url);
    await second.getByRole('link', { name: /say hi/ }).waitFor();
    await second.getByLabel('Prompt').fill('It has finished.');
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByText('title is "5" and acus_consumed between [1,2.5]').waitFor();
    const [, , , id] = new URL(page.url()).pathname.split('/');
    const { triggers: savedTriggers, actions } = await read(id ?? '');
    expect(savedTriggers).toMatchObject([
      {
        eventType: 'session:finished',
        conditions: {
          any: [all(['title', 'eq', '5'], ['acus_consumed', 'between', [1, 2.5]]), all(['tags', 'in', ['one', 'two']])],
        },
      },
    ]);
    expect(actions).toMatchObject([
      { __typename: 'StartSessionAction', prompt: 'Look at it.' },
      { __typename: 'MessageSessionAction', prompt: 'It has finished.', targetSessionId: session.sessionId },
    ]);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('chooses repositories, and shows a problem with one of them below it', async () => {
    await makeUsableRepository(test, test.organizationId);
    const at = '/manage/automations/new';
    const { page, consoleErrors } = await openSignedIn(browser, test, test.adminToken, { at });
    await page.getByLabel('Name').fill('In a repository');
    await page.getByLabel('Prompt').fill('Sweep.');
    const repositories = page.getByRole('combobox', { name: 'Repositories', exact: true });
    await repositories.click();
    await page.getByRole('option', { name: /^acme\// }).click();
    await repositories.fill('owner/other');
    await repositories.press('Enter');
    await page.getByRole('button', { name: 'Create automation' }).click();
    const chosen = page.getByRole('list', { name: 'Repositories: chosen' }).getByRole('listitem');
    await chosen.nth(1).getByRole('alert').getByText('owner/other', { exact: false }).waitFor();
    expect(await chosen.nth(0).getByRole('alert').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove owner/other' }).click();
    await page.getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'In a repository' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect((await read(id)).actions[0].session.repos).toEqual([expect.stringMatching(/^git\.test\/acme\//)]);
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });
});
