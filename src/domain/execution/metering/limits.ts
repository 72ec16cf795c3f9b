import type { Store } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { quotaOf } from '../../identity/organizations/organization-quotas.ts';
import type { SessionStatusDetail } from '../../sessions/status.ts';
import { cycleOf } from '../../usage/consumption/cycles.ts';

/** A limit that a session has reached. */
export type LimitReached = AcuLimitReached | TokensReached | BudgetReached;

/** The budget of a provider key that a session has reached. */
export interface BudgetReached {
  readonly statusDetail: 'out_of_credits';
  /** The message for the user: the key, and the next step. */
  readonly message: string;
  readonly providerKeyId: string;
  readonly budgetUsd: number;
  /** At or above `budgetUsd`, unless too little is left for the next call. */
  readonly spentUsd: number;
  /** The least that the next call may cost. */
  readonly neededUsd: number;
}

/** The limit of tokens in a day that the organization of a session has reached. */
interface TokensReached {
  readonly statusDetail: 'org_usage_limit_exceeded';
  /** The message for the user: the limit, and the next step. */
  readonly message: string;
  /** Tokens; `tokensUsed` is at or above it. */
  readonly tokenLimit: number;
  readonly tokensUsed: number;
}

/** An ACU limit that a session has reached. */
interface AcuLimitReached {
  /** The status detail of the suspended session. */
  readonly statusDetail: Extract<
    SessionStatusDetail,
    | 'usage_limit_exceeded'
    | 'total_session_limit_exceeded'
    | 'org_usage_limit_exceeded'
    | 'no_quota_allocation'
    | 'out_of_quota'
  >;
  /** The message for the user: the limit, and the next step. */
  readonly message: string;
  /** ACUs; `used` is at or above `limit`. */
  readonly limit: number;
  readonly used: number;
}

interface Limits {
  used: number;
  ownLimit: number | null;
  sessionLimit: number | null;
  organizationId: string;
  cycleLimit: number | null;
  maxTokensPerDay: number | null;
  enterpriseId: string;
  enterpriseLimit: number | null;
}

const limitsOf = `
  select s.acus_consumed as used, s.max_acu_limit as "ownLimit", o.max_session_acu_limit as "sessionLimit",
         o.id as "organizationId", o.max_cycle_acu_limit as "cycleLimit", o.max_tokens_per_day as "maxTokensPerDay", e.id as "enterpriseId",
         e.max_cycle_acu_limit as "enterpriseLimit"
    from session s join organization o on o.id = s.organization_id join enterprise e on e.id = o.enterprise_id
   where s.id = $1`;

const acus = (amount: number) => `${Math.round(amount * 100) / 100} ${amount === 1 ? 'ACU' : 'ACUs'}`;

/**
 * Returns the limit that a session has reached; null: it may continue. The lower one of its own limit and its
 * organization's limit for one session is checked first, and the organization's if they are equal, since raising only
 * its own would not help; then the limits of its organization and its enterprise for the current cycle, and the tokens of its organization in the day.
 */
export async function findReachedLimit(
  context: Context,
  sessionId: string,
): Promise<AcuLimitReached | TokensReached | null> {
  const [row] = await context.store.query<Limits>(limitsOf, [sessionId]);
  if (!row) return null;
  const { used, ownLimit, sessionLimit, cycleLimit, enterpriseLimit } = row;
  const isOrganizationsLower = sessionLimit !== null && ownLimit !== null && sessionLimit <= ownLimit;
  if (ownLimit !== null && used >= ownLimit && !isOrganizationsLower) {
    const message = `The session reached its ACU limit: ${acus(ownLimit)}. To continue it, raise its limit and send a message.`;
    return { statusDetail: 'usage_limit_exceeded', message, limit: ownLimit, used };
  }
  if (sessionLimit !== null && used >= sessionLimit) {
    const message = `The session reached its organization’s ACU limit for a session: ${acus(sessionLimit)}. To continue it, have that limit raised and send a message.`;
    return { statusDetail: 'total_session_limit_exceeded', message, limit: sessionLimit, used };
  }
  if (cycleLimit !== null) {
    const spent = await spentInCycle(context, 'organization_id', row.organizationId);
    if (spent >= cycleLimit) return organizationReached(cycleLimit, spent);
  }
  if (enterpriseLimit === null) return findReachedTokens(context, row);
  const spent = await spentInCycle(context, 'enterprise_id', row.enterpriseId);
  if (spent < enterpriseLimit) return findReachedTokens(context, row);
  const message = `The enterprise has used its monthly ACU limit: ${acus(enterpriseLimit)}. To continue the session, have that limit raised, or wait for the next month, and send a message.`;
  return { statusDetail: 'out_of_quota', message, limit: enterpriseLimit, used: spent };
}

function organizationReached(limit: number, used: number): AcuLimitReached {
  if (limit === 0) {
    const message =
      'The organization’s ACU limit is 0. To continue the session, ask an administrator to raise the limit, then send a message.';
    return { statusDetail: 'no_quota_allocation', message, limit, used };
  }
  const message = `The organization has used its monthly ACU limit: ${acus(limit)}. To continue the session, have that limit raised, or wait for the next month, and send a message.`;
  return { statusDetail: 'org_usage_limit_exceeded', message, limit, used };
}

async function findReachedTokens(
  context: Context,
  { organizationId, maxTokensPerDay }: Pick<Limits, 'organizationId' | 'maxTokensPerDay'>,
): Promise<TokensReached | null> {
  const tokenLimit = quotaOf(context, { maxTokensPerDay }, 'maxTokensPerDay');
  if (tokenLimit === null) return null;
  const startsAt = new Date(Math.floor(context.now().getTime() / dayMs) * dayMs);
  const period = { startsAt, endsAt: new Date(startsAt.getTime() + dayMs) };
  const tokensUsed = await sumUsage(context, tokens, 'organization_id', organizationId, period);
  if (tokensUsed < tokenLimit) return null;
  const message = `The organization has used its limit of ${tokenLimit} tokens in a day. To continue the session, have that limit raised, or wait for the next day (UTC), and send a message.`;
  return { statusDetail: 'org_usage_limit_exceeded', message, tokenLimit, tokensUsed };
}

const dayMs = 24 * 60 * 60 * 1_000;
const acusUsed = 'u.acus::numeric';
const tokens = 'u.input_tokens + u.output_tokens';

/** Maximum age of a cached sum, which all sessions of an organization need. */
const maxSumAgeMs = 2_000;

type Sums = Map<string, { readonly until: number; readonly sum: Promise<number> }>;
const sumsOf = new WeakMap<Store, Sums>();

type Owner = 'organization_id' | 'enterprise_id';

function spentInCycle(context: Context, column: Owner, id: string): Promise<number> {
  return sumUsage(context, acusUsed, column, id, cycleOf(context.now()));
}

function sumUsage(
  context: Context,
  amount: typeof acusUsed | typeof tokens,
  column: Owner,
  id: string,
  { startsAt, endsAt }: { readonly startsAt: Date; readonly endsAt: Date },
): Promise<number> {
  const sums = sumsOf.get(context.store) ?? new Map<string, never>();
  sumsOf.set(context.store, sums);
  const key = `${amount} ${id} ${startsAt.getTime()}`;
  const at = performance.now();
  const cached = sums.get(key);
  if (cached && cached.until > at) return cached.sum;
  for (const [each, { until }] of sums) if (until <= at) sums.delete(each);
  const sum = context.store
    .query<{ amount: number }>(
      `select coalesce(sum(${amount}), 0)::float8 as amount from usage u
        where u.${column} = $1 and u.used_at >= $2::timestamptz and u.used_at < $3::timestamptz`,
      [id, startsAt, endsAt],
    )
    .then((rows) => rows[0]?.amount ?? 0);
  sum.catch(() => sums.delete(key));
  sums.set(key, { until: at + maxSumAgeMs, sum });
  return sum;
}
