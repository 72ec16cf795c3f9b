import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission, requirePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { inLivingOrganization } from '../../identity/organizations/scope.ts';
import { parseId } from '../../ids.ts';
import { type Dates, periodOfDates } from './dates.ts';

/** A part of a scope's consumption; ids in any form. An id that does not exist in the scope matches nothing. */
export interface LedgerInput extends Dates {
  readonly userId?: string | null | undefined;
  readonly serviceUserId?: string | null | undefined;
  readonly sessionId?: string | null | undefined;
  /** For the enterprise: only these organizations. */
  readonly organizationIds?: readonly string[] | null | undefined;
}

/** A part of the ledger of ACUs that the viewer may read. `organizationId` is unprefixed; null: the enterprise. */
export interface Ledger {
  readonly organizationId: string | null;
  readonly input: LedgerInput;
}

/**
 * Selects a part of the ledger, without reading it. `organizationId` belongs to the viewer's enterprise. Throws
 * FORBIDDEN without ViewOrgSessions there, or ViewAccountConsumption for the enterprise; INVALID_INPUT for too many
 * days.
 */
export function openLedger(context: Context, organizationId: string | null, input: LedgerInput): Ledger {
  const { viewer } = context;
  if (organizationId === null) requireEnterprisePermission(viewer, permissionFor.viewEnterpriseConsumption);
  else requirePermission(viewer, permissionFor.viewConsumption, organizationId);
  periodOfDates(input);
  return { organizationId, input };
}

/** Rows of `usage` aliased `u` for each scope `p`, as parts of a statement. */
export interface LedgerSource {
  /** A FROM item: `p(id)`. */
  readonly scopes: string;
  readonly where: string;
  readonly values: unknown[];
  readonly bind: (value: unknown) => string;
}

/** Returns the id of a scope: the organization's id, or a constant for the enterprise. */
export const scopeIdOf = ({ organizationId }: Pick<Ledger, 'organizationId'>): string => organizationId ?? '';

/** Returns the source for ledgers that differ only in their organization. */
export function ledgerSource(context: Context, ledgers: readonly [Ledger, ...Ledger[]]): LedgerSource {
  const [{ organizationId, input }] = ledgers;
  const { startsAt, endsAt } = periodOfDates(input);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const scopes = `unnest(${bind(ledgers.map(scopeIdOf))}::text[]) p(id)`;
  const where = [
    `u.enterprise_id = ${bind(context.viewer.enterpriseId)}`,
    organizationId === null ? inLivingOrganization('u') : 'u.organization_id = p.id',
    `u.used_at >= ${bind(startsAt)}::timestamptz`,
    `u.used_at < ${bind(endsAt)}::timestamptz`,
  ];
  const { userId, serviceUserId, sessionId, organizationIds } = input;
  if (userId != null) where.push(`u.user_id = ${bind(parseId('user', userId))}`);
  if (serviceUserId != null) where.push(`u.service_user_id = ${bind(parseId('serviceUser', serviceUserId))}`);
  if (sessionId != null) where.push(`u.session_id = ${bind(parseId('session', sessionId))}`);
  if (organizationIds != null) {
    const ids = organizationIds.flatMap((id) => parseId('organization', id) ?? []);
    where.push(`u.organization_id = any(${bind(ids)}::text[])`);
  }
  return { scopes, where: where.join(' and '), values, bind };
}

/** Groups rows by the ids of their scopes. */
export function groupByScope<T extends { readonly scopeId: string }>(rows: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const own = found.get(row.scopeId);
    if (own) own.push(row);
    else found.set(row.scopeId, [row]);
  }
  return found;
}
