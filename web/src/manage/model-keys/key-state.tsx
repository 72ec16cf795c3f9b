import { graphql, useFragment } from 'react-relay';
import type { keyState_key$key } from '../../__generated__/keyState_key.graphql.ts';
import { Badge } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';

const failureLabels: Readonly<Record<string, string>> = {
  KEY_REFUSED: 'Key refused',
  ACCOUNT_EMPTY: 'Account empty',
  NOT_REACHABLE: 'Not reachable',
  NOT_FOUND: 'Not found',
  RATE_LIMITED: 'Rate limited',
  PROVIDER_ERROR: 'Provider error',
  UNEXPECTED_ANSWER: 'Unexpected answer',
};

/** The state of a key: usable, or the reason why not, with its last failure. */
export function KeyState({ providerKey }: { readonly providerKey: keyState_key$key }) {
  const { isEnabled, monthlyBudgetUsd, spentThisMonthUsd, lastUsedAt, lastFailure } = useFragment(
    graphql`
      fragment keyState_key on ProviderKey {
        isEnabled
        monthlyBudgetUsd
        spentThisMonthUsd
        lastUsedAt
        lastFailure {
          code
          message
          at
        }
      }
    `,
    providerKey,
  );
  if (!isEnabled) return <Badge>Disabled</Badge>;
  if (lastFailure) {
    return (
      <span className="key-failure">
        <Badge tone="bad">{failureLabels[lastFailure.code] ?? 'Failed'}</Badge>
        <span className="under">
          {visible(lastFailure.message)} (<Time at={lastFailure.at} />)
        </span>
      </span>
    );
  }
  if (monthlyBudgetUsd != null && spentThisMonthUsd >= monthlyBudgetUsd) return <Badge tone="warn">Budget spent</Badge>;
  return lastUsedAt ? <Badge tone="good">Works</Badge> : <Badge>Not used yet</Badge>;
}
