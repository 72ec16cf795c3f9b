import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { parseInput, wholeAcus } from '../input.ts';
import type { OrganizationRecord } from '../organizations/use-organization.ts';
import { lockSession, ringSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { appendEntries } from './log.ts';
import type { SessionRecord } from './session.ts';

/** The ACUs that a session may use, as inputs say it: whole ones, above 0; null: as many as its organization lets it. */
export const maxAcuLimitSchema = wholeAcus('maxAcuLimit')
  .positive({ error: (issue) => `"maxAcuLimit" must be greater than 0, but was ${issue.input}.` })
  .nullish();

const inputSchema = z.object({ maxAcuLimit: maxAcuLimitSchema });

/**
 * The limit that a session keeps as its own: what it asks for, or null. The organization's limit for a session is not
 * copied, so that a change of it holds for every session. LIMIT_EXCEEDED when more is asked for, and when that limit is 0.
 */
export function sessionAcuLimit(
  { maxSessionAcuLimit: most }: Pick<OrganizationRecord, 'maxSessionAcuLimit'>,
  asked: number | null,
): number | null {
  if (most === null || (most > 0 && (asked === null || asked <= most))) return asked;
  const path = ['maxAcuLimit'];
  if (asked === null || most === 0)
    throw refuse(path, 'The organization lets no session use any ACUs.', 'LIMIT_EXCEEDED');
  const message = `"maxAcuLimit" must be at most ${most}, which is the organization’s limit for a session, but was ${asked}.`;
  throw refuse(path, message, 'LIMIT_EXCEEDED');
}

/** A session and what it may use from now on. */
export interface AcuLimitInput extends SessionTarget {
  readonly maxAcuLimit?: number | null | undefined;
}

/**
 * Sets the ACUs that a session may use; null: as many as its organization lets it; left out: as before. One that had used
 * up its limit does not wake by that: a message wakes it. One that is at work stops within seconds when it has used more
 * already. NOT_FOUND, FORBIDDEN, INVALID_INPUT, LIMIT_EXCEEDED.
 */
export async function updateSession(context: Context, input: AcuLimitInput): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  const { maxAcuLimit: asked } = parseInput(inputSchema, { maxAcuLimit: input.maxAcuLimit });
  if (asked === undefined) return seen;
  return context.store.transact(async (tx) => {
    const [organization] = await tx.query<Pick<OrganizationRecord, 'maxSessionAcuLimit'>>(
      'select max_session_acu_limit as "maxSessionAcuLimit" from organization where id = $1',
      [seen.organizationId],
    );
    const session = await lockSession(tx, seen.id, null);
    const maxAcuLimit = sessionAcuLimit(organization ?? { maxSessionAcuLimit: null }, asked);
    if (maxAcuLimit === session.maxAcuLimit) return session;
    await tx.query('update session set max_acu_limit = $2::bigint where id = $1', [session.id, maxAcuLimit]);
    const body =
      maxAcuLimit === null
        ? 'The session has no ACU limit of its own any more.'
        : `The session may use ${maxAcuLimit} ACUs.`;
    await appendEntries(tx, session.id, null, [{ kind: 'NOTICE', body, data: { maxAcuLimit } }], context.now());
    const { id: sessionId, organizationId } = session;
    await audit(context, tx, 'acknowledge_session_hard_cap', {
      organizationId,
      sessionId,
      targetId: sessionId,
      data: { maxAcuLimit, maxAcuLimitBefore: session.maxAcuLimit },
    });
    ringSession(context, tx, session);
    return { ...session, maxAcuLimit };
  });
}
