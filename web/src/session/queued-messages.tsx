import './queued-messages.css';
import { type KeyboardEvent, useCallback, useEffect, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { queuedMessagesQuery, queuedMessagesQuery$data } from '../__generated__/queuedMessagesQuery.graphql.ts';
import type { queuedMessagesUpdateMutation } from '../__generated__/queuedMessagesUpdateMutation.graphql.ts';
import type { queuedMessagesWithdrawMutation } from '../__generated__/queuedMessagesWithdrawMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { nameOf } from '../ui/actor.ts';
import { Button } from '../ui/button.tsx';
import type { Entry } from './entry.ts';

const query = graphql`
  query queuedMessagesQuery($id: ID!) {
    session(id: $id) {
      queuedMessages {
        id
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

interface QueuedMessagesProps {
  /** Global ID of the session. */
  readonly id: string;
  readonly entries: readonly Entry[];
  /** True if the viewer may edit and withdraw them. */
  readonly mayChange: boolean;
}

/** The messages that wait for the agent, above the field for the next one. */
export function QueuedMessages({ id, entries, mayChange }: QueuedMessagesProps) {
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
  if (messages.length === 0) return null;
  return (
    <section className="queued" aria-label="Queued messages">
      <ul>
        {messages.map((message) => (
          <QueuedMessage key={message.id} message={message} mayChange={mayChange} onChanged={read} />
        ))}
      </ul>
    </section>
  );
}

interface QueuedMessageProps extends Pick<QueuedMessagesProps, 'mayChange'> {
  readonly message: Queued;
  readonly onChanged: () => void;
}

function QueuedMessage({ message: { id, body, editedBody, author }, mayChange, onChanged }: QueuedMessageProps) {
  const text = editedBody ?? body;
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
  const [withdraw, isWithdrawing] = useMutation<queuedMessagesWithdrawMutation>(graphql`
    mutation queuedMessagesWithdrawMutation($input: WithdrawMessageInput!) {
      withdrawMessage(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const save = async () => {
    const next = draft?.trim() ?? '';
    if (next === '') return;
    const { errors } = next === text ? { errors: null } : await update({ input: { messageId: id, body: next } });
    if (errors === null) setDraft(null);
    onChanged();
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') setDraft(null);
    else if (event.key === 'Enter' && !event.shiftKey) void save();
    else return;
    // Escape would stop the agent.
    event.preventDefault();
  };
  return (
    <li>
      <span className="tag">Queued</span>
      {draft === null ? (
        <p title={text}>{text}</p>
      ) : (
        <textarea
          aria-label="Queued message"
          // biome-ignore lint/a11y/noAutofocus: the user asked to edit it.
          autoFocus
          rows={2}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={press}
        />
      )}
      {author && <small>{nameOf(author)}</small>}
      {mayChange && draft === null && (
        <>
          <Button size="small" tone="quiet" icon="edit" aria-label="Edit" onClick={() => setDraft(text)} />
          <Button
            size="small"
            tone="quiet"
            icon="close"
            aria-label="Withdraw"
            isBusy={isWithdrawing}
            onClick={() => void withdraw({ input: { messageId: id } }).then(onChanged)}
          />
        </>
      )}
      {draft !== null && (
        <>
          <Button size="small" tone="primary" isBusy={isUpdating} onClick={() => void save()}>
            Save
          </Button>
          <Button size="small" onClick={() => setDraft(null)}>
            Cancel
          </Button>
        </>
      )}
    </li>
  );
}
