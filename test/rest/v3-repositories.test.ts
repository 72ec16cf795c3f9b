import { beforeAll, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { connectForge } from '../support/connected-forge.ts';
import { makeRepository } from '../support/repositories.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { call } from './rest-app.ts';

const test = useApp();
let team: Awaited<ReturnType<typeof makeOrganization>>;
let others: Awaited<ReturnType<typeof makeOrganization>>;
let enterpriseId: string;

const list = (query = '', { organizationId, token } = team) =>
  call(test, token, 'GET', `/v3beta1/organizations/${organizationId}/repositories${query}`);
const pathsOf = async (query: string): Promise<string[]> =>
  (await list(query)).body.items.map((each: { repo_path: string }) => each.repo_path);

beforeAll(async () => {
  team = await makeOrganization(test, 'Repository team');
  others = await makeOrganization(test, 'Team without a permission');
  await connectForge(test, [team.organizationId]);
  const { store } = test.app.services;
  const id = parseId('organization', team.organizationId) ?? '';
  ({ enterpriseId } = await store.prisma.organization.findUniqueOrThrow({ where: { id } }));
  for (const path of ['acme/api', 'acme/Site', 'acme/tools/web']) await makeRepository(test, enterpriseId, path);
  await makeRepository(test, enterpriseId, 'other/secret');
  await makeRepository(test, newId(), 'acme/of-another-enterprise');
  await store.prisma.repository.updateMany({
    where: { path: 'acme/Site' },
    data: {
      providerRepositoryId: '42',
      description: 'The site',
      language: 'TypeScript',
      providerUpdatedAt: new Date(5_000),
    },
  });
});

it('lists the repositories that were used and that the organization may use, as the reference has them', async () => {
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body).toMatchObject({ has_next_page: false, total: null });
  const gitConnectionId = expect.stringMatching(/^git-connection-[0-9a-f]{32}$/);
  const common = { git_connection_host: 'git.test', git_connection_id: gitConnectionId };
  const indexing = {
    indexing_enabled: false,
    latest_completed_search_index_job: null,
    latest_completed_wiki_index_job: null,
    latest_indexes: [],
  };
  const unread = { repo_description: null, repo_language: null, last_updated_at: null, indexing_status: indexing };
  expect(body.items).toEqual([
    { ...common, ...unread, provider_repository_id: 'acme/tools/web', repo_name: 'web', repo_path: 'acme/tools/web' },
    {
      ...common,
      ...{ provider_repository_id: '42', repo_name: 'Site', repo_path: 'acme/Site', repo_description: 'The site' },
      ...{ repo_language: 'TypeScript', last_updated_at: 5, indexing_status: indexing },
    },
    { ...common, ...unread, provider_repository_id: 'acme/api', repo_name: 'api', repo_path: 'acme/api' },
  ]);
  expect((await list('', others)).body.items).toEqual([]);
});

it('filters by name and paths regardless of case, and leaves out the indexing status', async () => {
  expect(await pathsOf('?filter_name=SIT')).toEqual(['acme/Site']);
  expect(await pathsOf('?only_repo_paths=ACME/site&only_repo_paths=acme/api&only_repo_paths=other/secret')).toEqual([
    'acme/Site',
    'acme/api',
  ]);
  expect(await pathsOf('?exclude_repo_paths=acme/site,acme/api')).toEqual(['acme/tools/web']);
  expect(await pathsOf('?filter_name=%25')).toEqual([]);
  const { body } = await list('?load_indexing_status=false');
  expect(body.items.map((each: { indexing_status: unknown }) => each.indexing_status)).toEqual([null, null, null]);
});

it('reads page by page, and refuses cursors and sizes that are not its own', async () => {
  const first = await list('?first=2');
  expect(first.body).toMatchObject({ has_next_page: true });
  const second = await list(`?first=2&after=${encodeURIComponent(first.body.end_cursor)}`);
  const paths = [...first.body.items, ...second.body.items].map((each) => each.repo_path);
  expect(paths).toEqual(['acme/tools/web', 'acme/Site', 'acme/api']);
  expect(second.body.has_next_page).toBe(false);
  const many = Array.from({ length: 201 }, (_, n) => `only_repo_paths=a/r${n}`).join('&');
  for (const query of [
    'first=0',
    'first=101',
    'after=x',
    'load_indexing_status=maybe',
    many,
    `filter_name=${'a'.repeat(5_000)}`,
  ]) {
    const { status, body } = await list(`?${query}`);
    const name = query.split('=')[0];
    expect({ name, status, loc: body.detail[0].loc.slice(0, 2) }).toEqual({ name, status: 422, loc: ['query', name] });
  }
});

it('refuses organizations of others, and shows nothing of a deleted connection', async () => {
  expect((await list('', { ...team, organizationId: others.organizationId })).status).toBe(403);
  const unknown = `/v3beta1/organizations/${newId()}/repositories`;
  expect((await call(test, test.adminToken, 'GET', unknown)).status).toBe(404);
  const { store, now } = test.app.services;
  const { enterpriseId } = test.app.installation;
  await store.prisma.gitConnection.updateMany({ where: { enterpriseId }, data: { deletedAt: now() } });
  expect((await list()).body.items).toEqual([]);
});
