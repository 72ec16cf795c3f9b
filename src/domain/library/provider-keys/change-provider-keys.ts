import type { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { missingPermission, ownerOf, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { insertStatement, type Row, updateStatement } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { lockScope } from '../../identity/organizations/scope.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import { lockPrincipal } from '../../identity/people/lock-principal.ts';
import { newId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { changedValues } from '../../record-values.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import {
  budgetProblem,
  combinationProblem,
  normalizeBaseUrl,
  type PricesInput,
  providerKeySchema,
} from './key-input.ts';
import {
  getProviderKey,
  type KeyOwner,
  mayUseSessions,
  ownKeysOf,
  type ProviderKeyRecord,
  providerKeyColumns,
  scopeOf,
} from './provider-keys.ts';
import { type KeyPrices, providerKeyAssociatedData } from './stored-key.ts';

/** Maximum number of keys of one owner. */
export const maxProviderKeys = 50;

/** The owner of a new key: an organization, by an id in any form; the enterprise; or the viewer itself, a user. */
export type KeyOwnerInput = { readonly organizationId: string } | 'enterprise' | 'viewer';

/** A new key. `key` may be omitted for a compatible server only, which needs a base URL. */
export type CreateProviderKeyInput = z.input<ReturnType<typeof providerKeySchema>>;

const noOwnKeys =
  '"viewer" requires a key that acts in all organizations of its user. A key of one organization cannot manage the provider keys of its user.';

/** Checks that the viewer may have keys of this owner. Throws FORBIDDEN, INVALID_INPUT, and the errors of `useOrganization`. */
export async function useKeyOwner(context: Context, owner: KeyOwnerInput): Promise<KeyOwner> {
  const { viewer } = context;
  const { enterpriseId } = viewer;
  if (owner === 'enterprise') {
    requireEnterprisePermission(viewer, permissionFor.manageEnterpriseProviderKeys);
    return { enterpriseId, organizationId: null, ownerUserId: null };
  }
  if (owner === 'viewer') {
    const ownerUserId = ownKeysOf(viewer);
    if (ownerUserId === null) throw refuse(['scope', 'viewer'], noOwnKeys);
    if (!mayUseSessions(viewer)) throw missingPermission(permissionFor.manageOwnProviderKeys);
    return { enterpriseId, organizationId: null, ownerUserId };
  }
  const { id } = await useOrganization(context, owner.organizationId, permissionFor.manageProviderKeys);
  return { enterpriseId, organizationId: id, ownerUserId: null };
}

/**
 * Creates a provider key. Sessions use it from their next model call on. Throws FORBIDDEN, INVALID_INPUT,
 * ORGANIZATION_NOT_USABLE; NOT_UNIQUE for a name that another key of the owner has; LIMIT_EXCEEDED beyond
 * {@link maxProviderKeys}; IDEMPOTENCY_CONFLICT, and NOT_FOUND if the key that the idempotency key created is gone.
 */
export async function createProviderKey(
  context: Context,
  raw: CreateProviderKeyInput,
  ownerInput: KeyOwnerInput,
  options: CreateOptions = {},
): Promise<ProviderKeyRecord> {
  const owner = await useKeyOwner(context, ownerInput);
  const input = parseInput(providerKeySchema(context.isPrivateProviderAllowed), raw);
  const key = input.key ?? null;
  const baseUrl = normalizeBaseUrl(input.baseUrl ?? null);
  requireCombination({ provider: input.provider, baseUrl, hasKey: key !== null });
  const now = context.now();
  const id = newId();
  const record: ProviderKeyRecord = {
    id,
    ...owner,
    provider: input.provider,
    baseUrl,
    name: input.name,
    hasKey: key !== null,
    monthlyBudgetUsd: input.monthlyBudgetUsd ?? null,
    ...toPrices(input.prices),
    isEnabled: input.isEnabled ?? true,
    lastUsedAt: null,
    lastFailure: null,
    ...ownerOf(context.viewer),
    ...changedBy(context),
    createdAt: now,
    updatedAt: now,
  };
  requireNone(budgetProblem(record));
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const scope = owner.organizationId ?? owner.enterpriseId;
    const claim = { scope, operation: 'createProviderKey', input: [owner, raw], resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return lockKey(tx, replay);
    await lockOwner(context, tx, owner);
    await requireRoom(tx, owner);
    await requireFreeName(tx, record);
    const { hasKey: _derived, ...row } = record;
    const sealed = sealKey(context, record, key);
    const insert = insertStatement('ProviderKey', { ...row, sealed, deletedAt: null });
    await tx.query(insert.text, insert.values);
    await auditKey(context, tx, 'create_provider_key', record);
    return record;
  });
}

/** Changes of a key: an omitted (or undefined) member does not change. null clears the base URL, the budget and the prices. */
export type ProviderKeyChange = {
  readonly [Name in keyof CreateProviderKeyInput]?: CreateProviderKeyInput[Name] | undefined;
};

/**
 * Changes the key of an id in any form; writes nothing if nothing changes. A stored key never goes to another server: a
 * change of the provider or of the base URL needs the key again. Throws NOT_FOUND, CONFLICT, and the errors of
 * {@link createProviderKey}.
 */
export async function updateProviderKey(
  context: Context,
  id: string,
  raw: ProviderKeyChange & VersionCondition,
): Promise<ProviderKeyRecord> {
  const seen = await getProviderKey(context, id);
  const input = parseInput(providerKeySchema(context.isPrivateProviderAllowed).partial(), raw);
  const { key, prices, baseUrl, isEnabled, ...rest } = input;
  return context.store.transact(async (tx) => {
    await lockOwner(context, tx, seen);
    const before = await lockKey(tx, seen.id);
    requireVersion(before, raw);
    const changed = changedValues<ProviderKeyRecord, Partial<ProviderKeyRecord>>(before, {
      ...definedIn(rest),
      ...(baseUrl !== undefined && { baseUrl: normalizeBaseUrl(baseUrl) }),
      ...(isEnabled != null && { isEnabled }),
      ...(prices !== undefined && toPrices(prices)),
      ...(key !== undefined && { hasKey: key !== null }),
    });
    const isOtherServer = changed.provider !== undefined || changed.baseUrl !== undefined;
    if (isOtherServer && before.hasKey && key === undefined) {
      const at = changed.provider === undefined ? 'baseUrl' : 'provider';
      throw refuse(
        ['key'],
        `"key" must be given again when "${at}" changes: a stored key is not sent to another server.`,
      );
    }
    const names = new Set(Object.keys(changed).filter((name) => name !== 'hasKey'));
    if (key != null || changed.hasKey !== undefined) names.add('key');
    if (names.size === 0) return before;
    const isRenewed = isOtherServer || names.has('key') || names.has('isEnabled');
    const after: ProviderKeyRecord = {
      ...before,
      ...changed,
      ...(isRenewed && { lastFailure: null }),
      ...changedBy(context, before),
    };
    requireCombination(after);
    // A key without prices that got its budget earlier can still be renamed or disabled.
    const changesCosts = ['provider', 'monthlyBudgetUsd', 'inputUsdPerMillion'].some((name) => names.has(name));
    if (changesCosts) requireNone(budgetProblem(after));
    if (names.size > 1 || changed.isEnabled !== false) requireConfirmation(context);
    if (names.has('name')) await requireFreeName(tx, after);
    const { hasKey: _derived, ...row } = after;
    const sealed = names.has('key') ? { sealed: sealKey(context, after, key ?? null) } : {};
    await writeKey(tx, { ...row, ...sealed });
    await auditKey(context, tx, 'update_provider_key', after, { changed: [...names].join(' ') });
    return after;
  });
}

/**
 * Deletes a key, erases its value and returns it. No call uses it from then on; its usage stays. Throws NOT_FOUND,
 * CONFLICT.
 */
export async function deleteProviderKey(
  context: Context,
  id: string,
  condition?: VersionCondition,
): Promise<ProviderKeyRecord> {
  const seen = await getProviderKey(context, id);
  return context.store.transact(async (tx) => {
    const before = await lockKey(tx, seen.id);
    requireVersion(before, condition);
    const deletedAt = context.now();
    await writeKey(tx, { id: seen.id, sealed: null, isEnabled: false, deletedAt, ...changedBy(context, before) });
    await auditKey(context, tx, 'delete_provider_key', before);
    return before;
  });
}

const definedIn = <T extends object>(values: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

function toPrices(prices: PricesInput | null | undefined): KeyPrices {
  return {
    inputUsdPerMillion: prices?.inputUsdPerMillion ?? null,
    cachedUsdPerMillion: prices?.cachedUsdPerMillion ?? null,
    outputUsdPerMillion: prices?.outputUsdPerMillion ?? null,
  };
}

function requireCombination(values: Parameters<typeof combinationProblem>[0]): void {
  requireNone(combinationProblem(values));
}

function requireNone(problem: ReturnType<typeof combinationProblem>): void {
  if (problem) throw refuse(problem.path, problem.message);
}

const sealKey = ({ keyring }: Context, { enterpriseId, id }: ProviderKeyRecord, key: string | null) =>
  key === null ? null : keyring.seal(key, providerKeyAssociatedData(enterpriseId, id));

async function lockKey(tx: Transaction, id: string): Promise<ProviderKeyRecord> {
  const [key] = await tx.query<ProviderKeyRecord>(
    `select ${providerKeyColumns} from provider_key k where k.id = $1 and k.deleted_at is null for update`,
    [id],
  );
  if (!key) throw notFound('provider key');
  return key;
}

// Serializes the changes of an owner's keys, since two at once would both pass the count, and the deletion of the owner.
async function lockOwner(context: Context, tx: Transaction, { ownerUserId, ...scope }: KeyOwner): Promise<void> {
  if (ownerUserId === null) await lockScope(tx, scope);
  else await lockPrincipal(context, tx, { userId: ownerUserId });
}

const ofOwner = `enterprise_id = $1 and coalesce(organization_id, '') = $2 and coalesce(owner_user_id, '') = $3 and deleted_at is null`;
const ownerValues = ({ enterpriseId, organizationId, ownerUserId }: KeyOwner) => [
  enterpriseId,
  organizationId ?? '',
  ownerUserId ?? '',
];

async function requireRoom(tx: Transaction, owner: KeyOwner): Promise<void> {
  const sql = `select count(*)::int as count from provider_key where ${ofOwner}`;
  const [all] = await tx.query<{ count: number }>(sql, ownerValues(owner));
  if ((all?.count ?? 0) < maxProviderKeys) return;
  throw refuse(['name'], `An owner has at most ${maxProviderKeys} provider keys.`, 'LIMIT_EXCEEDED');
}

async function requireFreeName(tx: Transaction, key: ProviderKeyRecord): Promise<void> {
  const sql = `select id from provider_key where ${ofOwner} and lower(name) = lower($4) and id <> $5`;
  const taken = await tx.query(sql, [...ownerValues(key), key.name, key.id]);
  if (taken.length === 0) return;
  const message = `"name" must be unique among the keys of the owner, but ${JSON.stringify(key.name)} is taken.`;
  throw refuse(['name'], message, 'NOT_UNIQUE');
}

async function writeKey(
  tx: Transaction,
  { id, ...change }: Partial<Row<'ProviderKey'>> & { id: string },
): Promise<void> {
  const update = updateStatement('ProviderKey', id, change);
  await tx.query(update.text, update.values);
}

/**
 * Records an act on a key. Of a user's own key the log has only the provider: administrators read the log, but not the keys
 * of others.
 */
export async function auditKey(
  context: Context,
  tx: Transaction,
  action: 'create_provider_key' | 'update_provider_key' | 'delete_provider_key' | 'test_provider_key',
  { id: targetId, organizationId, ownerUserId, name, provider, baseUrl }: ProviderKeyRecord,
  more: Record<string, string | boolean> = {},
): Promise<void> {
  const owner = scopeOf({ organizationId, ownerUserId }).toLowerCase();
  const shared = ownerUserId === null ? { name, ...(baseUrl !== null && { host: new URL(baseUrl).host }) } : {};
  await audit(context, tx, action, { organizationId, targetId, data: { owner, provider, ...shared, ...more } });
  if (action !== 'test_provider_key') tx.afterCommit(() => context.notifier.notify('provider-keys'));
}
