import { graphql, useFragment } from 'react-relay';
import type { pullRequests_session$key } from '../__generated__/pullRequests_session.graphql.ts';
import { Icon } from '../ui/icons.tsx';
import { safeAddress } from '../ui/safe-address.ts';
import { PullRequestBadge } from './pull-request-badge.tsx';
import { pullRequestName } from './pull-request-name.ts';

/** The pull requests of a session, with their states. */
export function PullRequests({ session }: { readonly session: pullRequests_session$key }) {
  const { pullRequests } = useFragment(
    graphql`
      fragment pullRequests_session on Session {
        pullRequests {
          url
          state
        }
      }
    `,
    session,
  );
  if (pullRequests.length === 0) return null;
  return (
    <section>
      <h2>Pull requests</h2>
      <ul className="plain">
        {pullRequests.map(({ url, state }) => (
          <li key={url} className="pair">
            <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
              <Icon name="pull" size={14} />
              {pullRequestName(url)}
            </a>
            <PullRequestBadge state={state} />
          </li>
        ))}
      </ul>
    </section>
  );
}
