import { z } from '@hono/zod-openapi';
import {
  clearGitPermissions,
  createGitPermissions,
  deleteGitPermission,
  maxPermissionsAtOnce,
  updateGitPermission,
} from '../../../domain/git-connections/change-git-permissions.ts';
import { listForgeRepositories } from '../../../domain/git-connections/connection-repositories.ts';
import {
  type GitConnectionRecord,
  getGitConnection,
  listGitConnections,
  requireSeesConnections,
} from '../../../domain/git-connections/git-connections.ts';
import { type GitPermissionRecord, listGitPermissions } from '../../../domain/git-connections/git-permissions.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { type ForgeRepository, forgeKinds } from '../../../forges/interface/forge.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { repositoryFields, repositoryPage } from './repositories.ts';

const connections = '/v3/enterprise/git-providers/connections';
const permissions = '/v3/enterprise/organizations/{org_id}/git-providers/permissions';

const connectionResponse = z
  .object({
    git_connection_id: z.string(),
    git_provider_type: z.enum(forgeKinds),
    host: z.string(),
    name: z.string().nullable(),
    created_at: timeSchema,
  })
  .openapi('GitConnectionResponse');

const repositoryResponse = z.object(repositoryFields).openapi('GitConnectionRepositoryResponse');

const permissionCreateRequest = z
  .object({
    git_connection_id: z.string(),
    repo_path: z.string().nullish(),
    group_prefix: z.string().nullish(),
    prefix_path: z.string().nullish(),
    read_only: z.boolean().nullish().openapi({ default: false }),
  })
  .openapi('GitPermissionCreateRequest');

const bulkCreateRequest = z
  .object({
    permissions: z
      .array(permissionCreateRequest)
      .max(maxPermissionsAtOnce, `"permissions" must have at most ${maxPermissionsAtOnce} members.`),
  })
  .openapi('GitPermissionBulkCreateRequest');

const updateRequest = z.object({ read_only: z.boolean().nullish() }).openapi('GitPermissionUpdateRequest');

const permissionResponse = z
  .object({
    git_permission_id: z.string(),
    git_connection_id: z.string(),
    repo_path: z.string().nullable(),
    group_prefix: z.string().nullable(),
    prefix_path: z.string().nullable(),
    read_only: z.boolean(),
    created_at: timeSchema.nullable(),
  })
  .openapi('GitPermissionResponse');

const presentConnection = (connection: GitConnectionRecord): z.input<typeof connectionResponse> => ({
  git_connection_id: prefixedId('gitConnection', connection.id),
  git_provider_type: connection.providerType,
  host: connection.hostKey,
  name: connection.name,
  created_at: time(connection.createdAt),
});

const presentRepository = (
  { id, hostKey }: GitConnectionRecord,
  repository: ForgeRepository,
): z.input<typeof repositoryResponse> => ({
  git_connection_id: prefixedId('gitConnection', id),
  git_connection_host: hostKey,
  provider_repository_id: repository.providerId,
  repo_name: repository.name,
  repo_path: repository.path,
  repo_description: repository.description,
  repo_language: repository.language,
  last_updated_at: repository.updatedAt && time(repository.updatedAt),
});

const presentPermission = (permission: GitPermissionRecord): z.input<typeof permissionResponse> => ({
  git_permission_id: prefixedId('gitPermission', permission.id),
  git_connection_id: prefixedId('gitConnection', permission.gitConnectionId),
  repo_path: permission.repoPath,
  group_prefix: permission.groupPrefix,
  prefix_path: permission.prefixPath,
  read_only: permission.isReadOnly,
  created_at: time(permission.createdAt),
});

const readPermissions = ({ permissions: list }: z.output<typeof bulkCreateRequest>) =>
  list.map((each) => ({
    gitConnectionId: each.git_connection_id,
    repoPath: each.repo_path,
    groupPrefix: each.group_prefix,
    prefixPath: each.prefix_path,
    isReadOnly: each.read_only,
  }));

/** `/v3/enterprise/git-providers/connections`: connections are created over GraphQL. */
export function serveGitConnections(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [connections],
      name: 'listGitConnections',
      summary: 'List the git connections of the enterprise, newest first',
      query: z.object(pageQuery),
      answer: pageOf(connectionResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) => presentPage(await listGitConnections(context, query, page), presentConnection),
  );

  api.serve(
    {
      method: 'get',
      paths: [`${connections}/{connection_id}/repositories`],
      name: 'listGitConnectionRepositories',
      summary: 'List the repositories that the forge shows to a git connection',
      query: z.object({
        ...pageQuery,
        first: repositoryPage.first,
        filter_name: textParam('filter_name', { description: 'Only repositories with this text in their name.' }),
      }),
      answer: pageOf(repositoryResponse),
      refusals: [403, 404, 409, 422],
    },
    async ({ context, query, param }) => {
      requireSeesConnections(context.viewer);
      const connection = await getGitConnection(context, param('connection_id'));
      const { first, after, filter_name: search } = query;
      const found = await listForgeRepositories(context, connection, { first, after, search }, repositoryPage.limits);
      return {
        items: found.repositories.map((repository) => presentRepository(connection, repository)),
        end_cursor: found.endCursor,
        has_next_page: found.endCursor !== null,
        total: null,
      };
    },
  );
}

/** `/v3/enterprise/organizations/{org_id}/git-providers/permissions`. */
export function serveGitPermissions(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [permissions],
      name: 'listGitPermissions',
      summary: 'List the git permissions of an organization, newest first',
      query: z.object(pageQuery),
      answer: pageOf(permissionResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) =>
      presentPage(await listGitPermissions(context, param('org_id'), query, page), presentPermission),
  );

  for (const method of ['post', 'put'] as const) {
    api.serve(
      {
        method,
        paths: [permissions],
        name: method === 'post' ? 'createGitPermissions' : 'replaceGitPermissions',
        summary:
          method === 'post' ? 'Create git permissions, all or none' : 'Replace all git permissions of an organization',
        body: bulkCreateRequest,
        answer: z.array(permissionResponse),
        refusals: [400, 403, 404, 409, 413, 422],
      },
      async ({ context, body, param }) => {
        const options = { isReplacing: method === 'put' };
        const made = await createGitPermissions(context, param('org_id'), readPermissions(body), options);
        return made.map(presentPermission);
      },
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [permissions],
      name: 'clearGitPermissions',
      summary: 'Delete all git permissions of an organization',
      answer: z.array(permissionResponse),
      refusals: [403, 404],
    },
    async ({ context, param }) => (await clearGitPermissions(context, param('org_id'))).map(presentPermission),
  );

  api.serve(
    {
      method: 'patch',
      paths: [`${permissions}/{git_permission_id}`],
      name: 'updateGitPermission',
      summary: 'Change whether a git permission is read-only',
      body: updateRequest,
      answer: permissionResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) =>
      presentPermission(
        await updateGitPermission(context, param('git_permission_id'), { isReadOnly: body.read_only }, param('org_id')),
      ),
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${permissions}/{git_permission_id}`],
      name: 'deleteGitPermission',
      summary: 'Delete a git permission',
      answer: permissionResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) =>
      presentPermission(await deleteGitPermission(context, param('git_permission_id'), param('org_id'))),
  );
}
