import { permissionFor } from '../../../auth/permissions.ts';
import { hasPermission, requireAnyPermission, requirePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { findInOrganizations } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import { type NestedList, sessionOwners } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { getSession } from '../find-session.ts';

/** A file from a user or from an agent, or the output of a tool. */
export interface AttachmentRecord {
  readonly id: string;
  readonly organizationId: string;
  /** Null: no session uses it yet. */
  readonly sessionId: string | null;
  /** Without path parts and control characters, at most 255 characters. */
  readonly name: string;
  /** Detected from its first bytes, not taken from the sender. */
  readonly contentType: string;
  readonly sizeBytes: number;
  /** The files of tools and of changes are in no list of attachments: the log and the session's changes refer to them. */
  readonly source: 'user' | 'agent' | 'tool' | 'changes';
  readonly createdAt: Date;
}

/** The columns of an {@link AttachmentRecord} of an `attachment` aliased `a`. */
export const attachmentColumns = `a.id, a.organization_id as "organizationId", a.session_id as "sessionId", a.name,
  a.content_type as "contentType", a.size_bytes as "sizeBytes", a.source, a.created_at as "createdAt"`;

/**
 * Returns the attachments of these unprefixed ids that the viewer may use, in the ids' order; null for each other id. A file of a
 * tool or of changes requires the permission to view sessions, as the log does.
 */
export async function findAttachments(context: Context, ids: readonly string[]): Promise<(AttachmentRecord | null)[]> {
  const { viewAttachment, viewSession } = permissionFor;
  const table = { table: 'attachment', row: 'a', columns: attachmentColumns };
  const found = await findInOrganizations<AttachmentRecord>(context, table, ids, viewAttachment, viewSession);
  return found.map((each) =>
    (each?.source === 'tool' || each?.source === 'changes') &&
    !hasPermission(context.viewer, viewSession, each.organizationId)
      ? null
      : each,
  );
}

/** The condition that an `attachment` aliased `a` is a user's or an agent's. */
export const notOfTool = `a.source in ('user', 'agent')`;

/** Identifies an attachment: its id in any form, its name as in its URL, and the organization of the path, if any. */
export interface AttachmentRef {
  readonly attachmentId: string;
  readonly name: string;
  readonly organizationId?: string | undefined;
}

/**
 * Returns an attachment. Throws FORBIDDEN for a caller who may use no attachments; NOT_FOUND unless the viewer can use
 * one with that id and that name.
 */
export async function getAttachment(context: Context, ref: AttachmentRef): Promise<AttachmentRecord> {
  requireAnyPermission(
    context.viewer,
    [permissionFor.viewAttachment, permissionFor.viewSession],
    ref.organizationId === undefined ? undefined : (parseId('organization', ref.organizationId) ?? ''),
  );
  const bare = parseId('attachment', ref.attachmentId);
  const [attachment] = bare === null ? [] : await findAttachments(context, [bare]);
  const isMeant =
    attachment?.name === ref.name &&
    (ref.organizationId === undefined || ref.organizationId === attachment.organizationId);
  if (!isMeant) throw notFound('attachment');
  return attachment;
}

/** Lists the attachments of a session without the files of tools, oldest first. Throws NOT_FOUND, and the errors of {@link pageWindow}. */
export async function listSessionAttachments(
  context: Context,
  session: { readonly sessionId: string; readonly organizationId?: string | undefined },
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<AttachmentRecord>> {
  const { id } = await getSession(context, session.sessionId, session.organizationId);
  const values: unknown[] = [id];
  const list = sortedPage(
    { name: 'attachments', row: 'a', isOldestFirst: true },
    request,
    limits,
    (value) => `$${values.push(value)}`,
  );
  const where = ['a.session_id = $1', notOfTool, ...list.beyond];
  const rows = await context.store.query<AttachmentRecord>(
    `select ${attachmentColumns} from attachment a where ${where.join(' and ')} ${list.order} limit ${list.limit}`,
    values,
  );
  return list.toPage(rows);
}

/** Conditions of a list of attachments. `search`: in the name. */
export interface AttachmentFilter extends Omit<ListFilter, 'createdBy'> {
  readonly source?: AttachmentRecord['source'] | undefined;
}

/**
 * Returns the attachments of a session without the files of tools as a nested list, oldest first unless the input has another order. Throws
 * FORBIDDEN without the permission to view the session; INVALID_INPUT.
 */
export function attachmentsOf(
  context: Context,
  session: { readonly id: string; readonly organizationId: string },
  filter: AttachmentFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<AttachmentRecord> {
  const { viewer } = context;
  requirePermission(viewer, permissionFor.viewSession, session.organizationId);
  checkListFilter(filter);
  return {
    ...inOrder('attachments', order ?? { field: 'createdAt', direction: 'asc' }, {}),
    key: `attachments ${JSON.stringify([filter, order])}`,
    ownerId: session.id,
    row: 'a',
    table: 'attachment',
    columns: attachmentColumns,
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      'a.session_id = owner.id',
      notOfTool,
      ...(filter.source === undefined ? [] : [`a.source = ${bind(filter.source)}`]),
      ...listFilterConditions('a', filter, ['name'], bind),
    ],
  };
}
