import { useRef, useState } from 'react';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { useFirstSessionMutation } from '../__generated__/useFirstSessionMutation.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import type { FormProblem } from '../manage/kit/kit.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { principalKeyOf } from '../relay/viewer.ts';
import { sessionAddress } from '../session/address.ts';
import { closeSetup } from './setup-state.ts';

/** Starts a session from the first-run page and opens it. */
export function useFirstSession(organizationId: string) {
  const { viewer } = useSigned();
  const [, go] = useLocation();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const attempt = useRef<{ readonly what: string; readonly key: string } | null>(null);
  const [create, isBusy] = useMutation<useFirstSessionMutation>(
    graphql`
      mutation useFirstSessionMutation($input: CreateSessionInput!) {
        createSession(input: $input) {
          session {
            sessionId
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const start = async ({ prompt, agent }: { readonly prompt: string; readonly agent: string }) => {
    // If the response was lost, the session may exist: the same request is repeated with the same key.
    const what = JSON.stringify([prompt, agent]);
    if (attempt.current?.what !== what) attempt.current = { what, key: newKey() };
    const input = { organizationId, prompt: prompt.trim(), agent, idempotencyKey: attempt.current.key };
    const { payload, errors: refused } = await create({ input });
    setErrors(refused);
    if (!payload?.session) return;
    closeSetup(principalKeyOf(viewer));
    go(sessionAddress(payload.session.sessionId));
  };
  return { start, errors, isBusy };
}
