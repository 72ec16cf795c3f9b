import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { type ConnectedRepository, listRepositories } from '../../../domain/library/repositories/list-repositories.ts';
import { booleanParam, integerParam, listParam, textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';

/** The page sizes of lists of repositories, which are smaller than those of other lists. */
const limits = { max: 100, default: 100 } as const;

/** The pages of lists of repositories. */
export const repositoryPage = {
  limits,
  first: integerParam('first', {
    description: 'Items in this page.',
    minimum: 1,
    maximum: limits.max,
    default: limits.default,
  }),
} as const;

/** The members of a repository in responses. */
export const repositoryFields = {
  git_connection_id: z.string(),
  git_connection_host: z.string(),
  provider_repository_id: z.string(),
  repo_name: z.string(),
  repo_path: z.string(),
  repo_description: z.string().nullable(),
  repo_language: z.string().nullable(),
  last_updated_at: timeSchema.nullable(),
} as const;

// Repositories are not indexed here, so there is never a job.
const noJob = z.null().openapi({ description: 'Always null: repositories are not indexed here.' });

const indexingStatus = z
  .object({
    indexing_enabled: z.boolean().openapi({ description: 'Always false: repositories are not indexed here.' }),
    latest_completed_search_index_job: noJob,
    latest_completed_wiki_index_job: noJob,
    latest_indexes: z.array(z.record(z.string(), z.unknown())).openapi({ description: 'Always empty.' }),
  })
  .openapi('RepoIndexingStatusResponse');

const repositoryResponse = z
  .object({ ...repositoryFields, indexing_status: indexingStatus.nullable() })
  .openapi('RepositoryResponse');

const notIndexed = {
  indexing_enabled: false,
  latest_completed_search_index_job: null,
  latest_completed_wiki_index_job: null,
  latest_indexes: [],
};

const present = (repository: ConnectedRepository, isStatusLoaded: boolean): z.input<typeof repositoryResponse> => ({
  git_connection_id: prefixedId('gitConnection', repository.connectionId),
  git_connection_host: repository.host,
  // Unknown until the repository is read; forges without ids of their own have paths there too.
  provider_repository_id: repository.providerRepositoryId ?? repository.path,
  repo_name: repository.path.split('/').at(-1) ?? repository.path,
  repo_path: repository.path,
  repo_description: repository.description,
  repo_language: repository.language,
  last_updated_at: repository.providerUpdatedAt && time(repository.providerUpdatedAt),
  indexing_status: isStatusLoaded ? notIndexed : null,
});

/** `/v3beta1/organizations/{org_id}/repositories`: the repositories that sessions used and that the organization may use. */
export function serveRepositories(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3beta1/organizations/{org_id}/repositories'],
      name: 'listRepositories',
      summary: 'List the repositories that were used and that an organization may use, newest first',
      query: z.object({
        ...pageQuery,
        first: repositoryPage.first,
        filter_name: textParam('filter_name', { description: 'Only repositories with this text in their path.' }),
        only_repo_paths: listParam('only_repo_paths', { description: 'Only repositories with one of these paths.' }),
        exclude_repo_paths: listParam('exclude_repo_paths', {
          description: 'No repositories with one of these paths.',
        }),
        load_indexing_status: booleanParam('load_indexing_status', {
          description: 'False leaves `indexing_status` null.',
          default: true,
        }),
      }),
      answer: pageOf(repositoryResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const { first, after, filter_name: filterName } = query;
      const paths = { onlyRepoPaths: query.only_repo_paths, excludeRepoPaths: query.exclude_repo_paths };
      const request = { organizationId: param('org_id'), first, after, filterName, ...paths };
      const found = await listRepositories(context, request, repositoryPage.limits);
      return presentPage(found, (repository) => present(repository, query.load_indexing_status ?? true));
    },
  );
}
