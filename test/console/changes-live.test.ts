import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { missing, openSignedIn, useConsole } from '../support/console-browser.ts';
import { forgeAccount, makeDirectory, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { appendToLog, createSession, toolCall } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const command = [process.execPath, '-e', shellAgent];
const agentsConfig = await writeProfiles({}, { id: 'shell', command, sandbox: 'none', mcp: false });

describe.skipIf(missing !== null)('the changes of an open turn', { timeout: 240_000 }, () => {
  const service = useConsole({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
  const item = (page: Page, name: string) => page.getByRole('tree').getByRole('treeitem', { name });

  /** Opens a page that has room for the tree of files. */
  async function open(at: string) {
    const { browser, test } = service;
    const window = await openSignedIn(browser, test, test.adminToken, { at, width: 1_920 });
    onTestFinished(() => window.page.context().close());
    return window;
  }

  /** Starts a session whose commands wait for pipes. Returns its id, and a function that lets it continue at one. */
  async function start(write: (pipes: readonly string[]) => string, count: number) {
    const forge = await startGitForge();
    const { username, password: token } = forgeAccount;
    const connection = { providerType: 'GIT_HTTPS', name: forge.url, host: forge.url, username, token };
    const { gitConnection } = await runMutation(
      service.test,
      'createGitConnection',
      'gitConnection { gitConnectionId }',
      connection,
    );
    const permission = { organizationId: service.test.organizationId, ...gitConnection, groupPrefix: 'acme' };
    await runMutation(service.test, 'createGitPermission', 'gitPermission { id }', permission);
    await forge.addRepository('acme/site', { 'index.md': '# Site\n' });
    const directory = await makeDirectory();
    const pipes = Array.from({ length: count }, (_, n) => join(directory, `pipe-${n}`));
    for (const pipe of pipes) execFileSync('mkfifo', [pipe]);
    const repositories = [{ repository: `${forge.host}/acme/site` }];
    const input = { agent: 'shell', title: 'Live', prompt: write(pipes), repositories };
    const id = await createSession(service.test, input);
    return { id, resume: (at: number) => writeFile(pipes[at] as string, '') };
  }

  it('are compared after tool calls, and newer ones are offered', async () => {
    const { id, resume } = await start(
      ([a, b, c, d, e]) => `cat ${a}; echo one >one; cat ${b} ${c}; echo two >two; cat ${d} ${e}`,
      5,
    );
    const { page, consoleErrors } = await open(`/sessions/${id}?tab=changes`);
    // The commands have begun when they read the pipe.
    await resume(0);
    await resume(1);
    // By the comparison when it opens, or the one after the call.
    await appendToLog(service.test, id, toolCall(1));
    await item(page, 'one').waitFor();
    await resume(2);
    await resume(3);
    await appendToLog(service.test, id, toolCall(2, { title: 'Edit two', toolKind: 'edit' }));
    await page.getByRole('button', { name: 'Show newer changes' }).waitFor();
    expect(await item(page, 'two').count()).toBe(0);
    await page.getByRole('button', { name: 'Show newer changes' }).click();
    await item(page, 'two').waitFor();
    await resume(4);
    expect(consoleErrors).toEqual([]);
  });

  it('are awaited at the end of the turn, without a note that there are none', async () => {
    const { id, resume } = await start(([a, b]) => `echo one >one; cat ${a} ${b}`, 2);
    const { page } = await open(`/sessions/${id}?tab=details`);
    // As if its worker had not answered.
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('refreshSessionChanges')
        ? route.fulfill({ json: { data: { refreshSessionChanges: { userErrors: [] } } } })
        : route.continue(),
    );
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        if (document.body.textContent.includes('No changes stored')) seen.push('none');
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await resume(0);
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByLabel('Comparing the repositories').waitFor({ state: 'attached' });
    await resume(1);
    await item(page, 'one').waitFor();
    expect(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)).toEqual([]);
  });
});
