import { z } from 'zod';
import { ownerOf } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import { getSession } from '../find-session.ts';
import type { SessionRecord } from '../session.ts';
import type { Presence } from './presence.ts';
import { clientIdPattern } from './presence-message.ts';

/** A client's report that it shows a session. */
export interface PresenceReport {
  readonly sessionId: string;
  readonly clientId: string;
  readonly isTyping: boolean;
  readonly hasLeft: boolean;
}

/** The limits of a report. */
export const presenceReportSchema = z.object({
  clientId: z.string().max(64).regex(clientIdPattern, 'must have 1 to 64 letters, digits, hyphens or underscores'),
});

/** Reports that the viewer shows a session in one of its clients. Throws FORBIDDEN and NOT_FOUND as `getSession` does. */
export async function reportPresence(
  context: Context,
  presence: Presence,
  { sessionId, clientId, ...state }: PresenceReport,
): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  parseInput(presenceReportSchema, { clientId });
  presence.report(session.id, { ...ownerOf(context.viewer), clientId, ...state });
  return session;
}
