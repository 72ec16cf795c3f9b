import './rows.css';
import { memo, useMemo, useState } from 'react';
import { nameOf } from '../ui/actor.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { Files, splitFiles } from './attachments.tsx';
import type { EntryOf } from './entry.ts';
import { ToolCall } from './tool-call.tsx';
import type { Row } from './transcript-rows.ts';
import type { Choose } from './use-answer.ts';

interface RowProps {
  readonly row: Row;
  /** True if the session waits for the answer to this question. */
  readonly isPending: boolean;
  readonly onChoose: Choose;
}

/** A row of the transcript. */
export const RowView = memo(function RowView({ row, isPending, onChoose }: RowProps) {
  switch (row.type) {
    case 'message':
      return <Message entry={row.entry} />;
    case 'tool':
      return <ToolCall entry={row.entry} />;
    case 'thought':
      return (
        <details className="thought">
          <summary>
            <Icon name="thought" /> Thought
          </summary>
          <Markdown text={row.text} />
        </details>
      );
    case 'question':
      return <Question {...row} isPending={isPending} onChoose={onChoose} />;
    case 'line':
      return (
        <p className={`line ${row.tone}`}>
          <Icon name={toneIcon[row.tone]} size={14} />
          <span>{row.text}</span>
          <Time at={row.at} />
        </p>
      );
  }
});

const toneIcon = { plain: 'clock', good: 'check', warn: 'bell', bad: 'warning' } as const satisfies Record<
  Extract<Row, { type: 'line' }>['tone'],
  IconName
>;

function Message({ entry }: { readonly entry: EntryOf<'SessionMessage'> }) {
  const isAgent = entry.type === 'AGENT_MESSAGE';
  const { text, files } = useMemo(() => splitFiles(entry.body), [entry.body]);
  return (
    <article className={`message ${isAgent ? 'agent' : 'user'}`} data-seq={entry.seq}>
      <header>
        <b>{isAgent ? 'Agent' : (nameOf(entry.author) ?? 'User')}</b>
        <Time at={entry.createdAt} />
      </header>
      {text !== '' && <Markdown text={text} />}
      <Files addresses={files} />
    </article>
  );
}

interface QuestionProps extends Pick<Extract<Row, { type: 'question' }>, 'entry' | 'state'> {
  readonly isPending: boolean;
  readonly onChoose: Choose;
}

function Question({ entry, state, isPending, onChoose }: QuestionProps) {
  const isPermission = entry.reason === 'PERMISSION';
  const [chosen, setChosen] = useState<string | null>(null);
  const choose = async (optionId: string) => {
    setChosen(optionId);
    if (!(await onChoose(entry.questionId, optionId))) setChosen(null);
  };
  const hint = isPending ? (isPermission ? forPermission : forQuestion) : state === 'passed' ? passed : null;
  return (
    <section className={`question${isPending ? ' open' : ''}`} aria-label="Question">
      <header>
        <Icon name={isPermission ? 'key' : 'bell'} />
        <b>{isPermission ? 'Permission needed' : 'Question'}</b>
        <Time at={entry.createdAt} />
      </header>
      <Markdown text={entry.body} />
      {isPending && entry.options.length > 0 && (
        <div className="options">
          {entry.options.map(({ optionId, name }) => (
            <Button
              key={optionId}
              size="small"
              isBusy={chosen === optionId}
              disabled={chosen !== null && chosen !== optionId}
              onClick={() => void choose(optionId)}
            >
              {visible(name)}
            </Button>
          ))}
        </div>
      )}
      {hint !== null && <p className="hint">{hint}</p>}
    </section>
  );
}

const forPermission =
  'Choose an option. A message does not answer this: it stops the turn, and the agent reads it next.';
const forQuestion = 'Reply below to answer.';
const passed = 'This question is closed. It was not answered.';
