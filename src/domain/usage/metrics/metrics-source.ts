import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../context.ts';
import { type Scope, useScope } from '../../identity/organizations/scope.ts';
import { useEnterpriseOrganization } from '../../identity/organizations/use-enterprise-organization.ts';
import { parseId } from '../../ids.ts';
import { type Period, type PeriodInput, periodOf } from '../consumption/cycles.ts';

const permissions = {
  organization: permissionFor.viewMetrics,
  enterprise: permissionFor.viewEnterpriseMetrics,
} as const;

/** Conditions on the counted sessions: those created in a period, in a scope. Ids are in any form. */
export interface MetricsRequest extends PeriodInput {
  readonly scope: Scope;
  /** For the enterprise: only this organization, which must exist. */
  readonly organizationId?: string | undefined;
  /** For the enterprise: only these organizations. */
  readonly organizationIds?: readonly string[] | undefined;
  readonly playbookId?: string | undefined;
  /** Sessions of any of these users, or of `serviceUserIds`. */
  readonly userIds?: readonly string[] | undefined;
  readonly serviceUserIds?: readonly string[] | undefined;
}

/** The counted sessions `s`, as a FROM with its WHERE; `bind` adds a parameter. */
export interface MetricsSource {
  readonly period: Period;
  readonly from: string;
  readonly values: unknown[];
  readonly bind: (value: unknown) => string;
}

/**
 * Checks the viewer's permission, and selects the sessions. Throws the errors of `useScope` and `periodOf`; NOT_FOUND
 * for an `organizationId` of another enterprise. An unknown id in any other filter matches nothing. Unlisted and
 * archived sessions count.
 */
export async function metricsSource(context: Context, request: MetricsRequest): Promise<MetricsSource> {
  const { enterpriseId, organizationId } = await useScope(context, request.scope, permissions);
  const period = periodOf(context, request);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [`o.enterprise_id = ${bind(enterpriseId)}`, 'o.deleted_at is null'];
  if (request.organizationId !== undefined) {
    const one = await useEnterpriseOrganization(context, request.organizationId, permissions.enterprise);
    where.push(`o.id = ${bind(one)}`);
  }
  const only = request.organizationIds?.flatMap((id) => parseId('organization', id) ?? []);
  if (organizationId !== null) where.push(`o.id = ${bind(organizationId)}`);
  if (only) where.push(`o.id = any(${bind(only)}::text[])`);
  where.push(
    `s.created_at >= ${bind(period.startsAt)}::timestamptz`,
    `s.created_at < ${bind(period.endsAt)}::timestamptz`,
  );
  if (request.playbookId !== undefined) where.push(`s.playbook_id = ${bind(parseId('playbook', request.playbookId))}`);
  if (request.userIds || request.serviceUserIds) {
    const users = bind((request.userIds ?? []).flatMap((id) => parseId('user', id) ?? []));
    const serviceUsers = bind((request.serviceUserIds ?? []).flatMap((id) => parseId('serviceUser', id) ?? []));
    where.push(`(s.user_id = any(${users}::text[]) or s.service_user_id = any(${serviceUsers}::text[]))`);
  }
  const from = `organization o join session s on s.organization_id = o.id where ${where.join(' and ')}`;
  return { period, from, values, bind };
}
