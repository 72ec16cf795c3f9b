import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import type { NewEntry } from '../../src/domain/sessions/log.ts';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { draftWriter } from '../support/drafts.ts';
import { appendToLog, createSession, say, toolCall } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the tabs beside a conversation', { timeout: 240_000 }, () => {
  const service = useConsole();
  const { open } = service;
  let id: string;
  beforeAll(async () => {
    id = await createSession(service.test, { prompt: 'Wait', title: 'Run the tests' });
  });

  it('shows the commands of a session in one terminal, live, with a search', async () => {
    const read = toolCall(0, { title: 'Read a file', toolKind: 'read', output: 'not a command' });
    const old = Array.from({ length: 4 }, (_, n) => toolCall(n + 1, { title: `old-${n + 1}` }));
    const messages = Array.from({ length: 400 }, (_, n): NewEntry => {
      return { kind: 'MESSAGE', messageType: 'agent_message', body: `m${n}` };
    });
    const lines = Array.from({ length: 300 }, (_, n) => `line ${n + 1}`).join('\n');
    const failing = { title: 'npm test', status: 'failed', output: `${lines}\n\u001b[31mFAIL\u001b[39m a.test.ts\n` };
    await appendToLog(service.test, id, read, ...old, ...messages, toolCall(9, failing));
    const window = await open(`/sessions/${id}?tab=terminal`);
    const { page } = window;
    const terminal = page.getByRole('region', { name: 'Terminal', exact: true });
    await terminal.getByText('FAIL', { exact: true }).waitFor();
    expect(await terminal.locator('.fg-red').textContent()).toBe('FAIL');
    await terminal.getByText('a.test.ts').waitFor();
    // Of 300 lines, only those near the visible part are rendered.
    expect(await terminal.locator('.terminal-line').count()).toBeLessThan(120);
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    await window.pictures('session-terminal');

    const field = terminal.getByLabel('Find in output');
    await field.fill('LINE 1');
    await terminal.getByText('111 of 111').waitFor();
    await terminal.getByText('line 199', { exact: true }).waitFor();
    await field.press('Enter');
    await terminal.getByText('1 of 111').waitFor();
    await terminal.getByText('npm test').waitFor();
    await field.press('Shift+Enter');
    await terminal.getByText('111 of 111').waitFor();
    await window.pictures('session-terminal-search');
    await field.fill('nothing like this');
    await terminal.getByText('No matches').waitFor();
    await field.press('Escape');
    expect(await field.inputValue()).toBe('');
    expect(new URL(page.url()).pathname).toBe(`/sessions/${id}`);

    await terminal.getByRole('button', { name: 'Load earlier commands' }).click();
    await terminal.getByRole('button', { name: 'Load earlier commands' }).waitFor({ state: 'detached' });
    await field.fill('old-1');
    await terminal.getByText('old-1').waitFor();
    await terminal.getByText('output 1', { exact: true }).waitFor();
    expect(await terminal.getByText('not a command').count()).toBe(0);
    await field.fill('');

    // Output arrives while the command runs, and the terminal stays at its end.
    await terminal.getByRole('region', { name: 'Commands and their output' }).press('End');
    const { write, complete } = draftWriter(service.test, id);
    const running = toolCall(10, { title: 'npm run slow', status: 'in_progress', output: null });
    await appendToLog(service.test, id, running);
    await terminal.getByText('npm run slow').waitFor();
    const draftId = 'd'.repeat(32);
    write(draftId, 'first part\n', { kind: 'tool_output', toolCallId: 'call-10' });
    await terminal.getByText('first part').waitFor();
    write(draftId, 'second part\n');
    await terminal.getByText('second part').waitFor();
    await complete(draftId, toolCall(10, { title: 'npm run slow', output: 'first part\nsecond part\n' }));
    await expect.poll(() => terminal.locator('.terminal-command', { hasText: 'slow' }).textContent()).toContain('done');
    // The conversation beside it has all of it too.
    await say(service.test, id, 'All done');
    await page.getByRole('log').getByText('All done').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('shows the plan with the state of each step', async () => {
    const window = await open(`/sessions/${id}?tab=plan`);
    const { page } = window;
    const panel = page.getByRole('tabpanel', { name: 'Plan' });
    await panel.getByText('No plan yet').waitFor();
    const plan = (...states: string[]): NewEntry => {
      const entries = states.map((status, n) => ({ content: `Step \u202E${n + 1}`, status, priority: 'medium' }));
      return { kind: 'PLAN', data: { entries } };
    };
    await appendToLog(service.test, id, plan('in_progress', 'pending'));
    await panel.getByText('0 of 2 steps done').waitFor();
    await appendToLog(service.test, id, plan('completed', 'in_progress'));
    await panel.getByText('1 of 2 steps done').waitFor();
    await page.getByRole('tab', { name: 'Plan 1/2 steps done' }).waitFor();
    expect(await panel.getByRole('listitem').allTextContents()).toEqual([
      'Step [U+202E]1done',
      'Step [U+202E]2in progress',
    ]);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-plan');
  });

  it('shows the structured output, to copy and to download', async () => {
    const window = await open(`/sessions/${id}?tab=output`);
    const { page } = window;
    const panel = page.getByRole('tabpanel', { name: 'Output' });
    await panel.getByText('No output yet').waitFor();
    const output = { report: { failed: ['a', 'b'] } };
    await service.test.app.services.store.execute(
      'update session set structured_output = $2, structured_output_schema = $3 where id = $1 returning id',
      [parseId('session', id), JSON.stringify(output), JSON.stringify({ type: 'object' })],
    );
    await page.reload();
    await panel.getByText('Matches the schema').waitFor();
    await panel.getByText('failed').click();
    await panel.getByText('"a"').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-output');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.getByRole('button', { name: 'Copy JSON' }).click();
    await page.getByText('Copied').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panel.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`devin-${id}.json`);
    expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toEqual(output);
    expect(window.consoleErrors).toEqual([]);
  });
});
