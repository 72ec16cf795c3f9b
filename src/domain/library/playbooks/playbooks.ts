import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { notFound } from '../../../common/errors.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import {
  type AccessType,
  accessTypeSchema,
  findByScopedKeys,
  type Scope,
  type ScopedKey,
  type ScopePermissions,
  scopeList,
  useScope,
} from '../../identity/organizations/scope.ts';
import { findScopedByIds, whereInScope, whereListed } from '../../identity/organizations/scoped-rows.ts';
import { parseId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, prismaPage } from '../../sorted-pages.ts';

/**
 * Reusable instructions. `organizationId` null: the enterprise's own, for every organization. `deletedAt` set: it is in
 * no list and cannot be used, but stays for the sessions that followed it.
 */
export type PlaybookRecord = Row<'Playbook'>;

const playbookColumns = selectFields('Playbook', 'p', fieldsOf('Playbook'));

/** The permissions to read playbooks. */
export const viewPlaybooks: ScopePermissions = {
  organization: permissionFor.viewPlaybooks,
  enterprise: permissionFor.changeEnterprisePlaybooks,
};

/**
 * Returns the playbooks of these unprefixed ids that the viewer may read, including deleted ones, which sessions still
 * refer to; in the ids' order, null for each other id. One statement.
 */
export function findPlaybooks(context: Context, ids: readonly string[]): Promise<(PlaybookRecord | null)[]> {
  return findScopedByIds(context, 'playbook', ids, { view: viewPlaybooks });
}

/**
 * Returns the playbooks with these macros, each with its "!", that the viewer may read, in the keys' order; null for
 * each other macro, and for deleted ones.
 */
export function findPlaybooksByMacro(context: Context, keys: readonly ScopedKey[]): Promise<(PlaybookRecord | null)[]> {
  const table = { table: 'playbook', row: 'p', columns: playbookColumns, key: 'macro' };
  return findByScopedKeys(context, { ...table, permissions: viewPlaybooks, where: 'p.deleted_at is null' }, keys);
}

/**
 * Returns the playbook of an id in any form: an organization's own or the enterprise's, from the enterprise any. Throws
 * NOT_FOUND, also for a deleted one, and the errors of {@link useScope}. Without a scope: any scope in which the viewer
 * may read it.
 */
export async function getPlaybook(context: Context, id: string, scope?: Scope): Promise<PlaybookRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, viewPlaybooks);
  const bare = parseId('playbook', id);
  const where = { deletedAt: null, ...whereInScope(context.viewer, authorizedScope, viewPlaybooks) };
  const playbook = bare && (await context.store.prisma.playbook.findFirst({ where: { id: bare, ...where } }));
  if (!playbook) throw notFound('playbook');
  return playbook;
}

const filterSchema = z.object({ accessType: accessTypeSchema.nullish() });

/** A page of playbooks of a scope, newest first. `accessType`: in an organization `org` if omitted, else both. */
export interface PlaybookListRequest extends PageRequest {
  readonly scope: Scope;
  readonly accessType?: AccessType | null | undefined;
}

/** The playbooks of an organization, or of the enterprise and all its organizations. Errors: as for notes. */
export async function listPlaybooks(
  context: Context,
  { scope, accessType, ...request }: PlaybookListRequest,
  limits: PageLimits,
): Promise<Page<PlaybookRecord>> {
  const authorizedScope = await useScope(context, scope, viewPlaybooks);
  const input = parseInput(filterSchema, { accessType });
  const page = prismaPage({ name: 'playbooks' }, request, limits);
  const listed = whereListed(authorizedScope, input.accessType ?? null);
  const where = { deletedAt: null, AND: [listed, ...page.beyond] };
  const rows = await context.store.prisma.playbook.findMany({ where, orderBy: page.orderBy, take: page.take });
  return page.toPage<PlaybookRecord>(rows);
}

/** Conditions of a list of playbooks. `search`: in the title and the macro. `accessType`: as in {@link PlaybookListRequest}. */
export interface PlaybookFilter extends ListFilter {
  readonly accessType?: AccessType | undefined;
}

const sortKeys = { title: textKey('Playbook', 'title') };

/** An order of a list of playbooks. */
export type PlaybookOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the playbooks of an organization that has been read, by its unprefixed id, or of the enterprise and all its
 * organizations for null, as a nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function playbooksOf(
  context: Context,
  organizationId: string | null,
  filter: PlaybookFilter = {},
  order?: PlaybookOrder | null,
): NestedList<PlaybookRecord> {
  const { accessType } = filter;
  const list = scopeList(context, organizationId, { row: 'p', permissions: viewPlaybooks, accessType });
  checkListFilter(filter);
  return {
    ...list,
    ...inOrder('playbooks', order, sortKeys),
    key: `playbooks ${JSON.stringify([organizationId === null, filter, order])}`,
    table: 'playbook',
    columns: playbookColumns,
    where: (bind) => [
      ...list.where(bind),
      'p.deleted_at is null',
      ...listFilterConditions('p', filter, ['title', 'macro'], bind),
    ],
  };
}
