import '../ui/picker.css';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { completions as texts } from '../texts/session.ts';
import { usePopoverPosition } from '../ui/use-popover-position.ts';
import { visible } from '../ui/visible.ts';
import { type CompletionToken, tokenAt } from './completion-token.ts';
import { type Completion, useCompletions } from './use-completions.ts';

interface CompletionOptions {
  readonly organizationId: string;
  /** The session whose files are offered; null: none. */
  readonly sessionId: string | null;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly change: (text: string) => void;
}

interface FieldCompletion {
  /** Attributes of the field. */
  readonly attributes: object;
  /** Returns true if a key was for the list. */
  readonly press: (event: KeyboardEvent) => boolean;
  readonly list: ReactNode;
}

/**
 * Completes names in a field: `@` repositories, files and playbooks, `!` playbooks, and `/` too at the start. The arrow
 * keys move in the list, Enter and Tab choose, and Escape closes it. The focus stays in the field.
 */
export function useCompletion({ organizationId, sessionId, field, change }: CompletionOptions): FieldCompletion {
  const id = useId();
  const [token, setToken] = useState<CompletionToken | null>(null);
  const [active, setActive] = useState(0);
  /** The position of the word for which the user has closed the list. */
  const closedAt = useRef<number | null>(null);
  const found = useCompletions({ organizationId, sessionId }, token);
  const isOpen = token !== null && found.length > 0;
  const at = Math.min(active, found.length - 1);
  const popup = useRef<HTMLDivElement>(null);
  usePopoverPosition(isOpen, field, popup);
  useEffect(() => {
    if (isOpen) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, at, id]);
  const find = () => {
    const area = field.current;
    if (!area) return;
    const isCursor = area.selectionStart === area.selectionEnd;
    const next = isCursor ? tokenAt(area.value, area.selectionStart) : null;
    if (next === null) closedAt.current = null;
    setToken(next?.start === closedAt.current ? null : next);
    setActive(0);
  };
  const choose = ({ insert, isOpen: isMore }: Completion) => {
    const area = field.current;
    if (!area || token === null) return;
    const text = `${area.value.slice(0, token.start)}${insert}${area.value.slice(area.selectionStart)}`;
    const cursor = token.start + insert.length;
    flushSync(() => change(text));
    area.focus();
    area.setSelectionRange(cursor, cursor);
    if (isMore) find();
    else setToken(null);
  };
  const press = (event: KeyboardEvent): boolean => {
    if (!isOpen || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.shiftKey) return false;
    const chosen = found[at];
    if (event.key === 'ArrowDown') setActive((at + 1) % found.length);
    else if (event.key === 'ArrowUp') setActive((at - 1 + found.length) % found.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen) choose(chosen);
    else if (event.key === 'Escape') {
      closedAt.current = token.start;
      setToken(null);
    } else return false;
    // Escape would stop the agent.
    event.preventDefault();
    return true;
  };
  const attributes = {
    'aria-autocomplete': 'list',
    'aria-haspopup': 'listbox',
    'aria-controls': isOpen ? `${id}-list` : undefined,
    'aria-activedescendant': isOpen ? `${id}-${at}` : undefined,
    'onSelect': find,
    'onBlur': () => setToken(null),
  };
  const list = (
    <>
      <p className="for-readers" role="status">
        {isOpen && texts.count({ count: found.length })}
      </p>
      {isOpen && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the focus stays in the field, whose keys do all of it.
        <div className="picker-list" popover="manual" ref={popup} onPointerDown={keepFocus} onMouseDown={keepFocus}>
          <div role="listbox" id={`${id}-list`} aria-label={texts.label}>
            {found.map((completion, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active one.
              <div
                key={completion.key}
                role="option"
                id={`${id}-${index}`}
                aria-selected={index === at}
                data-active={index === at || undefined}
                onClick={() => choose(completion)}
                onPointerMove={() => setActive(index)}
              >
                <span>{visible(completion.label)}</span>
                <span className="under">{visible(completion.under)}</span>
              </div>
            ))}
          </div>
        </div>
      )}
    </>
  );
  return { attributes, press, list };
}

const keepFocus = (event: { preventDefault(): void }) => event.preventDefault();
