import {
  createGitPermissions,
  deleteGitPermission,
  updateGitPermission,
} from '../../../domain/git-connections/change-git-permissions.ts';
import { globalId } from '../../../domain/ids.ts';
import { addMutation } from './add-mutation.ts';
import { GitPermission } from './git-permissions.ts';
import { refuseNulls } from './payloads.ts';

const id = 'Global ID of the git permission, or its id such as `git-permission-…`.';

/** The payload of createGitPermission. */
export const CreateGitPermissionPayload = addMutation('createGitPermission', {
  description:
    'Allows an organization to use repositories of a git connection: one repository, a group, or all whose paths have a beginning. Exactly one of `repoPath`, `groupPrefix` and `prefixPath` must be set. An organization has at most 1,000 git permissions.',
  needs: ['manageGitPermissions'],
  input: (t) => ({
    organizationId: t.id({ required: true, description: 'Global ID or REST id of the organization (`org-…`).' }),
    gitConnectionId: t.id({
      required: true,
      description: 'Global ID of the git connection, or its id such as `git-connection-…`.',
    }),
    repoPath: t.string({ description: 'Path of a repository, such as `acme/site`.' }),
    groupPrefix: t.string({ description: 'Path of a group or an account, such as `acme`.' }),
    prefixPath: t.string({ description: 'Beginning of paths, such as `acme/web-`.' }),
    isReadOnly: t.boolean({ defaultValue: false, description: 'Whether sessions may clone but not push.' }),
  }),
  takes: 'idempotencyKey',
  payload: { gitPermission: GitPermission },
  act: async ({ organizationId, ...input }, { domain }, options) => {
    const [gitPermission] = await createGitPermissions(domain, organizationId, [input], {
      pathOf: () => [],
      idempotency: options,
    });
    return { gitPermission: gitPermission ?? null };
  },
});

addMutation('updateGitPermission', {
  description: 'Changes whether a git permission is for reading only. Running sessions follow at their next call.',
  needs: ['manageGitPermissions'],
  input: (t) => ({
    gitPermissionId: t.id({ required: true, description: id }),
    isReadOnly: t.boolean({ description: 'Whether sessions may clone but not push. Must not be null.' }),
  }),
  payload: { gitPermission: GitPermission },
  act: async ({ gitPermissionId, ...change }, { domain }) => {
    refuseNulls(change, ['isReadOnly']);
    return { gitPermission: await updateGitPermission(domain, gitPermissionId, change) };
  },
});

addMutation('deleteGitPermission', {
  description: 'Deletes a git permission. Running sessions cannot use it for another call.',
  needs: ['manageGitPermissions'],
  input: (t) => ({ gitPermissionId: t.id({ required: true, description: id }) }),
  payload: { deletedGitPermissionId: 'ID' },
  act: async ({ gitPermissionId }, { domain }) => {
    const deleted = await deleteGitPermission(domain, gitPermissionId);
    return { deletedGitPermissionId: globalId('gitPermission', deleted.id) };
  },
});
