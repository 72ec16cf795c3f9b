import type { PullRequest } from '../../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { pullRequestState } from './event-enums.ts';

export const PullRequestType = builder.objectRef<PullRequest>('PullRequest').implement({
  description: 'Pull request that a session created.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URI', description: 'URL of the pull request on the host of the repository.' }),
    state: t.field({
      type: pullRequestState.type,
      description: 'State of the pull request that the agent last reported.',
      resolve: ({ state }) => state,
    }),
  }),
});
