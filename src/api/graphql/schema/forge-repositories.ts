import { checkRepository, type RepositoryCheck } from '../../../domain/git-connections/check-repository.ts';
import {
  type ForgeRepositories,
  listForgeRepositories,
} from '../../../domain/git-connections/connection-repositories.ts';
import type { ForgeRepository } from '../../../forges/interface/forge.ts';
import { builder } from '../builder.ts';
import { pageLimits } from '../loaders.ts';
import { GitConnection } from './git-connections.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';

/** The cost of a page, in items besides its own: it may be a request to the forge. */
const itemsOfRequest = 50;

const ForgeRepositoryType = builder.objectRef<ForgeRepository>('ForgeRepository').implement({
  description:
    'Repository as its forge describes it at present. It has no id here: sessions name it by its path, and a `Repository` exists once a session used it.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path of the repository at the forge, such as `acme/site`.' }),
    name: t.exposeString('name', { description: 'Name of the repository, without its owner or group.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Description of the repository; null if there is none.',
    }),
    language: t.exposeString('language', {
      nullable: true,
      description: 'Main language; null if the forge does not say.',
    }),
    defaultBranch: t.exposeString('defaultBranch', {
      nullable: true,
      description: 'Default branch; null if the repository is empty or the forge does not say.',
    }),
    webUrl: t.expose('webUrl', { type: 'URI', nullable: true, description: 'Web page; null if there is none.' }),
    isPrivate: t.exposeBoolean('isPrivate', { description: 'Whether the repository is private.' }),
    isArchived: t.exposeBoolean('isArchived', { description: 'Whether the repository is archived.' }),
    isPushAllowed: t.boolean({
      nullable: true,
      description: 'Whether the account of the connection may push; null if the forge does not say.',
      resolve: ({ canPush }) => canPush,
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last change at the forge; null if the forge does not say.',
    }),
  }),
});

const ForgeRepositoryPage = builder.objectRef<ForgeRepositories>('ForgeRepositoryPage').implement({
  description:
    'Page of the repositories that a forge shows to a git connection. It can only be read forward, and the forge counts nothing.',
  fields: (t) => ({
    nodes: t.field({
      type: [ForgeRepositoryType],
      description: 'Repositories of this page. It may be empty although there are more pages.',
      resolve: ({ repositories }) => [...repositories],
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the next page, for `after`; null at the end.',
    }),
    hasNextPage: t.boolean({
      description: 'Whether there are more pages.',
      resolve: ({ endCursor }) => endCursor !== null,
    }),
  }),
});

builder.objectField(GitConnection, 'repositories', (t) =>
  t.field({
    type: ForgeRepositoryPage,
    nullable: true,
    extensions: { items: itemsOfRequest, isNullOnlyOnError: true },
    description:
      'Repositories that the forge shows to the connection, in the order of the forge. The service asks the forge, keeps a page for 60 seconds, and limits the number of requests in a minute. INVALID_STATE with the reason if the forge does not answer, or has no lists of repositories.',
    args: {
      search: t.arg.string({
        description:
          'Only repositories whose names contain this text, of which the first 200 characters count. All if omitted.',
      }),
      first: t.arg.int({ description: 'Maximum number of repositories: 1 to 100. Defaults to 20.' }),
      after: t.arg.string({ description: '`endCursor` of the page before.' }),
      organizationId: t.arg.id({
        description: 'Only repositories that this organization may use. Pages may be smaller then. All if omitted.',
      }),
    },
    resolve: (connection, { search, first, after, organizationId }, { domain }) =>
      listForgeRepositories(domain, connection, { search, first, after, organizationId }, pageLimits),
  }),
);

const RepositoryCheckType = builder.objectRef<RepositoryCheck>('RepositoryCheck').implement({
  description: 'Answer of a forge to the question whether a repository can be read.',
  fields: (t) => ({
    host: t.exposeString('host', {
      nullable: true,
      description: 'Host name of the forge; null if the organization may not use a repository with this name.',
    }),
    isReadable: t.exposeBoolean('isReadable', {
      nullable: true,
      description:
        'Whether the repository exists and the git connection can read it; null if the forge does not answer, or not for this connection.',
    }),
  }),
});

builder.objectField(Organization, 'repositoryCheck', (t) =>
  t.field({
    type: RepositoryCheckType,
    ...boundary('createSession', { items: itemsOfRequest }),
    description:
      'Check whether a new session of the organization could read a repository. The service asks the forge, keeps the answer for 60 seconds, and limits the number of requests in a minute. Nothing is stored.',
    args: {
      name: t.arg.string({
        required: true,
        description: 'Name, URL or id of the repository, as `CreateSessionInput.repositories` takes it.',
      }),
    },
    resolve: ({ id }, { name }, { domain }) => checkRepository(domain, id, name),
  }),
);
