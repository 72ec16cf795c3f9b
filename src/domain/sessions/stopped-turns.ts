import type { Owner } from '../../auth/viewer.ts';
import type { StatusChange } from './change-session.ts';
import type { NewEntry } from './log.ts';

/** A user's command to stop the open turn of a session, as `run.command_data` stores it. */
export interface StopCommand extends Owner {
  /** The time of the command, in ISO 8601. */
  readonly at: string;
  /** The number of the log's next entry at that time. Messages before it do not start a turn by themselves. */
  readonly nextSeq: number;
}

/** Returns the entry for the end of a turn that a user has stopped. */
export function stoppedTurn(turn: number, { userId, serviceUserId, serviceKeyId }: Owner): NewEntry {
  const data = { turn, phase: 'stopped', stopReason: 'cancelled', isStopped: true };
  return { kind: 'TURN', data, userId, serviceUserId, serviceKeyId };
}

/** Returns the notice for a stop before the agent received the messages that wait: no turn had begun. */
export function stoppedBeforeTurn({ userId, serviceUserId, serviceKeyId }: Owner): NewEntry {
  const body = 'Stopped before the agent received the queued messages. They are sent with your next message.';
  return { kind: 'NOTICE', body, data: { isStop: true }, userId, serviceUserId, serviceKeyId };
}

/** The status of a session whose turn was stopped, or that was taken out of the queue. */
export const waitingAfterStop = {
  status: 'running',
  statusDetail: 'waiting_for_user',
  request: null,
  requestFrom: null,
  isFresh: false,
  pendingQuestionId: null,
} as const satisfies StatusChange;
