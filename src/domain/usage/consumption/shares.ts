import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { type Count, maxCounted } from '../../nested-pages.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';
import { groupByScope, type Ledger, ledgerSource, scopeIdOf } from './ledgers.ts';

/**
 * The dimension by which consumption is divided: session, actor (a user, a service user or a service key),
 * organization, playbook.
 */
export type ShareOf = 'session' | 'actor' | 'organization' | 'playbook';

/** The consumption of one session, actor, organization or playbook. */
export interface ConsumptionShare {
  /** Unprefixed id in the dimension; empty: the service itself, or no playbook. */
  readonly id: string;
  readonly acus: number;
  /** The reported cost of models in US dollars. */
  readonly costUsd: number;
  /** For an actor and for a session. */
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly serviceKeyId: string | null;
  /** For a session. */
  readonly title: string | null;
}

const keys = {
  session: 'u.session_id',
  actor: `coalesce(u.user_id, u.service_user_id, u.service_key_id, '')`,
  organization: 'u.organization_id',
  playbook: `coalesce(u.playbook_id, '')`,
} as const satisfies Record<ShareOf, string>;

const titles = {
  session: '(select s.title from session s where s.id = g.id)',
  actor: 'null',
  organization: 'null',
  playbook: 'null',
} as const satisfies Record<ShareOf, string>;

/**
 * Lists a page of the shares in each of some ledgers, in their order and in one statement; the ledgers differ only in
 * their organization. The newest come first (ids are ordered by time), the share without an id last. Throws the errors
 * of {@link pageWindow}.
 */
export async function listShares(
  context: Context,
  by: ShareOf,
  ledgers: readonly Ledger[],
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ConsumptionShare>[]> {
  const [first, ...others] = ledgers;
  if (!first) return [];
  const list = `consumption.${by}`;
  const window = pageWindow(request, limits, (text) => {
    const [id] = readCursor(list, 1, text) ?? [];
    return id !== undefined && /^(?:[0-9a-f]{32})?$/.test(id) ? id : null;
  });
  const { scopes, where, values, bind } = ledgerSource(context, [first, ...others]);
  const conditions = [where];
  if (window.after !== null) conditions.push(`${keys[by]} < ${bind(window.after)}`);
  if (window.before !== null) conditions.push(`${keys[by]} > ${bind(window.before)}`);
  const direction = window.backward ? 'asc' : 'desc';
  const rows = await queryList<ConsumptionShare & { scopeId: string }>(
    context.store,
    `select p.id as "scopeId", g.*, ${titles[by]} as title from ${scopes} cross join lateral (
       select ${keys[by]} as id, sum(u.acus::numeric)::float8 as acus,
              sum(u.cost_usd::numeric)::float8 as "costUsd", min(u.user_id) as "userId",
              min(u.service_user_id) as "serviceUserId", min(u.service_key_id) as "serviceKeyId"
         from usage u where ${conditions.join(' and ')}
        group by 1 order by 1 ${direction} limit ${bind(window.limit + 1)}) g
      order by p.id, g.id ${direction}`,
    values,
  );
  const found = groupByScope(rows);
  return ledgers.map((ledger) =>
    toPage<string, ConsumptionShare>(found.get(scopeIdOf(ledger)) ?? [], window, ({ id }) => writeCursor(list, id)),
  );
}

/**
 * Counts the shares in each of some ledgers, in their order and in one statement; the ledgers differ only in their
 * organization.
 */
export async function countShares(context: Context, by: ShareOf, ledgers: readonly Ledger[]): Promise<Count[]> {
  const [first, ...others] = ledgers;
  if (!first) return [];
  const { scopes, where, values, bind } = ledgerSource(context, [first, ...others]);
  const rows = await queryList<{ scopeId: string; total: number }>(
    context.store,
    `select p.id as "scopeId", g.total from ${scopes} cross join lateral (
       select count(*)::int as total from (
         select 1 from usage u where ${where} group by ${keys[by]} limit ${bind(maxCounted)}) g) g`,
    values,
  );
  const totals = new Map(rows.map(({ scopeId, total }) => [scopeId, total]));
  return ledgers.map((ledger) => {
    const total = totals.get(scopeIdOf(ledger)) ?? 0;
    return { total, isExact: total < maxCounted };
  });
}
