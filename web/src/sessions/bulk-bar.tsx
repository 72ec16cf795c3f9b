import { useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { bulkBarArchiveMutation } from '../__generated__/bulkBarArchiveMutation.graphql.ts';
import type { bulkBarTagMutation } from '../__generated__/bulkBarTagMutation.graphql.ts';
import type { bulkBarTerminateMutation } from '../__generated__/bulkBarTerminateMutation.graphql.ts';
import type { bulkBarUnarchiveMutation } from '../__generated__/bulkBarUnarchiveMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { bulkResults, archiveEffects as effects, bulkBar as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { actOnAll, type Batch, type BatchInput, type Progress, type Target } from './act-on-all.ts';
import { BulkReport, type Report } from './bulk-report.tsx';
import { TagDialog } from './tag-dialog.tsx';
import { TerminateCount } from './terminate-count.tsx';
import { useTurnGuard } from './turn-guard.tsx';
import { countLosses } from './turn-loss.ts';
import { useRestoreAwake } from './use-restore-awake.ts';

interface Chosen {
  readonly id: string;
  readonly sessionId: string;
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly tags: readonly string[];
  readonly pendingQuestion: unknown;
}

interface BulkBarProps {
  readonly organizationId: string;
  readonly target: Target;
  /** The number of selected sessions; null: all that match the filter. */
  readonly count: number | null;
  readonly isArchived: boolean;
  /** The selected sessions that are loaded, with their current status. */
  readonly chosen: readonly Chosen[];
  readonly onDone: () => void;
}

/** The bar with operations on several sessions. */
export function BulkBar({ organizationId, target, count: selectedCount, isArchived, chosen, onDone }: BulkBarProps) {
  const toasts = useToasts();
  const [report, setReport] = useState<Report | null>(null);
  const isStopped = useRef(false);
  const [openDialog, setOpenDialog] = useState<'terminate' | 'tag' | 'put' | null>(null);
  const [archive, isArchiving] = useMutation<bulkBarArchiveMutation>(graphql`
    mutation bulkBarArchiveMutation($input: ArchiveSessionsInput!) {
      archiveSessions(input: $input) {
        hasMore
        endCursor
        results {
          sessionId
          session {
            ...sessionRow_session
          }
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
  const [unarchive, isUnarchiving] = useMutation<bulkBarUnarchiveMutation>(graphql`
    mutation bulkBarUnarchiveMutation($input: UnarchiveSessionsInput!) {
      unarchiveSessions(input: $input) {
        hasMore
        endCursor
        results {
          sessionId
          session {
            ...sessionRow_session
          }
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
  const [terminate, isTerminating] = useMutation<bulkBarTerminateMutation>(graphql`
    mutation bulkBarTerminateMutation($input: TerminateSessionsInput!) {
      terminateSessions(input: $input) {
        hasMore
        endCursor
        results {
          sessionId
          session {
            ...sessionRow_session
          }
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
  const [tag, isTagging] = useMutation<bulkBarTagMutation>(graphql`
    mutation bulkBarTagMutation($input: TagSessionsInput!) {
      tagSessions(input: $input) {
        hasMore
        endCursor
        results {
          sessionId
          session {
            ...sessionRow_session
          }
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

  const restoreAwake = useRestoreAwake();
  const [guardTurns, turnDialog] = useTurnGuard();

  const isByFilter = 'filter' in target;
  const run = async (done: Report['done'], mutate: BatchMutation, undo: Undo = never, effect = noEffect) => {
    setOpenDialog(null);
    isStopped.current = false;
    const ended = await actOnAll(target, mutate, (state) => {
      // For a few sessions, the result is shown only at the end.
      if (isByFilter || state.refusals.length > 0) setReport({ ...state, done });
      return isStopped.current;
    });
    const { count, refusals, sessionIds } = ended;
    // An operation that cannot be undone completely offers no undo.
    const isUndoable = sessionIds.length === count && undo !== never;
    const text = [bulkResults[done](count), effect(ended)].filter((part) => part !== '').join(' ');
    if (count > 0) toasts.say(text, isUndoable ? () => void undo(ended) : undefined);
    if (refusals.length > 0) return setReport({ ...ended, done });
    setReport(null);
    onDone();
  };
  const shown = (isPut: boolean) => (store: RecordSourceSelectorProxy) => {
    for (const { id } of chosen) store.get(id)?.setValue(isPut, 'isArchived');
  };
  const putAll = (isPut: boolean): BatchMutation =>
    isPut ? (input) => archive({ input }, shown(true)) : (input) => unarchive({ input }, shown(false));
  const put = () => {
    // It is not known which sessions beyond the loaded ones were running.
    const before = chosen;
    const undo: Undo = async ({ sessionIds }) => {
      const undone = await actOnAll({ sessionIds }, putAll(isArchived), () => false);
      if (undone.count > 0) toasts.say(bulkResults[isArchived ? 'archivedAgain' : 'unarchived'](undone.count));
      if (isArchived) return;
      await restoreAwake(before.filter(({ sessionId }) => undone.sessionIds.includes(sessionId)));
    };
    const effect = ({ count, sessionIds }: Progress) => {
      const workingCount = countLosses(before.filter(({ sessionId }) => sessionIds.includes(sessionId)));
      if (isArchived || workingCount === 0) return '';
      if (isByFilter) return effects.workingSuspended;
      return count === 1 ? effects.agentSuspended : effects.agentsSuspended(workingCount);
    };
    return run(isArchived ? 'unarchived' : 'archived', putAll(!isArchived), undo, effect);
  };
  const addTags = (tags: readonly string[]) => {
    const before = new Map(chosen.map((each) => [each.sessionId, each.tags]));
    const expect = (store: RecordSourceSelectorProxy) => {
      for (const each of chosen) store.get(each.id)?.setValue([...new Set([...each.tags, ...tags])], 'tags');
    };
    const undo = async ({ sessionIds }: Progress) => {
      // Sessions grouped by equal tags.
      const groups = new Map<string, string[]>();
      for (const id of sessionIds) {
        const had = JSON.stringify(before.get(id) ?? []);
        groups.set(had, [...(groups.get(had) ?? []), id]);
      }
      let undone = 0;
      for (const [had, ids] of groups) {
        const replace: BatchMutation = (input) => tag({ input: { ...input, tags: JSON.parse(had), mode: 'REPLACE' } });
        undone += (await actOnAll({ sessionIds: ids }, replace, () => false)).count;
      }
      if (undone > 0) toasts.say(bulkResults.tagsRestored(undone));
    };
    void run('tagged', (input) => tag({ input: { ...input, tags } }, expect), isByFilter ? never : undo);
  };
  const putLabel = isArchived ? common.unarchive : common.archive;
  return (
    <div className="actions">
      <Button size="small" icon="tag" onClick={() => setOpenDialog('tag')}>
        {texts.tag}
      </Button>
      <Button
        size="small"
        icon="archive"
        isBusy={isArchiving || isUnarchiving}
        onClick={() => {
          if (isByFilter) setOpenDialog('put');
          else guardTurns('archive', isArchived ? [] : chosen, () => void put());
        }}
      >
        {putLabel}
      </Button>
      <Button size="small" icon="power" tone="danger" onClick={() => setOpenDialog('terminate')}>
        {common.terminate}
      </Button>
      {turnDialog}
      {openDialog === 'terminate' && (
        <Confirm
          title={selectedCount === null ? texts.terminateAllTitle : texts.terminateTitle(selectedCount)}
          text={
            <>
              {isByFilter && <TerminateCount target={target} />}{' '}
              {selectedCount === 1 ? texts.terminateOneText : texts.terminateText}
            </>
          }
          confirmLabel={common.terminate}
          isBusy={isTerminating}
          onClose={() => setOpenDialog(null)}
          onConfirm={() => void run('terminated', (input) => terminate({ input }))}
        />
      )}
      {openDialog === 'put' && (
        <Confirm
          title={isArchived ? texts.unarchiveAllTitle : texts.archiveAllTitle}
          text={isArchived ? texts.includesUnshown : `${texts.includesUnshown} ${texts.archiveEndsTurns}`}
          confirmLabel={putLabel}
          tone="primary"
          onClose={() => setOpenDialog(null)}
          onConfirm={() => void put()}
        />
      )}
      {report && (
        <BulkReport
          report={report}
          onStop={() => {
            isStopped.current = true;
          }}
          onClose={() => {
            setReport(null);
            onDone();
          }}
        />
      )}
      {openDialog === 'tag' && (
        <TagDialog
          organizationId={organizationId}
          isBusy={isTagging}
          onClose={() => setOpenDialog(null)}
          onTags={addTags}
        />
      )}
    </div>
  );
}

type BatchMutation = (input: BatchInput) => Promise<{ readonly payload: Batch | null }>;
type Undo = (of: Progress) => unknown;
/** A sentence about what else an operation has done; empty: nothing. */
type Effect = (of: Progress) => string;

/** For operations without an undo. */
const never: Undo = () => undefined;
const noEffect: Effect = () => '';
