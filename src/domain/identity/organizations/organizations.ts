import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId, parseId } from '../../ids.ts';
import { parseInput, text, wholeAcus } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { type OrganizationRecord, organizationColumns } from './use-organization.ts';

/** The organizations of a page: all, or those of the viewer; with or without a cycle limit. */
interface OrganizationList {
  /** The name of the list in its cursors. */
  readonly list: string;
  readonly all: boolean;
  readonly isLimited?: boolean;
}

/** Reads one page of a list, newest first. For the domain's own lists, without a permission check. */
export async function readOrganizationPage(
  context: Context,
  { list, all, isLimited }: OrganizationList,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<OrganizationRecord>> {
  const { viewer } = context;
  const values: unknown[] = [viewer.enterpriseId, all, [...viewer.organizations.keys()]];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['o.enterprise_id = $1', 'o.deleted_at is null', '($2::boolean or o.id = any($3::text[]))'];
  if (isLimited) where.push('o.max_cycle_acu_limit is not null');
  const page = sortedPage({ name: list, row: 'o' }, request, limits, bind);
  where.push(...page.beyond);
  const rows = await queryList<OrganizationRecord>(
    context.store,
    `select ${organizationColumns} from organization o where ${where.join(' and ')} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows);
}

/** Conditions of a list of organizations. `search`: in the name. */
export type OrganizationFilter = Omit<ListFilter, 'createdBy'>;

const sortKeys = { name: textKey('Organization', 'name') };

/** An order of a list of organizations. */
export type OrganizationOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * The organizations of a list. `usable`: those that the viewer may use. `all`: needs ReadAccountMeta. `limited`: those
 * with an ACU limit per cycle; needs ManageBilling.
 */
export type OrganizationScope = 'usable' | 'all' | 'limited';

/**
 * Returns organizations of the enterprise as a list that can be filtered, ordered and counted. Throws FORBIDDEN,
 * INVALID_INPUT.
 */
export function organizationsOf(
  { viewer }: Context,
  scope: OrganizationScope,
  filter: OrganizationFilter = {},
  order?: OrganizationOrder | null,
): NestedList<OrganizationRecord> {
  if (scope === 'all') requireEnterprisePermission(viewer, permissionFor.listOrganizations);
  if (scope === 'limited') requireEnterprisePermission(viewer, permissionFor.manageAcuLimits);
  checkListFilter(filter);
  const isOfSome = scope === 'usable' && viewer.everywhere.size === 0;
  return {
    ...inOrder(scope === 'limited' ? 'acuLimits' : 'organizations', order, sortKeys),
    key: `organizations ${JSON.stringify([scope, filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'o',
    table: 'organization',
    columns: organizationColumns,
    owners: () => '',
    where: (bind) => [
      'o.enterprise_id = owner.id',
      'o.deleted_at is null',
      ...(isOfSome ? [`o.id = any(${bind([...viewer.organizations.keys()])}::text[])`] : []),
      ...(scope === 'limited' ? ['o.max_cycle_acu_limit is not null'] : []),
      ...listFilterConditions('o', filter, ['name'], bind),
    ],
  };
}

/**
 * Lists all organizations of the enterprise, even those that the viewer may not use. Throws FORBIDDEN without
 * ReadAccountMeta.
 */
export async function listEnterpriseOrganizations(
  context: Context,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<OrganizationRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.listOrganizations);
  return readOrganizationPage(context, { list: 'organizations', all: true }, request, limits);
}

/**
 * Returns one organization of the enterprise, by an id in any form. Throws FORBIDDEN without ReadAccountMeta,
 * NOT_FOUND.
 */
export async function getEnterpriseOrganization(context: Context, id: string): Promise<OrganizationRecord> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.listOrganizations);
  const [organization] = await context.store.query<OrganizationRecord>(
    `select ${organizationColumns} from organization o where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null`,
    [parseId('organization', id), viewer.enterpriseId],
  );
  if (!organization) throw notFound('organization');
  return organization;
}

/** Schema of a limit in whole ACUs; null or omitted. Messages call it by this name. */
export const acuLimit = (name: string) => wholeAcus(name).min(0, `"${name}" must not be negative.`).nullish();

/** The values of a new organization in inputs. */
export const organizationSchema = z.object({
  name: text('name', { min: 1, max: 200, isBlankRefused: true }),
  maxCycleAcuLimit: acuLimit('maxCycleAcuLimit'),
  maxSessionAcuLimit: acuLimit('maxSessionAcuLimit'),
});

/** The input of a new organization. */
export type CreateOrganizationInput = z.input<typeof organizationSchema>;

/**
 * Creates an organization in the viewer's enterprise. Throws FORBIDDEN, INVALID_INPUT; IDEMPOTENCY_CONFLICT, and
 * NOT_FOUND if the organization that the idempotency key created is gone. The idempotency key belongs to the
 * enterprise, because there is no organization yet.
 */
export function createOrganization(
  context: Context,
  raw: CreateOrganizationInput,
  options: CreateOptions = {},
): Promise<OrganizationRecord> {
  return context.store.transact((tx) => createOrganizationIn(context, tx, raw, options));
}

/** {@link createOrganization} as a part of a larger act. */
export async function createOrganizationIn(
  context: Context,
  tx: Transaction,
  raw: CreateOrganizationInput,
  options: CreateOptions = {},
): Promise<OrganizationRecord> {
  const { enterpriseId } = context.viewer;
  requireEnterprisePermission(context.viewer, permissionFor.createOrganization);
  const input = parseInput(organizationSchema, raw);
  const now = context.now();
  const id = newId();
  const claim = { scope: enterpriseId, operation: 'createOrganization', input, resultId: id };
  const replay = await findReplay(context, tx, options, claim);
  if (replay !== null) return readCreated(tx, replay);
  const record: OrganizationRecord = {
    id,
    enterpriseId,
    name: input.name,
    maxCycleAcuLimit: input.maxCycleAcuLimit ?? null,
    maxSessionAcuLimit: input.maxSessionAcuLimit ?? null,
    maxConcurrentSessions: null,
    maxQueuedSessions: null,
    maxStorageMb: null,
    maxTokensPerDay: null,
    defaultAgent: null,
    defaultRepositories: [],
    branchTemplate: null,
    createdAt: now,
    updatedAt: now,
  };
  await tx.prisma.organization.create({ data: { ...record, defaultRepositories: [] } });
  await audit(context, tx, 'create_org', {
    organizationId: record.id,
    targetId: record.id,
    data: { name: record.name },
  });
  return record;
}

async function readCreated(tx: Transaction, id: string): Promise<OrganizationRecord> {
  const [organization] = await tx.query<OrganizationRecord>(
    `select ${organizationColumns} from organization o where o.id = $1 and o.deleted_at is null`,
    [id],
  );
  if (!organization) throw notFound('organization');
  return organization;
}
