import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { appendEntries, type NewEntry } from '../sessions/log.ts';

/** A question as it is written: already masked. */
export interface AskedQuestion {
  readonly question: string;
  readonly options: readonly string[];
}

/** Writes a question that the agent ends its turn with: an entry of its own, and the message that people read. FencedError. */
export async function askUser(context: Context, run: ClaimedRun, { question, options }: AskedQuestion): Promise<void> {
  const offered = options.map((name, n) => ({ id: String(n + 1), name }));
  const said = [question, ...offered.map(({ id, name }) => `${id}. ${name}`)].join('\n');
  const entries: NewEntry[] = [
    { kind: 'QUESTION', body: question, data: { questionId: newId(), reason: 'question', options: offered } },
    { kind: 'MESSAGE', messageType: 'agent_message', body: said },
  ];
  await appendEntries(context.store, run.sessionId, run.generation, entries, context.now());
  context.bell.ring(`session:${run.sessionId}`);
}
