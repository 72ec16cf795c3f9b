import { pullRequestTone } from '../sessions/pull-request-chips.ts';
import { pullRequestBadge as texts } from '../texts/session-pull-requests.ts';
import { Badge } from '../ui/badge.tsx';

/** The state of a pull request. */
export function PullRequestBadge({ state }: { readonly state: string }) {
  const known = Object.hasOwn(texts, state) ? texts[state as keyof typeof texts] : null;
  return <Badge tone={pullRequestTone(state)}>{known ?? state.toLowerCase().replaceAll('_', ' ')}</Badge>;
}
