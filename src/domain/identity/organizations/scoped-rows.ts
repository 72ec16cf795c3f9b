import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { fieldsOf, type Row, selectFields, tableOf } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import {
  type AccessType,
  type AuthorizedScope,
  matchesScopeFilter,
  requireAnyScopePermission,
  requireScopePermission,
  type ScopeFilter,
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

/** The condition to be within a {@link ScopeFilter}: {@link matchesScopeFilter} for the Prisma client. */
export function whereInScope({ enterpriseId, all, organizationIds, isShared }: ScopeFilter): ScopeWhere {
  const own: ScopeWhere = { organizationId: { in: [...organizationIds] } };
  const reached: ScopeWhere = isShared ? { OR: [own, { organizationId: null }] } : own;
  return { enterpriseId, AND: all ? [inLivingOrganization] : [reached, inLivingOrganization] };
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

const lockStatements: Readonly<Record<ScopedKind, string>> = {
  playbook: lockStatement('Playbook', 'r.deleted_at is null'),
  note: lockStatement('KnowledgeNote'),
  folder: lockStatement('KnowledgeFolder'),
};

function lockStatement(model: (typeof scopedModels)[ScopedKind], where = 'true'): string {
  return `select ${selectFields(model, 'r', fieldsOf(model))} from ${tableOf(model)} r
    where r.id = $1 and ${matchesScopeFilter('r')} and ${where} for update of r`;
}
