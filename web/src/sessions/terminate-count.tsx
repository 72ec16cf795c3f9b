import { useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import type { terminateCountMutation } from '../__generated__/terminateCountMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { type Batch, firstInput, type Target } from './act-on-all.ts';

/** Says how many sessions terminating these would end, and how many it would be refused for, by a dry run of the first batch. */
export function TerminateCount({ target }: { readonly target: Target }) {
  const [said, setSaid] = useState('Counting the sessions …');
  const [input] = useState(() => firstInput(target));
  const [tryOut] = useAct<terminateCountMutation>(
    graphql`
      mutation terminateCountMutation($input: TerminateSessionsInput!) {
        terminateSessions(input: $input) {
          hasMore
          endCursor
          results {
            sessionId
            userErrors {
              message
            }
          }
          userErrors {
            message
          }
        }
      }
    `,
    { isQuiet: true },
  );
  useEffect(() => {
    if (input === null) return;
    let isGone = false;
    void tryOut({ input: { ...input, dryRun: true } }).then(({ payload, errors }) => {
      if (!isGone) setSaid(payload ? sentenceOf(payload) : errors.map(({ message }) => message).join(' '));
    });
    return () => {
      isGone = true;
    };
  }, [input, tryOut]);
  return <span role="status">{said}</span>;
}

function sentenceOf({ results, hasMore }: Batch): string {
  const all = results ?? [];
  const refused = all.filter(({ userErrors }) => userErrors.length > 0).length;
  const count = all.length - refused;
  const most = hasMore ? `At least ${count}` : String(count);
  const rest = refused === 0 ? '.' : `, ${refused} would not.`;
  return `${most} ${count === 1 && !hasMore ? 'session' : 'sessions'} would be terminated${rest}`;
}
