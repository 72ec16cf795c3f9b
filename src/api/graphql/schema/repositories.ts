import { type RepositoryRecord, repositoriesOf } from '../../../domain/library/repositories/repositories.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { createdBounds, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';

export const Repository = builder.objectRef<RepositoryRecord>('Repository');

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
  description: 'Repositories that were used before and that the organization may use now.',
  needs: 'viewRepositories',
  read: ({ id }, { filter, orderBy }, { domain }) =>
    repositoriesOf(domain, id, parseListFilter(filter), orderBy as never),
});
