import { findGitConnections } from '../../../domain/git-connections/git-connections.ts';
import { type GitPermissionRecord, gitPermissionsOf } from '../../../domain/git-connections/git-permissions.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { GitConnection } from './git-connections.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, organizationField, restIdField } from './organization-ref.ts';

export const GitPermission = builder.objectRef<GitPermissionRecord>('GitPermission');

/** The types of lists of GitPermission. */
export const GitPermissionList = listTypes(GitPermission, 'GitPermission');

builder.node(GitPermission, {
  description:
    'Permission of an organization to use repositories of a git connection. Exactly one of `repoPath`, `groupPrefix` and `prefixPath` is set. Paths are compared regardless of case.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the git permission, unique across all types.' },
  fields: (t) => ({
    gitPermissionId: restIdField(
      t,
      'gitPermission',
      'Id of the git permission: `git-permission-` and 32 hexadecimal digits.',
    ),
    organization: organizationField(t, 'Organization that has the permission.'),
    gitConnection: t.field({
      type: GitConnection,
      nullable: true,
      description: 'Git connection whose repositories may be used.',
      resolve: ({ gitConnectionId }, _args, { loaders }) => loaders.of(findGitConnections).load(gitConnectionId),
    }),
    repoPath: t.exposeString('repoPath', { nullable: true, description: 'Path of the only repository, if set.' }),
    groupPrefix: t.exposeString('groupPrefix', {
      nullable: true,
      description: 'Path of a group, if set: all repositories of the group and its subgroups.',
    }),
    prefixPath: t.exposeString('prefixPath', {
      nullable: true,
      description: 'Beginning of the paths of all repositories that may be used, if set.',
    }),
    isReadOnly: t.exposeBoolean('isReadOnly', { description: 'Whether sessions may clone but not push.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the permission was created.' }),
  }),
});

const GitPermissionFilterInput = filterInput('GitPermission', (t) => ({
  search: t.string({ description: 'Only permissions with a path that contains this text, regardless of case.' }),
  ...createdMembers(t),
}));

const GitPermissionOrderInput = orderInput('GitPermission', 'Time when the permission was created.');

addList(Organization, 'gitPermissions', {
  types: GitPermissionList,
  filter: GitPermissionFilterInput,
  order: GitPermissionOrderInput,
  description: 'Permissions of the organization to use repositories of git connections.',
  needs: 'manageGitPermissions',
  read: ({ id }, { filter, orderBy }, { domain }) =>
    gitPermissionsOf(domain, id, parseListFilter(filter), orderBy as never),
});
