import { z } from '@hono/zod-openapi';
import { getQueue } from '../../../domain/execution/runs/queue-metrics.ts';
import { type ActiveUsers, countActiveUsers, listActiveUsers } from '../../../domain/usage/metrics/active-users.ts';
import type { MetricsRequest } from '../../../domain/usage/metrics/metrics-source.ts';
import { getSessionMetrics, type SessionMetrics } from '../../../domain/usage/metrics/session-metrics.ts';
import { integerParam, listParam, textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { parsePeriod, periodQuery } from './consumption.ts';
import { time, timeSchema } from './dialect.ts';

const sessionQuery = {
  ...periodQuery,
  org_ids: listParam('org_ids', { description: 'In the enterprise: only sessions of these organizations.' }),
  playbook_id: textParam('playbook_id', { description: 'Only sessions of this playbook.' }),
  user_ids: listParam('user_ids', { description: 'Sessions of any of these users, or of `service_user_ids`.' }),
  service_user_ids: listParam('service_user_ids', {
    description: 'Sessions of any of these service users, or of `user_ids`.',
  }),
};

const activeQuery = z.object({
  ...periodQuery,
  org_ids: sessionQuery.org_ids,
  min_sessions: integerParam('min_sessions', {
    description: 'Who made fewer sessions in the window does not count.',
    minimum: 1,
    default: 1,
  }),
  min_searches: integerParam('min_searches', {
    description: 'Changes nothing: there are no searches.',
    minimum: 1,
    default: 1,
  }),
});

const activeUsers = z
  .object({ start_time: timeSchema, end_time: timeSchema, active_users: z.int() })
  .openapi('ActiveUsersResponse');

const count = z.int();
const sizes = z.object({ xs: count, s: count, m: count, l: count, xl: count }).openapi({
  description: 'By ACUs: xs below 1, s below 3, m below 6, l below 12, xl.',
});

const sessionsResponse = z
  .object({
    sessions_created_count: count,
    avg_acus_per_session: z.number().openapi({ description: '0 when there are none.' }),
    sessions_created_by_origin: z
      .object({
        api: count,
        jira: count,
        linear: count,
        slack: count,
        teams: count,
        webapp: count,
        automation: count,
        cli: count,
        other: count,
      })
      .openapi({ description: 'No session here comes from jira, linear, slack or teams: these are 0.' }),
    sessions_created_by_size: sizes,
    sessions_created_with_playbook_count: count,
    sessions_created_with_search_count: count.openapi({ description: 'There are no searches: 0.' }),
    sessions_with_merged_prs_count: count,
    sessions_with_merged_prs_by_size: sizes,
  })
  .openapi('SessionMetricsResponse');

const pullRequestsResponse = z
  .object({ prs_opened_count: count, prs_closed_count: count, prs_merged_count: count, prs_created_count: count })
  .openapi('PullRequestMetricsResponse');

const searchesResponse = z.object({ searches_created_count: count }).openapi('SearchMetricsResponse');

const usageResponse = z
  .object({ sessions_count: count, searches_count: count, prs_created_count: count, prs_merged_count: count })
  .openapi('UsageMetricsResponse');

const categoriesResponse = z
  .object({
    categories: z
      .array(
        z.object({
          category: z.string(),
          acus: z.number(),
          sessions_count: count,
          subcategories: z.array(
            z.object({
              subcategory_id: z.string().nullable(),
              display_name: z.string(),
              acus: z.number(),
              sessions_count: count,
            }),
          ),
        }),
      )
      .openapi({ description: 'No session has a category: always empty.' }),
  })
  .openapi('SessionsByCategoryResponse');

const presentActive = ({ startsAt, endsAt, activeUsers: users }: ActiveUsers) => ({
  start_time: time(startsAt),
  end_time: time(endsAt),
  active_users: users,
});

const createdCount = ({ pullRequests: { open, closed, merged } }: SessionMetrics) => open + closed + merged;

const presentSessions = (metrics: SessionMetrics): z.input<typeof sessionsResponse> => ({
  sessions_created_count: metrics.count,
  avg_acus_per_session: metrics.averageAcus ?? 0,
  sessions_created_by_origin: { ...metrics.byOrigin, jira: 0, linear: 0, slack: 0, teams: 0 },
  sessions_created_by_size: metrics.bySize,
  sessions_created_with_playbook_count: metrics.withPlaybookCount,
  sessions_created_with_search_count: 0,
  sessions_with_merged_prs_count: metrics.withMergedCount,
  sessions_with_merged_prs_by_size: metrics.mergedBySize,
});

const presentPullRequests = (metrics: SessionMetrics) => ({
  prs_opened_count: metrics.pullRequests.open,
  prs_closed_count: metrics.pullRequests.closed,
  prs_merged_count: metrics.pullRequests.merged,
  prs_created_count: createdCount(metrics),
});

const presentSearches = () => ({ searches_created_count: 0 });

const presentUsage = (metrics: SessionMetrics) => ({
  sessions_count: metrics.count,
  searches_count: 0,
  prs_created_count: createdCount(metrics),
  prs_merged_count: metrics.pullRequests.merged,
});

/** The scopes of metrics: path, enterprise flag, and the varying part of names. */
const scopes = [
  { base: '/v3/enterprise/metrics', kind: 'enterprise', prefix: 'getEnterprise', of: 'the enterprise' },
  { base: '/v3/organizations/{org_id}/metrics', kind: 'organization', prefix: 'get', of: 'an organization' },
] as const;
type ScopeKind = (typeof scopes)[number]['kind'] | 'organizationOfEnterprise';

function scopeFilterOf(kind: ScopeKind, orgId: string, organizationIds: readonly string[] | undefined) {
  if (kind === 'organization') return { scope: { organizationId: orgId } };
  return kind === 'enterprise'
    ? { scope: 'enterprise' as const, organizationIds }
    : { scope: 'enterprise' as const, organizationId: orgId };
}

/** `…/metrics` of the enterprise and of an organization, and the enterprise's queue. */
export function serveMetrics(api: VersionApi): void {
  for (const { base, kind, prefix, of } of scopes) {
    for (const [name, unit] of [
      ['dau', 'day'],
      ['wau', 'week'],
      ['mau', 'month'],
    ] as const) {
      api.serve(
        {
          method: 'get',
          paths: [`${base}/${name}`],
          name: `${prefix}${name.toUpperCase()}`,
          summary: `The active users of ${of} in each ${unit}`,
          query: activeQuery,
          answer: z.array(activeUsers),
          refusals: [403, 404, 422],
        },
        async ({ context, query, param }) => {
          const found = await listActiveUsers(context, unit, {
            ...scopeFilterOf(kind, param('org_id'), query.org_ids),
            ...parseActive(query),
          });
          return found.map(presentActive);
        },
      );
    }

    api.serve(
      {
        method: 'get',
        paths: [`${base}/active-users`],
        name: `${prefix}ActiveUsers`,
        summary: `The active users of ${of} in the whole time`,
        query: activeQuery,
        answer: activeUsers,
        refusals: [403, 404, 422],
      },
      async ({ context, query, param }) =>
        presentActive(
          await countActiveUsers(context, {
            ...scopeFilterOf(kind, param('org_id'), query.org_ids),
            ...parseActive(query),
          }),
        ),
    );

    serveSums(api, `${base}/sessions`, kind, `${prefix}SessionMetrics`, sessionsResponse, presentSessions);
    serveSums(api, `${base}/prs`, kind, `${prefix}PullRequestMetrics`, pullRequestsResponse, presentPullRequests);
    serveSums(api, `${base}/searches`, kind, `${prefix}SearchMetrics`, searchesResponse, presentSearches);
    serveSums(api, `${base}/usage`, kind, `${prefix}UsageMetrics`, usageResponse, presentUsage);
  }
  const ofOne = '/v3/enterprise/organizations/{org_id}/metrics/usage';
  const name = 'getEnterpriseOrganizationUsageMetrics';
  serveSums(api, ofOne, 'organizationOfEnterprise', name, usageResponse, presentUsage);
  const byCategory = '/v3/enterprise/metrics/sessions-by-category';
  serveSums(api, byCategory, 'enterprise', 'getSessionsByCategory', categoriesResponse, () => ({ categories: [] }));
  serveQueue(api);
}

function parseActive(query: z.output<typeof activeQuery>) {
  return { ...parsePeriod(query), minSessions: query.min_sessions, minSearches: query.min_searches };
}

/** Serves one path whose response is computed from the sums over the sessions of a period. */
function serveSums<A extends z.ZodType>(
  api: VersionApi,
  path: string,
  kind: ScopeKind,
  name: string,
  answer: A,
  present: (metrics: SessionMetrics) => z.input<A>,
): void {
  api.serve(
    {
      method: 'get',
      paths: [path],
      name,
      summary: `Sums over the sessions that were made in a time: ${path.split('/').at(-1)}`,
      query: z.object(sessionQuery),
      answer,
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const request: MetricsRequest = {
        ...scopeFilterOf(kind, param('org_id'), query.org_ids),
        ...parsePeriod(query),
        playbookId: query.playbook_id,
        userIds: query.user_ids,
        serviceUserIds: query.service_user_ids,
      };
      return present(await getSessionMetrics(context, request));
    },
  );
}

function serveQueue(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/queue'],
      name: 'getQueue',
      summary: 'How many sessions wait for an agent',
      answer: z
        .object({ queue_size: count, status: z.enum(['normal', 'elevated', 'high']) })
        .openapi('QueueResponse', { description: 'elevated from 10 waiting sessions on, high from 100.' }),
      refusals: [403],
    },
    async ({ context }) => {
      const { size, level } = await getQueue(context);
      return { queue_size: size, status: level };
    },
  );
}
