import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith, requireEnterprisePermission, type Viewer } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { ProviderFailureCode } from '../../../providers/failures.ts';
import type { ModelProvider } from '../../../providers/model-providers.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { inLivingOrganization } from '../../identity/organizations/scope.ts';
import { requireUsable } from '../../identity/organizations/use-organization.ts';
import { parseId } from '../../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../../list-filter.ts';
import { type Bind, type NestedList, organizationOwners } from '../../nested-pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';
import type { KeyScope } from './stored-key.ts';

const providerKeyFields = fieldsOf('ProviderKey', ['sealed', 'deletedAt', 'lastFailure']);

/** The last failed call of a key. The message is for users and contains no key. */
export interface KeyFailure {
  readonly code: ProviderFailureCode;
  readonly message: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A provider key without its value, which no API returns. Its name is unique in its scope. */
export interface ProviderKeyRecord extends Pick<Row<'ProviderKey'>, (typeof providerKeyFields)[number]> {
  readonly provider: ModelProvider;
  /** False: a server that needs no key. */
  readonly hasKey: boolean;
  /** Null: the last call succeeded, or there was none. */
  readonly lastFailure: KeyFailure | null;
}

/** The columns of a {@link ProviderKeyRecord} of a `provider_key` aliased `k`: never its value. */
export const providerKeyColumns = `${selectFields('ProviderKey', 'k', providerKeyFields)},
  k.last_failure as "lastFailure", k.sealed is not null as "hasKey"`;

/** The owner of a key as unprefixed ids; both null: the enterprise. */
export interface KeyOwner {
  readonly enterpriseId: string;
  readonly organizationId: string | null;
  readonly ownerUserId: string | null;
}

/** Returns the kind of a key's owner. */
export function scopeOf({ organizationId, ownerUserId }: Omit<KeyOwner, 'enterpriseId'>): KeyScope {
  if (ownerUserId !== null) return 'USER';
  return organizationId === null ? 'ENTERPRISE' : 'ORGANIZATION';
}

/**
 * Returns the unprefixed id of the user whose own keys the viewer manages; null for any other principal, and for a user
 * with a key of one organization: keys of users work in all their organizations, so that such a key would get a wider reach.
 */
export const ownKeysOf = ({ principal, homeOrganizationId }: Viewer): string | null =>
  principal.type === 'USER' && homeOrganizationId === null ? principal.id : null;

/** Tells if the viewer may use sessions anywhere: users who may can have keys of their own. */
export function mayUseSessions(viewer: Viewer): boolean {
  const { all, ids } = organizationsWith(viewer, permissionFor.manageOwnProviderKeys);
  return all || ids.length > 0;
}

// The keys that the viewer may see. These are also the keys that it may manage: its own, and the keys of each organization
// and of the enterprise where it has the permission.
function visible(viewer: Viewer, bind: Bind): string {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.manageProviderKeys);
  const isManager = viewer.enterprisePermissions.has(permissionFor.manageEnterpriseProviderKeys);
  return `k.enterprise_id = ${bind(enterpriseId)} and k.deleted_at is null and ${inLivingOrganization('k')} and (
    k.owner_user_id = ${bind(ownKeysOf(viewer))}::text
    or (k.owner_user_id is null and k.organization_id is null and ${bind(isManager)}::boolean)
    or (k.organization_id is not null and (${bind(all)}::boolean or k.organization_id = any(${bind(ids)}::text[]))))`;
}

/**
 * Returns the keys of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. Who sees a
 * key may manage it.
 */
export async function findProviderKeys(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(ProviderKeyRecord | null)[]> {
  const values: unknown[] = [ids];
  const condition = visible(viewer, (value) => `$${values.push(value)}`);
  const rows = await store.query<ProviderKeyRecord>(
    `select ${providerKeyColumns} from provider_key k where k.id = any($1::text[]) and ${condition}`,
    values,
  );
  return inOrderOf(ids, rows);
}

/** Returns the key of an id in any form. Throws NOT_FOUND, also if the viewer may not see it. */
export async function getProviderKey(context: Context, id: string): Promise<ProviderKeyRecord> {
  const bare = parseId('providerKey', id);
  const [key] = bare === null ? [] : await findProviderKeys(context, [bare]);
  if (!key) throw notFound('provider key');
  return key;
}

/** Conditions of a list of keys. `search`: in the name. */
export interface ProviderKeyFilter extends ListFilter {
  readonly providers?: readonly ModelProvider[] | undefined;
  readonly isEnabled?: boolean | undefined;
}

const sortKeys = { name: textKey('ProviderKey', 'name') };

/** An order of a list of keys. */
export type ProviderKeyOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/** Owners whose keys are listed: an organization that has been read, by its unprefixed id; the enterprise; or the viewer. */
export type KeyListOwner = { readonly organizationId: string } | 'enterprise' | 'viewer';

/**
 * Returns the keys of an owner as a nested list. Without {@link ownKeysOf}, the list of own keys is empty. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function providerKeysOf(
  context: Context,
  owner: KeyListOwner,
  filter: ProviderKeyFilter = {},
  order?: ProviderKeyOrder | null,
): NestedList<ProviderKeyRecord> {
  checkListFilter(filter);
  const { providers, isEnabled } = filter;
  const { name, ownerId, owners, ownedBy } = listOf(context, owner);
  return {
    ...inOrder('providerKeys', order, sortKeys),
    key: `provider keys ${JSON.stringify([name, filter, order])}`,
    ownerId,
    row: 'k',
    table: 'provider_key',
    columns: providerKeyColumns,
    owners,
    where: (bind) => [
      `k.enterprise_id = ${bind(context.viewer.enterpriseId)}`,
      ownedBy,
      'k.deleted_at is null',
      ...oneOfConditions('k.provider', providers, bind),
      ...(isEnabled === undefined ? [] : [`k.is_enabled = ${bind(isEnabled)}::boolean`]),
      ...listFilterConditions('k', filter, ['name'], bind),
    ],
  };
}

function listOf(context: Context, owner: KeyListOwner) {
  const { viewer } = context;
  if (owner === 'viewer') {
    const ownedBy = 'k.owner_user_id = owner.id';
    return { name: owner, ownerId: ownKeysOf(viewer) ?? '', owners: () => '', ownedBy };
  }
  if (owner === 'enterprise') {
    requireEnterprisePermission(viewer, permissionFor.manageEnterpriseProviderKeys);
    const ownedBy = 'k.organization_id is null and k.owner_user_id is null';
    return { name: owner, ownerId: viewer.enterpriseId, owners: () => '', ownedBy };
  }
  requireUsable(context, owner.organizationId, permissionFor.manageProviderKeys);
  const owners = organizationOwners(viewer.enterpriseId);
  return { name: 'organization', ownerId: owner.organizationId, owners, ownedBy: 'k.organization_id = owner.id' };
}
