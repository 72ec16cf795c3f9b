import { graphql, useFragment } from 'react-relay';
import type { keyState_key$key } from '../../__generated__/keyState_key.graphql.ts';
import { common } from '../../texts/common.ts';
import { keyState as texts } from '../../texts/model-keys.ts';
import { Badge } from '../../ui/badge.tsx';
import { Time } from '../../ui/time.tsx';
import { failureText } from './failure-text.ts';

const failureLabels: Readonly<Record<string, string>> = texts.failureLabels;

/** The state of a key: usable, or the reason why not, with its last failure. */
export function KeyState({ providerKey }: { readonly providerKey: keyState_key$key }) {
  const { provider, baseUrl, isEnabled, monthlyBudgetUsd, spentThisMonthUsd, lastUsedAt, lastFailure } = useFragment(
    graphql`
      fragment keyState_key on ProviderKey {
        provider
        baseUrl
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
  if (!isEnabled) return <Badge>{common.disabled}</Badge>;
  if (lastFailure) {
    return (
      <span className="key-failure">
        <Badge tone="bad">{failureLabels[lastFailure.code] ?? common.failed}</Badge>
        <span className="under">
          {failureText(lastFailure.message, { provider, baseUrl })} (<Time at={lastFailure.at} />)
        </span>
      </span>
    );
  }
  if (monthlyBudgetUsd != null && spentThisMonthUsd >= monthlyBudgetUsd)
    return <Badge tone="warn">{texts.budgetSpent}</Badge>;
  return lastUsedAt ? <Badge tone="good">{texts.works}</Badge> : <Badge>{texts.notUsedYet}</Badge>;
}
