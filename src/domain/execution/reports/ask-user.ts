import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import type { NewEntry } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';

/** A question to write: already masked. */
export interface UserQuestion {
  readonly question: string;
  readonly options: readonly string[];
}

/**
 * Writes a question that the agent ends its turn with: an entry of its own, and the message for people. It can be
 * answered from now on, unless the agent waits for the answer to another question inside its turn. Returns the id of
 * the question's entry. Throws FencedError.
 */
export async function askUser(context: Context, run: ClaimedRun, { question, options }: UserQuestion): Promise<string> {
  const id = newId();
  const offered = options.map((name, n) => ({ id: String(n + 1), name, kind: null }));
  const message = [question, ...offered.map((option) => `${option.id}. ${option.name}`)].join('\n');
  const entries: NewEntry[] = [
    { id, kind: 'QUESTION', body: question, data: { reason: 'question', options: offered } },
    { kind: 'MESSAGE', messageType: 'agent_message', body: message },
  ];
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const isBusyAsking = session.pendingQuestionId !== null && session.statusDetail !== 'working';
    await changeSession(context, tx, session, isBusyAsking ? {} : { pendingQuestionId: id }, entries);
  });
  return id;
}
