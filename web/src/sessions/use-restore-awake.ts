import { useCallback } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useRestoreAwakeMutation } from '../__generated__/useRestoreAwakeMutation.graphql.ts';
import type { useRestoreAwakeQuery } from '../__generated__/useRestoreAwakeQuery.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { awake } from './awake.ts';

/** A session as it was before it was archived. */
interface Archived {
  readonly sessionId: string;
  readonly status: string;
  readonly statusDetail: string | null | undefined;
}

/**
 * Returns a function that makes a session awake again, if it was before it was archived: archiving suspends it. A session that waited for a
 * person stays suspended if messages wait for its agent, which would otherwise receive them.
 */
export function useRestoreAwake(): (before: Archived) => Promise<void> {
  const environment = useRelayEnvironment();
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
    async ({ sessionId, status, statusDetail }) => {
      if (!awake.has(status)) return;
      if (statusDetail?.startsWith('WAITING')) {
        const found = await fetchQuery<useRestoreAwakeQuery>(
          environment,
          graphql`
            query useRestoreAwakeQuery($id: ID!) {
              session(id: $id) {
                queuedMessages {
                  id
                }
              }
            }
          `,
          { id: sessionId },
        ).toPromise();
        if (found?.session?.queuedMessages?.length !== 0) return;
      }
      await resume({ input: { sessionId } });
    },
    [environment, resume],
  );
}
