import { common } from '../texts/common.ts';
import { picker as texts } from '../texts/ui.ts';
import './picker.css';
import { type KeyboardEvent, type UIEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { describeField, FieldFrame, type FieldProps } from './field.tsx';
import { Icon } from './icons.tsx';
import { matchesText } from './text-filter.ts';
import { useAfterPress } from './use-after-press.ts';
import { type Choice, type ChoiceSource, useChoices } from './use-choices.ts';
import { usePopoverPosition } from './use-popover-position.ts';
import { visible } from './visible.ts';

interface PickerProps extends FieldProps {
  readonly source: ChoiceSource;
  /** The selected id; empty for none. If missing, the picker keeps its own state. */
  readonly value?: string;
  readonly defaultValue?: string;
  /** The label of the selected choice, if known before the source has been read. */
  readonly valueLabel?: string | undefined;
  /** The label of "none"; if missing, a choice is required. */
  readonly none?: string;
  /** Choices before those of the source. */
  readonly first?: readonly Choice[];
  /** Its name as a field of its form. */
  readonly name?: string;
  readonly isDisabled?: boolean;
  /** True if its form cannot be sent without a selection. */
  readonly isRequired?: boolean;
  /** The text of the field without a selection. */
  readonly placeholder?: string;
  /** Shown instead of "No matches" if the source has no choices at all. */
  readonly emptyText?: string;
  /** True if typed text that is no choice may be selected. */
  readonly takesOther?: boolean | ((typed: string) => boolean);
  /** True if typed text is selected when the field loses the focus, instead of being dropped. */
  readonly keepsTyped?: boolean;
  readonly onChange?: (value: string, choice: Choice | null) => void;
}

/** The number of matches shown before scrolling. */
const enough = 20;
/** The maximum number of choices read to find the label of the selected one. */
const maxChoicesRead = 1_000;

/** The effect of keys on the position in the list; -1 is none, `last` the end. */
const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at, last) => (at < 0 ? last : Math.max(at - 1, 0)),
  PageDown: (at, last) => Math.min(at + 10, last),
  PageUp: (at) => Math.max(at - 10, 0),
};

const noChoices: readonly Choice[] = [];

/**
 * Selects one of many by typing: a combobox with a list (the pattern of WAI-ARIA 1.2). It reads its source when it is
 * opened, then further pages near the end of the list or while too few choices match.
 */
export function Picker(props: PickerProps) {
  const { label, isLabelHidden, hint, error, source, none, first = noChoices, name, valueLabel, isDisabled } = props;
  const id = useId();
  const [own, setOwn] = useState(props.defaultValue ?? '');
  const value = props.value ?? own;
  const [isOpen, setOpen] = useState(false);
  /** The typed text; null if none. */
  const [text, setText] = useState<string | null>(null);
  const [active, setActive] = useState(-1);
  const { choices, hasMore, isLoading, problem, more, restart } = useChoices(source);
  const lastChosen = useRef<Choice | null>(null);
  const all = useMemo(() => {
    const begin = none === undefined ? first : [{ value: '', label: none }, ...first];
    const taken = new Set(begin.map((choice) => choice.value));
    return [...begin, ...choices.filter((choice) => !taken.has(choice.value))];
  }, [none, first, choices]);
  const chosen = all.find((choice) => choice.value === value) ?? null;
  if (chosen !== null) lastChosen.current = chosen;
  const called =
    (lastChosen.current?.value === value ? lastChosen.current.label : null) ??
    (value === (props.value ?? props.defaultValue) ? valueLabel : null) ??
    (hasMore && problem === null && choices.length < maxChoicesRead ? null : value);
  const { takesOther = false } = props;
  const fitting = useMemo(
    () => all.filter(({ label: name, under }) => matchesText(`${name} ${under ?? ''}`, text ?? '')),
    [all, text],
  );
  const shown = useMemo(() => {
    const typed = text?.trim() ?? '';
    const isTaken = typeof takesOther === 'function' ? takesOther(typed) : takesOther;
    const isOther = isTaken && typed !== '' && !all.some((choice) => choice.value === typed);
    return isOther ? [...fitting, { value: typed, label: typed, under: texts.use({ value: typed }) }] : fitting;
  }, [all, fitting, text, takesOther]);
  const wantsMore = isOpen
    ? shown.length < enough || active > shown.length - enough
    : called === null && value !== '' && choices.length < maxChoicesRead;
  useEffect(() => {
    if (wantsMore && hasMore && !isLoading && problem === null) more();
  }, [wantsMore, hasMore, isLoading, problem, more]);
  // Enter waits for the choices: the typed text may be a part of one.
  const isEntered = useRef(false);
  const isUnread = fitting.length === 0 && hasMore && problem === null;
  const box = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  usePopoverPosition(isOpen, box, popup);
  const afterPress = useAfterPress();
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    if (isOpen && active >= 0) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, active, id]);

  const open = () => {
    if (isDisabled || isOpen) return;
    restart();
    setOpen(true);
    setActive(all.findIndex((choice) => choice.value === value));
  };
  const close = () => {
    isEntered.current = false;
    setOpen(false);
    setText(null);
    setActive(-1);
  };
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    lastChosen.current = choice;
    setOwn(choice.value);
    close();
    if (choice.value !== value) props.onChange?.(choice.value, choice.value === '' ? null : choice);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the choices are read.
  useEffect(() => {
    if (!isUnread && isEntered.current) choose(shown[active]);
  }, [isUnread]);
  const leave = () => {
    const typed = text?.trim() ?? '';
    if (!props.keepsTyped || typed === '') return close();
    const found = all.find(({ value: own, label: name }) => own === typed || name === typed);
    // The selection may add something above the button that the user presses.
    afterPress(() => choose(found ?? { value: typed, label: typed }));
  };
  const last = shown.length - 1;
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (!isOpen) {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      return open();
    }
    const move = moves[event.key];
    if (event.key === 'Escape' || (event.altKey && event.key === 'ArrowUp')) close();
    else if (event.key === 'Enter' && isUnread) isEntered.current = true;
    else if (event.key === 'Enter') choose(shown[active]);
    else if (move) setActive(move(active, last));
    else return;
    // Otherwise Escape would close the surrounding dialog, and Enter submit its form.
    event.preventDefault();
    event.stopPropagation();
  };
  const scroll = ({ currentTarget: { scrollTop, clientHeight, scrollHeight } }: UIEvent<HTMLElement>) => {
    if (scrollHeight - scrollTop - clientHeight < clientHeight && hasMore && problem === null) more();
  };
  return (
    <FieldFrame {...{ id, label, hint, error, isLabelHidden }}>
      <div className="choice" ref={box}>
        <input
          {...describeField(id, { label, hint, error })}
          type="text"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={isOpen ? `${id}-list` : undefined}
          aria-activedescendant={isOpen && active >= 0 && active <= last ? optionId(active) : undefined}
          autoComplete="off"
          spellCheck={false}
          disabled={isDisabled}
          required={props.isRequired}
          placeholder={(isOpen && visible(called ?? '')) || props.placeholder}
          value={isOpen ? (text ?? '') : visible(called ?? '')}
          onClick={open}
          onFocus={(event) => event.currentTarget.select()}
          onBlur={leave}
          onKeyDown={press}
          onChange={(event) => {
            isEntered.current = false;
            // While it is closed, the field shows the selected label: only the inserted text was typed.
            setText(isOpen ? event.target.value : ((event.nativeEvent as InputEvent).data ?? ''));
            open();
            setActive(0);
          }}
        />
        <Icon name="chevron" size={14} />
      </div>
      {name && <input type="hidden" name={name} value={value} />}
      <p className="for-readers" role="status">
        {isOpen && countOf(shown.length, hasMore, isLoading)}
      </p>
      {isOpen && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the focus stays in the field, whose keys do all of it.
        <div className="picker-list" popover="manual" ref={popup} onPointerDown={keepFocus} onMouseDown={keepFocus}>
          <div role="listbox" id={`${id}-list`} aria-label={label} onScroll={scroll}>
            {shown.map((choice, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active one.
              <div
                key={choice.value}
                role="option"
                id={optionId(index)}
                aria-selected={choice.value === value}
                aria-setsize={hasMore ? -1 : shown.length}
                aria-posinset={index + 1}
                data-active={index === active || undefined}
                onClick={() => choose(choice)}
                onPointerMove={() => setActive(index)}
              >
                <span>{visible(choice.label)}</span>
                {choice.under && <span className="under">{visible(choice.under)}</span>}
              </div>
            ))}
          </div>
          {problem !== null && <p className="problem">{problem}</p>}
          {problem === null && isLoading && <p className="hint">{common.loading}</p>}
          {problem === null && !isLoading && !hasMore && shown.length === 0 && (
            <p className="hint">{(all.length === 0 && props.emptyText) || texts.noResults}</p>
          )}
        </div>
      )}
    </FieldFrame>
  );
}

const keepFocus = (event: { preventDefault(): void }) => event.preventDefault();

function countOf(count: number, hasMore: boolean, isLoading: boolean): string {
  if (isLoading) return common.loading;
  if (count === 0) return texts.noResults;
  return hasMore ? texts.choicesOrMore({ count }) : texts.choices({ count });
}
