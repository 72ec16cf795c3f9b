import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { readTagRules, requireAllowed } from '../identity/organizations/allowed-tags.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { maxTitleLength, parseInput, text } from '../input.ts';
import { maxAcuLimitSchema, sessionAcuLimit } from './acu-limit.ts';
import { lockSession, notifySession } from './change-session.ts';
import { tagsSchema } from './create-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { appendEntries, type NewEntry } from './log.ts';
import type { SessionRecord } from './session.ts';
import { auditChange, hasOtherTags, tagsNotice, writeTags } from './tags.ts';

/** Changes of a session in inputs; each member is optional. */
export const sessionChangeSchema = z.object({
  title: text('title', { min: 1, max: maxTitleLength }).optional(),
  maxAcuLimit: maxAcuLimitSchema,
  tags: tagsSchema.optional(),
});

/** A session and its changes. Omitted members do not change. */
export interface SessionChange extends SessionTarget {
  /** Null is INVALID_INPUT: a session always has a title. */
  readonly title?: string | null | undefined;
  /** In ACUs; null: the organization's limit applies. */
  readonly maxAcuLimit?: number | null | undefined;
  /** All tags, see {@link replaceTags}; those that the session has stay allowed. Null is INVALID_INPUT. */
  readonly tags?: readonly string[] | null | undefined;
}

/**
 * Changes the title of a session, its ACU limit and its tags, all or none, and writes the changes to its log as NOTICEs. The
 * agent does not replace a title that was set here. A session that has used up its limit does not wake when the limit
 * rises: a message wakes it. A running session stops within seconds if it has used more than the new limit. Throws
 * NOT_FOUND, FORBIDDEN, INVALID_INPUT, LIMIT_EXCEEDED, and UNKNOWN_REFERENCE for a tag that the organization does not allow.
 */
export async function updateSession(context: Context, input: SessionChange): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  const { title, maxAcuLimit, tags } = parseInput(sessionChangeSchema, {
    title: input.title,
    maxAcuLimit: input.maxAcuLimit,
    tags: input.tags,
  });
  if (title === undefined && maxAcuLimit === undefined && tags === undefined) return seen;
  return context.store.transact(async (tx) => {
    const limits = maxAcuLimit === undefined ? null : await readLimits(tx, seen.organizationId);
    const rules = tags === undefined ? null : await readTagRules(tx, seen.organizationId);
    const session = await lockSession(tx, seen.id, null);
    if (rules && tags)
      requireAllowed(
        rules.allowedTags,
        tags.filter((tag) => !session.tags.includes(tag)),
      );
    const after = {
      ...session,
      title: title ?? session.title,
      maxAcuLimit: limits && maxAcuLimit !== undefined ? sessionAcuLimit(limits, maxAcuLimit) : session.maxAcuLimit,
      tags: tags ?? session.tags,
    };
    const notices = noticesOf(session, after);
    // A title that is set explicitly stays, even if it equals the prompt's first line.
    if (title !== undefined || notices.length > 0) {
      await tx.query(
        `update session set title = $2, max_acu_limit = $3::bigint, is_title_derived = is_title_derived and not $4::boolean
          where id = $1`,
        [after.id, after.title, after.maxAcuLimit, title !== undefined],
      );
    }
    if (hasOtherTags(session, after)) await writeTags(tx, session, after.tags);
    if (notices.length === 0) return session;
    await appendEntries(tx, session.id, null, notices, context.now());
    if (after.maxAcuLimit !== session.maxAcuLimit) await auditLimit(context, tx, session, after.maxAcuLimit);
    const isRenamed = after.title !== session.title;
    const changed = [...(isRenamed ? ['title'] : []), ...(hasOtherTags(session, after) ? ['tags'] : [])];
    if (changed.length > 0) await auditChange(context, tx, session, changed);
    notifySession(context, tx, session);
    return after;
  });
}

type Limits = Pick<OrganizationRecord, 'maxSessionAcuLimit'>;

async function readLimits(tx: Transaction, organizationId: string): Promise<Limits> {
  const [limits] = await tx.query<Limits>(
    'select max_session_acu_limit as "maxSessionAcuLimit" from organization where id = $1',
    [organizationId],
  );
  return limits ?? { maxSessionAcuLimit: null };
}

function noticesOf(before: SessionRecord, after: SessionRecord): NewEntry[] {
  const { title, maxAcuLimit, tags } = after;
  const notices: NewEntry[] = [];
  if (title !== before.title)
    notices.push({ kind: 'NOTICE', body: `The title is now: ${title}`, data: { sessionTitle: title } });
  if (maxAcuLimit !== before.maxAcuLimit) {
    const body =
      maxAcuLimit === null
        ? 'The session no longer has its own ACU limit.'
        : `The session may use ${maxAcuLimit} ACUs.`;
    notices.push({ kind: 'NOTICE', body, data: { maxAcuLimit } });
  }
  if (hasOtherTags(before, after)) notices.push(tagsNotice(tags));
  return notices;
}

function auditLimit(
  context: Context,
  tx: Transaction,
  before: SessionRecord,
  maxAcuLimit: number | null,
): Promise<void> {
  const { id: sessionId, organizationId } = before;
  return audit(context, tx, 'acknowledge_session_hard_cap', {
    organizationId,
    sessionId,
    targetId: sessionId,
    data: { maxAcuLimit, maxAcuLimitBefore: before.maxAcuLimit },
  });
}
