import { useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { archiveAllMutation } from '../__generated__/archiveAllMutation.graphql.ts';
import type { archiveAllUndoMutation } from '../__generated__/archiveAllUndoMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { actOnAll } from '../sessions/act-on-all.ts';
import { BulkReport, type Report } from '../sessions/bulk-report.tsx';
import { common } from '../texts/common.ts';
import { inbox as texts } from '../texts/inbox.ts';
import { bulkResults, bulkBar as bulkTexts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { writeCount } from './group-size.ts';
import type { InboxOf } from './inbox-scope.ts';

interface ArchiveAllProps {
  readonly inbox: InboxOf;
  /** The number of sessions in the group. At 0, the button is hidden, and the progress stays. */
  readonly count: number;
}

/**
 * The button that archives the sessions of the group Done, also those below the loaded rows. It asks before, and up to a thousand
 * can be undone. The rows leave and return with the live changes.
 */
export function ArchiveAll({ inbox: { variables }, count: shownCount }: ArchiveAllProps) {
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const [report, setReport] = useState<Report | null>(null);
  const isStopped = useRef(false);
  const [archive, isArchiving] = useMutation<archiveAllMutation>(graphql`
    mutation archiveAllMutation($input: ArchiveSessionsInput!) {
      archiveSessions(input: $input) {
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
  `);
  const [unarchive] = useMutation<archiveAllUndoMutation>(graphql`
    mutation archiveAllUndoMutation($input: UnarchiveSessionsInput!) {
      unarchiveSessions(input: $input) {
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
  `);
  const undo = async (sessionIds: readonly string[]) => {
    const { count } = await actOnAll(
      { sessionIds },
      async (input) => {
        const { payload } = await unarchive({ input });
        return { payload: payload && { ...payload, hasMore: false, endCursor: null } };
      },
      () => false,
    );
    if (count > 0) toasts.say(bulkResults.unarchived(count));
  };
  const run = async () => {
    setAsking(false);
    isStopped.current = false;
    const ended = await actOnAll(
      { filter: variables.done, organizationId: variables.id },
      (input) => archive({ input }),
      (state) => {
        // The result of a single batch is a toast.
        if (!state.isOver || state.refusals.length > 0) setReport({ ...state, done: 'archived' });
        return isStopped.current;
      },
    );
    const { count, refusals, sessionIds } = ended;
    const isUndoable = sessionIds.length === count;
    if (count > 0) toasts.say(bulkResults.archived(count), isUndoable ? () => void undo(sessionIds) : undefined);
    setReport(refusals.length > 0 ? { ...ended, done: 'archived' } : null);
  };
  return (
    <div className="inbox-all">
      {shownCount > 0 && (
        <Button size="small" tone="quiet" icon="archive" isBusy={isArchiving} onClick={() => setAsking(true)}>
          {texts.archiveAll}
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={texts.archiveAllTitle({ count: shownCount, digits: writeCount(shownCount), group: texts.groups.done })}
          text={bulkTexts.includesUnshown}
          confirmLabel={common.archive}
          tone="primary"
          onClose={() => setAsking(false)}
          onConfirm={() => void run()}
        />
      )}
      {report && (
        <BulkReport
          report={report}
          onStop={() => {
            isStopped.current = true;
          }}
          onClose={() => setReport(null)}
        />
      )}
    </div>
  );
}
