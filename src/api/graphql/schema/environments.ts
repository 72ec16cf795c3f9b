import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import {
  deleteEnvironmentBuilds,
  type EnvironmentBuild,
  findBuildLogs,
  findStoredEnvironments,
} from '../../../domain/library/repositories/environment-builds.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { storedEnum } from './define-enum.ts';
import { Organization } from './organization-ref.ts';
import { Repository } from './repositories.ts';
import { Session } from './sessions.ts';

const buildState = storedEnum('EnvironmentBuildState', 'The state of a set-up of a repository.', {
  BUILDING: 'A session runs the set-up.',
  READY: 'The result is stored, and new sessions start with it.',
  FAILED: 'The set-up failed, or its result could not be stored. The next session tries again.',
});

const EnvironmentBuildType = builder.objectRef<EnvironmentBuild>('EnvironmentBuild').implement({
  description: 'Set-up of a repository that ran or runs for an organization.',
  fields: (t) => ({
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'Organization whose sessions start with the result; null if the viewer may not view it.',
      resolve: ({ organizationId }, _args, { loaders }) => loaders.of(findOrganizations).load(organizationId),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session that runs, or last ran, the set-up; null if the viewer may not view it.',
      resolve: ({ sessionId }, _args, { loaders }) => loaders.sessions.load(sessionId),
    }),
    state: t.field({
      type: buildState.type,
      nullable: true,
      description: 'State of the set-up; null if this version does not know it.',
      resolve: ({ state }) => buildState.read(state),
    }),
    commit: t.exposeString('commit', { description: 'Commit of the repository that was set up.' }),
    bytes: t.float({
      description: 'Size of the files of the result in bytes; 0 if there is none.',
      resolve: ({ bytes }) => Number(bytes),
    }),
    log: t.string({
      nullable: true,
      description:
        'Commands of the set-up with the ends of their output, in which secrets are masked: the last 60,000 characters. Empty until the set-up ends; null if the set-up was deleted.',
      resolve: ({ id }, _args, { loaders }) => loaders.of(findBuildLogs).load(id),
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Time when the set-up began.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the set-up ended; null if it still runs.',
    }),
    usedAt: t.expose('usedAt', {
      type: 'DateTime',
      description: 'Last time that a session started with the result, or built it.',
    }),
  }),
});

builder.objectFields(Repository, (t) => ({
  environmentDefinition: t.string({
    nullable: true,
    description:
      'Definition of the environment that an administrator stored; null for that of the repository’s own files.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.of(findStoredEnvironments).load(id))?.text ?? null,
  }),
  environmentBuilds: t.field({
    type: [EnvironmentBuildType],
    description: 'Set-ups of the repository for organizations that the viewer may view, newest first, at most ten.',
    resolve: async ({ id }, _args, { loaders }) => [
      ...((await loaders.of(findStoredEnvironments).load(id))?.builds ?? []),
    ],
  }),
}));

addMutation('deleteEnvironmentBuilds', {
  description:
    'Deletes the stored results of the set-ups of a repository, in all organizations. The next session of each sets the repository up again. Sessions that started with a result keep their files.',
  needs: ['changeRepositories'],
  input: (t) => ({
    repositoryId: t.id({ required: true, description: 'Global ID or REST id of the repository.' }),
  }),
  payload: { repository: Repository },
  act: async ({ repositoryId }, { domain }) => ({ repository: await deleteEnvironmentBuilds(domain, repositoryId) }),
});
