import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Owner } from '../../../auth/viewer.ts';
import { authorColumns, type Editor, editorColumns } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import {
  type AccessType,
  accessTypeSchema,
  findByScopedKeys,
  listConditions,
  matchesScopeFilter,
  type Scope,
  type ScopedKey,
  type ScopePermissions,
  scopeFilterOf,
  scopeFilterValues,
  scopeList,
  useScope,
} from '../../identity/organizations/scope.ts';
import { parseId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { inOrder, type ListOrder, timedPage } from '../../timed-pages.ts';

/** Instructions to be used again. */
export interface PlaybookRecord extends Owner, Editor {
  readonly id: string;
  readonly enterpriseId: string;
  /** Null: the enterprise's own, for every organization. */
  readonly organizationId: string | null;
  readonly title: string;
  readonly body: string;
  readonly macro: string | null;
  /** JSON Schema (Draft 7) of what its sessions are to produce. */
  readonly structuredOutputSchema: object | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Set: it is in no list and cannot be used; kept for the sessions that followed it. */
  readonly deletedAt: Date | null;
}

/** The columns of a {@link PlaybookRecord} of a `playbook` aliased `p`. */
export const playbookColumns = `p.id, p.enterprise_id as "enterpriseId", p.organization_id as "organizationId", p.title, p.body, p.macro,
  p.structured_output_schema as "structuredOutputSchema", ${authorColumns('p')}, ${editorColumns('p')},
  p.created_at as "createdAt", p.updated_at as "updatedAt", p.deleted_at as "deletedAt"`;

/** What reading playbooks needs. */
export const viewPlaybooks: ScopePermissions = {
  organization: permissionFor.viewPlaybooks,
  enterprise: permissionFor.changeEnterprisePlaybooks,
};

const byIds = `select ${playbookColumns} from playbook p where p.id = any($1::text[]) and ${matchesScopeFilter('p')}`;

/**
 * The playbooks of these bare ids that the viewer may read, deleted ones too, which sessions still refer to; in the ids' order,
 * null for each other. One statement.
 */
export async function findPlaybooks(context: Context, ids: readonly string[]): Promise<(PlaybookRecord | null)[]> {
  const rows = await context.store.query<PlaybookRecord>(byIds, [
    ids,
    ...scopeFilterValues(scopeFilterOf(context.viewer, null, viewPlaybooks)),
  ]);
  return inOrderOf(ids, rows);
}

/** The playbooks with these macros, each with its "!", that the viewer may read, in the keys' order; null for each other, deleted ones too. */
export function findPlaybooksByMacro(context: Context, keys: readonly ScopedKey[]): Promise<(PlaybookRecord | null)[]> {
  const table = { table: 'playbook', row: 'p', columns: playbookColumns, key: 'macro' };
  return findByScopedKeys(context, { ...table, permissions: viewPlaybooks, where: 'p.deleted_at is null' }, keys);
}

/**
 * The playbook of an id in any form: an organization's own or the enterprise's, from the enterprise every one. NOT_FOUND, also
 * for a deleted one, and the errors of {@link useScope}. Without a place: wherever the viewer may read it.
 */
export async function getPlaybook(context: Context, id: string, scope?: Scope): Promise<PlaybookRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, viewPlaybooks);
  const [playbook] = await context.store.query<PlaybookRecord>(`${byIds} and p.deleted_at is null`, [
    [parseId('playbook', id)],
    ...scopeFilterValues(scopeFilterOf(context.viewer, authorizedScope, viewPlaybooks)),
  ]);
  if (!playbook) throw notFound('playbook');
  return playbook;
}

const filterSchema = z.object({ accessType: accessTypeSchema.nullish() });

/** A page of playbooks of a place, newest first. `accessType`: in an organization `org` when left out, else both. */
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
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const input = parseInput(filterSchema, { accessType });
  const where = listConditions('p', authorizedScope, input.accessType ?? null, bind);
  where.push('p.deleted_at is null');
  const list = timedPage({ name: 'playbooks', row: 'p' }, request, limits, bind);
  where.push(...list.beyond);
  const rows = await context.store.query<PlaybookRecord>(
    `select ${playbookColumns} from playbook p where ${where.join(' and ')} ${list.order} limit ${list.limit}`,
    values,
  );
  return list.toPage(rows);
}

/** Conditions of a list of playbooks. `search`: in the title and the macro. `accessType`: as in {@link PlaybookListRequest}. */
export interface PlaybookFilter extends ListFilter {
  readonly accessType?: AccessType | undefined;
}

const texts = { title: { member: 'title', column: 'title' } } as const;

/** An order of a list of playbooks. */
export type PlaybookOrder = ListOrder<'createdAt' | keyof typeof texts>;

/**
 * The playbooks of an organization that has been read, by its bare id, or of the enterprise and all its organizations for
 * null, as one of many such lists. ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
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
    ...inOrder('playbooks', order, texts),
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
