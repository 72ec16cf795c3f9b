import { permissionFor } from '../../../auth/permissions.ts';
import { findOrganizations, requireUsable } from '../../../domain/identity/organizations/use-organization.ts';
import { type RepositoryChange, updateRepository } from '../../../domain/library/repositories/change-repositories.ts';
import {
  findRepositoriesByName,
  type RepositoryRecord,
  repositoriesOf,
} from '../../../domain/library/repositories/repositories.ts';
import { readEnvironmentSettings } from '../../../domain/repositories/environment-settings.ts';
import { readFollowUpSettings } from '../../../domain/repositories/follow-up-settings.ts';
import { readMentionSettings } from '../../../domain/repositories/mention-settings.ts';
import { type PushSettings, readPushSettings } from '../../../domain/repositories/push-settings.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { FollowUpAuthorsEnum, FollowUpBotsEnum, FollowUpModeEnum } from './follow-up-enums.ts';
import { createdBounds, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { needs } from './needs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { refuseNulls } from './payloads.ts';

export const Repository = builder.objectRef<RepositoryRecord>('Repository');

const pushes = {
  isPushToOtherBranchesAllowed: 'Whether sessions may push to all branches, not only to their own.',
  isPushOfTagsAllowed: 'Whether sessions may create and update tags.',
  isDeletionAllowed: 'Whether sessions may delete the branches and tags that they may push to.',
} as const satisfies Record<keyof PushSettings, string>;

const mentions = {
  isMentionAnswered:
    'Whether people who may write to the repository at the forge can start sessions by addressing the service, as in `@switchyard`.',
  mentionOrganization:
    'Organization whose sessions such mentions start; null for the only organization that may use the repository.',
} as const;

const followUps = {
  followUpMode:
    'Way in which follow-ups of pull requests reach sessions; null for AUTO if the service opened the pull request, and SUGGEST for others.',
  followUpAuthors: 'People whose reviews and comments reach sessions.',
  followUpBots: 'Bots whose reviews and comments reach sessions.',
  followUpBotLogins: 'Logins of accounts whose reviews and comments reach sessions in any case.',
  isArchivedWhenMerged:
    'Whether a session is archived once all its pull requests are merged or closed, and at least one is merged.',
} as const;

const builtOnPush =
  'Whether the set-up runs without a session when the default branch changes, for organizations whose sessions used its result in the last 14 days.';

const RepositoryList = listTypes(Repository, 'Repository');

builder.node(Repository, {
  description: 'Repository that a session used. Facts about it are those of its last read from the forge.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the repository, unique across all types.' },
  fields: (t) => ({
    repositoryId: restIdField(t, 'repository', 'Id of the repository: `repository-` and 32 hexadecimal digits.'),
    host: t.exposeString('host', { description: 'Host name of the forge, with its port if it is not the default.' }),
    path: t.exposeString('path', { description: 'Path of the repository at the forge, such as `acme/site`.' }),
    defaultBranch: t.exposeString('defaultBranch', {
      nullable: true,
      description: 'Default branch; null if it is unknown.',
    }),
    description: t.exposeString('description', { nullable: true, description: 'Description; null if it is unknown.' }),
    language: t.exposeString('language', { nullable: true, description: 'Main language; null if it is unknown.' }),
    webUrl: t.expose('webUrl', { type: 'URI', nullable: true, description: 'Web page; null if it is unknown.' }),
    isPrivate: t.exposeBoolean('isPrivate', {
      nullable: true,
      description: 'Whether the repository is private; null if it is unknown.',
    }),
    isArchived: t.boolean({
      description: 'Whether the forge shows the repository as archived. False if it was never read.',
      resolve: ({ isArchived }) => isArchived ?? false,
    }),
    branchTemplate: t.exposeString('branchTemplate', {
      nullable: true,
      description: 'Template of the branches of sessions; null for that of the organization.',
    }),
    isPushToOtherBranchesAllowed: t.boolean({
      description: `${pushes.isPushToOtherBranchesAllowed} False unless an administrator allowed it.`,
      resolve: ({ settings }) => readPushSettings(settings).isPushToOtherBranchesAllowed,
    }),
    isPushOfTagsAllowed: t.boolean({
      description: `${pushes.isPushOfTagsAllowed} False unless an administrator allowed it.`,
      resolve: ({ settings }) => readPushSettings(settings).isPushOfTagsAllowed,
    }),
    isDeletionAllowed: t.boolean({
      description: `${pushes.isDeletionAllowed} False unless an administrator allowed it.`,
      resolve: ({ settings }) => readPushSettings(settings).isDeletionAllowed,
    }),
    isMentionAnswered: t.boolean({
      description: mentions.isMentionAnswered,
      resolve: ({ settings }) => readMentionSettings(settings).isMentionAnswered,
    }),
    mentionOrganization: t.field({
      type: Organization,
      nullable: true,
      description: `${mentions.mentionOrganization} Also null if the viewer may not see it.`,
      resolve: ({ settings }, _args, { loaders }) => {
        const { mentionOrganizationId: id } = readMentionSettings(settings);
        return id === null ? null : loaders.of(findOrganizations).load(id);
      },
    }),
    followUpMode: t.field({
      type: FollowUpModeEnum,
      nullable: true,
      description: followUps.followUpMode,
      resolve: ({ settings }) => readFollowUpSettings(settings).followUpMode,
    }),
    followUpAuthors: t.field({
      type: FollowUpAuthorsEnum,
      description: followUps.followUpAuthors,
      resolve: ({ settings }) => readFollowUpSettings(settings).followUpAuthors,
    }),
    followUpBots: t.field({
      type: FollowUpBotsEnum,
      description: followUps.followUpBots,
      resolve: ({ settings }) => readFollowUpSettings(settings).followUpBots,
    }),
    followUpBotLogins: t.stringList({
      description: followUps.followUpBotLogins,
      resolve: ({ settings }) => [...readFollowUpSettings(settings).followUpBotLogins],
    }),
    isArchivedWhenMerged: t.boolean({
      description: followUps.isArchivedWhenMerged,
      resolve: ({ settings }) => readFollowUpSettings(settings).isArchivedWhenMerged,
    }),
    isEnvironmentBuiltOnPush: t.boolean({
      description: builtOnPush,
      resolve: ({ settings }) => readEnvironmentSettings(settings).isEnvironmentBuiltOnPush,
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last read from the forge; null if there was none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the repository was first used.' }),
  }),
});

const RepositoryFilterInput = filterInput('Repository', (t) => ({
  search: t.string({ description: 'Only repositories with a path that contains this text, regardless of case.' }),
  ...createdBounds(t),
}));

const RepositoryOrderInput = orderInput('Repository', 'Time when the repository was first used.', {
  path: 'The first 64 characters of the path, regardless of case.',
});

addList(Organization, 'repositories', {
  types: RepositoryList,
  filter: RepositoryFilterInput,
  order: RepositoryOrderInput,
  description:
    'Repositories that sessions have cloned, or that were configured, and that the organization may use now.',
  needs: 'viewRepositories',
  read: ({ id }, { filter, orderBy }, { domain }) =>
    repositoriesOf(domain, id, parseListFilter(filter), orderBy as never),
});

builder.objectField(Organization, 'repository', (t) =>
  t.field({
    type: Repository,
    nullable: true,
    extensions: needs('viewRepositories'),
    description:
      'Repository that was used before and that the organization may use now. Null if there is none, or the organization may not use it.',
    args: {
      path: t.arg.string({
        required: true,
        description: 'Name of the repository: `owner/name`, `host/owner/name`, its URL, its global ID or its REST id.',
      }),
    },
    resolve: async ({ id }, { path }, { domain, loaders }) => {
      requireUsable(domain, id, permissionFor.viewRepositories);
      return loaders.ofKeys(findRepositoriesByName).load({ organizationId: id, reference: path });
    },
  }),
);

addMutation('updateRepository', {
  description:
    'Updates the settings of a repository for all organizations that use it. The settings of pushes apply from the next push on, also in running sessions, those of follow-ups from the next read of a pull request on, and the template to new sessions. A read-only git permission refuses pushes in any case.',
  needs: ['changeRepositories'],
  input: (t) => ({
    repositoryId: t.id({ required: true, description: 'Global ID or REST id of the repository.' }),
    branchTemplate: t.string({
      description:
        'Template of the branches of sessions, 1 to 200 characters, with the placeholders `{slug}` (from the title) and `{short id}`, which is required; null for that of the organization.',
    }),
    environmentDefinition: t.string({
      description:
        'Definition of the environment of new sessions, in the form of `.switchyard/environment.yaml`, at most 64 KB; null for that of the repository’s own files.',
    }),
    isPushToOtherBranchesAllowed: t.boolean({
      description: `${pushes.isPushToOtherBranchesAllowed} Must not be null.`,
    }),
    isPushOfTagsAllowed: t.boolean({ description: `${pushes.isPushOfTagsAllowed} Must not be null.` }),
    isDeletionAllowed: t.boolean({ description: `${pushes.isDeletionAllowed} Must not be null.` }),
    isMentionAnswered: t.boolean({ description: `${mentions.isMentionAnswered} Must not be null.` }),
    mentionOrganizationId: t.id({
      description: `Global ID or REST id. ${mentions.mentionOrganization}`,
    }),
    followUpMode: t.field({ type: FollowUpModeEnum, description: followUps.followUpMode }),
    followUpAuthors: t.field({
      type: FollowUpAuthorsEnum,
      description: `${followUps.followUpAuthors} Must not be null.`,
    }),
    followUpBots: t.field({ type: FollowUpBotsEnum, description: `${followUps.followUpBots} Must not be null.` }),
    followUpBotLogins: t.stringList({
      description: `${followUps.followUpBotLogins} At most 100, each of 1 to 100 characters. Must not be null.`,
    }),
    isArchivedWhenMerged: t.boolean({ description: `${followUps.isArchivedWhenMerged} Must not be null.` }),
    isEnvironmentBuiltOnPush: t.boolean({ description: `${builtOnPush} Must not be null.` }),
  }),
  payload: { repository: Repository },
  act: async ({ repositoryId, branchTemplate, environmentDefinition, ...rest }, { domain }) => {
    const { mentionOrganizationId, followUpMode, ...values } = rest;
    refuseNulls(values, [
      ...(['isPushToOtherBranchesAllowed', 'isPushOfTagsAllowed', 'isDeletionAllowed', 'isMentionAnswered'] as const),
      ...([
        'followUpAuthors',
        'followUpBots',
        'followUpBotLogins',
        'isArchivedWhenMerged',
        'isEnvironmentBuiltOnPush',
      ] as const),
    ]);
    const nullable = { branchTemplate, environmentDefinition, mentionOrganizationId, followUpMode };
    const change = { ...nullable, ...values } as RepositoryChange;
    return { repository: await updateRepository(domain, repositoryId, change) };
  },
});
