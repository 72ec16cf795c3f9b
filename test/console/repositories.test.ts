import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { connectForge } from '../support/connected-forge.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('repositories of sessions in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let team: Awaited<ReturnType<typeof makeOrganization>>;
  beforeAll(async () => {
    test = await startApp({ roles: ['api'] });
    browser = await openBrowser();
    team = await makeOrganization(test, 'Repository team');
    await connectForge(test, [team.organizationId]);
    const input = { prompt: 'Look', title: 'In the site', repositories: [{ repository: 'acme/site' }] };
    await runMutation(test, 'createSession', 'session { id }', input, team.token);
    // As if a worker had cloned it.
    const { store, now } = test.app.services;
    await store.prisma.repository.updateMany({ data: { readAt: now() } });
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  const picker = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true });
  const options = (page: Page) => page.getByRole('listbox').getByRole('option');
  const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  it('are chosen for a new session, from the used ones or by name, with base and branch', async () => {
    const window = await openSignedIn(browser, test, team.token, { at: '/sessions?new=yes' });
    const { page } = window;
    await page.getByLabel('Prompt').fill('Fix the login');
    await picker(page, 'Repositories').fill('site');
    await options(page).filter({ hasText: 'git.test' }).waitFor();
    await page.keyboard.press('Enter');
    const chosen = page.getByRole('list', { name: 'Repositories: chosen' }).getByRole('listitem');
    await chosen.filter({ hasText: 'git.test/acme/site' }).waitFor();
    for (const name of ['acme/docs', 'ACME/docs.git', 'nobody/none']) {
      await picker(page, 'Repositories').fill(name);
      await options(page)
        .filter({ hasText: `Use ${name}` })
        .waitFor();
      await page.keyboard.press('Enter');
    }
    await chosen.nth(2).waitFor();
    await picker(page, 'Repositories').fill('acme/typed');
    await page.getByLabel('Prompt').click();
    await page.getByRole('button', { name: 'Remove acme/typed' }).click();
    expect(await chosen.count()).toBe(3);
    await chosen.first().getByText('Branches', { exact: true }).click();
    await chosen.first().getByLabel('Start git.test/acme/site from').fill('--upload-pack=x');
    await chosen.first().getByLabel('Branch in git.test/acme/site').fill('words');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('new-session-repositories');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await chosen.getByRole('alert').first().waitFor();
    await window.picture('new-session-repositories-errors');
    await chosen.first().getByLabel('Start git.test/acme/site from').fill('release/2');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await chosen.nth(2).getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Remove nobody/none' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'Fix the login' }).waitFor();
    const rows = await test.app.services.store.query(
      `select path, requested_ref, branch like '%words' as words from session_repository r
         join session s on s.id = r.session_id where s.title = 'Fix the login' order by position`,
      [],
    );
    expect(rows).toEqual([
      { 'path': 'acme/site', 'requested_ref': 'release/2', 'words': true },
      { 'path': 'acme/docs', 'requested_ref': null, 'words': false },
    ]);
    expect(window.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('are added by the click that starts the session, although the dialog grows', async () => {
    const { page } = await openSignedIn(browser, test, team.token, { at: '/sessions?new=yes' });
    await page.getByLabel('Prompt').fill('Typed and started');
    await picker(page, 'Repositories').fill('acme/docs');
    await options(page)
      .filter({ hasText: /Use .+/ })
      .waitFor();
    const start = page.getByRole('button', { name: 'Start', exact: true });
    const { x, y, width, height } = (await start.boundingBox()) ?? expect.fail('Start has no place.');
    await page.mouse.move(x + width / 2, y + height - 4);
    await page.mouse.down();
    expect(await start.boundingBox()).toEqual({ x, y, width, height });
    await page.mouse.up();
    await page.getByRole('heading', { name: 'Typed and started' }).waitFor();
    const rows = await test.app.services.store.query(
      `select path from session_repository r join session s on s.id = r.session_id where s.title = 'Typed and started'`,
      [],
    );
    expect(rows).toEqual([{ path: 'acme/docs' }]);
    await page.context().close();
  });

  it('have defaults in an organization, which a new session shows and can leave out', async () => {
    const other = await makeOrganization(test, 'With defaults');
    await connectPermitted(other.organizationId);
    const admin = await openSignedIn(browser, test, test.adminToken, { at: '/sessions', width: 375 });
    const { page } = admin;
    await page.getByRole('button', { name: 'Menu' }).click();
    await picker(page, 'Organization').click();
    await options(page).filter({ hasText: 'With defaults' }).click();
    await page.goto('/manage/organization');
    await picker(page, 'Default repositories').fill('acme/../site');
    await options(page).filter({ hasText: 'Use acme/../site' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Branch template').fill('bot/{slug}');
    await page.getByLabel('Name', { exact: true }).fill('');
    await page.getByLabel('Monthly ACU limit').fill('-5');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    // All errors are shown at once.
    await page.getByText('Name is required.').waitFor();
    await page.getByText('Enter 0 or more.').waitFor();
    await page.getByText('This must contain “{short id}”').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('With defaults');
    await page.getByLabel('Monthly ACU limit').fill('');
    await page.getByRole('button', { name: 'Remove acme/../site' }).click();
    await picker(page, 'Default repositories').fill('acme/site');
    await options(page).filter({ hasText: 'acme/site' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Branch template').fill('bot/{slug}-{short id}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Organization saved.', { exact: true }).waitFor();
    await page.getByText('git.test/acme/site', { exact: true }).waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await admin.pictures('organization-repositories');
    await page.setViewportSize({ width: 375, height: 844 });
    await page.goto('/sessions?new=yes');
    await page.getByLabel('Prompt').fill('Without any');
    await page.getByText('These are the default repositories.', { exact: false }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Remove git.test/acme/site' }).click();
    await page.getByText('The session starts without a repository.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'Without any' }).waitFor();
    expect(
      await test.app.services.store.query(
        `select path from session_repository r join session s on s.id = r.session_id where s.title = 'Without any'`,
        [],
      ),
    ).toEqual([]);
    expect(admin.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('have a page with their settings, which only an administrator can change', async () => {
    const admin = await openSignedIn(browser, test, test.adminToken, { at: '/sessions' });
    const { page } = admin;
    await picker(page, 'Organization').click();
    await options(page).filter({ hasText: 'Repository team' }).click();
    await page.getByRole('link', { name: 'Repositories', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Search' }).fill('no such path');
    await page.getByText('No matches', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('SITE');
    const link = page.getByRole('link', { name: 'acme/site', exact: true });
    await link.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await admin.pictures('repositories');
    await link.click();
    const save = page.getByRole('form', { name: 'Branches and pushes' }).getByRole('button', { name: 'Save' });
    await page.getByLabel('Branch template').fill('bot/{slug}');
    await page.getByLabel('Create and update tags').check();
    await save.click();
    await page.getByRole('alert').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Branch template').fill('bot/{slug}-{short id}');
    await save.click();
    await page.getByText('Branch and push settings saved.', { exact: true }).waitFor();
    const { store } = test.app.services;
    expect(await store.prisma.repository.findFirst({ where: { path: 'acme/site' } })).toMatchObject({
      branchTemplate: 'bot/{slug}-{short id}',
      settings: { isPushOfTagsAllowed: true },
    });
    await page.getByLabel('Start sessions from mentions').uncheck();
    await page.getByLabel('Organization for these sessions').selectOption({ label: 'Repository team' });
    await page.getByRole('button', { name: 'Save mentions', exact: true }).click();
    await page.getByText('Mention settings saved.', { exact: true }).waitFor();
    expect(await store.prisma.repository.findFirst({ where: { path: 'acme/site' } })).toMatchObject({
      settings: { isMentionAnswered: false, mentionOrganizationId: team.organizationId.replace('org-', '') },
    });
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await admin.pictures('repository');
    const address = new URL(page.url()).pathname;
    expect(admin.consoleErrors).toEqual([]);
    await page.context().close();

    const member = await openSignedIn(browser, test, team.token, { at: address });
    await member.page.getByLabel('Create and update tags').waitFor();
    expect(await member.page.getByLabel('Create and update tags').isEnabled()).toBe(false);
    expect(await member.page.getByRole('button', { name: /^Save/ }).count()).toBe(0);
    await member.page.context().close();
    const other = await makeOrganization(test, 'Without repositories');
    const stranger = await openSignedIn(browser, test, other.token, { at: address });
    await stranger.page.getByText('Repository not found', { exact: true }).waitFor();
    await stranger.page.context().close();
  });

  it('have an environment, which is edited, tried and set up again', async () => {
    const { store, now } = test.app.services;
    const repository = await store.prisma.repository.findFirstOrThrow({ where: { path: 'acme/site' } });
    const session = await store.prisma.session.findFirstOrThrow({ where: { title: 'In the site' } });
    await store.prisma.environmentBuild.create({
      data: {
        ...{ id: 'build', organizationId: session.organizationId, repositoryId: repository.id, sessionId: session.id },
        ...{ hash: 'hash', machine: 'machine', state: 'FAILED', commit: 'c0ffee'.padEnd(40, '0') },
        ...{
          log: '$ npm ci\nnpm error: \u202Enot found',
          createdAt: now(),
          startedAt: now(),
          finishedAt: now(),
          usedAt: now(),
        },
      },
    });
    const admin = await openSignedIn(browser, test, test.adminToken, { at: '/sessions' });
    const { page } = admin;
    await picker(page, 'Organization').click();
    await options(page).filter({ hasText: 'Repository team' }).click();
    await page.getByRole('link', { name: 'Repositories', exact: true }).click();
    await page.getByRole('link', { name: 'acme/site', exact: true }).click();
    const definition = page.getByLabel('Definition (YAML)');
    const save = page.getByRole('button', { name: 'Save environment', exact: true });
    await definition.fill('setup:\n  - npm ci\nsecret: NPM_TOKEN\n');
    await save.click();
    await page.getByText(/line 3/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await definition.fill('setup:\n  - npm ci\n');
    await save.click();
    await page.getByText('Environment saved. New sessions use it.', { exact: true }).waitFor();
    expect(await store.prisma.repository.findFirst({ where: { id: repository.id } })).toMatchObject({
      environment: 'setup:\n  - npm ci\n',
    });
    await page.getByRole('row').filter({ hasText: 'Failed' }).getByRole('link', { name: 'In the site' }).waitFor();
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
    await admin.pictures('repository-environment');
    await page.getByRole('button', { name: 'Show the log of the setup at c0ffee0000' }).click();
    const log = page.getByRole('dialog', { name: 'Setup log' });
    await log.getByText('npm error', { exact: false }).waitFor();
    expect(await log.textContent()).not.toContain('\u202E');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete all results' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No setups yet.', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'In effect' }).getByText('npm ci').waitFor();
    // The text in the editor is tried, saved or not.
    await definition.fill('setup:\n  - npm ci\nsecret: NPM_TOKEN\n');
    await page.getByRole('button', { name: 'Run setup now', exact: true }).click();
    await page.getByText(/line 3/).waitFor();
    await definition.fill('setup:\n  - npm test\n');
    await page.getByRole('button', { name: 'Run setup now', exact: true }).click();
    await page.getByText('Setup started.', { exact: false }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Request' }).filter({ hasText: 'Queued' }).waitFor();
    expect(await definition.inputValue()).toBe('setup:\n  - npm test\n');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Run setup when the default branch changes').click();
    // The message about the save before may still be there.
    const saved = page.waitForResponse((response) => /"query":"mutation /.test(response.request().postData() ?? ''));
    await save.click();
    await saved;
    await page.reload();
    await expect.poll(() => definition.inputValue()).toBe('setup:\n  - npm test\n');
    expect(await page.getByLabel('Run setup when the default branch changes').isChecked()).toBe(false);
    await admin.pictures('repository-environment-tried');
    expect(admin.consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('filter the list of sessions', async () => {
    await runMutation(test, 'createSession', 'session { id }', { prompt: 'Look', title: 'In none' }, team.token);
    const { page } = await openSignedIn(browser, test, team.token, { at: '/sessions' });
    await page.getByRole('link', { name: 'In none' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await picker(page, 'Repository').click();
    await options(page).filter({ hasText: 'acme/site' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'In none' }).count()).toBe(0);
    await page.getByRole('link', { name: 'In the site' }).waitFor();
    expect(page.url()).toContain('repository=git.test');
    await page.goto('/sessions?repository=x');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'In none' }).waitFor();
    await page.context().close();
  });

  async function connectPermitted(organizationId: string): Promise<void> {
    const { enterprise } = (await runQuery('{ enterprise { gitConnections { nodes { gitConnectionId } } } }')).data;
    const { gitConnectionId } = enterprise.gitConnections.nodes[0];
    const input = { organizationId, gitConnectionId, groupPrefix: 'acme' };
    await runMutation(test, 'createGitPermission', 'gitPermission { id }', input);
  }
  const runQuery = (document: string) => graphql(test, test.adminToken, document);
});
