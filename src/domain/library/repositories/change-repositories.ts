import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import { type Row, updateStatement } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { storedDefinitionSchema } from '../../environments/stored-definition.ts';
import { parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { changedValues } from '../../record-values.ts';
import { branchTemplateSchema } from '../../repositories/branch-name.ts';
import { readEnvironmentSettings } from '../../repositories/environment-settings.ts';
import {
  followUpAuthors,
  followUpBots,
  followUpModes,
  readFollowUpSettings,
} from '../../repositories/follow-up-settings.ts';
import { readMentionSettings } from '../../repositories/mention-settings.ts';
import { type pushSettingNames, readPushSettings } from '../../repositories/push-settings.ts';
import { findOrganizationsUsing } from '../../repositories/resolve-repositories.ts';
import { wantRepository } from '../../repositories/want-repository.ts';
import { findRepositories, type RepositoryRecord, repositoryColumns } from './repositories.ts';

const oneOf = (name: string, values: readonly string[]) => `"${name}" must be one of ${values.join(', ')}.`;
const flag = (
  name: (typeof pushSettingNames)[number] | 'isMentionAnswered' | 'isArchivedWhenMerged' | 'isEnvironmentBuiltOnPush',
) => z.boolean({ error: `"${name}" must be true or false.` });

const login = text('followUpBotLogins', { min: 1, max: 100, isBlankRefused: true });

/** A change of a repository in inputs. An omitted member does not change; a null template is that of the organization, and a null definition that of the repository's own files. */
export const repositoryChangeSchema = z.object({
  branchTemplate: branchTemplateSchema.nullish(),
  environmentDefinition: storedDefinitionSchema.nullish(),
  isPushToOtherBranchesAllowed: flag('isPushToOtherBranchesAllowed').optional(),
  isPushOfTagsAllowed: flag('isPushOfTagsAllowed').optional(),
  isDeletionAllowed: flag('isDeletionAllowed').optional(),
  isMentionAnswered: flag('isMentionAnswered').optional(),
  /** In any form; null: the only organization that may use the repository. */
  mentionOrganizationId: z.string().nullish(),
  followUpMode: z.enum(followUpModes, oneOf('followUpMode', followUpModes)).nullish(),
  followUpAuthors: z.enum(followUpAuthors, oneOf('followUpAuthors', followUpAuthors)).optional(),
  followUpBots: z.enum(followUpBots, oneOf('followUpBots', followUpBots)).optional(),
  followUpBotLogins: z
    .array(login, { error: '"followUpBotLogins" must be a list of texts.' })
    .max(100, '"followUpBotLogins" must have at most 100 items.')
    .optional(),
  isArchivedWhenMerged: flag('isArchivedWhenMerged').optional(),
  isEnvironmentBuiltOnPush: flag('isEnvironmentBuiltOnPush').optional(),
});

/** See {@link repositoryChangeSchema}. */
export type RepositoryChange = z.input<typeof repositoryChangeSchema>;

/**
 * Changes the settings of a repository that the viewer may see, by its id in any form, for all organizations; writes nothing if nothing changes.
 * The settings of pushes apply from the next push on, and the template and the environment to new sessions. Throws FORBIDDEN, INVALID_INPUT,
 * NOT_FOUND, and UNKNOWN_REFERENCE for an unknown organization, INVALID_INPUT also for one that may not use the repository.
 */
export async function updateRepository(context: Context, id: string, raw: RepositoryChange): Promise<RepositoryRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRepositories);
  const bare = parseId('repository', id);
  // One that no organization of the viewer may use any longer is not visible, and cannot be changed.
  const [seen] = bare === null ? [] : await findRepositories(context, [bare]);
  if (!seen) throw notFound('repository');
  const input = parseInput(repositoryChangeSchema, raw);
  const { branchTemplate, environmentDefinition: environment, mentionOrganizationId: organizationId, ...rest } = input;
  const values = { ...rest, mentionOrganizationId: await findMentionOrganization(context, seen, organizationId) };
  return context.store.transact(async (tx) => {
    const [locked] = await tx.query<RepositoryRecord & Pick<Row<'Repository'>, 'environment'>>(
      `select ${repositoryColumns}, r.environment from repository r where r.id = $1 and r.enterprise_id = $2 for update`,
      [seen.id, context.viewer.enterpriseId],
    );
    if (!locked) throw notFound('repository');
    const { environment: definition, ...before } = locked;
    const template = changedValues(before, { branchTemplate });
    const stored = {
      ...readPushSettings(before.settings),
      ...readMentionSettings(before.settings),
      ...readFollowUpSettings(before.settings),
      ...readEnvironmentSettings(before.settings),
    };
    const settings = changedValues(stored, values);
    const commands = changedValues({ environment: definition }, { environment });
    // The definition may have 64 KB, which the audit log does not repeat.
    const hasDefinition = commands.environment === undefined ? {} : { hasEnvironment: commands.environment !== null };
    const changes = { ...template, ...settings, ...hasDefinition };
    if (Object.keys(changes).length === 0) return before;
    // The commands run in all sessions of the repository, with secrets of their organizations.
    if (typeof commands.environment === 'string' || allowsMore(settings)) requireConfirmation(context);
    const written = { ...template, settings: { ...(before.settings as object), ...settings } };
    const update = updateStatement('Repository', before.id, { ...written, ...commands, updatedAt: context.now() });
    await tx.query(update.text, update.values);
    if ('followUpMode' in settings) await wantRepository(context, tx, before);
    const { followUpBotLogins: logins, ...others } = changes;
    const data = {
      ...{ repository: `${before.host}/${before.path}`, ...others },
      ...(logins !== undefined && { followUpBotLogins: logins.join(', ') }),
    };
    await audit(context, tx, 'update_repository', { organizationId: null, targetId: before.id, data });
    return { ...before, ...written, updatedAt: context.now() };
  });
}

/**
 * Returns the unprefixed id of an organization of the viewer's enterprise that may use the repository, or is chosen already; null and
 * undefined stay.
 */
async function findMentionOrganization(
  { store, viewer }: Context,
  repository: RepositoryRecord,
  id: string | null | undefined,
): Promise<string | null | undefined> {
  if (id == null) return id;
  const bare = parseId('organization', id);
  const [found] = await store.query(
    'select 1 from organization o where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null',
    [bare ?? '', viewer.enterpriseId],
  );
  if (bare !== null && found) {
    if (readMentionSettings(repository.settings).mentionOrganizationId === bare) return bare;
    if ((await findOrganizationsUsing(store, [bare], repository)).has(bare)) return bare;
    const refusal = `"mentionOrganizationId" refers to an organization that may not use ${repository.host}/${repository.path}. Create a git permission first.`;
    throw refuse(['mentionOrganizationId'], refusal);
  }
  const message = `"mentionOrganizationId" refers to ${JSON.stringify(id.slice(0, 80))}, which does not exist.`;
  throw refuse(['mentionOrganizationId'], message, 'UNKNOWN_REFERENCE');
}

/** Tells if a change lets agents push more, or lets more people and bots reach sessions. */
function allowsMore(settings: Readonly<Record<string, unknown>>): boolean {
  const { isPushToOtherBranchesAllowed, isPushOfTagsAllowed, isDeletionAllowed, isMentionAnswered } = settings;
  const flags = [isPushToOtherBranchesAllowed, isPushOfTagsAllowed, isDeletionAllowed, isMentionAnswered];
  if (flags.includes(true) || settings.mentionOrganizationId != null) return true;
  const { followUpAuthors: authors, followUpBots: bots, followUpBotLogins: logins } = settings;
  return authors === 'everyone' || bots === 'all' || (Array.isArray(logins) && logins.length > 0);
}
