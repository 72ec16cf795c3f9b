import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import {
  listSessionRepositories,
  type SessionRepositoryRecord,
} from '../../../domain/sessions/repositories/session-repositories.ts';
import { builder } from '../builder.ts';
import { repositoryState } from './event-enums.ts';
import { boundary, viewsSession } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { Session } from './sessions.ts';

/** A repository in the input of createSession. */
export const SessionRepositoryInput = builder.inputType('SessionRepositoryInput', {
  description: 'Repository for a new session to work on.',
  fields: (t) => ({
    repository: t.string({
      required: true,
      description:
        'Repository that the organization may use: `owner/name`, `host/owner/name`, its URL, its global ID or its REST id.',
    }),
    ref: t.string({
      description:
        'Branch, tag or commit to start from, 1 to 255 characters. Defaults to the default branch of the repository.',
    }),
    branch: t.string({
      description:
        'Branch to work on and push to, 1 to 255 characters. Defaults to a new branch by the branch template of the repository or the organization.',
    }),
    pullRequest: t.int({
      description: 'Number of a pull request to start from. Must not be given together with `ref`.',
    }),
    directory: t.string({
      description:
        'Directory of the clone in the workspace, 1 to 100 characters: at most 4 names of letters, digits and "._+-", separated by "/", none beginning with "." or "-". Defaults to the name of the repository.',
    }),
  }),
});

/** A repository of a session. */
export const SessionRepository = builder.objectRef<SessionRepositoryRecord>('SessionRepository').implement({
  description: 'Repository that a session works on.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'Host of the repository, with the port if it is not the default.' }),
    path: t.exposeString('path', { description: 'Path of the repository on its host, such as "acme/site".' }),
    requestedRef: t.exposeString('requestedRef', {
      nullable: true,
      description: 'Branch, tag or commit that was requested; null for the default branch.',
    }),
    baseRef: t.exposeString('baseRef', {
      nullable: true,
      description: 'Ref that the work starts from; null until the repository is cloned.',
    }),
    baseCommit: t.exposeString('baseCommit', {
      nullable: true,
      description: 'Commit that the work starts from; null until the repository is cloned.',
    }),
    branch: t.exposeString('branch', { description: 'Branch that the session works on and may push to.' }),
    pullRequestNumber: t.exposeInt('pullRequestNumber', {
      nullable: true,
      description: 'Number of the pull request that the session started from; null if there is none.',
    }),
    directory: t.exposeString('directory', { description: 'Directory of the clone in the workspace.' }),
    isReadOnly: t.exposeBoolean('isReadOnly', {
      description: 'Whether the organization could only read the repository when the session was started.',
    }),
    hasPullRequests: t.exposeBoolean('hasPullRequests', {
      description:
        'Whether the host has pull requests. False if the session was started with a connection of the kind GIT_HTTPS.',
    }),
    state: t.field({
      type: repositoryState.type,
      description: 'State of the clone in the workspace.',
      resolve: ({ state }) => state,
    }),
    error: t.string({
      nullable: true,
      description: 'Reason why the repository could not be cloned; null if `state` is not FAILED.',
      resolve: ({ error }) => (typeof error?.message === 'string' ? error.message : null),
    }),
  }),
});

builder.objectField(Session, 'repositories', (t) =>
  t.field({
    type: [SessionRepository],
    ...boundary(viewsSession),
    description: 'Repositories that the session works on, at most 20, in the order in which they were named.',
    resolve: async ({ id, organizationId }, _args, { domain, loaders }) => {
      requirePermission(ofAnySession(domain, 'view').viewer, permissionFor.viewSession, organizationId);
      return (await loaders.of(listSessionRepositories).load(id)) ?? [];
    },
  }),
);

builder.objectFields(Organization, (t) => ({
  branchTemplate: t.exposeString('branchTemplate', {
    nullable: true,
    description:
      'Template of the branches of sessions, with the placeholders `{slug}` and `{short id}`; null for the default `switchyard/{slug}-{short id}`.',
  }),
  defaultRepositories: t.stringList({
    description: 'Repositories of sessions that name none, each as `host/owner/name`, at most 20.',
    resolve: ({ defaultRepositories }) => [...defaultRepositories],
  }),
}));
