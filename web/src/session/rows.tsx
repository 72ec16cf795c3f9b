import { common } from '../texts/common.ts';
import { rows as texts } from '../texts/session-transcript.ts';
import './rows.css';
import { memo, useMemo } from 'react';
import { nameOf } from '../ui/actor.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { Files, splitFiles } from './attachments.tsx';
import { Fold } from './fold.tsx';
import type { ShownRow } from './fold-rows.ts';
import { FoldsMark } from './folds-mark.tsx';
import { PullRequestRow } from './pull-request-row.tsx';
import { PushRow, RepositoryRow } from './repository-row.tsx';
import { DaySeparator } from './row-marks.tsx';
import { ToolCall } from './tool-call.tsx';
import type { Row } from './transcript-rows.ts';
import { UnansweredTag } from './unanswered.tsx';
import { useRowOpen } from './use-row-open.ts';

interface RowProps {
  readonly row: ShownRow;
}

/** A row of the transcript. */
export const RowView = memo(function RowView({ row }: RowProps) {
  switch (row.type) {
    case 'message':
      return <Message {...row} />;
    case 'tool':
      return <ToolCall entry={row.entry} draft={row.draft} decision={row.decision} rowKey={row.key} />;
    case 'thought':
      return <Thought {...row} rowKey={row.key} />;
    case 'question':
      return <Question {...row} />;
    case 'repository':
      return <RepositoryRow entry={row.entry} />;
    case 'push':
      return <PushRow entry={row.entry} />;
    case 'pullRequest':
      return <PullRequestRow entry={row.entry} />;
    case 'day':
      return <DaySeparator at={row.at} />;
    case 'attempt':
    case 'fold':
      return <Fold row={row}>{() => row.rows.map((each) => <RowView row={each} key={each.key} />)}</Fold>;
    case 'line':
      return (
        <>
          <p className={`line ${row.tone}`}>
            <Icon name={toneIcon[row.tone]} size={14} />
            <span>{row.text}</span>
            <Time at={row.at} />
          </p>
          {row.output && <AgentOutput text={row.output} />}
        </>
      );
  }
});

const toneIcon = { plain: 'clock', good: 'check', warn: 'bell', bad: 'warning' } as const satisfies Record<
  Extract<Row, { type: 'line' }>['tone'],
  IconName
>;

/** The end of what an agent wrote to its standard error before it failed. */
function AgentOutput({ text }: { readonly text: string }) {
  return (
    <figure className="agent-output">
      <figcaption>{texts.agentOutput}</figcaption>
      <pre>{visible(text)}</pre>
    </figure>
  );
}

/** A message, also while the agent is writing it. */
function Message({
  entry,
  draft,
  isReverted,
}: Pick<Extract<Row, { type: 'message' }>, 'entry' | 'draft' | 'isReverted'>) {
  const isAgent = entry === null || entry.type === 'AGENT_MESSAGE';
  const body = entry?.editedBody ?? entry?.body ?? draft?.text ?? '';
  const isWithdrawn = entry?.delivery === 'WITHDRAWN';
  const { text, files } = useMemo(() => splitFiles(body), [body]);
  return (
    <article
      className={`message ${isAgent ? 'agent' : 'user'}${isWithdrawn ? ' withdrawn' : ''}`}
      data-seq={entry?.seq}
      aria-busy={entry === null}
    >
      <header>
        <b>{isAgent ? common.agent : (nameOf(entry?.author) ?? common.user)}</b>
        {entry && <Time at={entry.createdAt} />}
        {entry !== null && !isWithdrawn && <UnansweredTag id={entry.id} />}
        {isWithdrawn && <span className="tag">{texts.withdrawn}</span>}
        {isReverted && !isWithdrawn && <span className="tag">{texts.reverted}</span>}
        {entry?.editedBody != null && !isWithdrawn && <span className="tag">{texts.edited}</span>}
      </header>
      {entry === null && draft !== null && draft.start > 0 && <p className="hint">{texts.cutHint}</p>}
      {text !== '' && <Markdown text={text} isOpen={entry === null} />}
      <Files addresses={files} />
    </article>
  );
}

/** A thought, collapsed to one line: while the agent is writing it, with its latest words. */
function Thought({
  text,
  isOpen,
  rowKey,
}: Pick<Extract<Row, { type: 'thought' }>, 'text' | 'isOpen'> & { rowKey: string }) {
  const [isExpanded, setExpanded] = useRowOpen(rowKey);
  return (
    <details
      className="thought"
      open={isExpanded === true}
      onToggle={({ currentTarget: { open } }) => setExpanded(open)}
    >
      <summary>
        <Icon name="thought" /> {isOpen ? texts.thinking : texts.thought}
        {isOpen && (
          <span className="latest" aria-hidden="true">
            <bdi>{visible(text.slice(-latestLength).replace(/\s+/g, ' '))}</bdi>
          </span>
        )}
        <FoldsMark />
      </summary>
      <Markdown text={text} isOpen={isOpen} />
    </details>
  );
}

/** The number of characters of an unfinished thought that its collapsed row shows. */
const latestLength = 160;

type QuestionProps = Pick<Extract<Row, { type: 'question' }>, 'entry' | 'state'>;

/** A question that is no longer open. */
function Question({ entry, state }: QuestionProps) {
  const isPermission = entry.reason === 'PERMISSION';
  const hint = questionHints[state];
  return (
    <div className="question">
      <header>
        <Icon name={isPermission ? 'key' : 'bell'} />
        <b>{isPermission ? texts.permissionNeeded : texts.question}</b>
        <Time at={entry.createdAt} />
      </header>
      <Markdown text={entry.body} />
      {hint !== undefined && <p className="hint">{hint}</p>}
    </div>
  );
}

const questionHints: Readonly<Partial<Record<QuestionProps['state'], string>>> = {
  passed: texts.passed,
  replied: texts.replied,
};
