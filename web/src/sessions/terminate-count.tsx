import { useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import type { terminateCountMutation } from '../__generated__/terminateCountMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { terminateCount as texts } from '../texts/sessions.ts';
import { type Batch, firstInput, type Target } from './act-on-all.ts';

/** Shows how many sessions a termination would end and refuse, by a dry run of the first batch. */
export function TerminateCount({ target }: { readonly target: Target }) {
  const [text, setText] = useState(texts.counting);
  const [input] = useState(() => firstInput(target));
  const [tryOut] = useMutation<terminateCountMutation>(
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
      if (!isGone) setText(payload ? sentenceOf(payload) : errors.map(({ message }) => message).join(' '));
    });
    return () => {
      isGone = true;
    };
  }, [input, tryOut]);
  return <span role="status">{text}</span>;
}

function sentenceOf({ results, hasMore }: Batch): string {
  const all = results ?? [];
  const refused = all.filter(({ userErrors }) => userErrors.length > 0).length;
  const count = all.length - refused;
  const ended = hasMore ? texts.minWillEnd(count) : texts.willEnd(count);
  return refused === 0 ? ended : `${ended} ${texts.refused(refused)}`;
}
