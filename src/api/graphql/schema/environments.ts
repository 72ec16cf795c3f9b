import { notFound } from '../../../common/errors.ts';
import { requestBuild } from '../../../domain/environment-builds/request-build.ts';
import type { DefinitionProblem } from '../../../domain/environments/definition.ts';
import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import {
  deleteEnvironmentBuilds,
  type EnvironmentBuild,
  type EnvironmentInEffect,
  findBuildLogs,
  findEnvironmentsInEffect,
  findStoredEnvironments,
  refreshEnvironment,
} from '../../../domain/library/repositories/environment-builds.ts';
import { findRepositories } from '../../../domain/library/repositories/repositories.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { storedEnum } from './define-enum.ts';
import { Organization } from './organization-ref.ts';
import { Repository } from './repositories.ts';
import { organizationIdDescription } from './scope-input.ts';
import { Session } from './sessions.ts';

const buildState = storedEnum('EnvironmentBuildState', 'The state of a set-up of a repository.', {
  QUEUED: 'The set-up waits for a worker.',
  BUILDING: 'The set-up runs, or its result is being stored.',
  READY: 'The result is stored, and new sessions start with it.',
  FAILED: 'The set-up failed, or its result could not be stored. The next session tries again.',
});

const buildTrigger = storedEnum('EnvironmentBuildTrigger', 'The cause of a set-up of a repository.', {
  SESSION: 'A session of the repository needed the result.',
  PUSH: 'The default branch has a new commit, whose set-up has no result.',
  REQUEST: 'A user requested it by `buildEnvironment`.',
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
      description:
        'Session that runs, or last ran, the set-up; null if the viewer may not view it. A set-up by a push or a request has a session of its own, which is unlisted and starts no agent. Its log shows the output of the commands as they run.',
      resolve: ({ sessionId }, _args, { loaders }) => loaders.sessions.load(sessionId),
    }),
    state: t.field({
      type: buildState.type,
      nullable: true,
      description: 'State of the set-up; null if this version does not know it.',
      resolve: ({ state }) => buildState.read(state),
    }),
    trigger: t.field({
      type: buildTrigger.type,
      nullable: true,
      description: 'Cause of the set-up; null if this version does not know it.',
      resolve: ({ trigger }) => buildTrigger.read(trigger),
    }),
    commit: t.exposeString('commit', {
      description: 'Commit of the repository that was set up; empty until it is known.',
    }),
    bytes: t.float({
      description: 'Size of the files of the result in bytes; 0 if there is none.',
      resolve: ({ bytes }) => Number(bytes),
    }),
    log: t.string({
      nullable: true,
      description:
        'Commands of the set-up with the ends of their output, in which secrets are masked: the last 60,000 characters. Empty until the set-up of a session ends, and about two seconds old while any other runs; null if the set-up was deleted.',
      resolve: ({ id }, _args, { loaders }) => loaders.of(findBuildLogs).load(id),
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Time when the set-up began, or was queued.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the set-up ended; null if it still runs.',
    }),
    usedAt: t.expose('usedAt', {
      type: 'DateTime',
      description: 'Last time that a session started with the result, or that a session or a user had it built.',
    }),
  }),
});

const severity = storedEnum('EnvironmentProblemSeverity', 'The severity of a problem of a definition.', {
  ERROR: 'The definition is not used.',
  WARNING: 'A part of the definition does not apply.',
});

const EnvironmentProblem = builder.objectRef<DefinitionProblem>('EnvironmentProblem').implement({
  description: 'Problem of the definition of an environment.',
  fields: (t) => ({
    severity: t.field({
      type: severity.type,
      nullable: true,
      description: 'Severity of the problem; null if this version does not know it.',
      resolve: (problem) => severity.read(problem.severity),
    }),
    line: t.exposeInt('line', { nullable: true, description: 'Line of the text, from 1; null for the whole text.' }),
    message: t.exposeString('message', { description: 'Sentence that says what was expected.' }),
  }),
});

const EnvironmentType = builder.objectRef<EnvironmentInEffect>('Environment').implement({
  description: 'Environment of a repository that applies to new sessions at its default branch.',
  fields: (t) => ({
    path: t.exposeString('path', {
      nullable: true,
      description:
        'Path of the file that defines it; null if the definition is stored in Switchyard, or nothing defines one.',
    }),
    commit: t.exposeString('commit', {
      nullable: true,
      description:
        'Commit at which the repository was read; null if it was not, or the definition is stored in Switchyard.',
    }),
    isDefined: t.boolean({
      description: 'Whether a definition without errors applies.',
      resolve: ({ definition }) => definition !== null,
    }),
    setup: t.stringList({
      description: 'Commands of the set-up, in their order.',
      resolve: ({ definition }) => [...(definition?.setup ?? [])],
    }),
    start: t.stringList({
      description: 'Commands that run at each start.',
      resolve: ({ definition }) => [...(definition?.start ?? [])],
    }),
    secrets: t.stringList({
      description: 'Keys of the secrets that the set-up has.',
      resolve: ({ definition }) => [...(definition?.secrets ?? [])],
    }),
    problems: t.field({
      type: [EnvironmentProblem],
      description: 'Errors of the definition, or parts of it that do not apply.',
      resolve: ({ problems }) => [...problems],
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Reason why the last read of the repository failed; null if it did not.',
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last read of the repository; null if the definition is stored in Switchyard.',
    }),
  }),
});

builder.objectFields(Repository, (t) => ({
  environment: t.field({
    type: EnvironmentType,
    nullable: true,
    description:
      'Environment that applies to new sessions at the default branch, as a worker last read it; null if none has. `refreshEnvironment` has it read.',
    resolve: ({ id }, _args, { loaders }) => loaders.of(findEnvironmentsInEffect).load(id),
  }),
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

addMutation('buildEnvironment', {
  description:
    'Starts the set-up of a repository at its default branch, from an empty workspace and without an agent. New sessions start with its result, which replaces an earlier result of the same set-up. An organization has one such set-up of a repository at a time.',
  needs: ['createSession'],
  input: (t) => ({
    repositoryId: t.id({ required: true, description: 'Global ID or REST id of the repository.' }),
    organizationId: t.id({ description: organizationIdDescription }),
    environmentDefinition: t.string({
      description:
        'Definition to build, which need not be saved, in the form of `.switchyard/environment.yaml`, at most 64 KB. It needs the permission of `updateRepository`. If omitted: the definition that applies.',
    }),
    agent: t.string({ description: 'Agent profile in whose sandbox the set-up runs; if omitted: the default one.' }),
  }),
  payload: { environmentBuild: EnvironmentBuildType, repository: Repository },
  act: async (input, { domain }) => {
    const environmentBuild = await requestBuild(domain, input);
    const [repository] = await findRepositories(domain, [environmentBuild.repositoryId]);
    if (!repository) throw notFound('repository');
    return { environmentBuild, repository };
  },
});

addMutation('refreshEnvironment', {
  description:
    'Has a worker read the environment of a repository from its forge again, usually within seconds. `Repository.environment` has it then.',
  needs: ['createSession'],
  input: (t) => ({
    repositoryId: t.id({ required: true, description: 'Global ID or REST id of the repository.' }),
    organizationId: t.id({ description: organizationIdDescription }),
  }),
  payload: { repository: Repository },
  act: async (input, { domain }) => ({ repository: await refreshEnvironment(domain, input) }),
});

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
