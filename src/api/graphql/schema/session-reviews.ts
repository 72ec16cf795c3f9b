import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { findReviews, type ReviewState, type SessionReview } from '../../../domain/session-reviews/reviews.ts';
import { reviewPullRequest } from '../../../domain/session-reviews/start-review.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { storedEnum } from './define-enum.ts';
import { needs, viewsSession } from './needs.ts';
import { organizationIdDescription } from './scope-input.ts';
import { Session } from './sessions.ts';

const reviewState = storedEnum('SessionReviewState', 'The state of a review that a session makes.', {
  pending: 'The session has not started to work.',
  running: 'The agent reads the pull request, or the review is being posted.',
  completed: 'The review is posted at the forge.',
  errored: 'The session ended, or waits, without a review that is posted. A message to it can still lead to one.',
} satisfies Record<ReviewState, string>);

const SessionReviewType = builder.objectRef<SessionReview>('SessionReview').implement({
  description: 'Review of a pull request that a session makes and posts at the forge, as a comment.',
  fields: (t) => ({
    state: t.field({
      type: reviewState.type,
      description: 'Current state of the review.',
      resolve: ({ state }) => state,
    }),
    pullRequestUrl: t.expose('url', {
      type: 'URI',
      description: 'URL of the pull request on the host of its repository.',
    }),
    number: t.exposeInt('number', { description: 'Number of the pull request in its repository.' }),
    commit: t.exposeString('commit', {
      description: 'Commit that is reviewed: the head of the pull request when the session cloned it.',
    }),
    reviewUrl: t.expose('reviewUrl', {
      type: 'URI',
      nullable: true,
      description: 'Page of the review at the forge; null if it is not posted or has no page.',
    }),
    submittedAt: t.expose('submittedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the review was posted; null if it is not posted.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the review was requested.' }),
  }),
});

builder.objectField(Session, 'review', (t) =>
  t.field({
    type: SessionReviewType,
    nullable: true,
    extensions: needs(viewsSession),
    description: 'Review that the session makes; null if it was not started to review a pull request.',
    resolve: ({ id, organizationId }, _args, { domain, loaders }) => {
      requirePermission(ofAnySession(domain, 'view').viewer, permissionFor.viewSession, organizationId);
      return loaders.of(findReviews).load(id);
    },
  }),
);

addMutation('reviewPullRequest', {
  description:
    'Starts a session that reads a pull request and posts a review of it. The session gets no secrets of the organization, and can push nothing.',
  needs: ['createSession'],
  input: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    pullRequestUrl: t.field({
      type: 'URI',
      required: true,
      description:
        'URL of an open pull request in a repository that the organization may use and not only read, at most 2,000 characters.',
    }),
    instructions: t.string({
      description: 'Further instructions for the agent, at most 100,000 characters.',
    }),
    agent: t.string({
      description: 'Id of the agent profile. Defaults to the default agent, as for `createSession`.',
    }),
    maxAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the session may use, greater than 0. Defaults to the organization’s limit for a session.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description:
        'Session that was started, now or by an earlier request with the same idempotency key. Null if `userErrors` is not empty.',
    },
  },
  act: async ({ organizationId, ...input }, { domain }, options) => {
    const origin = domain.viewer.consoleSessionId === undefined ? 'api' : 'webapp';
    return await reviewPullRequest(domain, input, { organizationId, origin, ...options });
  },
});
