import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { readAnswers, seedQuestion } from '../support/questions.ts';
import { appendToLog, createSession, say, toolCall } from '../support/sessions.ts';

const edit = (n: number, more: object = {}) => toolCall(n, { toolKind: 'edit', output: null, ...more });

describe.skipIf(missing !== null)('a question of an agent', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const open = (id: string) => all.open(`/sessions/${id}`);
  const questions = (page: Page) => page.getByRole('region', { name: 'Question' });

  it('is shown once, at the field for messages, with the change that it concerns and no other', async () => {
    const id = await createSession(all.test, { prompt: 'Change the limit', title: 'Pinned' });
    const { ask, questionId } = await seedQuestion(all.test, id, 'permission', 'May I run Edit limits.ts?', 'call-1');
    const change = (text: string) => ({ path: 'limits.ts', oldText: 'const limit = 5;\n', newText: text });
    await appendToLog(
      all.test,
      id,
      edit(1, { title: 'Edit limits.ts', diffs: [change('const limit = 50;\n')], status: 'pending' }),
      // A later call with the same title, to hide the change.
      edit(2, { title: 'Edit limits.ts', diffs: [change('const limit = 999;\n')], status: 'pending' }),
    );
    const window = await open(id);
    const { page } = window;
    await questions(page).getByText('const limit = 50;').waitFor();
    expect(await questions(page).count()).toBe(1);
    expect(await page.getByRole('log').getByText('May I run Edit limits.ts?').count()).toBe(0);
    expect(await questions(page).getByText('999').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-question-with-change');
    // With the field in focus, a digit is text.
    const field = page.getByLabel('Message to the agent');
    await field.fill('2');
    await page.keyboard.press('2');
    expect(await field.inputValue()).toBe('22');
    await field.fill('');
    await page.keyboard.press('Alt+2');
    await expect
      .poll(async () => (await readAnswers(all.test, id)).messages.map(({ answer }) => answer))
      .toEqual([{ questionId, optionId: '2' }]);
    await expect.poll(() => questions(page).count()).toBe(0);
    await page.getByRole('log').getByText('May I run Edit limits.ts?').waitFor();
    // Without the field in focus, the digit alone chooses.
    const next = await ask('May I run Edit limits.ts?', 'call-2');
    await questions(page).getByText('999').waitFor();
    await page.getByRole('log').focus();
    await page.keyboard.press('1');
    await expect
      .poll(async () => (await readAnswers(all.test, id)).messages.map(({ answer }) => answer?.questionId))
      .toEqual([questionId, next]);
    // After a tap, the field does not open the keyboard of the device.
    await ask('May I run Edit limits.ts?', 'call-2');
    const option = questions(page).getByRole('button').first();
    await option.dispatchEvent('pointerdown', { pointerType: 'touch' });
    await option.focus();
    await option.dispatchEvent('click');
    await expect.poll(() => questions(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('TEXTAREA');
    expect(window.consoleErrors).toEqual([]);
  });

  it('leaves no tool call waiting after it was denied', async () => {
    const id = await createSession(all.test, { prompt: 'Deploy', title: 'Denied' });
    const permission = { title: 'Deploy', toolCallId: 'call-1', decision: 'denied' };
    await appendToLog(all.test, id, edit(1, { title: 'Deploy', status: 'pending' }), {
      kind: 'PERMISSION',
      data: permission,
    });
    const { page } = await open(id);
    const tool = page.getByRole('log').locator('.tool', { hasText: 'Deploy' });
    await tool.getByText('denied', { exact: true }).waitFor();
    expect(await tool.getByText('pending').count()).toBe(0);
  });

  it('keeps an expanded tool call open that was scrolled out of view and back', async () => {
    const id = await createSession(all.test, { prompt: 'Read', title: 'Expanded' });
    await appendToLog(all.test, id, edit(1, { title: 'Read the file', output: 'the whole file' }));
    await say(all.test, id, ...Array.from({ length: 80 }, (_, n) => `message ${n}`));
    const { page } = await open(id);
    const log = page.getByRole('log');
    const scrollTo = (top: number) => log.evaluate((box, to) => box.scrollTo(0, to), top);
    await log.getByText('message 79', { exact: true }).waitFor();
    await scrollTo(0);
    const tool = log.locator('.tool', { hasText: 'Read the file' });
    await tool.locator('summary').click();
    await tool.getByText('the whole file').waitFor();
    await scrollTo(100_000);
    await expect.poll(() => tool.count()).toBe(0);
    await scrollTo(0);
    await tool.getByText('the whole file').waitFor();
  });
});
