import { graphql, useFragment } from 'react-relay';
import type { keyUsage_usage$key } from '../../__generated__/keyUsage_usage.graphql.ts';
import { common } from '../../texts/common.ts';
import { keyUsage as texts } from '../../texts/model-keys.ts';
import { writeCount, writeUsd } from '../../ui/money.ts';

interface SpentProps {
  readonly spentThisMonthUsd: number;
  readonly monthlyBudgetUsd: number | null | undefined;
}

/** The cost of this month, and its part of the budget. */
export function Spent({ spentThisMonthUsd, monthlyBudgetUsd }: SpentProps) {
  const spent = writeUsd(spentThisMonthUsd);
  if (monthlyBudgetUsd == null) return <span>{spent}</span>;
  const part = monthlyBudgetUsd === 0 ? 1 : Math.min(1, spentThisMonthUsd / monthlyBudgetUsd);
  return (
    <span className="spent">
      {texts.spentOf({ spent, budget: writeUsd(monthlyBudgetUsd) })}
      {/* biome-ignore lint/a11y/useSemanticElements: browsers do not let pages style <meter>. */}
      <span
        className={`meter${part >= 1 ? ' bad' : part > 0.8 ? ' warn' : ''}`}
        role="meter"
        aria-label={texts.spentPart}
        aria-valuenow={Math.round(part * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${part * 100}%` }} />
      </span>
    </span>
  );
}

/** The cost, calls and tokens of a period. */
export function UsageText({ usage }: { readonly usage: keyUsage_usage$key }) {
  const { calls, inputTokens, cachedTokens, outputTokens, costUsd } = useFragment(
    graphql`
      fragment keyUsage_usage on ProviderKeyUsage {
        calls
        inputTokens
        cachedTokens
        outputTokens
        costUsd
      }
    `,
    usage,
  );
  if (calls === 0) return <span className="soft">{common.none}</span>;
  return (
    <span>
      {writeUsd(costUsd)}
      <span className="under">{texts.calls({ count: calls })}</span>
      <span className="under">
        {cachedTokens > 0
          ? texts.tokensWithCached({
              input: writeCount(inputTokens),
              cached: writeCount(cachedTokens),
              output: writeCount(outputTokens),
            })
          : texts.tokens({ input: writeCount(inputTokens), output: writeCount(outputTokens) })}
      </span>
    </span>
  );
}
