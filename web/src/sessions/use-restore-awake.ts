import { useCallback } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useRestoreAwakeMutation } from '../__generated__/useRestoreAwakeMutation.graphql.ts';
import type { useRestoreAwakeQuery } from '../__generated__/useRestoreAwakeQuery.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { archiveEffects as texts } from '../texts/sessions.ts';
import { useToasts } from '../ui/toasts.tsx';
import { awake } from './awake.ts';

const document = graphql`
  query useRestoreAwakeQuery($id: ID!) {
    session(id: $id) {
      queuedMessages {
        id
      }
    }
  }
`;

/** A session as it was before it was archived. */
interface Archived {
  readonly sessionId: string;
  readonly status: string;
  readonly statusDetail: string | null | undefined;
}

/**
 * Returns a function that makes sessions awake again that were so before they were archived: archiving suspends them. A session that
 * waited for a person stays suspended if messages wait for its agent, which would otherwise receive them. A message says so.
 */
export function useRestoreAwake(): (before: readonly Archived[]) => Promise<void> {
  const environment = useRelayEnvironment();
  const toasts = useToasts();
  const [resume] = useMutation<useRestoreAwakeMutation>(graphql`
    mutation useRestoreAwakeMutation($input: ResumeSessionInput!) {
      resumeSession(input: $input) {
        session {
          id
          status
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  return useCallback(
    async (before) => {
      const hasMessages = async (sessionId: string) => {
        const found = await fetchQuery<useRestoreAwakeQuery>(environment, document, { id: sessionId }).toPromise();
        return found?.session?.queuedMessages?.length !== 0;
      };
      let suspendedCount = 0;
      try {
        for (const { sessionId, status, statusDetail } of before) {
          if (!awake.has(status)) continue;
          if (statusDetail?.startsWith('WAITING') && (await hasMessages(sessionId))) suspendedCount++;
          else await resume({ input: { sessionId } });
        }
      } catch (error) {
        toasts.fail((error as Error).message);
      }
      if (suspendedCount > 0) toasts.say(texts.staysSuspended(suspendedCount));
    },
    [environment, resume, toasts],
  );
}
