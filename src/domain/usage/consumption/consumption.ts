import { groupRolesOf } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { notFound } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import {
  type AuthorizedScope,
  inLivingOrganization,
  type Scope,
  useScope,
} from '../../identity/organizations/scope.ts';
import { parseId } from '../../ids.ts';
import { type PeriodInput, periodOf } from './cycles.ts';

const permissions = {
  organization: permissionFor.viewConsumption,
  enterprise: permissionFor.viewEnterpriseConsumption,
} as const;

/** The subject of a consumption query; the id is in any form. */
export interface ConsumptionSubject {
  readonly kind: 'organization' | 'user' | 'serviceUser' | 'session';
  readonly id: string;
}

/** The consumption to sum: all of a scope, or one subject's within it. */
export interface ConsumptionRequest extends PeriodInput {
  readonly scope: Scope;
  readonly subject?: ConsumptionSubject | undefined;
  /** The start of a day, in hours after midnight UTC. No API supports a time zone with changing offsets. */
  readonly dayStartsAtHour: number;
}

/** ACUs of a day. */
export interface DayConsumption {
  readonly startsAt: Date;
  readonly acus: number;
}

/** Sums of a period. Days without consumption are left out; the period may cut off the first and the last day. */
export interface Consumption {
  readonly totalAcus: number;
  readonly days: readonly DayConsumption[];
}

const columns = {
  organization: 'u.organization_id',
  user: 'u.user_id',
  serviceUser: 'u.service_user_id',
  session: 'u.session_id',
} as const satisfies Record<ConsumptionSubject['kind'], string>;

/**
 * Returns the consumption of a scope, or of a subject in it, by day: one statement over the ledger. Throws the errors
 * of `useScope` and of {@link periodOf}; NOT_FOUND for a subject outside the scope.
 */
export async function getConsumption(context: Context, request: ConsumptionRequest): Promise<Consumption> {
  const scope = await useScope(context, request.scope, permissions);
  const { startsAt, endsAt } = periodOf(context, request);
  const offset = request.dayStartsAtHour * 3_600;
  const values: unknown[] = [startsAt, endsAt, offset];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['u.used_at >= $1::timestamptz', 'u.used_at < $2::timestamptz', ...scopeConditions(scope, bind)];
  const { subject } = request;
  if (subject) where.push(`${columns[subject.kind]} = ${bind(await getSubjectId(context, scope, subject))}`);
  // Decimal sums: the result must not depend on the order or the grouping.
  const rows = await queryList<{ day: number | null; acus: number | null }>(
    context.store,
    `select d.day, sum(d.acus)::float8 as acus
       from (select floor((extract(epoch from u.used_at) - $3::int) / 86400)::int8 as day, u.acus::numeric as acus
               from usage u where ${where.join(' and ')}) d
      group by grouping sets ((d.day), ()) order by d.day nulls last`,
    values,
  );
  const days = rows.flatMap(({ day, acus }) =>
    day === null ? [] : [{ startsAt: new Date((day * 86_400 + offset) * 1_000), acus: acus ?? 0 }],
  );
  return { totalAcus: rows.at(-1)?.acus ?? 0, days };
}

function scopeConditions(scope: AuthorizedScope, bind: (value: unknown) => string): string[] {
  return scope.organizationId === null
    ? [`u.enterprise_id = ${bind(scope.enterpriseId)}`, inLivingOrganization('u')]
    : [`u.organization_id = ${bind(scope.organizationId)}`];
}

const living = `exists (select 1 from organization o where o.enterprise_id = $2 and o.deleted_at is null
  and ($3::text is null or o.id = $3)`;

// Former members and deleted principals count for their consumption.
const principal = (table: string, column: string, isInScope: string) => `
  select 1 from ${table} p
   where p.id = $1 and p.enterprise_id = $2
     and (p.deleted_at is null and ($3::text is null or ${isInScope} exists (
            select 1 from role_assignment a where a.${column} = p.id and a.organization_id = $3
             union all select 1 from ${groupRolesOf('p.id')} and gr.organization_id = $3))
          or exists (select 1 from usage u where u.${column} = p.id and ${living} and o.id = u.organization_id)))`;

/**
 * Tells if a subject belongs to the scope. $1: the subject, $2: the enterprise, $3: the organization of the scope, or
 * null.
 */
const subjectExists = {
  organization: `select 1 where ${living} and o.id = $1)`,
  session: `select 1 from session s where s.id = $1 and ${living} and o.id = s.organization_id)`,
  user: principal('user_account', 'user_id', ''),
  serviceUser: principal('service_user', 'service_user_id', 'p.organization_id = $3 or'),
} as const satisfies Record<ConsumptionSubject['kind'], string>;

const labels = { organization: 'organization', user: 'user', serviceUser: 'service user', session: 'session' } as const;

async function getSubjectId(
  context: Context,
  scope: AuthorizedScope,
  { kind, id }: ConsumptionSubject,
): Promise<string> {
  const bare = parseId(kind, id);
  const values = [bare, scope.enterpriseId, scope.organizationId];
  const found = bare === null ? [] : await context.store.query(subjectExists[kind], values);
  if (bare === null || found.length === 0) throw notFound(labels[kind]);
  return bare;
}
