import type { PullRequest } from '../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { pullRequestState } from './event-enums.ts';

/** PullRequest of the contract. */
export const PullRequestType = builder.objectRef<PullRequest>('PullRequest').implement({
  description: 'A pull request that a session made.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URI', description: 'The address of its page on the host of the repository.' }),
    state: t.field({
      type: pullRequestState.type,
      description: 'The state that the agent last reported.',
      resolve: ({ state }) => state,
    }),
  }),
});
