import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ClaimedRun, claimRuns } from '../../src/domain/execution/runs/claims.ts';
import {
  type Answer,
  readAnswer,
  recordAnswer,
  recordQuestion,
  takeBackAnswer,
} from '../../src/domain/execution/runs/questions.ts';
import { readInbox, startTurn } from '../../src/domain/execution/runs/turns.ts';
import { newId } from '../../src/domain/ids.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { call, startApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { askingAtOnce, waitForQuestion } from '../support/questions.ts';
import { sendMessage } from '../support/reports.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

it('keeps a message that arrives when its question closes for the next turn', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'go' });
  const claimant = { workerId: 'w', leaseMs: 60_000, affinityMs: 0 };
  const room = { slots: 1, memoryMb: 1_000, isEmpty: true, memoryOf: () => 1 };
  const [run] = (await claimRuns(context, claimant, room)).claimed as [ClaimedRun];
  await startTurn(context, run, { messages: await readInbox(context, id), isAfterStop: false });
  const question = [
    { id: newId(), kind: 'QUESTION', body: 'Which?', data: { reason: 'question', options: [] } },
    { kind: 'MESSAGE', messageType: 'agent_message', body: 'Which?' },
  ] as const;
  const questionId = await recordQuestion(context, run, question, 'waiting_for_user');
  expect(await readAnswer(context, id, questionId)).toBe(null);
  await sendMessage(test, id, 'this one');
  const answer = (await readAnswer(context, id, questionId)) as Answer;
  expect(answer).toMatchObject({ body: 'this one', optionId: null });
  await recordAnswer(context, run, answer);
  expect(await readInbox(context, id)).toEqual([]);
  expect(await readAnswer(context, id, questionId)).toBe(null);
  await takeBackAnswer(context, run, answer);
  expect(await readInbox(context, id)).toMatchObject([{ seq: expect.any(Number), body: 'this one' }]);
  await expect(takeBackAnswer(context, { ...run, generation: 0 }, answer)).rejects.toBeInstanceOf(FencedError);
});

it('delivers an answer to each of two concurrent requests of an agent', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-asking-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'script.json');
  writeFileSync(file, JSON.stringify(askingAtOnce('ls', 'make')));
  const agentsConfig = await writeProfiles({ command: scriptedCommand(file), permission: 'ask', sandbox: 'none' });
  const test = await startApp({ roles: ['api', 'worker'], agentsConfig });
  onTestFinished(() => test.close());

  const id = await createSession(test, { prompt: 'go' });
  const answer = (message: string) => call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message });
  await waitForQuestion(test, id, 'May I run ls?');
  expect((await readMessages(test, id)).join()).not.toContain('May I run make?');
  await answer('Reject');
  await waitForQuestion(test, id, 'May I run make?');
  await answer('Allow');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toContain('"optionId":"yes"');
});
