import { presence as texts } from '../texts/session.ts';
import { RichText } from '../ui/rich-text.tsx';
import './presence.css';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { graphql, useRelayEnvironment } from 'react-relay';
import { commitMutation } from 'relay-runtime';
import type { presenceMutation } from '../__generated__/presenceMutation.graphql.ts';
import type { presenceSubscription, presenceSubscription$data } from '../__generated__/presenceSubscription.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { newKey } from '../relay/new-key.ts';
import { useLive } from '../relay/use-live.ts';
import { nameOf } from '../ui/actor.ts';

/** The service forgets a client that it does not hear from for 10 seconds. */
const repeatMs = 5_000;
/** The time in ms after the last key until the user is no longer typing. */
const typingMs = 4_000;
/** The number of viewers that are shown by their initials. */
const maxShown = 4;

const mutation = graphql`
  mutation presenceMutation($input: SendPresenceInput!) {
    sendPresence(input: $input) {
      userErrors {
        message
      }
    }
  }
`;

const subscription = graphql`
  subscription presenceSubscription($id: ID!) {
    sessionPresence(sessionId: $id) {
      isTyping
      principal {
        id
        displayName
      }
    }
  }
`;

/** Another viewer of the session. */
interface OtherViewer {
  readonly id: string;
  readonly name: string;
  readonly isTyping: boolean;
}

/** The others who view a session now, and a function that reports that the user is typing. */
interface Presence {
  readonly others: readonly OtherViewer[];
  readonly typed: () => void;
}

/** Reports that this tab shows a session while it is visible, and follows who else does. */
export function usePresence(id: string): Presence {
  const environment = useRelayEnvironment();
  const own = useSigned().viewer.principal?.id;
  const [viewers, setViewers] = useState<presenceSubscription$data['sessionPresence']>([]);
  const variables = useMemo(() => ({ id }), [id]);
  const typedAt = useRef(Number.NEGATIVE_INFINITY);
  const report = useRef<() => void>(() => undefined);
  useLive<presenceSubscription>({
    subscription,
    variables,
    onNext: (data) => setViewers(data?.sessionPresence ?? []),
  });
  useEffect(() => {
    const clientId = newKey();
    let wasTyping = false;
    const send = (hasLeft = false) => {
      wasTyping = performance.now() - typedAt.current < typingMs;
      const input = { sessionId: id, clientId, isTyping: wasTyping && !hasLeft, hasLeft };
      // Nothing depends on it: the next report follows.
      commitMutation<presenceMutation>(environment, { mutation, variables: { input }, onError: () => undefined });
    };
    const isShown = () => document.visibilityState === 'visible';
    report.current = () => {
      if (!wasTyping) send();
    };
    const timer = window.setInterval(() => isShown() && send(), repeatMs);
    const changed = () => send(!isShown());
    document.addEventListener('visibilitychange', changed);
    if (isShown()) send();
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', changed);
      send(true);
    };
  }, [environment, id]);
  const others = useMemo(
    () =>
      viewers.flatMap(({ principal, isTyping }) =>
        principal && principal.id !== own ? [{ id: principal.id, name: nameOf(principal) ?? '', isTyping }] : [],
      ),
    [viewers, own],
  );
  return useMemo(() => ({ others, typed: markTyped(typedAt, report) }), [others]);
}

const markTyped = (typedAt: RefObject<number>, report: RefObject<() => void>) => () => {
  typedAt.current = performance.now();
  report.current();
};

/** The others who view the session, by their initials. */
export function OtherViewers({ others }: Pick<Presence, 'others'>) {
  if (others.length === 0) return null;
  const more = others.slice(maxShown);
  return (
    <ul className="viewers" aria-label={texts.alsoViewing}>
      {others.slice(0, maxShown).map(({ id, name, isTyping }) => (
        <li key={id} title={isTyping ? texts.isTyping({ name }) : name} className={isTyping ? 'typing' : undefined}>
          <span aria-hidden="true">{initialsOf(name)}</span>
          <span className="for-readers">{name}</span>
        </li>
      ))}
      {more.length > 0 && <li title={more.map(({ name }) => name).join(', ')}>+{more.length}</li>}
    </ul>
  );
}

/** Says who is typing. */
export function Typing({ others }: Pick<Presence, 'others'>) {
  const [first, ...more] = others.filter(({ isTyping }) => isTyping);
  if (first === undefined) return null;
  return (
    <p className="typing-note">
      <RichText
        text={more.length > 0 ? texts.areTyping : texts.oneTypes}
        slots={{ name: <bdi>{first.name}</bdi>, more: more.length }}
      />
    </p>
  );
}

function initialsOf(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  return words.length === 0
    ? '?'
    : words
        .slice(0, 2)
        .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 63))
        .join('')
        .toUpperCase();
}
