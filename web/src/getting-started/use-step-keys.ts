import { graphql, useFragment } from 'react-relay';
import type { useStepKeys_key$data, useStepKeys_key$key } from '../__generated__/useStepKeys_key.graphql.ts';

/** A model key, as the steps of the set-up show it. */
export type StepKey = useStepKeys_key$data[number];

/** Reads the keys that the viewer sees. */
export function useStepKeys(reference: useStepKeys_key$key): readonly StepKey[] {
  return useFragment(
    graphql`
      fragment useStepKeys_key on ProviderKey @relay(plural: true) {
        providerKeyId
        scope
        provider
        name
        baseUrl
        hasKey
        isEnabled
        monthlyBudgetUsd
        prices {
          inputUsdPerMillion
          cachedUsdPerMillion
          outputUsdPerMillion
        }
        lastFailure {
          message
        }
      }
    `,
    reference,
  );
}
