import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import { updateStatement } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { changedValues } from '../../record-values.ts';
import { branchTemplateSchema } from '../../repositories/branch-name.ts';
import { type MentionSettings, readMentionSettings } from '../../repositories/mention-settings.ts';
import { type PushSettings, type pushSettingNames, readPushSettings } from '../../repositories/push-settings.ts';
import { findRepositories, type RepositoryRecord, repositoryColumns } from './repositories.ts';

const flag = (name: (typeof pushSettingNames)[number] | 'isMentionAnswered') =>
  z.boolean({ error: `"${name}" must be true or false.` });

/** A change of a repository in inputs. An omitted member does not change; a null template is that of the organization. */
export const repositoryChangeSchema = z.object({
  branchTemplate: branchTemplateSchema.nullish(),
  isPushToOtherBranchesAllowed: flag('isPushToOtherBranchesAllowed').optional(),
  isPushOfTagsAllowed: flag('isPushOfTagsAllowed').optional(),
  isDeletionAllowed: flag('isDeletionAllowed').optional(),
  isMentionAnswered: flag('isMentionAnswered').optional(),
  /** In any form; null: the only organization that may use the repository. */
  mentionOrganizationId: z.string().nullish(),
});

/** See {@link repositoryChangeSchema}. */
export type RepositoryChange = z.input<typeof repositoryChangeSchema>;

/**
 * Changes the settings of a repository that the viewer may see, by its id in any form, for all organizations; writes nothing if nothing changes.
 * The settings of pushes apply from the next push on, and the template to new sessions. Throws FORBIDDEN, INVALID_INPUT,
 * NOT_FOUND, and UNKNOWN_REFERENCE for an unknown organization.
 */
export async function updateRepository(context: Context, id: string, raw: RepositoryChange): Promise<RepositoryRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRepositories);
  const bare = parseId('repository', id);
  // One that no organization of the viewer may use any longer is not visible, and cannot be changed.
  const [seen] = bare === null ? [] : await findRepositories(context, [bare]);
  if (!seen) throw notFound('repository');
  const { branchTemplate, mentionOrganizationId, isMentionAnswered, ...flags } = parseInput(
    repositoryChangeSchema,
    raw,
  );
  const mentionChange = {
    isMentionAnswered,
    mentionOrganizationId: await findMentionOrganization(context, mentionOrganizationId),
  };
  return context.store.transact(async (tx) => {
    const [before] = await tx.query<RepositoryRecord>(
      `select ${repositoryColumns} from repository r where r.id = $1 and r.enterprise_id = $2 for update`,
      [seen.id, context.viewer.enterpriseId],
    );
    if (!before) throw notFound('repository');
    const allowed = readPushSettings(before.settings);
    const template = changedValues(before, { branchTemplate });
    const pushes = changedValues(allowed, flags);
    const mentions = changedValues(readMentionSettings(before.settings), mentionChange);
    const changes = { ...template, ...pushes, ...mentions };
    if (Object.keys(changes).length === 0) return before;
    const reachesSessions = mentions.isMentionAnswered === true || mentions.mentionOrganizationId != null;
    if (Object.values(pushes).includes(true) || reachesSessions) requireConfirmation(context);
    const settings: PushSettings & Partial<MentionSettings> = { ...allowed, ...pushes, ...mentions };
    const written = { ...template, settings: { ...(before.settings as object), ...settings } };
    const update = updateStatement('Repository', before.id, { ...written, updatedAt: context.now() });
    await tx.query(update.text, update.values);
    const data = { repository: `${before.host}/${before.path}`, ...changes };
    await audit(context, tx, 'update_repository', { organizationId: null, targetId: before.id, data });
    return { ...before, ...written, updatedAt: context.now() };
  });
}

/** Returns the unprefixed id of an organization of the viewer's enterprise; null and undefined stay. */
async function findMentionOrganization(
  { store, viewer }: Context,
  id: string | null | undefined,
): Promise<string | null | undefined> {
  if (id == null) return id;
  const bare = parseId('organization', id);
  const [found] = await store.query(
    'select 1 from organization o where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null',
    [bare ?? '', viewer.enterpriseId],
  );
  if (bare !== null && found) return bare;
  const message = `"mentionOrganizationId" refers to ${JSON.stringify(id.slice(0, 80))}, which does not exist.`;
  throw refuse(['mentionOrganizationId'], message, 'UNKNOWN_REFERENCE');
}
