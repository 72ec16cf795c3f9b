import './rows.css';
import { memo, useMemo } from 'react';
import { nameOf } from '../ui/actor.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Time } from '../ui/time.tsx';
import { Files, splitFiles } from './attachments.tsx';
import type { EntryOf } from './entry.ts';
import type { Row } from './fold.ts';
import { ToolCall } from './tool-call.tsx';

interface RowProps {
  readonly row: Row;
  readonly onAnswer: (words: string) => void;
}

/** A line of the transcript. */
export const RowView = memo(function RowView({ row, onAnswer }: RowProps) {
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
      return <Question entry={row.entry} isOpen={row.isOpen} onAnswer={onAnswer} />;
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

interface QuestionProps {
  readonly entry: EntryOf<'QuestionEvent'>;
  readonly isOpen: boolean;
  readonly onAnswer: (words: string) => void;
}

function Question({ entry, isOpen, onAnswer }: QuestionProps) {
  const isPermission = entry.reason === 'PERMISSION';
  return (
    <section className={`question${isOpen ? ' open' : ''}`} aria-label="Question">
      <header>
        <Icon name={isPermission ? 'key' : 'bell'} />
        <b>{isPermission ? 'Asks for a permission' : 'Asks'}</b>
        <Time at={entry.createdAt} />
      </header>
      <Markdown text={entry.body} />
      {isOpen && entry.options.length > 0 && (
        <div className="options">
          {entry.options.map(({ optionId, name }) => (
            <Button key={optionId} size="small" onClick={() => onAnswer(name)}>
              {name}
            </Button>
          ))}
        </div>
      )}
      {isOpen && <p className="hint">Your next message is the answer.</p>}
    </section>
  );
}
