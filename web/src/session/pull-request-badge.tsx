import { pullRequestTone } from '../sessions/pull-request-chips.ts';
import { Badge } from '../ui/badge.tsx';

/** The state of a pull request. */
export function PullRequestBadge({ state }: { readonly state: string }) {
  return <Badge tone={pullRequestTone(state)}>{state.toLowerCase().replaceAll('_', ' ')}</Badge>;
}
