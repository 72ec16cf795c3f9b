import { useCallback, useState } from 'react';
import { useRelayEnvironment } from 'react-relay';
import { type GraphQLTaggedNode, getRequest, type MutationParameters } from 'relay-runtime';
import { type Outcome, outcomeOf, type PayloadOf } from './use-mutation.ts';

/**
 * Runs a mutation whose variables contain a secret. Its response is not stored, because Relay's store would keep the
 * variables as a part of the field's name. Read again what it changed. Its errors are returned, not shown. `isBusy`
 * while it runs.
 */
export function useSecretMutation<T extends MutationParameters>(
  mutation: GraphQLTaggedNode,
): [(variables: T['variables']) => Promise<Outcome<PayloadOf<T>>>, boolean] {
  const environment = useRelayEnvironment();
  const [isBusy, setBusy] = useState(false);
  const commit = useCallback(
    async (variables: T['variables']): Promise<Outcome<PayloadOf<T>>> => {
      setBusy(true);
      try {
        const { params } = getRequest(mutation);
        const response = await environment.getNetwork().execute(params, variables, { force: true }).toPromise();
        return outcomeOf<T>(response && 'data' in response ? response.data : {});
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { payload: null, errors: [{ message }], isLost: true };
      } finally {
        setBusy(false);
      }
    },
    [environment, mutation],
  );
  return [commit, isBusy];
}
