import { type FormEvent, useId, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { bulkBarArchiveMutation } from '../__generated__/bulkBarArchiveMutation.graphql.ts';
import type { bulkBarTagMutation } from '../__generated__/bulkBarTagMutation.graphql.ts';
import type { bulkBarTerminateMutation } from '../__generated__/bulkBarTerminateMutation.graphql.ts';
import type { bulkBarUnarchiveMutation } from '../__generated__/bulkBarUnarchiveMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { actOnAll, type Batch, type BatchInput, type Target } from './act-on-all.ts';
import { BulkReport, type Report } from './bulk-report.tsx';

interface BulkBarProps {
  readonly target: Target;
  /** How many are meant, in words. */
  readonly meant: string;
  readonly isArchived: boolean;
  readonly onDone: () => void;
}

/** What can be done with several sessions at once. */
export function BulkBar({ target, meant, isArchived, onDone }: BulkBarProps) {
  const toasts = useToasts();
  const [report, setReport] = useState<Report | null>(null);
  const isStopped = useRef(false);
  const [asked, setAsked] = useState<'terminate' | 'tag' | 'put' | null>(null);
  const [archive, isArchiving] = useAct<bulkBarArchiveMutation>(graphql`
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
  const [unarchive, isUnarchiving] = useAct<bulkBarUnarchiveMutation>(graphql`
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
  const [terminate, isTerminating] = useAct<bulkBarTerminateMutation>(graphql`
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
  const [tag, isTagging] = useAct<bulkBarTagMutation>(graphql`
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

  const isWhole = 'filter' in target;
  const run = async (done: string, act: (input: BatchInput) => Promise<{ readonly payload: Batch | null }>) => {
    setAsked(null);
    isStopped.current = false;
    const ended = await actOnAll(target, act, (state) => {
      // Of a few it is told at once when it is over.
      if (isWhole || state.refusals.length > 0) setReport({ ...state, done });
      return isStopped.current;
    });
    const { count, refusals } = ended;
    if (count > 0) toasts.say(`${count} ${count === 1 ? 'session' : 'sessions'} ${done}.`);
    if (refusals.length > 0) return setReport({ ...ended, done });
    setReport(null);
    onDone();
  };
  const put = isArchived
    ? () => run('unarchived', (input) => unarchive({ input }))
    : () => run('archived', (input) => archive({ input }));
  const putWord = isArchived ? 'Unarchive' : 'Archive';
  return (
    <div className="actions">
      <Button size="small" icon="tag" onClick={() => setAsked('tag')}>
        Tag
      </Button>
      <Button
        size="small"
        icon="archive"
        isBusy={isArchiving || isUnarchiving}
        onClick={() => (isWhole ? setAsked('put') : void put())}
      >
        {putWord}
      </Button>
      <Button size="small" icon="stop" tone="danger" onClick={() => setAsked('terminate')}>
        Terminate
      </Button>
      {asked === 'terminate' && (
        <Confirm
          title={`Terminate ${meant}?`}
          text="Their agents are stopped and their secrets are deleted. They take no further messages. The transcripts stay."
          act="Terminate"
          isBusy={isTerminating}
          onClose={() => setAsked(null)}
          onConfirm={() => void run('terminated', (input) => terminate({ input }))}
        />
      )}
      {asked === 'put' && (
        <Confirm
          title={`${putWord} ${meant}?`}
          text="Also those that are further down than what has been loaded."
          act={putWord}
          tone="primary"
          onClose={() => setAsked(null)}
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
      {asked === 'tag' && (
        <TagDialog
          isBusy={isTagging}
          onClose={() => setAsked(null)}
          onTags={(tags) => void run('tagged', (input) => tag({ input: { ...input, tags } }))}
        />
      )}
    </div>
  );
}

interface TagDialogProps {
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onTags: (tags: readonly string[]) => void;
}

function TagDialog({ isBusy, onClose, onTags }: TagDialogProps) {
  const form = useId();
  const [text, setText] = useState('');
  const tags = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (tags.length > 0) onTags(tags);
  };
  return (
    <Dialog
      title="Add tags"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} tone="primary" isBusy={isBusy} disabled={tags.length === 0}>
            Add
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <TextField
          label="Tags"
          hint="Several are separated by commas. Those that a session has already stay."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
