import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, openWindow, seriousFindings } from '../support/console-browser.ts';
import { secretCanary } from '../support/leaks.ts';
import { startProvider } from '../support/provider.ts';
import { makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the first-run page', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let agentsDir: string;
  beforeAll(async () => {
    agentsDir = await mkdtemp(join(tmpdir(), 'switchyard-programs-'));
    const [keys, npmEnv] = [{ CLINE_API_KEY: 'c' }, { 'npm_config_registry': 'http://127.0.0.1:1/' }];
    test = await startApp({
      roles: ['api', 'worker'],
      agentsConfig: null,
      // Not the programs of this machine.
      agentBaseEnv: { PATH: '/usr/bin:/bin' },
      agentsDir,
      npmEnv: { PATH: process.env.PATH ?? '', ...npmEnv },
      readVariable: (name: string) => (keys as Record<string, string>)[name],
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
    await rm(agentsDir, { recursive: true, force: true });
  });

  const step = (page: Page, name: string) => page.getByRole('region', { name });
  // Pages read the programs again when the user returns to them.
  const isShown = async (page: Page, element: Locator) => {
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    return (await element.count()) === 1;
  };
  const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

  it('leads an administrator from an installation to a first session, and then disappears', async () => {
    const window = await openWindow(browser, test);
    const { page } = window;
    await page.goto('/');
    await page.getByLabel('Token').fill(test.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Getting started', exact: true }).waitFor();
    const [agent, key, prompt] = ['Install an agent', 'Add a model key', 'Start your first session'].map((name) =>
      step(page, name),
    ) as [ReturnType<typeof step>, ReturnType<typeof step>, ReturnType<typeof step>];
    await agent.getByText('Key: Server configuration', { exact: true }).waitFor();
    expect(await page.locator('[aria-current="step"] h2').textContent()).toBe('Install an agent');
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    await window.picture('first-run');

    // Without a registry: the reason is shown.
    await agent.getByRole('button', { name: 'Install opencode' }).click();
    await agent.getByText('opencode: The registry cannot be reached', { exact: false }).waitFor();
    // The progress is the service's: another browser, or this one after a reload, shows the same.
    await report('opencode', 'install', 'Downloading: 31 of about 58 MB', 53);
    const phone = await openSignedIn(browser, test, test.adminToken, {
      at: '/manage/agents',
      width: 375,
      theme: 'dark',
    });
    await page.reload();
    for (const each of [page, phone.page]) {
      await each.getByText('Downloading: 31 of about 58 MB', { exact: true }).waitFor();
      const bar = each.getByRole('progressbar', { name: 'Installation of opencode' });
      expect(await bar.getAttribute('aria-valuenow')).toBe('53');
    }
    expect(await seriousFindings(phone.page)).toEqual([]);
    expect(await fits(phone.page)).toBe(true);
    await phone.picture('agents');
    await report('opencode', null, null, null);
    await install('opencode', 'opencode');
    await expect.poll(() => isShown(page, agent.locator('.step-result'))).toBe(true);
    await key.getByText('You won’t be able to view the key again.', { exact: false }).waitFor();
    await phone.page.getByText('Installed by Switchyard', { exact: true }).waitFor();
    await phone.page.context().close();

    // A key that fails its test is saved, but the step is not done. It can be replaced, also after a reload.
    const refusing = await startProvider({ status: 401, body: '{}' });
    await key.getByLabel('Provider').selectOption({ label: 'OpenAI-compatible server' });
    await key.getByLabel('Base URL').fill('http//127.0.0.1:9/v1');
    await key.getByRole('button', { name: 'Save key' }).click();
    await key.getByText('Enter an address that starts with https:// or http://', { exact: false }).waitFor();
    await key.getByLabel('Base URL').fill(`${refusing.url}/v1`);
    await key.getByLabel('Key', { exact: true }).fill(`sk-${secretCanary}-wrong`);
    await key.getByRole('button', { name: 'Save key' }).click();
    await key.getByRole('status').getByText('The provider refuses the key', { exact: false }).waitFor();
    await key.getByRole('button', { name: 'Use anyway' }).waitFor();
    await key.getByRole('button', { name: 'Replace key', exact: true }).waitFor();
    await page.reload();
    await key.getByText('The provider refuses the key', { exact: false }).waitFor();
    expect(await page.locator('.step.done').count()).toBe(1);
    await window.picture('first-run-refused');
    // The checklist of the home page has the same state.
    const home = await openSignedIn(browser, test, test.adminToken, { at: '/' });
    await home.page.getByRole('button', { name: 'Skip' }).click();
    await home.page.getByRole('link', { name: 'Home', exact: true }).click();
    const list = home.page.getByRole('region', { name: 'Set up Switchyard' });
    await list.getByText('Install an agent: done').waitFor();
    await list.getByRole('link', { name: 'Add a model key' }).waitFor();
    await home.page.context().close();
    await key.getByRole('button', { name: 'Replace key', exact: false }).click();

    const provider = await startProvider({ body: JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }] }) });
    await key.getByLabel('Base URL').fill(`${provider.url}/v1`);
    await key.getByLabel('Key', { exact: true }).fill(`sk-${secretCanary}-first`);
    await key.getByRole('button', { name: 'Replace key', exact: true }).click();
    await key.getByText('opencode: Enterprise’s key', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Start your first session');
    expect(await page.content()).not.toContain(secretCanary);

    await prompt.getByRole('button', { name: /A report from data/ }).click();
    expect(await prompt.getByLabel('Prompt').inputValue()).toContain('report.md');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('first-run-prompt');
    await prompt.getByRole('button', { name: 'Start session' }).click();
    await page.getByRole('log').getByText('Create sales.csv', { exact: false }).waitFor();
    await page.goto('/');
    await page.getByRole('heading', { name: 'What should the agent do?', exact: true }).waitFor();
    // Another browser does not show it either: there are an agent and a session.
    const other = await openSignedIn(browser, test, test.adminToken, { at: '/' });
    await other.page.getByRole('heading', { name: 'What should the agent do?', exact: true }).waitFor();
    await other.page.getByRole('link', { name: 'Settings', exact: true }).click();
    await other.page.getByRole('link', { name: 'Getting started', exact: true }).click();
    await other.page.getByText('Everything is ready.', { exact: false }).waitFor();
    // A program and a key in the environment need no step.
    await install('cline', 'cline');
    const cline = step(other.page, 'Add a model key').getByText('Cline: Server configuration', {
      exact: true,
    });
    await expect.poll(() => isShown(other.page, cline)).toBe(true);
    // The agent has not started, so its models are those of its key.
    await other.page.goto('/sessions?new=yes');
    await other.page.getByRole('combobox', { name: 'Model', exact: true }).click();
    await other.page.getByRole('option', { name: /small/ }).waitFor();
    expect(window.consoleErrors).toEqual([]);
    for (const each of [page, other.page]) await each.context().close();
  });

  it('skips what is done, and can be left for the demo agent', async () => {
    const { organizationId } = await makeOrganization(test, 'Second');
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: '/sessions', width: 375 });
    await page.evaluate((id) => localStorage.setItem('switchyard:organization', id), organizationId);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Getting started', exact: true }).waitFor();
    expect(await page.locator('[aria-current="step"] h2').textContent()).toBe('Start your first session');
    expect(await fits(page)).toBe(true);
    await page.getByRole('button', { name: 'Try the demo agent' }).click();
    await page.getByRole('log').getByText('I am the demo agent', { exact: false }).waitFor();
    await page.goto('/');
    await page.getByRole('heading', { name: 'What should the agent do?', exact: true }).waitFor();
    await page.context().close();
  });

  /** Puts a program into the directory of agents, as an installation does. */
  async function install(agentId: string, program: string): Promise<void> {
    const path = join(agentsDir, agentId, '1.0.0-1/node_modules/.bin', program);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '#!/bin/sh\nexit 1\n');
    await chmod(path, 0o755);
    const current = { directory: '1.0.0-1', version: '1.0.0', program: join('node_modules/.bin', program) };
    await writeFile(join(agentsDir, agentId, 'current.json'), JSON.stringify(current));
    await writeFile(join(agentsDir, 'changed'), agentId);
  }

  /** Writes what a worker reports of its work on a program. */
  async function report(agentId: string, request: string | null, progress: string | null, percent: number | null) {
    await test.app.services.store.execute(
      'update agent_program set request = $2, progress = $3, progress_percent = $4::int, error = null where agent_id = $1',
      [agentId, request, progress, percent],
    );
  }
});
