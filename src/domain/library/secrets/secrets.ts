import { permissionFor } from '../../../auth/permissions.ts';
import { hasPermission, organizationsWith } from '../../../auth/viewer.ts';
import { fieldsOf, type Row, selectFields, selectionOf } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { findInOrganizations, inOrderOfKeys, type WithKeyPosition, whereInOrganizations } from '../../find-by-ids.ts';
import {
  type OrganizationRecord,
  requireUsable,
  useOrganization,
} from '../../identity/organizations/use-organization.ts';
import { parseId } from '../../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../../list-filter.ts';
import { type NestedList, organizationOwners } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, prismaPage } from '../../sorted-pages.ts';

/** The types of secrets. */
export const secretTypes = ['cookie', 'key-value', 'totp'] as const;
/** See {@link secretTypes}. */
export type SecretType = (typeof secretTypes)[number];

const secretFields = fieldsOf('Secret', ['sealed']);

/** A secret without its value, which no API returns. Its key is unique in the organization. */
export interface SecretRecord extends Pick<Row<'Secret'>, (typeof secretFields)[number]> {
  readonly type: SecretType;
}

/** The columns of a {@link SecretRecord} of a `secret` aliased `x`: never its value. */
export const secretColumns = selectFields('Secret', 'x', secretFields);
const secretSelection = selectionOf(secretFields);

/** Returns the associated data of a secret's sealed value, which binds it to the secret. */
export function secretAssociatedData(organizationId: string, secretId: string): string {
  return `${organizationId}:${secretId}`;
}

/** The secrets of an organization, newest first. ORGANIZATION_NOT_USABLE, FORBIDDEN, and the errors of {@link pageWindow}. */
export async function listSecrets(
  context: Context,
  request: PageRequest & { readonly organizationId: string },
  limits: PageLimits,
): Promise<Page<SecretRecord>> {
  const { id } = await useSecretsOf(context, request.organizationId);
  const page = prismaPage({ name: 'secrets' }, request, limits);
  const rows = await context.store.prisma.secret.findMany({
    where: { organizationId: id, AND: page.beyond },
    orderBy: page.orderBy,
    take: page.take,
    select: secretSelection,
  });
  return page.toPage(rows as SecretRecord[]);
}

/** Conditions of a list of secrets. `search`: in the key and the note. */
export interface SecretFilter extends ListFilter {
  readonly types?: readonly SecretType[] | undefined;
  readonly isSensitive?: boolean | undefined;
}

const sortKeys = { key: textKey('Secret', 'key') };

/** An order of a list of secrets. */
export type SecretOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the secrets of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function secretsOf(
  context: Context,
  organizationId: string,
  filter: SecretFilter = {},
  order?: SecretOrder | null,
): NestedList<SecretRecord> {
  requireUsable(context, organizationId, permissionFor.viewSecrets, permissionFor.changeSecrets);
  checkListFilter(filter);
  const { types, isSensitive } = filter;
  return {
    ...inOrder('secrets', order, sortKeys),
    key: `secrets ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'x',
    table: 'secret',
    columns: secretColumns,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => [
      'x.organization_id = owner.id',
      ...oneOfConditions('x.type', types, bind),
      ...(isSensitive === undefined ? [] : [`x.is_sensitive = ${bind(isSensitive)}::boolean`]),
      ...listFilterConditions('x', filter, ['key', 'note'], bind),
    ],
  };
}

// A viewer that may change secrets may list them, even without the permission to use sessions.
function useSecretsOf(context: Context, organizationId: string): Promise<OrganizationRecord> {
  const bare = parseId('organization', organizationId);
  const canChange = bare !== null && hasPermission(context.viewer, permissionFor.changeSecrets, bare);
  return useOrganization(context, organizationId, canChange ? permissionFor.changeSecrets : permissionFor.viewSecrets);
}

/**
 * Returns the secrets of these unprefixed ids that the viewer may see, in the ids' order; null for each other id.
 */
export function findSecrets(context: Context, ids: readonly string[]): Promise<(SecretRecord | null)[]> {
  const table = { table: 'secret', row: 'x', columns: secretColumns };
  return findInOrganizations<SecretRecord>(context, table, ids, permissionFor.viewSecrets, permissionFor.changeSecrets);
}

/** Returns the secret of an id in any form, if the viewer may see it; null for any other. */
export async function findSecret({ viewer, store }: Context, id: string): Promise<SecretRecord | null> {
  const bare = parseId('secret', id);
  if (bare === null) return null;
  const isVisible = whereInOrganizations(viewer, permissionFor.viewSecrets, permissionFor.changeSecrets);
  const where = { id: bare, ...isVisible };
  return (await store.prisma.secret.findFirst({ where, select: secretSelection })) as SecretRecord | null;
}

/** A secret with its value, for an agent's process: never pass it to an API response, a log or an error. */
export interface OpenSecret {
  readonly key: string;
  readonly type: SecretType;
  readonly value: string;
  readonly isSensitive: boolean;
}

/**
 * Returns the values of an organization's secrets, oldest first, of one type or of all. `secretIds` has unprefixed ids:
 * null means all secrets, an empty list none. A deleted secret is left out.
 */
export async function readSecrets(
  context: Pick<Context, 'store' | 'keyring'>,
  organizationId: string,
  secretIds: readonly string[] | null,
  type: SecretType | null = null,
): Promise<OpenSecret[]> {
  if (secretIds?.length === 0) return [];
  const rows = await context.store.prisma.secret.findMany({
    where: { organizationId, ...(type && { type }), ...(secretIds && { id: { in: [...secretIds] } }) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(({ id, key, sealed, isSensitive, ...secret }) => ({
    key,
    type: secret.type as SecretType,
    isSensitive,
    value: context.keyring.open(sealed, secretAssociatedData(organizationId, id)),
  }));
}

/** Identifies a secret by its key in an organization, by its unprefixed id. */
export interface SecretKey {
  readonly organizationId: string;
  readonly key: string;
}

/**
 * Returns the secrets of these keys that the viewer may see, in the keys' order; null for each other key. One
 * statement.
 */
export async function findSecretsByKey(
  { viewer, store }: Context,
  keys: readonly SecretKey[],
): Promise<(SecretRecord | null)[]> {
  const organizations = organizationsWith(viewer, permissionFor.viewSecrets, permissionFor.changeSecrets);
  const rows = await store.query<WithKeyPosition<SecretRecord>>(
    `select k.position::int as "keyPosition", ${secretColumns}
       from unnest($1::text[], $2::text[]) with ordinality k (organization_id, key, position)
       join secret x on x.organization_id = k.organization_id and x.key = k.key
       join organization o on o.id = x.organization_id
      where o.enterprise_id = $3 and o.deleted_at is null and ($4::boolean or o.id = any($5::text[]))`,
    [
      keys.map(({ organizationId }) => organizationId),
      keys.map(({ key }) => key),
      organizations.enterpriseId,
      organizations.all,
      organizations.ids,
    ],
  );
  return inOrderOfKeys(keys.length, rows);
}
