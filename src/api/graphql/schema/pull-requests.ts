import { type FollowUp, followUpStops } from '../../../domain/follow-ups/follow-up.ts';
import { listFollowUps, type PullRequestKey } from '../../../domain/follow-ups/list-follow-ups.ts';
import type { PullRequestDetails, StoredCheck, StoredReview } from '../../../domain/pull-requests/details.ts';
import { listPullRequestDetails } from '../../../domain/pull-requests/list-details.ts';
import {
  followUpModeOf,
  followUpModes,
  readFollowUpSettings,
} from '../../../domain/repositories/follow-up-settings.ts';
import type { PullRequest } from '../../../domain/sessions/session.ts';
import type { Check, Mergeability, Review } from '../../../forges/interface/pull-requests.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import type { FindByKey } from '../loaders.ts';
import { storedEnum } from './define-enum.ts';
import { pullRequestState } from './event-enums.ts';
import { FollowUpModeEnum, FollowUpStopEnum } from './follow-up-enums.ts';
import { FollowUpType } from './follow-ups.ts';

const mergeability = storedEnum(
  'PullRequestMergeability',
  'The answer of a forge to whether a pull request can be merged.',
  {
    mergeable: 'The pull request can be merged.',
    conflicting: 'The pull request conflicts with its base.',
    blocked: 'A rule of the forge forbids the merge, such as a missing review or a failed check.',
    unknown: 'The forge has not said yet.',
  } satisfies Record<Mergeability, string>,
);

const checkState = storedEnum('PullRequestCheckState', 'The state of a check of a pull request.', {
  queued: 'The check waits to start.',
  running: 'The check has started and is running.',
  passed: 'The check ended without a failure.',
  failed: 'The check failed or timed out.',
  cancelled: 'The check was cancelled before it ended.',
  skipped: 'The check was not needed.',
  neutral: 'The check ended without a verdict.',
  'action_required': 'A person has to start or approve the check.',
} satisfies Record<Check['state'], string>);

const reviewState = storedEnum('PullRequestReviewState', 'The state of a review of a pull request.', {
  approved: 'The reviewer approved the pull request.',
  'changes_requested': 'The reviewer asked for changes.',
  commented: 'The reviewer commented without a verdict.',
  dismissed: 'The review no longer counts.',
  pending: 'The review is not submitted yet.',
} satisfies Record<Review['state'], string>);

const PullRequestCheck = builder.objectRef<StoredCheck>('PullRequestCheck').implement({
  description: 'Check of the head commit of a pull request: a check run, a job of a pipeline or a commit status.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the check at the forge.' }),
    state: t.field({
      type: checkState.type,
      description: 'Current state of the check.',
      resolve: ({ state }) => state,
    }),
    url: t.expose('url', { type: 'URI', nullable: true, description: 'Page of the check; null if there is none.' }),
  }),
});

const PullRequestReview = builder.objectRef<StoredReview>('PullRequestReview').implement({
  description: 'Review of a pull request by a person or a bot.',
  fields: (t) => ({
    author: t.exposeString('author', {
      nullable: true,
      description: 'Login of the reviewer at the forge; null if the account is gone.',
    }),
    state: t.field({
      type: reviewState.type,
      description: 'State of the review at the forge.',
      resolve: ({ state }) => state,
    }),
    url: t.expose('url', { type: 'URI', nullable: true, description: 'Page of the review; null if there is none.' }),
    submittedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the review was submitted; null if the forge does not say.',
      resolve: ({ submittedAt }) => (submittedAt === null ? null : new Date(submittedAt)),
    }),
  }),
});

/** A pull request of a session. `sessionId`: unprefixed; null if only its state at an earlier time is known. */
export interface SessionPullRequest extends PullRequest {
  readonly sessionId: string | null;
}

const detail =
  <T>(read: (details: PullRequestDetails) => T) =>
  async ({ sessionId, url }: SessionPullRequest, _args: unknown, { loaders }: GraphqlContext): Promise<T | null> => {
    if (sessionId === null) return null;
    const all = await loaders.of(listPullRequestDetails).load(sessionId);
    const own = all?.find((each) => each.url === url);
    return own ? read(own) : null;
  };

const unknown = 'null if the service has not read the pull request from its forge';

const followUpsOf: FindByKey<PullRequestKey, readonly FollowUp[]> = listFollowUps;

export const PullRequestType = builder.objectRef<SessionPullRequest>('PullRequest').implement({
  description: 'Pull request that a session created or reviews.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URI', description: 'URL of the pull request on the host of the repository.' }),
    state: t.field({
      type: pullRequestState.type,
      description:
        'State of the pull request: the one that its forge last gave, or else the one that the agent last reported.',
      resolve: ({ state }) => state,
    }),
    number: t.int({
      nullable: true,
      description: `Number of the pull request in its repository; ${unknown}.`,
      resolve: detail(({ number }) => number),
    }),
    title: t.string({
      nullable: true,
      description: `Title of the pull request; ${unknown}.`,
      resolve: detail(({ title }) => title),
    }),
    isDraft: t.boolean({
      nullable: true,
      description: `Whether the pull request is a draft, which is open too; ${unknown}.`,
      resolve: detail(({ isDraft }) => isDraft),
    }),
    headBranch: t.string({
      nullable: true,
      description: `Branch with the changes; ${unknown}.`,
      resolve: detail(({ headBranch }) => headBranch),
    }),
    headCommit: t.string({
      nullable: true,
      description: 'Commit at the end of the branch; null if it is unknown.',
      resolve: detail(({ headCommit }) => headCommit),
    }),
    baseBranch: t.string({
      nullable: true,
      description: `Branch that the changes are for; ${unknown}.`,
      resolve: detail(({ baseBranch }) => baseBranch),
    }),
    mergeability: t.field({
      type: mergeability.type,
      nullable: true,
      description: `Answer of the forge to whether the pull request can be merged; ${unknown}.`,
      resolve: detail((details) => details.mergeability),
    }),
    checks: t.field({
      type: [PullRequestCheck],
      nullable: true,
      description: `Checks of the head commit, at most 50, failed ones first; ${unknown}.`,
      resolve: detail(({ checks }) => [...checks]),
    }),
    reviews: t.field({
      type: [PullRequestReview],
      nullable: true,
      description: `Reviews of the pull request, at most 50, newest first; ${unknown}.`,
      resolve: detail(({ reviews }) => [...reviews]),
    }),
    isTruncated: t.boolean({
      nullable: true,
      description: `Whether the pull request has more checks or reviews than are listed; ${unknown}.`,
      resolve: detail(({ isTruncated }) => isTruncated),
    }),
    isOpenedByService: t.boolean({
      nullable: true,
      description: `Whether the service opened the pull request for the session; ${unknown}.`,
      resolve: detail(({ isOpenedByService }) => isOpenedByService),
    }),
    isReviewed: t.boolean({
      nullable: true,
      description: `Whether the session was started to review the pull request; ${unknown}.`,
      resolve: detail(({ isReviewed }) => isReviewed),
    }),
    followUpMode: t.field({
      type: FollowUpModeEnum,
      nullable: true,
      description: `Way in which follow-ups of the pull request reach the session, by its own setting or else by that of the repository; OFF without an own setting if the session reviews it; ${unknown}.`,
      resolve: detail((details) =>
        followUpModeOf(details.followUpMode, readFollowUpSettings(details.settings), details),
      ),
    }),
    followUpModeOverride: t.field({
      type: FollowUpModeEnum,
      nullable: true,
      description: 'Own setting of the pull request; null if there is none.',
      resolve: detail((details) => followUpModes.find((mode) => mode === details.followUpMode) ?? null),
    }),
    followUpStop: t.field({
      type: FollowUpStopEnum,
      nullable: true,
      description:
        'Limit that stopped the follow-ups; null if none did. `setPullRequestFollowUp` continues them, and for CHECKS also a message to the session, a commit of a person, or checks that pass.',
      resolve: detail((details) => followUpStops.find((stop) => stop === details.followUpStop) ?? null),
    }),
    followUps: t.field({
      type: [FollowUpType],
      description: 'Newest follow-ups of the pull request, at most 50, newest first.',
      resolve: async ({ sessionId, url }, _args, { loaders }) =>
        sessionId === null ? [] : [...((await loaders.ofKeys(followUpsOf).load({ sessionId, url })) ?? [])],
    }),
    openedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the pull request was opened; null if it is unknown.',
      resolve: detail(({ openedAt }) => openedAt),
    }),
    mergedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the pull request was merged; null if it is not merged or the time is unknown.',
      resolve: detail(({ mergedAt }) => mergedAt),
    }),
    closedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the pull request was closed or merged; null if it is open or the time is unknown.',
      resolve: detail(({ closedAt }) => closedAt),
    }),
    readAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: `Time when the service last found a change of the pull request at its forge; ${unknown}.`,
      resolve: detail(({ readAt }) => readAt),
    }),
  }),
});
