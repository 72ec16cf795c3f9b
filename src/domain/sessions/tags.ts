import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { readTagRules, requireAllowed } from '../identity/organizations/allowed-tags.ts';
import { parseInput } from '../input.ts';
import { lockSession, notifySession } from './change-session.ts';
import { maxTags, tagsSchema } from './create-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { appendEntries, type NewEntry } from './log.ts';
import type { SessionRecord } from './session.ts';

/** The tags of a session in inputs. */
export const sessionTagsSchema = z.object({ tags: tagsSchema });

/** A session and tags for it. */
export interface TagsInput extends SessionTarget {
  readonly tags: readonly string[];
}

/** The operation: add tags, remove them, or replace all tags. */
export type TagMode = 'add' | 'remove' | 'replace';

/**
 * Sets a session's tags, at most 50, without duplicates, in the order of the input. An empty list is allowed, even if
 * the organization has a default tag. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT, and UNKNOWN_REFERENCE for a tag that
 * the organization does not allow.
 */
export function replaceTags(context: Context, input: TagsInput): Promise<SessionRecord> {
  return change(context, input, 'replace');
}

/** Adds new tags to a session's tags. Throws the errors of {@link replaceTags}; LIMIT_EXCEEDED beyond 50. */
export function addTags(context: Context, input: TagsInput): Promise<SessionRecord> {
  return change(context, input, 'add');
}

/** Removes tags from a session, and ignores those that it does not have. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT. */
export function removeTags(context: Context, input: TagsInput): Promise<SessionRecord> {
  return change(context, input, 'remove');
}

async function change(context: Context, input: TagsInput, mode: TagMode): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  return tagSeen(context, seen, parseTags(input.tags), mode);
}

/** Checks the tags of an input. Throws INVALID_INPUT. */
export function parseTags(tags: readonly string[]): string[] {
  return parseInput(sessionTagsSchema, { tags }).tags;
}

/** Changes tags for the domain's own use, without a permission check. Expects the result of {@link parseTags}. */
export function tagSeen(
  context: Context,
  seen: Pick<SessionRecord, 'id' | 'organizationId'>,
  inputTags: readonly string[],
  mode: TagMode,
): Promise<SessionRecord> {
  return context.store.transact(async (tx) => {
    const { allowedTags } = await readTagRules(tx, seen.organizationId);
    const session = await lockSession(tx, seen.id, null);
    // A tag that is no longer allowed can still be removed.
    const tags = nextTags[mode](session.tags, mode === 'remove' ? inputTags : requireAllowed(allowedTags, inputTags));
    if (!hasOtherTags(session, { tags })) return session;
    await writeTags(tx, session, tags);
    await appendEntries(tx, session.id, null, [tagsNotice(tags)], context.now());
    await auditChange(context, tx, session, ['tags']);
    notifySession(context, tx, session);
    return { ...session, tags };
  });
}

/** Writes the audit entry of a session whose title or tags were changed. */
export function auditChange(
  context: Context,
  tx: Transaction,
  { id, organizationId }: Pick<SessionRecord, 'id' | 'organizationId'>,
  changed: readonly string[],
): Promise<void> {
  const data = { changed: changed.join(' ') };
  return audit(context, tx, 'update_session', { organizationId, sessionId: id, targetId: id, data });
}

const nextTags = {
  replace: (_before, inputTags) => inputTags,
  remove: (before, inputTags) => before.filter((tag) => !inputTags.includes(tag)),
  add: (before, inputTags) => {
    const all = [...new Set([...before, ...inputTags])];
    if (all.length <= maxTags) return all;
    const message = `"tags" must be at most ${maxTags} on a session, but would be ${all.length}.`;
    throw refuse(['tags'], message, 'LIMIT_EXCEEDED');
  },
} as const satisfies Record<TagMode, (before: readonly string[], inputTags: readonly string[]) => readonly string[]>;

type Tagged = Pick<SessionRecord, 'tags'>;

/** Returns true if the tags of two states of a session differ, also in their order. */
export const hasOtherTags = (before: Tagged, after: Tagged): boolean =>
  JSON.stringify(after.tags) !== JSON.stringify(before.tags);

/** The log entry about new tags. */
export function tagsNotice(tags: readonly string[]): NewEntry {
  const body = tags.length === 0 ? 'The tags were removed.' : `Tags: ${tags.join(', ')}.`;
  return { kind: 'NOTICE', body, data: { tags } };
}

/** Writes the tags of a session to its row and to the index of tags. */
export async function writeTags(tx: Transaction, session: SessionRecord, tags: readonly string[]): Promise<void> {
  const { id, organizationId, createdAt } = session;
  await tx.query('update session set tags = $2::text[] where id = $1', [id, tags]);
  await tx.query('delete from session_tag where session_id = $1 and not tag = any($2::text[])', [id, tags]);
  await tx.query(
    `insert into session_tag (organization_id, tag, created_at, session_id)
     select $1, tag, $2::timestamptz, $3 from unnest($4::text[]) as tag on conflict do nothing`,
    [organizationId, createdAt, id, tags],
  );
}
