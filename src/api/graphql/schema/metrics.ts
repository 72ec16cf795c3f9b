import { getQueue, type QueueState } from '../../../domain/execution/runs/queue-metrics.ts';
import { type SessionOrigin, sessionOrigins } from '../../../domain/sessions/session.ts';
import type { ActiveUsers, ActiveUsersUnit } from '../../../domain/usage/metrics/active-users.ts';
import { type MetricsSelection, openMetrics } from '../../../domain/usage/metrics/metrics-by-scope.ts';
import {
  type SessionMetrics,
  type SessionOutcome,
  type SessionSize,
  sessionOutcomes,
  sessionSizes,
} from '../../../domain/usage/metrics/session-metrics.ts';
import { builder } from '../builder.ts';
import { defineEnum } from './define-enum.ts';
import { Enterprise } from './enterprise-ref.ts';
import { SessionOriginEnum, SessionSizeEnum } from './enums.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';

const ActiveUsersUnitEnum = defineEnum<ActiveUsersUnit>(
  'ActiveUsersUnit',
  'The length of a window in which active users are counted. Windows begin and end in UTC.',
  {
    day: 'A window of a calendar day in UTC.',
    week: 'A window of a week in UTC, which begins on Monday.',
    month: 'A window of a calendar month in UTC.',
  },
);

const QueueLevelEnum = defineEnum<QueueState['level']>(
  'QueueLevel',
  'The load of a queue, by the number of waiting sessions.',
  {
    normal: 'Fewer than 10 sessions wait.',
    elevated: 'Between 10 and 99 sessions wait.',
    high: 'At least 100 sessions wait.',
  },
);

const OriginCount = builder.objectRef<{ origin: SessionOrigin; count: number }>('SessionOriginCount').implement({
  description: 'The number of sessions that were started from an origin.',
  fields: (t) => ({
    origin: t.expose('origin', { type: SessionOriginEnum, description: 'Origin of the counted sessions.' }),
    count: t.exposeInt('count', { description: 'Number of sessions with the origin.' }),
  }),
});

const SizeCount = builder.objectRef<{ size: SessionSize; count: number }>('SessionSizeCount').implement({
  description: 'The number of sessions of a size.',
  fields: (t) => ({
    size: t.expose('size', { type: SessionSizeEnum, description: 'Size of the counted sessions.' }),
    count: t.exposeInt('count', { description: 'Number of sessions of the size.' }),
  }),
});

const SessionOutcomeEnum = defineEnum<SessionOutcome>(
  'SessionOutcome',
  'The outcome of a session, by its current status.',
  {
    open: 'The session has not ended: it waits, works or is suspended.',
    finished: 'The session ended because its agent finished the work.',
    terminated: 'The session was terminated permanently.',
    expired: 'The session was suspended, or waited for the user, for so long that it expired.',
    failed: 'The session ended with an error.',
  },
);

const OutcomeCount = builder.objectRef<{ outcome: SessionOutcome; count: number }>('SessionOutcomeCount').implement({
  description: 'The number of sessions with an outcome.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: SessionOutcomeEnum, description: 'Outcome of the counted sessions.' }),
    count: t.exposeInt('count', { description: 'Number of sessions with the outcome.' }),
  }),
});

const PullRequestMetrics = builder.objectRef<SessionMetrics['pullRequests']>('PullRequestMetrics').implement({
  description: 'Numbers of the pull requests of sessions, by their current state.',
  fields: (t) => ({
    createdCount: t.int({
      description: 'Number of pull requests in any state.',
      resolve: ({ open, closed, merged }) => open + closed + merged,
    }),
    openCount: t.exposeInt('open', { description: 'Number of open pull requests.' }),
    closedCount: t.exposeInt('closed', { description: 'Number of pull requests that were closed without a merge.' }),
    mergedCount: t.exposeInt('merged', { description: 'Number of merged pull requests.' }),
  }),
});

const sizeNames = Object.keys(sessionSizes) as SessionSize[];
const bySize = (counts: Readonly<Record<SessionSize, number>>) =>
  sizeNames.map((size) => ({ size, count: counts[size] }));

const SessionMetricsType = builder.objectRef<SessionMetrics>('SessionMetrics').implement({
  description: 'Counts of the sessions that were started in a period, by their current state.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of sessions that were started in the period.' }),
    averageAcus: t.exposeFloat('averageAcus', {
      nullable: true,
      description: 'Average number of ACUs per session; null if there are no sessions.',
    }),
    byOrigin: t.field({
      type: [OriginCount],
      description: 'Number of sessions of each origin, including origins without sessions.',
      resolve: ({ byOrigin }) => sessionOrigins.map((origin) => ({ origin, count: byOrigin[origin] })),
    }),
    bySize: t.field({
      type: [SizeCount],
      description: 'Number of sessions of each size, smallest size first.',
      resolve: (metrics) => bySize(metrics.bySize),
    }),
    byOutcome: t.field({
      type: [OutcomeCount],
      description: 'Number of sessions with each outcome, including outcomes without sessions.',
      resolve: ({ byOutcome }) => sessionOutcomes.map((outcome) => ({ outcome, count: byOutcome[outcome] })),
    }),
    withPlaybookCount: t.exposeInt('withPlaybookCount', { description: 'Number of sessions that use a playbook.' }),
    withMergedPullRequestCount: t.exposeInt('withMergedCount', {
      description: 'Number of sessions that have a merged pull request.',
    }),
    withMergedPullRequestBySize: t.field({
      type: [SizeCount],
      description: 'Number of sessions of each size that have a merged pull request, smallest size first.',
      resolve: ({ mergedBySize }) => bySize(mergedBySize),
    }),
  }),
});

const ActiveUsersWindow = builder.objectRef<ActiveUsers>('ActiveUsersWindow').implement({
  description: 'The number of users that were active in a window of time.',
  fields: (t) => ({
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'Start of the window, which is part of it.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'End of the window: the first moment after it.' }),
    count: t.exposeInt('activeUsers', { description: 'Number of users that were active in the window.' }),
  }),
});

const minSessionsDescription =
  'Minimum number of sessions that a user must have started to be counted: 1 to 1,000,000. Defaults to 1.';

const Metrics = builder.objectRef<MetricsSelection>('Metrics').implement({
  description: 'Figures about the sessions that were started in a period, including unlisted and archived sessions.',
  fields: (t) => ({
    from: t.field({
      type: 'Date',
      description: 'First day of the period, in UTC.',
      resolve: ({ input }) => input.from,
    }),
    to: t.field({
      type: 'Date',
      description: 'Last day of the period, in UTC, which is part of it.',
      resolve: ({ input }) => input.to,
    }),
    sessions: t.field({
      type: SessionMetricsType,
      description: 'Counts of the sessions in the period.',
      resolve: (scope, _args, { loaders }) => loaders.sessionMetrics(scope),
    }),
    pullRequests: t.field({
      type: PullRequestMetrics,
      description: 'Counts of the pull requests of the sessions in the period.',
      resolve: async (scope, _args, { loaders }) => (await loaders.sessionMetrics(scope)).pullRequests,
    }),
    activeUserCount: t.int({
      description: 'Number of users that started at least `minSessions` sessions in the period.',
      extensions: { items: 31 },
      args: { minSessions: t.arg.int({ defaultValue: 1, description: minSessionsDescription }) },
      resolve: (scope, { minSessions }, { loaders }) => loaders.activeUserCount(scope, minSessions ?? 1),
    }),
    activeUsers: t.field({
      type: [ActiveUsersWindow],
      description:
        'Numbers of active users in each day, week or month of the period, in order of time. The period may cut off the first and the last window. Windows that have not begun are left out.',
      extensions: { items: 31 },
      args: {
        unit: t.arg({
          type: ActiveUsersUnitEnum,
          required: true,
          description: 'Length of each window: a day, a week or a month.',
        }),
        minSessions: t.arg.int({ defaultValue: 1, description: minSessionsDescription }),
      },
      resolve: async (scope, { unit, minSessions }, { loaders }) => [
        ...(await loaders.activeUserWindows(scope, unit, minSessions ?? 1)),
      ],
    }),
  }),
});

const descriptions = {
  from: 'First day of the period, in UTC, for example `2026-01-01`.',
  to: 'Last day of the period, in UTC, for example `2026-01-31`. The period has at most 400 days, including both.',
  playbookId: 'Only sessions that use the playbook with this global ID or REST id.',
  userIds: 'Only sessions that were started by these users, or by the service users in `serviceUserIds`.',
  serviceUserIds: 'Only sessions that were started by these service users, or by the users in `userIds`.',
} as const;

builder.objectField(Organization, 'metrics', (t) =>
  t.field({
    type: Metrics,
    ...boundary('viewMetrics', { items: 31 }),
    description: 'Figures about the sessions of the organization that were started in a period.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      playbookId: t.arg.id({ description: descriptions.playbookId }),
      userIds: t.arg.idList({ description: descriptions.userIds }),
      serviceUserIds: t.arg.idList({ description: descriptions.serviceUserIds }),
    },
    resolve: ({ id }, input, { domain }) => openMetrics(domain, id, input),
  }),
);

const Queue = builder.objectRef<QueueState>('Queue').implement({
  description: 'The sessions of an enterprise that wait for an agent.',
  fields: (t) => ({
    size: t.exposeInt('size', {
      description: 'Number of waiting sessions: those that are new, resuming, or claimed and not yet running.',
    }),
    limitedSize: t.exposeInt('limitedSize', {
      description:
        'Number of sessions that wait because their organization or user already has its maximum number of running sessions.',
    }),
    level: t.expose('level', {
      type: QueueLevelEnum,
      description: 'Load of the queue, by the number of waiting sessions.',
    }),
  }),
});

builder.objectFields(Enterprise, (t) => ({
  metrics: t.field({
    type: Metrics,
    ...boundary('viewEnterpriseMetrics', { items: 31 }),
    description: 'Figures about the sessions of all organizations of the enterprise that were started in a period.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      organizationIds: t.arg.idList({
        description: 'Only sessions of the organizations with these global IDs or REST ids (`org-…`).',
      }),
      playbookId: t.arg.id({ description: descriptions.playbookId }),
      userIds: t.arg.idList({ description: descriptions.userIds }),
      serviceUserIds: t.arg.idList({ description: descriptions.serviceUserIds }),
    },
    resolve: (_enterprise, input, { domain }) => openMetrics(domain, null, input),
  }),
  queue: t.field({
    type: Queue,
    ...boundary('viewEnterpriseMetrics'),
    description: 'Queue of the sessions of the enterprise that wait for an agent.',
    resolve: (_enterprise, _args, { domain }) => getQueue(domain),
  }),
}));
