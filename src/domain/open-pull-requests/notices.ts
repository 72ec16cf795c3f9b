import { plainLine } from '../../common/plain-text.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { notifySession } from '../sessions/change-session.ts';
import { appendEntries } from '../sessions/log.ts';
import type { SessionRecord } from '../sessions/session.ts';

/** Writes a sentence to the log of a locked session, and facts for readers that are no people. */
export async function noticeSession(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  sentence: string,
  data?: Readonly<Record<string, unknown>>,
): Promise<void> {
  const body = plainLine(sentence, 5_000);
  await appendEntries(tx, session.id, null, [{ kind: 'NOTICE', body, ...(data && { data }) }], context.now());
  notifySession(context, tx, session);
}

/** Writes what the forge refused of a pull request to the log of its locked session. Does nothing without warnings. */
export async function noticeWarnings(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { url, warnings }: { readonly url: string; readonly warnings: readonly string[] },
): Promise<void> {
  if (warnings.length === 0) return;
  await noticeSession(context, tx, session, `The forge refused a part of ${url}. ${warnings.join(' ')}`);
}
