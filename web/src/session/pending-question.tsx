import { pendingQuestion as texts } from '../texts/session-transcript.ts';
import './pending-question.css';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { pendingQuestion_question$key } from '../__generated__/pendingQuestion_question.graphql.ts';
import { Button } from '../ui/button.tsx';
import { Change } from '../ui/change.tsx';
import { isInDialog, isTyping } from '../ui/focus.ts';
import { Icon } from '../ui/icons.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import type { Entry, EntryOf } from './entry.ts';
import { openCall, titleToPermit } from './question-text.ts';
import { writeLocations } from './tool-call.tsx';
import type { Choose } from './use-answer.ts';

interface PendingQuestionProps {
  readonly question: pendingQuestion_question$key;
  readonly entries: readonly Entry[];
  /** False: the viewer may only read it. */
  readonly mayAnswer: boolean;
  readonly onChoose: Choose;
}

/** At most this many options have keys: 1 to 9. */
const maxKeys = 9;

/**
 * The open question, above the field for messages, with the tool call that it concerns and a button for each option. The keys 1
 * to 9 choose one, with Alt also while the user types.
 */
export function PendingQuestion({ question, entries, mayAnswer, onChoose }: PendingQuestionProps) {
  const { questionId, body, createdAt, reason, options, relatedToolCallId } = useFragment(
    graphql`
      fragment pendingQuestion_question on QuestionEvent {
        questionId
        body
        createdAt
        reason
        options {
          optionId
          name
        }
        relatedToolCallId
      }
    `,
    question,
  );
  const isPermission = reason === 'PERMISSION';
  const [chosen, setChosen] = useState<string | null>(null);
  const hasOptions = mayAnswer && options.length > 0;
  const choose = async (optionId: string) => {
    if (chosen !== null) return;
    setChosen(optionId);
    if (!(await onChoose(questionId, optionId))) setChosen(null);
  };
  useOptionKeys(hasOptions ? options.map(({ optionId }) => optionId) : [], (optionId) => void choose(optionId));
  const box = useRef<HTMLElement>(null);
  const wasTapped = useRef(false);
  useLayoutEffect(() => {
    const section = box.current;
    return () => {
      // It disappears with the focus, which then belongs to the field below it. A tap would open the keyboard of a touch device.
      if (section?.contains(document.activeElement) && !wasTapped.current)
        document.querySelector<HTMLElement>('.composer textarea')?.focus({ preventScroll: true });
    };
  }, []);
  const title = isPermission ? titleToPermit(body) : null;
  const call = useMemo(
    () => (relatedToolCallId == null ? null : openCall(relatedToolCallId, entries)),
    [relatedToolCallId, entries],
  );
  const hintId = useId();
  return (
    <section
      className="question open pinned"
      aria-label={texts.question}
      ref={box}
      onPointerDown={({ pointerType }) => {
        wasTapped.current = pointerType === 'touch';
      }}
      onKeyDown={() => {
        wasTapped.current = false;
      }}
    >
      <header>
        <Icon name={isPermission ? 'key' : 'bell'} />
        <b>{isPermission ? texts.permission : texts.question}</b>
        <Time at={createdAt} />
      </header>
      {/* biome-ignore-start lint/a11y: what scrolls must be scrolled by keys too, and its parts are no fields. */}
      <div className="about" tabIndex={0} role="group" aria-label={texts.concerns}>
        {title === null ? (
          <Markdown text={body} />
        ) : (
          <>
            <p>{texts.mayRun}</p>
            <pre className="command">{visible(title)}</pre>
          </>
        )}
        {call !== null && <Concerned call={call} />}
      </div>
      {/* biome-ignore-end lint/a11y: see above. */}
      {hasOptions && (
        <fieldset className="options" aria-describedby={hintId}>
          <legend className="for-readers">{texts.options}</legend>
          {options.map(({ optionId, name }, index) => (
            <Button
              key={optionId}
              size="small"
              isBusy={chosen === optionId}
              disabled={chosen !== null && chosen !== optionId}
              aria-keyshortcuts={index < maxKeys ? `${index + 1} Alt+${index + 1}` : undefined}
              onClick={() => void choose(optionId)}
            >
              {index < maxKeys && <kbd>{index + 1}</kbd>} {visible(name)}
            </Button>
          ))}
        </fieldset>
      )}
      {mayAnswer && (
        <p className="hint" id={hintId}>
          {isPermission ? texts.permissionHint : hasOptions ? texts.optionHint : texts.questionHint}
          {hasOptions && <span className="with-keys"> {texts.keysHint}</span>}
        </p>
      )}
    </section>
  );
}

/** The changes and files of a tool call that waits for a permission. */
function Concerned({ call: { diffs, locations } }: { readonly call: EntryOf<'ToolCallEvent'> }) {
  return (
    <>
      {diffs.map((diff, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call may change one file twice.
        <Change title={diff.path} change={diff} key={index} />
      ))}
      {diffs.length === 0 && locations.length > 0 && <p className="hint">{writeLocations(locations)}</p>}
    </>
  );
}

function useOptionKeys(optionIds: readonly string[], choose: (optionId: string) => void): void {
  const latest = useRef({ optionIds, choose });
  latest.current = { optionIds, choose };
  const isActive = optionIds.length > 0;
  useEffect(() => {
    if (!isActive) return;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.repeat || event.isComposing || isInDialog()) return;
      if (!event.altKey && isTyping(event.target)) return;
      // By the place of the key: with Alt, a Mac writes another character.
      const [, digit] = /^(?:Digit|Numpad)([1-9])$/.exec(event.code) ?? [];
      const optionId = latest.current.optionIds[Number(digit) - 1];
      if (optionId === undefined) return;
      event.preventDefault();
      latest.current.choose(optionId);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [isActive]);
}
