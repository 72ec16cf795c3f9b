import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { createAutomation, recurring } from '../support/automations.ts';
import { missing, openBrowser, openSignedIn, seriousFindings, type Window } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { seedSession, use } from '../support/usage.ts';
import { makeEndpoint } from '../support/webhooks.ts';

describe.skipIf(missing !== null)('each page under Manage, and the usage', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
    const { organizationId, adminToken } = test;
    const scope = { organizationId };
    const make = (field: string, selection: string, input: object) => runMutation(test, field, selection, { ...input });
    const body = '# How\n\n1. Look at `main`\n2. Fix it\n\n| a | b |\n|---|---|\n| 1 | 2 |';
    const { playbook } = await make('createPlaybook', 'playbook { id playbookId }', {
      scope,
      title: 'Fix the build',
      macro: '!fix',
      body,
    });
    await make('createKnowledgeFolder', 'knowledgeFolder { id }', { scope, name: 'Backend' });
    const { knowledgeNote } = await make('createKnowledgeNote', 'knowledgeNote { id }', {
      scope,
      name: 'Where logs are',
      trigger: 'When something fails in production',
      body,
    });
    const { automation } = await createAutomation(
      test,
      {
        organizationId,
        name: 'Sweep',
        triggers: [recurring('FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 'Europe/Berlin')],
      },
      adminToken,
      'id automationId',
    );
    const others = [
      { name: 'Look through pull requests', trigger: { incomingWebhook: {} } },
      { name: 'Say what was done', trigger: { event: { eventType: 'session:finished' } } },
    ];
    for (const { name, trigger } of others) {
      await createAutomation(test, { organizationId, name, triggers: [trigger] }, adminToken, 'id');
    }
    await runMutation(test, 'runAutomation', 'run { status }', { automationId: automation.id });
    const hook = await makeEndpoint(test, adminToken, { organizationId, url: 'https://example.com/hook' });
    const { serviceUser } = await make('createServiceUser', 'serviceUser { id serviceUserId }', {
      name: 'Bot',
      roleId: 'org_member',
      scope,
    });
    await make('createApiKey', 'apiKey { id }', {
      kind: { serviceUser: { serviceUserId: serviceUser.serviceUserId } },
      name: 'For the pipeline',
    });
    await make('createUser', 'user { id }', {
      email: 'ada@example.com',
      name: 'Ada',
      roleId: 'org_member',
      scope,
    });
    await runMutation(test, 'createRole', 'role { id }', {
      name: 'Reader',
      scope: 'ORGANIZATION',
      permissions: ['VIEW_ORG_SESSIONS'],
    });
    await make('addAllowedTags', 'allowedTags', { organizationId, tags: ['backend', 'docs'] });
    const dayMs = 24 * 60 * 60 * 1_000;
    for (let day = 0; day < 25; day++) {
      const createdAt = new Date(Date.now() - day * dayMs);
      const playbookId = day % 3 === 0 ? playbook.playbookId.replace('playbook-', '') : undefined;
      const session = await seedSession(test, {
        organizationId,
        createdAt,
        status: day % 4 === 0 ? 'error' : 'exit',
        ...(playbookId ? { playbookId } : {}),
      });
      await use(test, session, 0.5 + ((day * 7) % 11), createdAt);
    }
    Object.assign(ids, {
      playbook: playbook.id,
      note: knowledgeNote.id,
      automation: automation.id,
      hook: hook.id,
      bot: serviceUser.id,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const at =
    (path: () => string, text: string) =>
    async ({ page }: Window) => {
      await page.goto(path());
      await page.locator('#main').getByText(text).filter({ visible: true }).first().waitFor();
    };
  const press =
    (name: string, text: string) =>
    async ({ page }: Window) => {
      await page.getByRole('button', { name }).first().click();
      await page.getByText(text).filter({ visible: true }).first().waitFor();
    };

  const pages: Readonly<Record<string, (window: Window) => Promise<unknown>>> = {
    'playbooks': at(() => '/manage/playbooks', 'Fix the build'),
    'playbook': at(() => `/manage/playbooks/${ids.playbook}`, 'Instructions'),
    'playbook-preview': async ({ page }) => {
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.locator('.preview table').waitFor();
    },
    'knowledge': at(() => '/manage/knowledge', 'Where logs are'),
    'folder': press('New folder', 'Description'),
    'note': at(() => `/manage/knowledge/${ids.note}`, 'Pinned repository'),
    'automations': at(() => '/manage/automations', 'Sweep'),
    'automation': at(() => `/manage/automations/${ids.automation}`, 'Next runs'),
    'automation-form': press('Edit', 'Prompt'),
    'webhooks': at(() => '/manage/webhooks', 'https://example.com/hook'),
    'webhook-form': press('New webhook', 'Event types'),
    'webhook': at(() => `/manage/webhooks/${ids.hook}`, 'No deliveries'),
    'members': at(() => '/manage/members', 'Ada'),
    'users': at(() => '/manage/users', 'Ada'),
    'user-form': async ({ page }) => {
      await page.getByRole('button', { name: 'New user' }).click();
      await page.getByLabel('Email').waitFor();
    },
    'user': async ({ page }) => {
      await page.goto('/manage/users');
      await page.getByRole('link', { name: 'Ada' }).click();
      await page.getByText('ada@example.com').waitFor();
    },
    'user-role': async ({ page }) => {
      await page.getByRole('button', { name: 'Add to organization' }).click();
      await page.getByRole('dialog').getByRole('combobox', { name: 'Organization' }).click();
      await page.getByRole('listbox').getByRole('option').first().waitFor();
    },
    'organizations': at(() => '/manage/organizations', 'No limit'),
    'organization-form': async ({ page }) => {
      await page.getByRole('button', { name: 'New organization' }).click();
      await page.getByLabel('Name').waitFor();
    },
    'organization-delete': async ({ page }) => {
      await page.goto('/manage/organizations');
      await page
        .getByRole('button', { name: /^Delete/ })
        .first()
        .click();
      await page.getByText('This can’t be undone').waitFor();
    },
    'roles': at(() => '/manage/roles', 'Reader'),
    'role-form': press('New role', 'Permissions'),
    'service-users': at(() => '/manage/service-users', 'For the pipeline'),
    'service-user': at(() => `/manage/service-users/${ids.bot}`, 'For the pipeline'),
    'organization': at(() => '/manage/organization', 'Sessions can have only these tags.'),
    'enterprise': at(() => '/manage/enterprise', 'IP addresses and ranges'),
    'agents': at(() => '/manage/agents', 'Claude Code'),
    'git': at(() => '/manage/git', 'No Git providers yet'),
    'git-form': press('Add Git provider', 'Private key'),
    'model-keys': at(() => '/manage/model-keys', 'No enterprise keys'),
    'getting-started': at(() => '/manage/getting-started', 'Install an agent'),
    'audit-log': async ({ page }) => {
      await page.goto('/manage/audit-log');
      await page.getByRole('cell', { name: /Create playbook/ }).waitFor();
    },
    'audit-log-who': async ({ page }) => {
      await page.getByRole('combobox', { name: 'Actor' }).click();
      await page.getByRole('listbox').getByRole('option').nth(1).waitFor();
    },
    'legacy-api': at(() => '/manage/legacy-api', 'No calls'),
    'usage': at(() => '/usage', 'ACUs by playbook'),
    'usage-enterprise': async ({ page }) => {
      await page.getByLabel('Scope', { exact: true }).selectOption('enterprise');
      await page.getByText('ACUs by organization').first().waitFor();
    },
  };

  // Each width in one theme: accessible.test.ts has what all pages share in each theme at each width.
  const shapes = [
    { width: 1_280, theme: 'light' },
    { width: 390, theme: 'dark' },
  ] as const;
  for (const { width, theme } of shapes) {
    it(`has no accessibility violation, ${width} wide, in the ${theme} theme`, async () => {
      const window = await openSignedIn(browser, test, test.adminToken, { width, theme });
      const wrong: Record<string, unknown> = {};
      for (const [name, open] of Object.entries(pages)) {
        await open(window);
        await window.picture(name);
        const findings = await seriousFindings(window.page);
        if (findings.length > 0) wrong[name] = findings;
        const overflow = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) wrong[`${name}, too wide`] = overflow;
      }
      expect(wrong).toEqual({});
      expect(window.consoleErrors).toEqual([]);
      expect(window.foreign).toEqual([]);
      await window.page.context().close();
    });
  }
});
