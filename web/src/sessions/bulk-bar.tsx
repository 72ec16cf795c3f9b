import { type FormEvent, useId, useState } from 'react';
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

/** How many ids an act takes at once. */
const atOnce = 100;

interface Results {
  readonly results: readonly { readonly userErrors: readonly { readonly message: string }[] }[] | null | undefined;
}

interface BulkBarProps {
  readonly sessionIds: readonly string[];
  readonly isArchived: boolean;
  readonly onDone: () => void;
}

/** What can be done with several sessions at once. */
export function BulkBar({ sessionIds, isArchived, onDone }: BulkBarProps) {
  const toasts = useToasts();
  const [asked, setAsked] = useState<'terminate' | 'tag' | null>(null);
  const [archive, isArchiving] = useAct<bulkBarArchiveMutation>(graphql`
    mutation bulkBarArchiveMutation($input: ArchiveSessionsInput!) {
      archiveSessions(input: $input) {
        results {
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
        results {
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
        results {
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
        results {
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

  const run = async (done: string, act: (ids: readonly string[]) => Promise<{ readonly payload: Results | null }>) => {
    let count = 0;
    const refusals = new Set<string>();
    for (let from = 0; from < sessionIds.length; from += atOnce) {
      const { payload } = await act(sessionIds.slice(from, from + atOnce));
      for (const { userErrors } of payload?.results ?? []) {
        if (userErrors.length === 0) count++;
        for (const { message } of userErrors) refusals.add(message);
      }
    }
    if (count > 0) toasts.say(`${count} ${count === 1 ? 'session' : 'sessions'} ${done}.`);
    if (refusals.size > 0) toasts.fail([...refusals].join(' '));
    setAsked(null);
    onDone();
  };
  const inputOf = (ids: readonly string[]) => ({ input: { sessionIds: ids } });
  return (
    <div className="actions">
      <Button size="small" icon="tag" onClick={() => setAsked('tag')}>
        Tag
      </Button>
      <Button
        size="small"
        icon="archive"
        isBusy={isArchiving || isUnarchiving}
        onClick={() =>
          void (isArchived
            ? run('unarchived', (ids) => unarchive(inputOf(ids)))
            : run('archived', (ids) => archive(inputOf(ids))))
        }
      >
        {isArchived ? 'Unarchive' : 'Archive'}
      </Button>
      <Button size="small" icon="stop" tone="danger" onClick={() => setAsked('terminate')}>
        Terminate
      </Button>
      {asked === 'terminate' && (
        <Confirm
          title={`Terminate ${sessionIds.length} ${sessionIds.length === 1 ? 'session' : 'sessions'}?`}
          text="Their agents are stopped and their secrets are deleted. They take no further messages. The transcripts stay."
          act="Terminate"
          isBusy={isTerminating}
          onClose={() => setAsked(null)}
          onConfirm={() => void run('terminated', (ids) => terminate(inputOf(ids)))}
        />
      )}
      {asked === 'tag' && (
        <TagDialog
          isBusy={isTagging}
          onClose={() => setAsked(null)}
          onTags={(tags) => void run('tagged', (ids) => tag({ input: { sessionIds: ids, tags } }))}
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
