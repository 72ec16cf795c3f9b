import { useCallback } from 'react';
import { graphql } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { useArchiveMutation } from '../__generated__/useArchiveMutation.graphql.ts';
import type { useArchiveUndoMutation } from '../__generated__/useArchiveUndoMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { type Interruptible, lossOf } from '../sessions/turn-loss.ts';
import { useRestoreAwake } from '../sessions/use-restore-awake.ts';
import { archiveEffects, bulkResults } from '../texts/sessions.ts';
import { useToasts } from '../ui/toasts.tsx';
import type { InboxOf } from './inbox-scope.ts';
import { moveRow } from './move-row.ts';

/** A session that can be archived. */
export interface Archivable extends Interruptible {
  readonly sessionId: string;
}

/** Returns a function that archives a session of the inbox, and offers to undo it. The row disappears at once. */
export function useArchive(inbox: InboxOf): (session: Archivable) => void {
  const toasts = useToasts();
  const [archive] = useMutation<useArchiveMutation>(graphql`
    mutation useArchiveMutation($input: ArchiveSessionInput!) {
      archiveSession(input: $input) {
        session {
          id
          isArchived
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [unarchive] = useMutation<useArchiveUndoMutation>(graphql`
    mutation useArchiveUndoMutation($input: UnarchiveSessionInput!) {
      unarchiveSession(input: $input) {
        session {
          id
          isArchived
        }
        userErrors {
          message
        }
      }
    }
  `);
  const restoreAwake = useRestoreAwake();
  return useCallback(
    async (session) => {
      const { sessionId } = session;
      const input = { sessionId };
      const hide = (store: RecordSourceSelectorProxy) => void moveRow(store, inbox, sessionId, null);
      if ((await archive({ input }, hide)).errors !== null) return;
      const suspended = lossOf(session) === null ? '' : ` ${archiveEffects.agentSuspended}`;
      toasts.say(`${bulkResults.archived(1)}${suspended}`, async () => {
        // The row returns with the live changes.
        if ((await unarchive({ input })).errors !== null) return;
        toasts.say(bulkResults.unarchived(1));
        await restoreAwake([session]);
      });
    },
    [inbox, archive, unarchive, restoreAwake, toasts],
  );
}
