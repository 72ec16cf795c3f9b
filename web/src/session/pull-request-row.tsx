import './repository-row.css';
import { Icon } from '../ui/icons.tsx';
import { safeAddress } from '../ui/safe-address.ts';
import { Time } from '../ui/time.tsx';
import type { EntryOf } from './entry.ts';
import { PullRequestBadge } from './pull-request-badge.tsx';
import { pullRequestName } from './pull-request-name.ts';
import { pullRequestEventText } from './pull-request-text.ts';

/** A pull request that the session opened or reviews, or whose state changed, as a link. */
export function PullRequestRow({ entry }: { readonly entry: EntryOf<'PullRequestEvent'> }) {
  const { url, state } = entry.pullRequest;
  return (
    <div className="repository-row">
      <p>
        <Icon name="pull" size={14} />
        <span>
          {pullRequestEventText(state, entry.isReviewedPullRequest)}{' '}
          <a href={safeAddress(url)} target="_blank" rel="noopener noreferrer">
            {pullRequestName(url)}
          </a>
        </span>
        <PullRequestBadge state={state} />
        <Time at={entry.createdAt} />
      </p>
    </div>
  );
}
