import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import type { Script } from '../support/scripted-agent.ts';
import { createSession } from '../support/sessions.ts';
import { readMessages, untilOver, untilWaiting } from '../support/watching.ts';

const asking = (title: string) => ({
  method: 'session/request_permission',
  params: {
    sessionId: 's1',
    toolCall: { toolCallId: title, title },
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  },
});

it('an agent that asks for two things at once is given an answer to each', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-asking-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const first = JSON.stringify({ jsonrpc: '2.0', id: 'first', ...asking('ls') });
  const script: Script = {
    'session/prompt': [
      { write: [first] },
      { ask: asking('make') },
      { write: [{ result: { stopReason: 'end_turn' } }] },
    ],
  };
  const file = join(directory, 'script.json');
  writeFileSync(file, JSON.stringify(script));
  const program = fileURLToPath(new URL('../support/scripted-agent.ts', import.meta.url));
  const command = [process.execPath, '--import', import.meta.resolve('tsx'), program, file];
  const agentsConfig = await writeProfiles({ command, permission: 'ask', sandbox: 'none' });
  const test = await startApp({ roles: ['api', 'worker'], agentsConfig });
  onTestFinished(() => test.close());

  const id = await createSession(test, { prompt: 'go' });
  const asked = async () => (await readMessages(test, id)).filter((message) => message.includes('May I run'));
  await untilWaiting(test, id);
  expect(await asked()).toEqual([expect.stringContaining('May I run ls?')]);
  await sendMessage(test, id, 'Reject');
  await expect
    .poll(asked, { timeout: 10_000 })
    .toEqual([expect.anything(), expect.stringContaining('May I run make?')]);
  await untilWaiting(test, id);
  await sendMessage(test, id, 'Allow');
  await untilOver(test, id);
  expect((await readMessages(test, id)).at(-1)).toContain('"optionId":"yes"');
});
