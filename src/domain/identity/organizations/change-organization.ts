import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { requireOrganizationFree } from '../../legal-holds/change-legal-holds.ts';
import { branchTemplateSchema } from '../../repositories/branch-name.ts';
import { eraseProviderKeys } from '../keys/erase-provider-keys.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { requireAgent } from './agents.ts';
import { setDefaultTagIn } from './allowed-tags.ts';
import { type DefaultModel, defaultModelsSchema, requireAgentsOf, writeDefaultModels } from './default-models.ts';
import { defaultRepositoriesSchema, resolveDefaults } from './default-repositories.ts';
import { quotaFields } from './organization-quotas.ts';
import { acuLimit } from './organizations.ts';
import { type OrganizationRecord, organizationColumns } from './use-organization.ts';

const countSchema = (name: string) =>
  z
    .number()
    .int({ error: `"${name}" must be an integer.` })
    .min(0, `"${name}" must not be negative; 0 means no limit.`);
const quota = (name: string, max: number) => countSchema(name).max(max, `"${name}" must be at most ${max}.`).nullish();

/** Maximum of `maxTokensPerDay`, which no directive of the schema can state: it is not an Int. */
const maxTokens = 1_000_000_000_000_000;

/** Changes of an organization in inputs; each member is optional. */
export const organizationChangeSchema = z.object({
  name: text('name', { min: 1, max: 200, isBlankRefused: true }).optional(),
  maxCycleAcuLimit: acuLimit('maxCycleAcuLimit'),
  maxSessionAcuLimit: acuLimit('maxSessionAcuLimit'),
  maxConcurrentSessions: quota('maxConcurrentSessions', 1_000_000),
  maxQueuedSessions: quota('maxQueuedSessions', 1_000_000),
  maxStorageMb: quota('maxStorageMb', 1_000_000_000),
  maxTokensPerDay: countSchema('maxTokensPerDay')
    .refine((tokens) => tokens <= maxTokens, { error: `"maxTokensPerDay" must be at most ${maxTokens}.` })
    .nullish(),
  defaultAgent: z.string().nullish(),
  defaultTag: z.string().nullish(),
  defaultModels: defaultModelsSchema.optional(),
  branchTemplate: branchTemplateSchema.nullish(),
  defaultRepositories: defaultRepositoriesSchema.optional(),
});

/** A merge patch: an omitted (or undefined) member does not change, null clears it; the name cannot be cleared. */
export interface OrganizationChange {
  readonly name?: string | null | undefined;
  readonly maxCycleAcuLimit?: number | null | undefined;
  readonly maxSessionAcuLimit?: number | null | undefined;
  readonly maxConcurrentSessions?: number | null | undefined;
  readonly maxQueuedSessions?: number | null | undefined;
  readonly maxStorageMb?: number | null | undefined;
  readonly maxTokensPerDay?: number | null | undefined;
  readonly defaultAgent?: string | null | undefined;
  readonly defaultTag?: string | null | undefined;
  /** Replaces the models of all agents. */
  readonly defaultModels?: readonly DefaultModel[] | undefined;
  /** Template of the branches of sessions; null: the default. */
  readonly branchTemplate?: string | null | undefined;
  /** Replaces the repositories of sessions that name none. */
  readonly defaultRepositories?: readonly string[] | undefined;
}

/**
 * Changes an organization of the enterprise, named by an id in any form. The name, the agent, the models, the
 * branches and the repositories need ManageOrganizations. The limits need that or ManageBilling, which is the permission of their own REST routes. The
 * default tag needs ManageEnterpriseSettings. Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT; UNKNOWN_REFERENCE for an
 * agent that does not exist, for a tag that is not allowed, and for a repository that the organization may not use.
 */
export async function updateOrganization(
  context: Context,
  id: string,
  raw: OrganizationChange,
): Promise<OrganizationRecord> {
  const { viewer } = context;
  if (raw.defaultTag !== undefined) requireEnterprisePermission(viewer, permissionFor.changeTags);
  const others = ([...ownNames, 'defaultModels', 'defaultRepositories'] as const).filter(
    (name) => raw[name] !== undefined,
  );
  const isLimits = others.every((name) => limitNames.some((limit) => limit === name));
  const isForBilling = isLimits && viewer.enterprisePermissions.has(permissionFor.manageAcuLimits);
  const isTagAlone = raw.defaultTag !== undefined && others.length === 0;
  if (!isForBilling && !isTagAlone) requireEnterprisePermission(viewer, permissionFor.updateOrganization);
  if (raw.name === null) throw refuse(['name'], '"name" must not be null: an organization always has one.');
  const change = parseInput(organizationChangeSchema, raw);
  requireAgent(context, 'defaultAgent', change.defaultAgent);
  requireAgentsOf(context, change.defaultModels);
  return writeOrganization(context, id, change);
}

const limitNames = ['maxCycleAcuLimit', 'maxSessionAcuLimit', 'maxConcurrentSessions', ...quotaFields] as const;

const ownNames = [
  'name',
  ...limitNames,
  'defaultAgent',
  'branchTemplate',
] as const satisfies readonly (keyof OrganizationChange)[];

/** {@link updateOrganization} without its permission check and its checks of the input. */
export async function writeOrganization(
  context: Context,
  id: string,
  change: z.output<typeof organizationChangeSchema>,
): Promise<OrganizationRecord> {
  return context.store.transact(async (tx) => {
    if (change.defaultTag !== undefined) await setDefaultTagIn(context, tx, id, change.defaultTag);
    const before = await lockOrganization(context, tx, id);
    const names = ownNames.filter((name) => change[name] !== undefined && change[name] !== before[name]);
    const { defaultModels } = change;
    const models = defaultModels === undefined ? null : await writeDefaultModels(tx, before.id, defaultModels);
    const repositories = await resolveDefaults(context, tx, before, change.defaultRepositories);
    if (names.length === 0 && models === null && repositories === null) return before;
    const own = Object.fromEntries(names.map((name) => [name, change[name]]));
    const changes = {
      ...own,
      ...(repositories && { defaultRepositories: repositories }),
      updatedAt: context.now(),
    };
    const after: OrganizationRecord = { ...before, ...changes };
    await tx.prisma.organization.update({ where: { id: after.id }, data: changes, select: { id: true } });
    const facts = names.flatMap((name) => [
      [name, after[name]],
      [`${name}Before`, before[name]],
    ]);
    const listed = repositories && {
      defaultRepositories: repositories.join(' '),
      defaultRepositoriesBefore: before.defaultRepositories.join(' '),
    };
    const data = { ...Object.fromEntries(facts), ...models, ...listed };
    if (names.includes('maxConcurrentSessions')) tx.afterCommit(() => context.notifier.notify('runs'));
    await audit(context, tx, 'update_org', { organizationId: after.id, targetId: after.id, data });
    return after;
  });
}

/**
 * Deletes an organization of the enterprise, even the viewer's own and the last one: a viewer with this permission may
 * create another. From the commit on, the organization and its objects are not found, its keys and service users are
 * invalid, its streams end, the values of its provider keys are erased, no worker claims or keeps its sessions, and these are terminated. The rows stay for the
 * audit log. Returns the deleted organization. Throws FORBIDDEN, NOT_FOUND, and INVALID_STATE if a legal hold covers it or a session in it.
 */
export async function deleteOrganization(context: Context, id: string): Promise<OrganizationRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.deleteOrganization);
  return context.store.transact(async (tx) => {
    const organization = await lockOrganization(context, tx, id);
    await requireOrganizationFree(context, tx, organization.id);
    const updatedAt = context.now();
    const data = { deletedAt: updatedAt, updatedAt };
    await tx.prisma.organization.update({ where: { id: organization.id }, data, select: { id: true } });
    await eraseProviderKeys(context, tx, { organizationId: organization.id });
    await tx.prisma.gitPermission.deleteMany({ where: { organizationId: organization.id } });
    await audit(context, tx, 'delete_org', {
      organizationId: organization.id,
      targetId: organization.id,
      data: { name: organization.name },
    });
    await announceKeyChange(context, tx);
    tx.afterCommit(() => context.notifier.notify('organizations'));
    return { ...organization, updatedAt };
  });
}

async function lockOrganization(context: Context, tx: Transaction, id: string): Promise<OrganizationRecord> {
  const [organization] = await tx.query<OrganizationRecord>(
    `select ${organizationColumns} from organization o
      where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null for update`,
    [parseId('organization', id), context.viewer.enterpriseId],
  );
  if (!organization) throw notFound('organization');
  return organization;
}
