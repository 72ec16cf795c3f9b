import type { QuestionOption } from '../../agents/agent.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { parseGlobalId, parseId } from '../ids.ts';
import type { LogEntry } from './log.ts';
import type { SessionRecord } from './session.ts';
import type { MessageToWrite } from './write-message.ts';

export type { QuestionOption };

/** A question in a session's log. */
export interface Question {
  /** The id of its entry. */
  readonly id: string;
  readonly isPermission: boolean;
  readonly options: readonly QuestionOption[];
}

/** Returns the options that the entry of a question offers. */
export function optionsOf({ data }: Pick<LogEntry, 'data'>): readonly QuestionOption[] {
  return Array.isArray(data?.options) ? (data.options as QuestionOption[]) : [];
}

/** Returns the unprefixed id of a question from an unprefixed or a global one; null if the text is neither. */
export function parseQuestionId(text: string): string | null {
  const global = parseGlobalId(text.trim());
  return global?.type === 'QuestionEvent' ? global.id : parseId('event', text);
}

/** Reads a question of a session by its unprefixed id; null if the session has no such question. */
export async function findQuestion(
  { store }: Pick<Context, 'store'>,
  sessionId: string,
  id: string,
): Promise<Question | null> {
  const [entry] = await store.query<Pick<LogEntry, 'data'>>(
    `select e.data from log_entry e where e.id = $2 and e.session_id = $1 and e.kind = 'QUESTION'`,
    [sessionId, id],
  );
  return entry ? { id, isPermission: isPermission(entry), options: optionsOf(entry) } : null;
}

function isPermission({ data }: Pick<LogEntry, 'data'>): boolean {
  return data?.reason === 'permission';
}

/**
 * Determines how a message closes the question of its session. It answers the question that was open when the message
 * was accepted (`seen`), and never a later one. `cancelsPermission`: a permission request is cancelled, not answered,
 * at whatever time it was made.
 */
export function closingOf(
  seen: Pick<SessionRecord, 'pendingQuestionId'>,
  cancelsPermission: boolean,
): MessageToWrite['closing'] {
  return async (tx, { pendingQuestionId }) => {
    if (pendingQuestionId === null) return null;
    if (cancelsPermission && (await isPermissionOpen(tx, pendingQuestionId))) {
      return { cancelledQuestionId: pendingQuestionId };
    }
    return pendingQuestionId === seen.pendingQuestionId ? { questionId: pendingQuestionId } : null;
  };
}

/** Cancels the question of a session, if one is open: the message interrupts the turn. */
export const cancelQuestion: MessageToWrite['closing'] = async (_tx, { pendingQuestionId }) =>
  pendingQuestionId === null ? null : { cancelledQuestionId: pendingQuestionId };

async function isPermissionOpen(tx: Transaction, questionId: string): Promise<boolean> {
  const [entry] = await tx.query<Pick<LogEntry, 'data'>>('select data from log_entry where id = $1', [questionId]);
  return entry !== undefined && isPermission(entry);
}
