import './palette.css';
import { type KeyboardEvent, Suspense, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { paletteQuery } from '../__generated__/paletteQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { sessionAddress } from '../session/address.ts';
import { plainTitle } from '../session/plain-title.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { Icon } from '../ui/icons.tsx';
import { pushModal } from '../ui/modal-stack.ts';
import { newSessionAddress } from './keys.tsx';
import { type NavigationItem, settingsNavigation, workNavigation } from './navigation.ts';

/** Opens and closes the palette on Ctrl-K or Command-K. */
export function usePaletteKey(toggle: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEventInit & Event) => {
      if (event.key?.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      toggle();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [toggle]);
}

/** Finds pages and sessions by a few letters of their titles. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim());
  useLayoutEffect(() => {
    const dialog = box.current;
    if (!dialog) return;
    dialog.showModal();
    const popModal = pushModal(dialog);
    return () => {
      popModal();
      dialog.close();
    };
  }, []);
  // The text whose choices are shown, and whether Enter was pressed before those of the current text were.
  const shown = useRef<string>(null);
  const isEntered = useRef(false);
  const findChoices = () => [...(box.current?.querySelectorAll<HTMLElement>('[data-choice]') ?? [])];
  const onShown = (current: string) => {
    shown.current = current;
    if (isEntered.current && current === text.trim()) findChoices()[0]?.click();
  };
  // The choices are buttons: the arrow keys move between them, and Enter presses the first if none is focused.
  const press = (event: KeyboardEvent) => {
    const choices = findChoices();
    const at = choices.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') choices[Math.min(at + 1, choices.length - 1)]?.focus();
    else if (event.key === 'ArrowUp' && at > 0) choices[at - 1]?.focus();
    else if (event.key === 'ArrowUp') box.current?.querySelector('input')?.focus();
    else if (event.key === 'Enter' && at < 0 && shown.current === text.trim()) choices[0]?.click();
    else if (event.key === 'Enter' && at < 0) isEntered.current = true;
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={box}
      className="dialog palette"
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={press}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Page or session"
          placeholder="Go to a page or a session"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            isEntered.current = false;
            setText(event.target.value);
          }}
        />
      </div>
      <Suspense fallback={null}>
        <Choices search={search} onShown={onShown} onClose={onClose} />
      </Suspense>
    </dialog>
  );
}

interface ChoicesProps {
  readonly search: string;
  /** Called after each change with the text whose choices are on the page. */
  readonly onShown: (search: string) => void;
  readonly onClose: () => void;
}

function Choices({ search, onShown, onClose }: ChoicesProps) {
  const signed = useSigned();
  const [, go] = useLocation();
  const { organization } = useLazyLoadQuery<paletteQuery>(
    graphql`
      query paletteQuery($id: ID!, $filter: SessionFilter, $isOpen: Boolean!) @throwOnFieldError {
        organization(id: $id) @include(if: $isOpen) {
          sessions(first: 8, filter: $filter) {
            nodes {
              id
              sessionId
              title
              status
              statusDetail
              endReason
            }
          }
        }
      }
    `,
    {
      id: signed.organization?.organizationId ?? '',
      filter: search === '' ? { isArchived: false } : { search },
      isOpen: signed.organization !== null,
    },
  );
  const begin: readonly NavigationItem[] = signed.organization
    ? [{ path: newSessionAddress, label: 'New session', icon: 'plus', isFor: ({ may }) => may('USE_SESSIONS') }]
    : [];
  const pages = [...begin, ...[...workNavigation, ...settingsNavigation].flatMap(({ items }) => items)].filter(
    ({ label, isFor }) => (isFor?.(signed) ?? true) && label.toLowerCase().includes(search.toLowerCase()),
  );
  const sessions = organization?.sessions.nodes ?? [];
  useLayoutEffect(() => onShown(search));
  const choose = (path: string) => () => {
    onClose();
    go(path);
  };
  return (
    <ul>
      {pages.map(({ path, label, icon }) => (
        <li key={path}>
          <button type="button" data-choice onClick={choose(path)}>
            <Icon name={icon} /> <span>{label}</span>
          </button>
        </li>
      ))}
      {sessions.map(({ id, sessionId, title, ...status }) => (
        <li key={id}>
          <button type="button" data-choice onClick={choose(sessionAddress(sessionId))}>
            <Icon name="terminal" /> <span>{plainTitle(title)}</span>
            <StatusBadge {...status} />
          </button>
        </li>
      ))}
      {pages.length + sessions.length === 0 && <li className="hint">No results.</li>}
    </ul>
  );
}
