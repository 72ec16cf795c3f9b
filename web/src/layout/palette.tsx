import { common } from '../texts/common.ts';
import { palette as texts } from '../texts/layout.ts';
import './palette.css';
import {
  type KeyboardEvent,
  Suspense,
  useDeferredValue,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { paletteQuery } from '../__generated__/paletteQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { sessionAddress } from '../session/address.ts';
import { plainTitle } from '../session/plain-title.ts';
import { useSavedViews } from '../sessions/views/use-saved-views.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Icon } from '../ui/icons.tsx';
import { pushModal } from '../ui/modal-stack.ts';
import { matchesText } from '../ui/text-filter.ts';
import { visible } from '../ui/visible.ts';
import { settingsNavigation, visibleGroups, workNavigation } from './navigation.ts';
import { type PaletteAction, useRegisteredActions } from './page-actions.ts';
import { ChoiceGroup, ChoiceItem } from './palette-choice.tsx';
import { PaletteMatches } from './palette-matches.tsx';
import { useActiveChoice } from './use-active-choice.ts';
import { useGeneralActions } from './use-general-actions.ts';

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

/** Finds actions, sessions and pages by a few letters of their names. */
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
  const listId = useId();
  const { active, activate, findChoices } = useActiveChoice(box);
  const onShown = (current: string) => {
    const isNew = shown.current !== current;
    shown.current = current;
    if (isNew || active()?.isConnected !== true) activate(findChoices()[0]);
    if (isEntered.current && current === text.trim()) findChoices()[0]?.click();
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const choices = findChoices();
    const at = choices.indexOf(active() as HTMLElement);
    if (event.key === 'ArrowDown') activate(choices[(at + 1) % choices.length]);
    else if (event.key === 'ArrowUp') activate(choices.at(Math.max(at, 0) - 1));
    else if (event.key === 'Enter' && shown.current === text.trim()) (choices[at] ?? choices[0])?.click();
    else if (event.key === 'Enter') isEntered.current = true;
    // The browser would only clear the field.
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={box}
      className="dialog palette"
      aria-label={texts.goTo}
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
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-autocomplete="list"
          aria-label={texts.label}
          placeholder={texts.find}
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
        <Choices listId={listId} search={search} onShown={onShown} onClose={onClose} />
      </Suspense>
    </dialog>
  );
}

interface ChoicesProps {
  /** The id of the list box, for the field that controls it. */
  readonly listId: string;
  readonly search: string;
  /** Called after each change with the text whose choices are on the page. */
  readonly onShown: (search: string) => void;
  readonly onClose: () => void;
}

function Choices({ listId, search, onShown, onClose }: ChoicesProps) {
  const signed = useSigned();
  const [, go] = useLocation();
  const { organization, organizations } = useLazyLoadQuery<paletteQuery>(
    graphql`
      query paletteQuery($id: ID!, $filter: SessionFilter, $isOpen: Boolean!, $hasSeveral: Boolean!) @throwOnFieldError {
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
        organizations(first: 100) @include(if: $hasSeveral) {
          nodes {
            organizationId
            name
          }
        }
      }
    `,
    {
      id: signed.organization?.organizationId ?? '',
      filter: search === '' ? { isArchived: false } : { search },
      isOpen: signed.organization !== null,
      // They are only offered by name.
      hasSeveral: signed.hasSeveral && search !== '',
    },
  );
  const ofPage = useRegisteredActions();
  const general = useGeneralActions();
  const others = (organizations?.nodes ?? []).filter(
    ({ organizationId }) => organizationId !== signed.organization?.organizationId,
  );
  const switches = others.map(
    ({ organizationId, name }): PaletteAction => ({
      label: texts.switchTo({ name: visible(name) }),
      icon: 'building',
      run: () => signed.choose(organizationId),
    }),
  );
  const isFound = ({ label }: { readonly label: string }) => matchesText(label, search);
  const actions = [...ofPage, ...general, ...(search === '' ? [] : switches)].filter(isFound);
  const pages = [...workNavigation, ...settingsNavigation]
    .flatMap((group) => visibleGroups([group], signed))
    .flatMap(({ items }) => items)
    .filter(isFound);
  const sessions = organization?.sessions.nodes ?? [];
  const views = useSavedViews().filter(({ name }) => isFound({ label: name }));
  useLayoutEffect(() => onShown(search));
  const choose = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <div className="palette-choices">
      <div role="listbox" id={listId} aria-label={texts.goTo}>
        <ChoiceGroup label={common.actions}>
          {actions.map(({ label, icon, run }) => (
            <ChoiceItem key={label} icon={icon} onChoose={choose(run)}>
              <span>{label}</span>
            </ChoiceItem>
          ))}
        </ChoiceGroup>
        <ChoiceGroup label={search === '' ? texts.recentSessions : common.sessions}>
          {sessions.map(({ id, sessionId, title, ...status }) => (
            <ChoiceItem
              key={id}
              icon="terminal"
              address={sessionAddress(sessionId)}
              onChoose={choose(() => go(sessionAddress(sessionId)))}
            >
              <span>{plainTitle(title)}</span>
              <StatusBadge {...status} />
            </ChoiceItem>
          ))}
        </ChoiceGroup>
        <ChoiceGroup label={texts.views}>
          {views.map(({ name, address }) => (
            <ChoiceItem key={name} icon="filter" onChoose={choose(() => go(address))}>
              <span>{visible(name)}</span>
            </ChoiceItem>
          ))}
        </ChoiceGroup>
        <ChoiceGroup label={texts.pages}>
          {pages.map(({ path, label, icon }) => (
            <ChoiceItem key={path} icon={icon} onChoose={choose(() => go(path))}>
              <span>{label}</span>
            </ChoiceItem>
          ))}
        </ChoiceGroup>
        {search.length > 1 && signed.organization !== null && signed.may('VIEW_ORG_SESSIONS') && (
          <ErrorBoundary resetKey={search}>
            <Suspense fallback={null}>
              <PaletteMatches organizationId={signed.organization.organizationId} query={search} onChoose={choose} />
            </Suspense>
          </ErrorBoundary>
        )}
      </div>
      {actions.length + pages.length + sessions.length === 0 && <p className="hint">{common.noMatches}</p>}
    </div>
  );
}
