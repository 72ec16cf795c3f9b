import { z } from 'zod';
import { offerLimits } from '../../../agents/options/agent-option.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { refuse } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import { lockSession, notifySession } from '../change-session.ts';
import { getSessionFor, type SessionTarget } from '../find-session.ts';
import type { SessionRecord } from '../session.ts';
import { requireTaking } from '../write-message.ts';
import { checkChoices, optionChoicesSchema } from './check-choices.ts';
import { type OptionChoice, readStoredOptions, withChoices, writeStoredOptions } from './stored-options.ts';

/** The input of {@link setSessionOptions}, without the session. */
export const setOptionsSchema = z.object({ options: optionChoicesSchema });

/**
 * Chooses options of a session's agent; other options do not change. An idle agent gets them at once, a working one
 * before its next turn, and a session without a process at its next start. The worker writes the outcome to the log as a
 * NOTICE. A choice that the session already has is no change. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT, and
 * INVALID_STATE for a session that takes no messages.
 */
export async function setSessionOptions(
  context: Context,
  input: SessionTarget & { readonly options: readonly OptionChoice[] },
): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  const { options: choices } = parseInput(setOptionsSchema, { options: input.options });
  return context.store.transact(async (tx) => {
    const session = await lockSession(tx, seen.id, null);
    requireTaking(session, 'its options do not change');
    const [stored = []] = await readStoredOptions(tx, [session.id]);
    const { organizationId } = session;
    const before = stored.flatMap(({ id, chosen }) => (chosen === null ? [] : [{ optionId: id, value: chosen }]));
    const agent = session.agent ?? context.defaultAgent;
    await checkChoices(context, tx, { organizationId, agent, before }, choices);
    const next = withChoices(stored, choices);
    if (next === stored) return session;
    if (next.filter(({ chosen }) => chosen !== null).length > offerLimits.options) {
      throw refuse(['options'], `A session may have at most ${offerLimits.options} chosen options.`);
    }
    await writeStoredOptions(tx, session.id, next);
    const data = { changed: choices.map(({ optionId }) => optionId).join(', ') };
    await audit(context, tx, 'update_session_options', {
      organizationId,
      sessionId: session.id,
      targetId: session.id,
      data,
    });
    notifySession(context, tx, session);
    tx.afterCommit(() => context.notifier.notify(`command:${session.id}`));
    return session;
  });
}
