import { automationViewPermissions, permissionFor } from '../../../auth/permissions.ts';
import { hasPermission, requireAnyPermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { columnOf, fieldsOf, type Row, selectFields, selectionOf } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { findInOrganizations } from '../../find-by-ids.ts';
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
import type { Action, AutomationOptions, RunAs, Trigger } from './definition.ts';
import { type AutomationRun, type RunStatus, runColumns, runFields } from './runs.ts';
import type { ScheduleDefinition } from './schedule-definition.ts';

const automationFields = fieldsOf('Automation', ['isEnabled', 'sessionEventsSinceAt', 'forgeEventsSinceAt']);
type AutomationFields = Pick<Row<'Automation'>, (typeof automationFields)[number]>;

/** An automation: its triggers and its actions. */
export interface AutomationRecord extends AutomationFields {
  readonly enabled: boolean;
  readonly runAs: RunAs;
  readonly triggers: readonly Trigger[];
  readonly actions: readonly Action[];
  readonly options: AutomationOptions;
  /** The fields of a schedule; null: it was not created as one, or is no longer one. */
  readonly schedule: ScheduleDefinition | null;
}

/** The columns of an {@link AutomationRecord} of an `automation` aliased `a`. */
export const automationColumns = `${selectFields('Automation', 'a', automationFields)},
  ${columnOf('Automation', 'a', 'isEnabled')} as enabled`;

/** The same for the Prisma client, whose rows {@link toAutomation} converts. */
export const automationSelection = selectionOf([...automationFields, 'isEnabled']);

/** Returns the record of a row with {@link automationSelection}. */
export function toAutomation({
  isEnabled,
  ...row
}: AutomationFields & Pick<Row<'Automation'>, 'isEnabled'>): AutomationRecord {
  return { ...(row as Omit<AutomationRecord, 'enabled'>), enabled: isEnabled };
}

/**
 * Returns an organization whose automations the viewer may see, which includes a viewer that may change them without
 * the permission to view them. Throws the errors of {@link useOrganization}.
 */
export function useAutomationsOf(context: Context, organizationId: string): Promise<OrganizationRecord> {
  const bare = parseId('organization', organizationId);
  const canChange = bare !== null && hasPermission(context.viewer, permissionFor.changeAutomations, bare);
  const permission = canChange ? permissionFor.changeAutomations : permissionFor.viewAutomations;
  return useOrganization(context, organizationId, permission);
}

/** Identifies an automation by its id in any form, and the organization that the path named. */
export interface AutomationRef {
  readonly organizationId: string;
  readonly automationId: string;
}

/**
 * Returns an automation of an organization. Throws NOT_FOUND, also for a deleted one; ORGANIZATION_NOT_USABLE,
 * FORBIDDEN.
 */
export async function getAutomation(context: Context, ref: AutomationRef): Promise<AutomationRecord> {
  const { id } = await useAutomationsOf(context, ref.organizationId);
  const bare = parseId('automation', ref.automationId);
  const where = { id: bare ?? '', organizationId: id, deletedAt: null };
  const row = bare && (await context.store.prisma.automation.findFirst({ where, select: automationSelection }));
  if (!row) throw notFound('automation');
  return toAutomation(row);
}

/**
 * Lists the automations of an organization, newest first. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, and the errors of
 * {@link pageWindow}.
 */
export async function listAutomations(
  context: Context,
  request: PageRequest & { readonly organizationId: string },
  limits: PageLimits,
): Promise<Page<AutomationRecord>> {
  const { id } = await useAutomationsOf(context, request.organizationId);
  const page = prismaPage({ name: 'automations' }, request, limits);
  const rows = await context.store.prisma.automation.findMany({
    where: { organizationId: id, deletedAt: null, AND: page.beyond },
    orderBy: page.orderBy,
    take: page.take,
    select: automationSelection,
  });
  return page.toPage(rows.map(toAutomation));
}

/** Conditions of a list of automations. `search`: in the name. `isFailing`: it has failed since its last success. */
export interface AutomationFilter extends ListFilter {
  readonly isEnabled?: boolean | undefined;
  readonly isFailing?: boolean | undefined;
}

const sortKeys = { name: textKey('Automation', 'name') };

/** An order of a list of automations. */
export type AutomationOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the automations of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function automationsOf(
  context: Context,
  organizationId: string,
  filter: AutomationFilter = {},
  order?: AutomationOrder | null,
): NestedList<AutomationRecord> {
  requireUsable(context, organizationId, ...automationViewPermissions);
  checkListFilter(filter);
  const { isEnabled, isFailing } = filter;
  return {
    ...inOrder('automations', order, sortKeys),
    key: `automations ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'a',
    table: 'automation',
    columns: automationColumns,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => [
      'a.organization_id = owner.id',
      'a.deleted_at is null',
      ...(isEnabled === undefined ? [] : [`a.is_enabled = ${bind(isEnabled)}::boolean`]),
      ...(isFailing === undefined ? [] : [`(a.consecutive_failures > 0) = ${bind(isFailing)}::boolean`]),
      ...listFilterConditions('a', filter, ['name'], bind),
    ],
  };
}

/**
 * Returns the automations of these unprefixed ids that the viewer may see, in the ids' order, including deleted ones;
 * null for each other id.
 */
export function findAutomations(context: Context, ids: readonly string[]): Promise<(AutomationRecord | null)[]> {
  const table = { table: 'automation', row: 'a', columns: automationColumns };
  return findInOrganizations<AutomationRecord>(context, table, ids, ...automationViewPermissions);
}

/**
 * Returns the organization of an automation by its id in any form, for an act that names no organization. Throws
 * FORBIDDEN for a caller who may change no automation; NOT_FOUND, also for a deleted one.
 */
export async function getAutomationRef(context: Context, id: string): Promise<AutomationRef> {
  requireAnyPermission(context.viewer, [permissionFor.changeAutomations]);
  const bare = parseId('automation', id);
  const [automation] = bare === null ? [] : await findAutomations(context, [bare]);
  if (!automation || automation.deletedAt !== null) throw notFound('automation');
  return { organizationId: automation.organizationId, automationId: automation.id };
}

/**
 * Returns the runs of these unprefixed ids that the viewer may see, also of a deleted automation, in the ids' order;
 * null for each other id.
 */
export function findRuns(context: Context, ids: readonly string[]): Promise<(AutomationRun | null)[]> {
  const table = { table: 'automation_run', row: 'r', columns: runColumns };
  return findInOrganizations<AutomationRun>(context, table, ids, ...automationViewPermissions);
}

/** Conditions of a list of runs. */
export interface RunFilter extends Pick<ListFilter, 'createdAfter' | 'createdBefore'> {
  readonly status?: readonly RunStatus[] | undefined;
}

/**
 * Returns the runs of an automation as a nested list. Throws FORBIDDEN without the permission to view it, or to change
 * it; INVALID_INPUT.
 */
export function runsOf(
  context: Context,
  automation: Pick<AutomationRecord, 'id' | 'organizationId'>,
  filter: RunFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<AutomationRun> {
  const { viewer } = context;
  requireUsable(context, automation.organizationId, ...automationViewPermissions);
  checkListFilter(filter);
  return {
    ...inOrder('automationRuns', order, {}),
    key: `runs ${JSON.stringify([filter, order])}`,
    ownerId: automation.id,
    row: 'r',
    table: 'automation_run',
    columns: runColumns,
    owners: (bind) =>
      `join automation a on a.id = owner.id join organization o on o.id = a.organization_id
          and o.enterprise_id = ${bind(viewer.enterpriseId)} and o.deleted_at is null`,
    where: (bind) => [
      'r.automation_id = owner.id',
      'r.organization_id = a.organization_id',
      ...oneOfConditions('r.status', filter.status, bind),
      ...listFilterConditions('r', filter, [], bind),
    ],
  };
}

/**
 * Lists the runs of an automation, the latest first. Throws NOT_FOUND, ORGANIZATION_NOT_USABLE, FORBIDDEN, and the
 * errors of {@link pageWindow}.
 */
export async function listRuns(
  context: Context,
  request: PageRequest & AutomationRef,
  limits: PageLimits,
): Promise<Page<AutomationRun>> {
  const { id, organizationId } = await getAutomation(context, request);
  const page = prismaPage({ name: 'automationRuns' }, request, limits);
  const rows = await context.store.prisma.automationRun.findMany({
    where: { automationId: id, organizationId, AND: page.beyond },
    orderBy: page.orderBy,
    take: page.take,
    select: selectionOf(runFields),
  });
  return page.toPage(rows as Pick<Row<'AutomationRun'>, (typeof runFields)[number]>[] as AutomationRun[]);
}
