import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ClaimedRun, claimRuns } from '../../src/domain/runs/claims.ts';
import {
  noteAnswer,
  noteQuestion,
  readAnswers,
  readInbox,
  startTurn,
  takeBackAnswer,
} from '../../src/domain/runs/turns.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { startApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
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

it('words that come when their question is closed are not lost: they are the next turn’s', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'go' });
  const claimant = { workerId: 'w', leaseMs: 60_000, affinityMs: 0 };
  const room = { slots: 1, memoryMb: 1_000, isEmpty: true, memoryOf: () => 1 };
  const [run] = (await claimRuns(context, claimant, room)).claimed as [ClaimedRun];
  await startTurn(context, run, { messages: await readInbox(context, id), isAfterSuspension: false });
  const question = [
    { kind: 'QUESTION', body: 'Which?', data: { questionId: 'q', reason: 'question', options: [] } },
    { kind: 'MESSAGE', messageType: 'agent_message', body: 'Which?' },
  ] as const;
  const seq = await noteQuestion(context, run, question, 'waiting_for_user');
  await sendMessage(test, id, 'this one');
  const answers = await readAnswers(context, id, seq);
  await noteAnswer(context, run, answers);
  expect(await readInbox(context, id)).toEqual([]);
  await takeBackAnswer(context, run, answers);
  expect(await readInbox(context, id)).toEqual([{ seq: expect.any(Number), body: 'this one' }]);
  await expect(takeBackAnswer(context, { ...run, generation: 0 }, answers)).rejects.toBeInstanceOf(FencedError);
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
  const agentsConfig = await writeProfiles({ command: scriptedCommand(file), permission: 'ask', sandbox: 'none' });
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
