import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';

/** Maximum number of tags that an organization may allow. */
const maxAllowedTags = 1_000;

/** An organization's rules for the tags of its sessions. */
export interface TagRules {
  /** Sorted. Empty: any tag is allowed. */
  readonly allowedTags: readonly string[];
  /** Added to sessions that are created without a tag; one of the allowed tags. */
  readonly defaultTag: string | null;
}

const columns = 'allowed_tags as "allowedTags", default_tag as "defaultTag"';
/** The allowed tags in inputs. */
export const allowedTagsSchema = z.object({ tags: z.array(text('tags', { min: 1, max: 200 })) });

/** Returns the rules of an organization of the enterprise, named by an id in any form. Throws FORBIDDEN, NOT_FOUND. */
export async function getTagRules(context: Context, organizationId: string): Promise<TagRules> {
  requireEnterprisePermission(context.viewer, permissionFor.changeTags);
  const [rules] = await context.store.query<TagRules>(
    `select ${columns} from organization where id = $1 and enterprise_id = $2 and deleted_at is null`,
    [parseId('organization', organizationId), context.viewer.enterpriseId],
  );
  if (!rules) throw notFound('organization');
  return rules;
}

/**
 * Returns the rules of these organizations of the enterprise, by unprefixed ids and in their order, with NOT_FOUND for
 * an id that has no organization. Throws FORBIDDEN.
 */
export async function listTagRules(
  context: Context,
  organizationIds: readonly string[],
): Promise<(TagRules | DomainError)[]> {
  requireEnterprisePermission(context.viewer, permissionFor.changeTags);
  const rows = await context.store.query<TagRules & { id: string }>(
    `select id, ${columns} from organization where id = any($1::text[]) and enterprise_id = $2 and deleted_at is null`,
    [organizationIds, context.viewer.enterpriseId],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return organizationIds.map((id) => found.get(id) ?? notFound('organization'));
}

/**
 * Sets the allowed tags; none: any tag is allowed. Removes the default tag if it is no longer among them. Throws
 * FORBIDDEN, NOT_FOUND, INVALID_INPUT.
 */
export function replaceAllowedTags(
  context: Context,
  organizationId: string,
  tags: readonly string[],
): Promise<TagRules> {
  return change(context, organizationId, () => withTags(parseInput(allowedTagsSchema, { tags }).tags));
}

/** Adds to the allowed tags. Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT, LIMIT_EXCEEDED. */
export function addAllowedTags(context: Context, organizationId: string, tags: readonly string[]): Promise<TagRules> {
  const added = () => parseInput(allowedTagsSchema, { tags }).tags;
  return change(context, organizationId, (rules) => withTags([...rules.allowedTags, ...added()]));
}

/**
 * Removes tags from the allowed ones, and the default tag if it is among them. Ignores tags that are not allowed.
 * Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT.
 */
export function removeAllowedTags(
  context: Context,
  organizationId: string,
  tags: readonly string[],
): Promise<TagRules> {
  const removed = () => new Set(parseInput(allowedTagsSchema, { tags }).tags);
  return change(context, organizationId, ({ allowedTags }) => {
    const gone = removed();
    return withTags(allowedTags.filter((tag) => !gone.has(tag)));
  });
}

/**
 * Removes one tag from the allowed ones and, if it is the default tag, clears the default. Throws FORBIDDEN, and
 * NOT_FOUND also for a tag that is not allowed.
 */
export function removeAllowedTag(context: Context, organizationId: string, tag: string): Promise<TagRules> {
  return change(context, organizationId, ({ allowedTags }) => {
    if (!allowedTags.includes(tag)) throw notFound('tag');
    return withTags(allowedTags.filter((each) => each !== tag));
  });
}

/**
 * Sets the default tag; null: none. Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT, and UNKNOWN_REFERENCE for a tag that is
 * not allowed.
 */
export function setDefaultTag(context: Context, organizationId: string, tag: string | null): Promise<TagRules> {
  return change(context, organizationId, (rules) => withDefault(rules, tag, 'tag'));
}

/** {@link setDefaultTag} as a part of a larger change of an organization, whose input calls the tag `defaultTag`. */
export function setDefaultTagIn(
  context: Context,
  tx: Transaction,
  organizationId: string,
  tag: string | null,
): Promise<TagRules> {
  requireEnterprisePermission(context.viewer, permissionFor.changeTags);
  return changeIn(context, tx, organizationId, (rules) => withDefault(rules, tag, 'defaultTag'));
}

function withDefault({ allowedTags }: TagRules, tag: string | null, name: string): Pick<TagRules, 'defaultTag'> {
  if (tag === null) return { defaultTag: null };
  parseInput(z.object({ [name]: text(name, { min: 1, max: 200 }) }), { [name]: tag });
  if (allowedTags.includes(tag)) return { defaultTag: tag };
  const message = `"${name}" must be one of the organization’s allowed tags, but ${JSON.stringify(tag)} is not.`;
  throw refuse([name], message, 'UNKNOWN_REFERENCE');
}

function withTags(tags: readonly string[]): Pick<TagRules, 'allowedTags'> {
  const allowedTags = [...new Set(tags)].sort();
  if (allowedTags.length <= maxAllowedTags) return { allowedTags };
  const message = `"tags" must be at most ${maxAllowedTags} in an organization, but would be ${allowedTags.length}.`;
  throw refuse(['tags'], message, 'LIMIT_EXCEEDED');
}

async function change(
  context: Context,
  organizationId: string,
  next: (rules: TagRules) => Partial<TagRules>,
): Promise<TagRules> {
  requireEnterprisePermission(context.viewer, permissionFor.changeTags);
  return context.store.transact((tx) => changeIn(context, tx, organizationId, next));
}

async function changeIn(
  context: Context,
  tx: Transaction,
  organizationId: string,
  next: (rules: TagRules) => Partial<TagRules>,
): Promise<TagRules> {
  const id = parseId('organization', organizationId);
  const [before] = await tx.query<TagRules>(
    `select ${columns} from organization where id = $1 and enterprise_id = $2 and deleted_at is null for update`,
    [id, context.viewer.enterpriseId],
  );
  if (!before) throw notFound('organization');
  const wanted = { ...before, ...next(before) };
  const isDefaultAllowed = wanted.defaultTag === null || wanted.allowedTags.includes(wanted.defaultTag);
  const after: TagRules = isDefaultAllowed ? wanted : { ...wanted, defaultTag: null };
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  const data = { ...after, allowedTags: [...after.allowedTags], updatedAt: context.now() };
  await tx.prisma.organization.update({ where: { id: id ?? '' }, data, select: { id: true } });
  await audit(context, tx, 'update_org_settings', {
    organizationId: id,
    ...(id === null ? {} : { targetId: id }),
    data: { allowedTags: after.allowedTags.length, defaultTag: after.defaultTag },
  });
  return after;
}

/**
 * Returns the tags of a new session: those of the input, or the organization's default tag if there are none. Throws
 * UNKNOWN_REFERENCE for a tag that the organization does not allow.
 */
export async function tagsOfNewSession(
  tx: Transaction,
  organizationId: string,
  tags: readonly string[] | null | undefined,
): Promise<string[]> {
  const { allowedTags, defaultTag } = await readTagRules(tx, organizationId);
  if (!tags?.length) return defaultTag === null ? [] : [defaultTag];
  return requireAllowed(allowedTags, tags);
}

/** Reads the rules of an organization for the domain's own use, without a permission check. */
export async function readTagRules(tx: Transaction, organizationId: string): Promise<TagRules> {
  const [rules] = await tx.query<TagRules>(`select ${columns} from organization where id = $1`, [organizationId]);
  if (!rules) throw notFound('organization');
  return rules;
}

/** Throws UNKNOWN_REFERENCE for the first tag that the organization does not allow. */
export function requireAllowed(allowedTags: readonly string[], tags: readonly string[]): string[] {
  const unknown = allowedTags.length === 0 ? undefined : tags.find((tag) => !allowedTags.includes(tag));
  if (unknown === undefined) return [...tags];
  const message = `"tags" must be among the organization’s allowed tags, but ${JSON.stringify(unknown)} is not.`;
  throw new DomainError('UNKNOWN_REFERENCE', message, [{ path: ['tags'], message }]);
}
