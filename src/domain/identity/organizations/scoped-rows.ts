import type { Viewer } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { fieldsOf, type Row, selectFields, tableOf } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';
import {
  type AccessType,
  type AuthorizedScope,
  matchesScopeFilter,
  requireAnyScopePermission,
  requireScopePermission,
  type ScopePermissions,
  scopeFilterOf,
  scopeFilterValues,
} from './scope.ts';

/** A condition of the Prisma client on rows that belong to an organization, or to the enterprise itself. */
interface ScopeWhere {
  enterpriseId?: string;
  organizationId?: string | { in: string[] } | { not: null } | null;
  organization?: { deletedAt: null };
  OR?: ScopeWhere[];
  AND?: ScopeWhere[];
}

const inLivingOrganization: ScopeWhere = { OR: [{ organizationId: null }, { organization: { deletedAt: null } }] };

/**
 * The condition to be visible from a scope: {@link matchesScopeFilter} for the Prisma client. An organization that is
 * authorized is not deleted, so that its objects need no join.
 */
export function whereInScope(viewer: Viewer, scope: AuthorizedScope | null, view: ScopePermissions): ScopeWhere {
  const { enterpriseId, all, organizationIds, isShared } = scopeFilterOf(viewer, scope, view);
  if (all) return { enterpriseId, ...inLivingOrganization };
  const [organizationId] = organizationIds;
  if (scope && organizationId !== undefined) {
    return { enterpriseId, OR: [{ organizationId }, { organizationId: null }] };
  }
  const own: ScopeWhere = { organizationId: { in: [...organizationIds] } };
  const reached: ScopeWhere = isShared ? { OR: [own, { organizationId: null }] } : own;
  return { enterpriseId, AND: [reached, inLivingOrganization] };
}

/**
 * Returns the condition on an object to be in a list of the scope: an organization's own objects, or the `enterprise`
 * ones if requested; from the enterprise all, or one access type.
 */
export function whereListed(
  { enterpriseId, organizationId }: AuthorizedScope,
  accessType: AccessType | null,
): ScopeWhere {
  if (organizationId !== null && accessType !== 'enterprise') return { organizationId };
  if (accessType === 'enterprise') return { enterpriseId, organizationId: null };
  return { enterpriseId, ...(accessType === 'org' ? { organization: { deletedAt: null } } : inLivingOrganization) };
}

/** The resources that belong to an organization or to the enterprise, by the kind of their ids: their models. */
const scopedModels = { playbook: 'Playbook', note: 'KnowledgeNote', folder: 'KnowledgeFolder' } as const;
type ScopedKind = keyof typeof scopedModels;

/** The permissions to read and to change a kind of resource. */
interface ScopedAccess {
  readonly view: ScopePermissions;
  readonly change: ScopePermissions;
}

/**
 * Returns the resources of these unprefixed ids that the viewer may read, including deleted ones, in the ids' order;
 * null for each other id. `scope` null: any scope. One SQL statement, since loaders read many pages by it: the Prisma
 * client needs more than twice the CPU (docs/decisions/0029-make-the-prisma-schema-the-source-of-each-table.md).
 */
export async function findScopedByIds<K extends ScopedKind>(
  { viewer, store }: Context,
  kind: K,
  ids: readonly string[],
  { view, scope = null }: { readonly view: ScopePermissions; readonly scope?: AuthorizedScope | null },
): Promise<(Row<(typeof scopedModels)[K]> | null)[]> {
  const values = scopeFilterValues(scopeFilterOf(viewer, scope, view));
  return inOrderOf(ids, await store.query<Row<(typeof scopedModels)[K]>>(findStatements[kind], [ids, ...values]));
}

/**
 * Locks the resource of an id in any form until the transaction ends. `scope` null: any scope in which the viewer can
 * see it. Throws NOT_FOUND, also for a deleted one; FORBIDDEN.
 */
export async function lockInScope<K extends ScopedKind>(
  { viewer }: Context,
  tx: Transaction,
  kind: K,
  id: string,
  scope: AuthorizedScope | null,
  { view, change }: ScopedAccess,
): Promise<Row<(typeof scopedModels)[K]>> {
  if (scope === null) requireAnyScopePermission(viewer, change);
  const [row] = await tx.query<Row<(typeof scopedModels)[K]>>(lockStatements[kind], [
    parseId(kind, id),
    ...scopeFilterValues(scopeFilterOf(viewer, scope, view, change)),
  ]);
  if (!row) throw notFound(kind);
  requireScopePermission(viewer, row.organizationId, change);
  return row;
}

const findStatements: Readonly<Record<ScopedKind, string>> = {
  playbook: selectInScope('Playbook', 'r.id = any($1::text[])'),
  note: selectInScope('KnowledgeNote', 'r.id = any($1::text[])'),
  folder: selectInScope('KnowledgeFolder', 'r.id = any($1::text[])'),
};

const lockStatements: Readonly<Record<ScopedKind, string>> = {
  playbook: `${selectInScope('Playbook', 'r.id = $1 and r.deleted_at is null')} for update of r`,
  note: `${selectInScope('KnowledgeNote', 'r.id = $1')} for update of r`,
  folder: `${selectInScope('KnowledgeFolder', 'r.id = $1')} for update of r`,
};

function selectInScope(model: (typeof scopedModels)[ScopedKind], where: string): string {
  return `select ${selectFields(model, 'r', fieldsOf(model))} from ${tableOf(model)} r
    where ${where} and ${matchesScopeFilter('r')}`;
}
