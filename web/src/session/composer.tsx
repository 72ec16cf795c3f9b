import { type FormEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { composerMutation } from '../__generated__/composerMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { Button } from '../ui/button.tsx';

/** Sends a message; true when it was taken. One that is sent again after a failure is not taken twice. */
export function useSend(sessionId: string): [(message: string) => Promise<boolean>, boolean] {
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
  const attempt = useRef<{ readonly message: string; readonly key: string } | null>(null);
  const send = async (message: string) => {
    if (attempt.current?.message !== message) attempt.current = { message, key: newKey() };
    const { errors } = await act({ input: { sessionId, message, idempotencyKey: attempt.current.key } });
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
  /** Why nothing can be said to it any more; null when something can. */
  readonly refusal: string | null;
  readonly placeholder: string;
}

/** Where one writes to the agent. Enter sends, Shift-Enter makes a line. What is not sent is kept for the session. */
export function Composer({ sessionId, refusal, placeholder }: ComposerProps) {
  const draftKey = `switchyard:draft:${sessionId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey) ?? '');
  const [send, isBusy] = useSend(sessionId);
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
    if (message === '' || isBusy) return;
    if (await send(message)) change('');
    field.current?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  if (refusal !== null) return <p className="composer closed">{refusal}</p>;
  return (
    <form className="composer" onSubmit={(event) => void submit(event)}>
      <textarea
        ref={field}
        rows={1}
        aria-label="Message to the agent"
        placeholder={placeholder}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={press}
      />
      <Button
        type="submit"
        tone="primary"
        icon="send"
        aria-label="Send"
        isBusy={isBusy}
        disabled={text.trim() === ''}
      />
    </form>
  );
}
