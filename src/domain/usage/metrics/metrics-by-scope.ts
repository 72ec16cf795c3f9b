import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission, requirePermission } from '../../../auth/viewer.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import type { Period } from '../consumption/cycles.ts';
import { type Dates, periodOfDates } from '../consumption/dates.ts';
import { groupByScope } from '../consumption/ledgers.ts';
import {
  type ActiveUsers,
  type ActiveUsersUnit,
  checkMinimum,
  countStatement,
  windowsStatement,
} from './active-users.ts';
import { type SessionMetrics, sessionMetricsColumns } from './session-metrics.ts';

/** Conditions on the sessions of a scope; ids in any form. An id that does not exist in the scope matches nothing. */
export interface MetricsInput extends Dates {
  readonly playbookId?: string | null | undefined;
  /** Sessions of any of these users, or of `serviceUserIds`. */
  readonly userIds?: readonly string[] | null | undefined;
  readonly serviceUserIds?: readonly string[] | null | undefined;
  /** For the enterprise: only these organizations. */
  readonly organizationIds?: readonly string[] | null | undefined;
}

/** A selection of sessions that the viewer may count. `organizationId` is unprefixed; null: the enterprise. */
export interface MetricsSelection {
  readonly organizationId: string | null;
  readonly input: MetricsInput;
}

/**
 * Selects sessions without counting them. `organizationId` belongs to the viewer's enterprise. Throws FORBIDDEN without
 * ViewOrgSessions there, or ViewAccountMetrics for the enterprise; INVALID_INPUT for too many days.
 */
export function openMetrics(context: Context, organizationId: string | null, input: MetricsInput): MetricsSelection {
  const { viewer } = context;
  if (organizationId === null) requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMetrics);
  else requirePermission(viewer, permissionFor.viewMetrics, organizationId);
  periodOfDates(input);
  return { organizationId, input };
}

const scopeIdOf = ({ organizationId }: MetricsSelection): string => organizationId ?? '';

interface Source {
  readonly period: Period;
  readonly from: string;
  readonly values: unknown[];
  readonly bind: (value: unknown) => string;
}

// Returns the sessions `s` of the scope `p`, for statements that run for each scope.
function sourceOf(context: Context, selections: readonly [MetricsSelection, ...MetricsSelection[]]): Source {
  const [{ organizationId, input }] = selections;
  const period = periodOfDates(input);
  const values: unknown[] = [selections.map(scopeIdOf)];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [`o.enterprise_id = ${bind(context.viewer.enterpriseId)}`, 'o.deleted_at is null'];
  if (organizationId !== null) where.push('o.id = p.id');
  where.push(
    `s.created_at >= ${bind(period.startsAt)}::timestamptz`,
    `s.created_at < ${bind(period.endsAt)}::timestamptz`,
  );
  const { playbookId, userIds, serviceUserIds, organizationIds } = input;
  if (playbookId != null) where.push(`s.playbook_id = ${bind(parseId('playbook', playbookId))}`);
  if (userIds != null || serviceUserIds != null) {
    const users = bind((userIds ?? []).flatMap((id) => parseId('user', id) ?? []));
    const serviceUsers = bind((serviceUserIds ?? []).flatMap((id) => parseId('serviceUser', id) ?? []));
    where.push(`(s.user_id = any(${users}::text[]) or s.service_user_id = any(${serviceUsers}::text[]))`);
  }
  if (organizationIds != null) {
    const ids = organizationIds.flatMap((id) => parseId('organization', id) ?? []);
    where.push(`o.id = any(${bind(ids)}::text[])`);
  }
  const from = `organization o join session s on s.organization_id = o.id where ${where.join(' and ')}`;
  return { period, from, values, bind };
}

async function readEach<T>(
  context: Context,
  selections: readonly MetricsSelection[],
  statement: (source: Source) => string | null,
): Promise<T[][]> {
  const [first, ...others] = selections;
  if (!first) return [];
  const source = sourceOf(context, [first, ...others]);
  const sql = statement(source);
  if (sql === null) return selections.map(() => []);
  const rows = await queryList<T & { scopeId: string }>(
    context.store,
    `select p.id as "scopeId", one.* from unnest($1::text[]) p(id) cross join lateral (${sql}) one`,
    source.values,
  );
  const found = groupByScope(rows);
  return selections.map((selection) => found.get(scopeIdOf(selection)) ?? []);
}

/**
 * Counts the sessions of each scope, in their order and in one statement. The selections differ only in their
 * organization.
 */
export async function readSessionMetrics(
  context: Context,
  selections: readonly MetricsSelection[],
): Promise<SessionMetrics[]> {
  const rows = await readEach<SessionMetrics>(
    context,
    selections,
    ({ from }) => `select ${sessionMetricsColumns} from ${from}`,
  );
  return rows.map(([row]) => {
    if (!row) throw new Error('A sum without groups gave no row.');
    return row;
  });
}

/**
 * Counts the users with at least `min` sessions in the whole period; otherwise as {@link readSessionMetrics}. Throws
 * INVALID_INPUT.
 */
export async function countActiveUsersOf(
  context: Context,
  minSessions: number,
  selections: readonly MetricsSelection[],
): Promise<number[]> {
  checkMinimum('minSessions', minSessions);
  const rows = await readEach<{ n: number }>(context, selections, ({ from, bind }) =>
    countStatement(from, bind(minSessions)),
  );
  return rows.map(([row]) => row?.n ?? 0);
}

/** Lists the active users of each window that has begun, in order; otherwise as {@link countActiveUsersOf}. */
export async function listActiveUsersOf(
  context: Context,
  unit: ActiveUsersUnit,
  minSessions: number,
  selections: readonly MetricsSelection[],
): Promise<ActiveUsers[][]> {
  checkMinimum('minSessions', minSessions);
  const found = await readEach<ActiveUsers>(context, selections, (source) =>
    windowsStatement(context, unit, { ...source, min: source.bind(minSessions) }),
  );
  return found.map((windows) => windows.sort((one, other) => one.startsAt.getTime() - other.startsAt.getTime()));
}
