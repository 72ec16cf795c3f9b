import { type FormEvent, type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { composerMutation } from '../__generated__/composerMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { Button } from '../ui/button.tsx';
import { PickFiles, UploadList } from '../uploads/uploads.tsx';
import { takePasted, useFileDrop } from '../uploads/use-file-drop.ts';
import { type Uploads, useUploads } from '../uploads/use-uploads.ts';

type Send = (message: string, attachmentIds?: readonly string[]) => Promise<boolean>;

/** Sends a message with its files; true when it was taken. One that is sent again after a failure is not taken twice. */
export function useSend(sessionId: string): [Send, boolean] {
  const [act, isBusy] = useAct<composerMutation>(graphql`
    mutation composerMutation($input: SendMessageInput!) {
      sendMessage(input: $input) {
        session {
          id
          status
          statusDetail
        }
        userErrors {
          message
          path
        }
      }
    }
  `);
  const attempt = useRef<{ readonly what: string; readonly key: string } | null>(null);
  const send: Send = async (message, attachmentIds = []) => {
    const what = JSON.stringify([message, attachmentIds]);
    if (attempt.current?.what !== what) attempt.current = { what, key: newKey() };
    const { errors } = await act({ input: { sessionId, message, attachmentIds, idempotencyKey: attempt.current.key } });
    if (errors === null) attempt.current = null;
    return errors === null;
  };
  return [send, isBusy];
}

// Not crypto.randomUUID: pages that come by plain http from another host do not have it.
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface ComposerProps {
  readonly sessionId: string;
  /** The session's: what files are uploaded to. */
  readonly organizationId: string;
  readonly placeholder: string;
}

interface Refusable {
  /** Why nothing can be said to it any more; null when something can. */
  readonly refusal: string | null;
}

/** Where one writes to the agent, or why one cannot. */
export function Composer({ refusal, ...open }: ComposerProps & Refusable) {
  return refusal === null ? <Open {...open} /> : <p className="composer closed">{refusal}</p>;
}

/**
 * Enter sends, Shift-Enter makes a line; files may be dropped, pasted or chosen. What is not sent is kept for the session, but
 * for files.
 */
function Open({ sessionId, organizationId, placeholder }: ComposerProps) {
  const draftKey = `switchyard:draft:${sessionId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey) ?? '');
  const [send, isBusy] = useSend(sessionId);
  const uploads = useUploads(organizationId);
  const isOver = useFileDrop(uploads.add);
  const noteId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as high as what is written.
  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight + 2, 240)}px`;
  }, [text]);
  const change = (next: string) => {
    setText(next);
    if (next === '') sessionStorage.removeItem(draftKey);
    else sessionStorage.setItem(draftKey, next);
  };
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    const message = text.trim();
    if (message === '' || isBusy || !uploads.areSent) return;
    if (await send(message, uploads.attachmentIds)) {
      change('');
      uploads.clear();
    }
    field.current?.focus();
  };
  const note = missingOf(text, uploads);
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form className="composer" onSubmit={(event) => void submit(event)}>
      {isOver && <p className="drop-here">Drop the files: they go along with your message.</p>}
      <UploadList uploads={uploads} />
      <p className="uploads-note" id={noteId} role="status" hidden={note === null}>
        {note}
      </p>
      <PickFiles uploads={uploads} />
      <textarea
        ref={field}
        rows={1}
        aria-label="Message to the agent"
        aria-describedby={note === null ? undefined : noteId}
        placeholder={placeholder}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={press}
        onPaste={takePasted(uploads.add)}
      />
      <Button
        type="submit"
        tone="primary"
        icon="send"
        aria-label="Send"
        isBusy={isBusy}
        disabled={text.trim() === '' || !uploads.areSent}
      />
    </form>
  );
}

// What is still needed before files can go; of a message without any, its empty field says enough.
function missingOf(text: string, { all }: Uploads): string | null {
  if (all.length === 0) return null;
  if (all.some(({ state }) => state === 'refused')) return 'Remove what cannot be sent; the rest can go then.';
  if (all.some(({ state }) => state === 'failed')) return 'Try again, or remove, what did not come through.';
  if (text.trim() === '') return 'Write a message: files go along with one, and never alone.';
  return null;
}
