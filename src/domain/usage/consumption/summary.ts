import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { inLivingOrganization } from '../../identity/organizations/scope.ts';
import { parseId } from '../../ids.ts';
import type { DayConsumption } from './consumption.ts';
import { cycleOf, listCycles, type Period, type PeriodInput, periodOf } from './cycles.ts';

/** The enterprise, or only these organizations of it (ids in any form; unknown ids match nothing). */
export interface SummaryRequest extends PeriodInput {
  readonly organizationIds?: readonly string[] | undefined;
}

/** The same ACUs in four groupings: the sum of each list is the total. Lists contain only entries with consumption. */
export interface ConsumptionSummary {
  readonly totalAcus: number;
  /** Days in UTC. */
  readonly days: readonly DayConsumption[];
  readonly organizations: readonly { readonly organizationId: string; readonly acus: number }[];
  /** By creator of the sessions; both ids null: service keys. */
  readonly principals: readonly {
    readonly userId: string | null;
    readonly serviceUserId: string | null;
    readonly acus: number;
  }[];
}

interface SummaryRow {
  /** The grouping of a row: the bits of PostgreSQL's grouping(day, organization, user). */
  grouping: number;
  day: number | null;
  organizationId: string | null;
  userId: string | null;
  serviceUserId: string | null;
  acus: number | null;
}

const groupings = { day: 0b011, organization: 0b101, principal: 0b110, total: 0b111 } as const;

/**
 * Returns the consumption of the enterprise, in one statement. Throws FORBIDDEN without ViewAccountConsumption; errors
 * of `periodOf`.
 */
export async function getConsumptionSummary(context: Context, request: SummaryRequest): Promise<ConsumptionSummary> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseConsumption);
  const { startsAt, endsAt } = periodOf(context, request);
  const only = request.organizationIds?.flatMap((id) => parseId('organization', id) ?? []) ?? null;
  const rows = await queryList<SummaryRow>(
    context.store,
    `select grouping(d.day, d.organization_id, d.user_id) as grouping, d.day, d.organization_id as "organizationId",
            d.user_id as "userId", d.service_user_id as "serviceUserId", sum(d.acus)::float8 as acus
       from (select floor(extract(epoch from u.used_at) / 86400)::int8 as day, u.organization_id, u.user_id, u.service_user_id,
                    u.acus::numeric as acus
               from usage u
              where u.enterprise_id = $1 and u.used_at >= $2::timestamptz and u.used_at < $3::timestamptz
                and ($4::text[] is null or u.organization_id = any($4)) and ${inLivingOrganization('u')}) d
      group by grouping sets ((d.day), (d.organization_id), (d.user_id, d.service_user_id), ())
      order by d.day, d.organization_id, d.user_id, d.service_user_id`,
    [viewer.enterpriseId, startsAt, endsAt, only],
  );
  const of = (grouping: number) =>
    rows.filter((row) => row.grouping === grouping).map((row) => ({ ...row, acus: row.acus ?? 0 }));
  return {
    totalAcus: of(groupings.total)[0]?.acus ?? 0,
    days: of(groupings.day).map(({ day, acus }) => ({ startsAt: new Date((day ?? 0) * 86_400_000), acus })),
    organizations: of(groupings.organization).map(({ organizationId, acus }) => ({
      organizationId: organizationId ?? '',
      acus,
    })),
    principals: of(groupings.principal).map(({ userId, serviceUserId, acus }) => ({ userId, serviceUserId, acus })),
  };
}

/** A cycle with its consumption; null: too old to be summed. */
export interface CycleConsumption extends Period {
  readonly acus: number | null;
}

/** Number of cycles that are summed, the current one and the twelve before it: at most 400 days. */
const maxSummedCycles = 13;
/** A hundred years, which no installation reaches. */
const maxCycles = 1_200;

/** Lists all cycles of the enterprise, the first one first. Throws FORBIDDEN without ViewAccountConsumption. */
export async function listCycleConsumption(context: Context): Promise<CycleConsumption[]> {
  const { items } = await listCycles(context, { first: maxCycles }, { max: maxCycles, default: maxCycles });
  const summedFrom = cycleOf(context.now(), 1 - maxSummedCycles).startsAt;
  const rows = await queryList<{ at: Date; acus: number }>(
    context.store,
    `select date_trunc('month', u.used_at, 'UTC') as at, sum(u.acus::numeric)::float8 as acus from usage u
      where u.enterprise_id = $1 and u.used_at >= $2::timestamptz and u.used_at < $3::timestamptz
        and ${inLivingOrganization('u')} group by 1`,
    [context.viewer.enterpriseId, summedFrom, cycleOf(context.now()).endsAt],
  );
  const sums = new Map(rows.map(({ at, acus }) => [at.getTime(), acus]));
  return items.toReversed().map((cycle) => ({
    ...cycle,
    acus: cycle.startsAt < summedFrom ? null : (sums.get(cycle.startsAt.getTime()) ?? 0),
  }));
}
