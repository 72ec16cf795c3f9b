import { common } from '../texts/common.ts';
import { queuedMessages as texts } from '../texts/session.ts';
import './queued-messages.css';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { queuedMessagesQuery, queuedMessagesQuery$data } from '../__generated__/queuedMessagesQuery.graphql.ts';
import type { queuedMessagesUpdateMutation } from '../__generated__/queuedMessagesUpdateMutation.graphql.ts';
import type { queuedMessagesWithdrawMutation } from '../__generated__/queuedMessagesWithdrawMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { nameOf } from '../ui/actor.ts';
import { Button } from '../ui/button.tsx';
import { Files, splitFiles } from './attachments.tsx';
import type { Entry } from './entry.ts';
import { withoutShown } from './held-messages.ts';
import type { Transcript } from './use-transcript.ts';

const query = graphql`
  query queuedMessagesQuery($id: ID!) {
    session(id: $id) {
      queuedMessages {
        id
        seq
        body
        editedBody
        author {
          displayName
        }
      }
    }
  }
`;

type Queued = NonNullable<NonNullable<queuedMessagesQuery$data['session']>['queuedMessages']>[number];

/** Returns the number of the last entry after which other messages may be queued than before. */
function lastChangeOf(entries: readonly Entry[]): number {
  const isChange = (entry: Entry) =>
    entry.__typename === 'TurnEvent' ||
    entry.__typename === 'MessageChangedEvent' ||
    (entry.__typename === 'SessionMessage' && entry.type !== 'AGENT_MESSAGE');
  return entries.findLast(isChange)?.seq ?? 0;
}

/** The messages of a session that wait for the agent and are not in its transcript. */
interface Queue {
  readonly messages: readonly Queued[];
  /** The ids of those that wait too, but are in the transcript. */
  readonly inTranscript: ReadonlySet<string>;
  /** Reads them again. */
  readonly read: () => void;
}

/** Reads the {@link Queue} of a session (`id`: its global ID) again after each change in its log. */
export function useQueued(id: string, { entries, isLoaded }: Pick<Transcript, 'entries' | 'isLoaded'>): Queue {
  const environment = useRelayEnvironment();
  const [messages, setMessages] = useState<readonly Queued[]>([]);
  const read = useCallback(
    () =>
      fetchQuery<queuedMessagesQuery>(environment, query, { id }).subscribe({
        next: ({ session }) => setMessages(session?.queuedMessages ?? []),
        // Read again after the next change.
        error: () => undefined,
      }),
    [environment, id],
  );
  const lastChange = lastChangeOf(entries);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each change.
  useEffect(() => {
    const reading = read();
    return () => reading.unsubscribe();
  }, [read, lastChange]);
  const shown = useMemo(() => (isLoaded ? withoutShown(messages, entries) : []), [messages, entries, isLoaded]);
  const inTranscript = useMemo(
    () => new Set(messages.filter((each) => !shown.includes(each)).map((each) => each.id)),
    [messages, shown],
  );
  return { messages: shown, inTranscript, read };
}

interface QueuedMessagesProps extends Pick<Queue, 'messages' | 'read'> {
  /** True if the viewer may edit and withdraw them. */
  readonly mayChange: boolean;
  /** The state of the messages. */
  readonly label: string;
}

/** The messages that wait for the agent, above the field for the next one. */
export function QueuedMessages({ messages, read, ...rights }: QueuedMessagesProps) {
  if (messages.length === 0) return null;
  return (
    <section className="queued" aria-label={texts.queuedMessages}>
      <ul>
        {messages.map((message) => (
          <QueuedMessage key={message.id} message={message} {...rights} onChanged={read} />
        ))}
      </ul>
    </section>
  );
}

/** Returns a function that withdraws a waiting message by its id, and whether it is in progress. */
export function useWithdraw(onChanged: () => void): readonly [withdraw: (id: string) => void, isBusy: boolean] {
  const [run, isBusy] = useMutation<queuedMessagesWithdrawMutation>(graphql`
    mutation queuedMessagesWithdrawMutation($input: WithdrawMessageInput!) {
      withdrawMessage(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const withdraw = useCallback(
    (id: string) => void run({ input: { messageId: id } }).then(onChanged),
    [run, onChanged],
  );
  return [withdraw, isBusy];
}

interface QueuedMessageProps extends Pick<QueuedMessagesProps, 'mayChange' | 'label'> {
  readonly message: Queued;
  readonly onChanged: () => void;
}

function QueuedMessage({ message, mayChange, label, onChanged }: QueuedMessageProps) {
  const { id, body, editedBody, author } = message;
  const text = editedBody ?? body;
  const shown = splitFiles(text);
  const [draft, setDraft] = useState<string | null>(null);
  const [update, isUpdating] = useMutation<queuedMessagesUpdateMutation>(graphql`
    mutation queuedMessagesUpdateMutation($input: UpdateQueuedMessageInput!) {
      updateQueuedMessage(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const [withdraw, isWithdrawing] = useWithdraw(onChanged);
  const save = async () => {
    const next = draft?.trim() ?? '';
    if (next === '') return;
    const { errors } = next === text ? { errors: null } : await update({ input: { messageId: id, body: next } });
    if (errors === null) close();
    onChanged();
  };
  // The field for the next message gets the focus: keys have other meanings outside of fields.
  const close = () => {
    setDraft(null);
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && !event.shiftKey) void save();
    else return;
    // Escape would stop the agent.
    event.preventDefault();
  };
  return (
    <li>
      <span className="tag">{label}</span>
      {draft === null ? (
        <div className="text">
          <p title={shown.text}>{shown.text}</p>
          <Files addresses={shown.files} />
        </div>
      ) : (
        <textarea
          aria-label={texts.queuedMessage}
          // biome-ignore lint/a11y/noAutofocus: the user asked to edit it.
          autoFocus
          onFocus={({ currentTarget }) => currentTarget.setSelectionRange(text.length, text.length)}
          rows={Math.min(8, Math.max(2, draft.split('\n').length))}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={press}
        />
      )}
      {author && <small>{nameOf(author)}</small>}
      {mayChange && draft === null && (
        <>
          <Button size="small" tone="quiet" icon="edit" aria-label={common.edit} onClick={() => setDraft(text)} />
          <Button
            size="small"
            tone="quiet"
            icon="close"
            aria-label={texts.withdraw}
            isBusy={isWithdrawing}
            onClick={() => withdraw(id)}
          />
        </>
      )}
      {draft !== null && (
        <>
          <Button size="small" tone="primary" isBusy={isUpdating} onClick={() => void save()}>
            {common.save}
          </Button>
          <Button size="small" onClick={close}>
            {common.cancel}
          </Button>
        </>
      )}
    </li>
  );
}
