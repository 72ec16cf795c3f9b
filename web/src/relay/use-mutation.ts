import { useCallback, useState } from 'react';
import { useRelayEnvironment } from 'react-relay';
import {
  commitMutation,
  type GraphQLTaggedNode,
  type MutationParameters,
  type SelectorStoreUpdater,
} from 'relay-runtime';
import { mutation as texts } from '../texts/relay.ts';
import { withPermissionNames } from '../ui/permission-text.ts';
import { useToasts } from '../ui/toasts.tsx';
import { whenReachable } from './connectivity.ts';
import { UnreachableError } from './network.ts';

interface UserError {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}

/**
 * The result of a mutation: its payload, or the service's errors. `isLost`: no response arrived, so it may have been
 * executed.
 */
export type Outcome<T> =
  | { readonly payload: T; readonly errors: null; readonly isLost: false }
  | { readonly payload: null; readonly errors: readonly UserError[]; readonly isLost: boolean };

type Expected<T extends MutationParameters> = T['response'] | SelectorStoreUpdater<T['response']>;

/** The payload of a mutation's one field. */
export type PayloadOf<T extends MutationParameters> = NonNullable<T['response'][keyof T['response']]>;

/** Derives the result of a mutation from its response, `data`. */
export function outcomeOf<T extends MutationParameters>(data: unknown): Outcome<PayloadOf<T>> {
  const [payload] = Object.values(data as Record<string, unknown>) as [
    (PayloadOf<T> & { userErrors?: readonly UserError[] }) | null,
  ];
  const errors = payload?.userErrors ?? [];
  if (payload && errors.length === 0) return { payload, errors: null, isLost: false };
  if (errors.length === 0) return { payload: null, errors: [{ message: texts.nothingChanged }], isLost: false };
  const named = errors.map((error) => ({ ...error, message: withPermissionNames(error.message) }));
  return { payload: null, errors: named, isLost: false };
}

/**
 * Runs a mutation with one field, as all mutations here have. Its `userErrors` and other errors are returned and,
 * unless the caller shows them itself (`isQuiet`), shown as a toast. `isBusy` while it runs. An optimistic response or
 * updater is applied at once, and rolled back if the response differs.
 */
export function useMutation<T extends MutationParameters>(
  mutation: GraphQLTaggedNode,
  options: { readonly isQuiet?: boolean; readonly updater?: SelectorStoreUpdater<T['response']> } = {},
): [(variables: T['variables'], expect?: Expected<T>) => Promise<Outcome<PayloadOf<T>>>, boolean] {
  const environment = useRelayEnvironment();
  const toasts = useToasts();
  const [count, setCount] = useState(0);
  const { isQuiet = false, updater } = options;
  const commit = useCallback(
    (variables: T['variables'], expect?: Expected<T>) =>
      new Promise<Outcome<PayloadOf<T>>>((resolve) => {
        const settle = (outcome: Outcome<PayloadOf<T>>, until?: Promise<void>) => {
          setCount((before) => before - 1);
          if (outcome.errors && !isQuiet) {
            toasts.fail(outcome.errors.map(({ message }) => message).join(' '), until);
          }
          resolve(outcome);
        };
        setCount((before) => before + 1);
        const optimistic =
          typeof expect === 'function'
            ? { optimisticUpdater: expect }
            : expect && { optimisticResponse: expect as never };
        commitMutation<T>(environment, {
          mutation,
          variables,
          ...(updater ? { updater } : {}),
          ...optimistic,
          onCompleted: (response) => settle(outcomeOf<T>(response)),
          onError: (error) =>
            settle(
              { payload: null, errors: [{ message: error.message }], isLost: true },
              error instanceof UnreachableError ? whenReachable() : undefined,
            ),
        });
      }),
    [environment, mutation, toasts, isQuiet, updater],
  );
  return [commit, count > 0];
}
