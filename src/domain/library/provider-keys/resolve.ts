import { rolesOfUser } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import type { ModelProvider } from '../../../providers/model-providers.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { budgetStart, type KeyScope, keyScopes, providerKeyAssociatedData, type StoredKey } from './stored-key.ts';

/** The sessions of a user (null: of a service user or of no one) in an organization, by unprefixed ids. */
export interface KeyUser {
  readonly organizationId: string;
  readonly userId: string | null;
}

type Services = Pick<Context, 'store' | 'keyring' | 'now'>;

// $1: the organization, $2: the user or ''. The scopes are in the order in which their keys are chosen. The join is in
// the form of the index provider_key_name. A user's keys count only while the user may use sessions in the organization:
// with a role there, or with a role on the enterprise that grants permissions in all organizations.
const usableKeys = `
  organization o
  cross join lateral (values (1, '', $2::text), (2, o.id, ''), (3, '', '')) scopes (level, organization_id, user_id)
  join provider_key k on k.enterprise_id = o.enterprise_id and k.deleted_at is null and k.is_enabled
   and coalesce(k.organization_id, '') = scopes.organization_id and coalesce(k.owner_user_id, '') = scopes.user_id
  where o.id = $1 and o.deleted_at is null and (scopes.level > 1 or exists (
    select 1 from user_account u
      cross join lateral (${rolesOfUser('u.id')}) a
      join role r on r.id = a.role_id
     where u.id = $2 and u.enterprise_id = o.enterprise_id and coalesce(u.deleted_at, u.deactivated_at) is null
       and (a.organization_id = o.id or a.organization_id is null) and '${permissionFor.createSession}' = any(r.permissions)))`;

const keyColumns = `k.id, k.enterprise_id as "enterpriseId", k.name, k.provider, k.base_url as "baseUrl", k.sealed,
  k.input_usd_per_million as "inputUsdPerMillion", k.cached_usd_per_million as "cachedUsdPerMillion",
  k.output_usd_per_million as "outputUsdPerMillion", k.monthly_budget_usd as "monthlyBudgetUsd"`;

interface KeyRow extends Omit<StoredKey, 'key' | 'scope'> {
  readonly enterpriseId: string;
  readonly level: number;
  readonly sealed: string | null;
}

/**
 * Returns the key that pays for a session's calls: the user's own, while the user may use sessions in the organization;
 * else the organization's; else the enterprise's. Among the keys of one owner, the first provider of the list counts, then
 * the oldest key. Null: there is none. Keys that are disabled do not count; a key over its budget does. One statement.
 */
export async function resolveStoredKey(
  services: Services,
  { organizationId, userId, providers }: KeyUser & { readonly providers: readonly ModelProvider[] },
): Promise<StoredKey | null> {
  const [row] = await services.store.query<KeyRow>(
    `select first.*, case when first."monthlyBudgetUsd" is not null then
            (select coalesce(sum(u.cost_usd), 0) from provider_key_usage u where u.provider_key_id = first.id and u.day >= $4::date)
            end as "spentThisMonthUsd"
       from (select ${keyColumns}, scopes.level from ${usableKeys} and k.provider = any($3::text[])
              order by scopes.level, array_position($3::text[], k.provider), k.created_at, k.id limit 1) first`,
    [organizationId, userId ?? '', providers, budgetStart(services)],
  );
  return row ? openKey(services, row) : null;
}

function openKey({ keyring }: Services, { enterpriseId, level, sealed, ...row }: KeyRow): StoredKey {
  const key = sealed === null ? null : keyring.open(sealed, providerKeyAssociatedData(enterpriseId, row.id));
  return { ...row, scope: scopeOfLevel(level), key };
}

const scopeOfLevel = (level: number): KeyScope => keyScopes[level - 1] as KeyScope;

/** A provider for which there is an enabled key, and the owner of the key. */
export interface StoredProvider {
  readonly provider: ModelProvider;
  readonly scope: KeyScope;
}

/**
 * Returns the providers of the keys that count for a user's sessions in an organization, as {@link resolveStoredKey} does;
 * each provider once for each owner, the user first. Without an organization: the providers of the keys of enterprises.
 * One statement.
 */
export async function findStoredProviders(
  { store }: { readonly store: Pick<Context['store'], 'query'> | Transaction },
  user: KeyUser | null,
): Promise<StoredProvider[]> {
  const rows = await (user === null
    ? store.query<{ provider: ModelProvider; level: number }>(
        `select distinct k.provider, 3 as level from provider_key k
          where k.organization_id is null and k.owner_user_id is null and k.deleted_at is null and k.is_enabled order by k.provider`,
        [],
      )
    : store.query<{ provider: ModelProvider; level: number }>(
        `select distinct scopes.level, k.provider from ${usableKeys} order by scopes.level, k.provider`,
        [user.organizationId, user.userId ?? ''],
      ));
  return rows.map(({ provider, level }) => ({ provider, scope: scopeOfLevel(level) }));
}
