import type { AgentProfile } from '../../../agents/agent.ts';
import type { StatusChange } from '../../sessions/change-session.ts';
import type { NewEntry } from '../../sessions/log.ts';
import type { TurnOutcome } from '../reports/reports.ts';

// Messages of the stops that leave the session waiting for the user (docs/wire/status.md#transitions).
const stopMessages: Partial<Record<string, string>> = {
  'max_tokens': 'The agent stopped because it reached the limit of tokens. Send a message to continue.',
  'max_turn_requests':
    'The agent stopped because it reached the limit of requests in one turn. Send a message to continue.',
  'max_turn_time':
    'The agent was stopped because its turn took longer than its profile allows. Send a message to continue.',
  refusal: 'The agent refused to go on.',
};

/** Returns the effect of a turn's end on its session, unless messages wait, and the notice about it. */
export function outcomeOf(
  stopReason: string,
  reported: TurnOutcome,
  profile: Pick<AgentProfile, 'onEndTurn'>,
): { entries: NewEntry[]; change: StatusChange } {
  const finished: StatusChange = { status: 'exit', statusDetail: 'finished', endedBy: 'finished', isFresh: false };
  const blocked: StatusChange = { status: 'running', statusDetail: 'waiting_for_user', isFresh: false };
  const body = stopMessages[stopReason];
  if (body !== undefined)
    return { entries: [{ kind: 'MESSAGE', messageType: 'agent_message', body }], change: blocked };
  if (reported.isWaiting) return { entries: [], change: { ...blocked, pendingQuestionId: reported.questionId } };
  if (stopReason === 'cancelled') return { entries: [], change: blocked };
  const isFinished = reported.isFinished || profile.onEndTurn === 'finished';
  return { entries: [], change: isFinished ? finished : blocked };
}
