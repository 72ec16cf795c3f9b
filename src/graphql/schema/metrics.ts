import type { ActiveUsers, ActiveUsersUnit } from '../../domain/metrics/active-users.ts';
import { type MetricsPlace, openMetrics } from '../../domain/metrics/of-places.ts';
import { getQueue, type QueueState } from '../../domain/metrics/queue.ts';
import {
  type SessionMetrics,
  type SessionOutcome,
  type SessionSize,
  sessionOutcomes,
  sessionSizes,
} from '../../domain/metrics/session-metrics.ts';
import { type SessionOrigin, sessionOrigins } from '../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { Enterprise } from './enterprise-ref.ts';
import { SessionOriginEnum, SessionSizeEnum } from './enums.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';

const ActiveUsersUnitEnum = builder.enumType('ActiveUsersUnit', {
  description: 'How long a window of active users is. All are of UTC.',
  values: {
    DAY: { value: 'day', description: 'A day.' },
    WEEK: { value: 'week', description: 'A week, from Monday on.' },
    MONTH: { value: 'month', description: 'A calendar month.' },
  } as const satisfies Record<string, { value: ActiveUsersUnit; description: string }>,
});

const QueueLevelEnum = builder.enumType('QueueLevel', {
  description: 'How full a queue is.',
  values: {
    NORMAL: { value: 'normal', description: 'Fewer than 10 sessions wait.' },
    ELEVATED: { value: 'elevated', description: '10 sessions or more wait.' },
    HIGH: { value: 'high', description: '100 sessions or more wait.' },
  } as const satisfies Record<string, { value: QueueState['level']; description: string }>,
});

const OriginCount = builder.objectRef<{ origin: SessionOrigin; count: number }>('SessionOriginCount').implement({
  description: 'How many sessions came from somewhere.',
  fields: (t) => ({
    origin: t.expose('origin', { type: SessionOriginEnum, description: 'Where they were started.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const SizeCount = builder.objectRef<{ size: SessionSize; count: number }>('SessionSizeCount').implement({
  description: 'How many sessions are of a size.',
  fields: (t) => ({
    size: t.expose('size', { type: SessionSizeEnum, description: 'The size.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const SessionOutcomeEnum = builder.enumType('SessionOutcome', {
  description: 'How a session came out.',
  values: {
    OPEN: { value: 'open', description: 'It has not ended: it waits, works, or is suspended.' },
    FINISHED: { value: 'finished', description: 'Its agent was done.' },
    TERMINATED: { value: 'terminated', description: 'Somebody ended it.' },
    EXPIRED: { value: 'expired', description: 'It slept for so long that it was ended.' },
    FAILED: { value: 'failed', description: 'An error ended it.' },
  } as const satisfies Record<Uppercase<SessionOutcome>, { value: SessionOutcome; description: string }>,
});

const OutcomeCount = builder.objectRef<{ outcome: SessionOutcome; count: number }>('SessionOutcomeCount').implement({
  description: 'How many sessions came out in some way.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: SessionOutcomeEnum, description: 'How they came out.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const PullRequestMetrics = builder.objectRef<SessionMetrics['pullRequests']>('PullRequestMetrics').implement({
  description: 'How many pull requests sessions made, by what they are now.',
  fields: (t) => ({
    createdCount: t.int({
      description: 'All of them.',
      resolve: ({ open, closed, merged }) => open + closed + merged,
    }),
    openCount: t.exposeInt('open', { description: 'Those that are open.' }),
    closedCount: t.exposeInt('closed', { description: 'Those that were closed without being merged.' }),
    mergedCount: t.exposeInt('merged', { description: 'Those that were merged.' }),
  }),
});

const sizeNames = Object.keys(sessionSizes) as SessionSize[];
const bySize = (counts: Readonly<Record<SessionSize, number>>) =>
  sizeNames.map((size) => ({ size, count: counts[size] }));

const SessionMetricsType = builder.objectRef<SessionMetrics>('SessionMetrics').implement({
  description: 'Counts of the sessions that were started on some days, by what they are now.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many.' }),
    averageAcus: t.exposeFloat('averageAcus', {
      nullable: true,
      description: 'The ACUs of one on average; null: there are none.',
    }),
    byOrigin: t.field({
      type: [OriginCount],
      description: 'How many from each origin, also those from which none came.',
      resolve: ({ byOrigin }) => sessionOrigins.map((origin) => ({ origin, count: byOrigin[origin] })),
    }),
    bySize: t.field({
      type: [SizeCount],
      description: 'How many of each size, the smallest first.',
      resolve: (metrics) => bySize(metrics.bySize),
    }),
    byOutcome: t.field({
      type: [OutcomeCount],
      description: 'How many came out in each way, also those in which none did.',
      resolve: ({ byOutcome }) => sessionOutcomes.map((outcome) => ({ outcome, count: byOutcome[outcome] })),
    }),
    withPlaybookCount: t.exposeInt('withPlaybookCount', { description: 'How many have a playbook.' }),
    withMergedPullRequestCount: t.exposeInt('withMergedCount', {
      description: 'How many made a pull request that was merged.',
    }),
    withMergedPullRequestBySize: t.field({
      type: [SizeCount],
      description: 'These by size, the smallest first.',
      resolve: ({ mergedBySize }) => bySize(mergedBySize),
    }),
  }),
});

const ActiveUsersWindow = builder.objectRef<ActiveUsers>('ActiveUsersWindow').implement({
  description: 'How many users were active in a stretch of time.',
  fields: (t) => ({
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it is over: the first moment after it.' }),
    count: t.exposeInt('activeUsers', { description: 'How many users.' }),
  }),
});

const minSessionsDescription = 'Who started fewer sessions does not count. 1 to 1,000,000.';

const Metrics = builder.objectRef<MetricsPlace>('Metrics').implement({
  description: 'Figures about the sessions that were started on some days, unlisted and archived ones too.',
  fields: (t) => ({
    from: t.field({ type: 'Date', description: 'The first of the days.', resolve: ({ input }) => input.from }),
    to: t.field({ type: 'Date', description: 'The last of the days.', resolve: ({ input }) => input.to }),
    sessions: t.field({
      type: SessionMetricsType,
      description: 'The sessions.',
      resolve: (place, _args, { loaders }) => loaders.sessionMetrics(place),
    }),
    pullRequests: t.field({
      type: PullRequestMetrics,
      description: 'Their pull requests.',
      resolve: async (place, _args, { loaders }) => (await loaders.sessionMetrics(place)).pullRequests,
    }),
    activeUserCount: t.int({
      description: 'How many users started any.',
      extensions: { items: 31 },
      args: { minSessions: t.arg.int({ defaultValue: 1, description: minSessionsDescription }) },
      resolve: (place, { minSessions }, { loaders }) => loaders.activeUserCount(place, minSessions ?? 1),
    }),
    activeUsers: t.field({
      type: [ActiveUsersWindow],
      description:
        'How many users started any in each day, week or month, in order. The first and the last may be cut off; those that have not begun are left out.',
      extensions: { items: 31 },
      args: {
        unit: t.arg({ type: ActiveUsersUnitEnum, required: true, description: 'How long each is.' }),
        minSessions: t.arg.int({ defaultValue: 1, description: minSessionsDescription }),
      },
      resolve: async (place, { unit, minSessions }, { loaders }) => [
        ...(await loaders.activeUserWindows(place, unit, minSessions ?? 1)),
      ],
    }),
  }),
});

const descriptions = {
  from: 'The first day, of UTC.',
  to: 'The last day, at most 400 days in all.',
  playbookId: 'Only sessions with this playbook.',
  userIds: 'Only sessions of any of these users, or of serviceUserIds.',
  serviceUserIds: 'Only sessions of any of these service users, or of userIds.',
} as const;

builder.objectField(Organization, 'metrics', (t) =>
  t.field({
    type: Metrics,
    ...boundary('viewMetrics', { items: 31 }),
    description: 'Figures about its sessions.',
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
  description: 'The sessions that wait for an agent.',
  fields: (t) => ({
    size: t.exposeInt('size', { description: 'How many: new, resuming, or claimed and not yet running.' }),
    limitedSize: t.exposeInt('limitedSize', {
      description:
        'How many of them wait because their organization or their user has as many running sessions as it may have.',
    }),
    level: t.expose('level', { type: QueueLevelEnum, description: 'Whether that is many.' }),
  }),
});

builder.objectFields(Enterprise, (t) => ({
  metrics: t.field({
    type: Metrics,
    ...boundary('viewEnterpriseMetrics', { items: 31 }),
    description: 'Figures about the sessions of all its organizations.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      organizationIds: t.arg.idList({ description: 'Only sessions of these organizations.' }),
      playbookId: t.arg.id({ description: descriptions.playbookId }),
      userIds: t.arg.idList({ description: descriptions.userIds }),
      serviceUserIds: t.arg.idList({ description: descriptions.serviceUserIds }),
    },
    resolve: (_enterprise, input, { domain }) => openMetrics(domain, null, input),
  }),
  queue: t.field({
    type: Queue,
    ...boundary('viewEnterpriseMetrics'),
    description: 'Its sessions that wait for an agent.',
    resolve: (_enterprise, _args, { domain }) => getQueue(domain),
  }),
}));
