import { type MouseEvent, useEffect, useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { toolCallFileQuery } from '../__generated__/toolCallFileQuery.graphql.ts';
import { toolCall as texts } from '../texts/session-transcript.ts';
import { Change } from '../ui/change.tsx';
import { sizeOf } from '../ui/diff.ts';
import { downloadFile } from '../ui/download.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { safeAddress } from '../ui/safe-address.ts';
import { writeSize } from '../ui/size.ts';
import { visible } from '../ui/visible.ts';
import { type EntryOf, isOver } from './entry.ts';
import { failureReason } from './failure-reason.ts';
import { FoldsMark } from './folds-mark.tsx';
import { OutputScreen } from './output-screen.ts';
import { Terminal } from './terminal.tsx';
import { toolTitle } from './tool-title.ts';
import type { Row } from './transcript-rows.ts';
import { useRowOpen } from './use-row-open.ts';

type Call = EntryOf<'ToolCallEvent'>;

const kindIcon: Readonly<Record<string, IconName>> = {
  READ: 'file',
  EDIT: 'edit',
  DELETE: 'close',
  MOVE: 'file',
  SEARCH: 'search',
  EXECUTE: 'terminal',
  THINK: 'thought',
  FETCH: 'link',
};

const statusLabels: Readonly<Record<string, string>> = texts.statuses;

const isStopped = ({ toolStatus, isCancelled }: Call) => toolStatus === 'FAILED' && isCancelled;

/** Returns the state of a call, for display. Agents do not report a call that they may not run any more. */
export function stateLabel(call: Call, decision: ToolCallProps['decision']): string {
  if (decision !== null && !isOver(call)) return texts.decisions[decision];
  return isStopped(call) ? texts.stopped : (statusLabels[call.toolStatus] ?? call.toolStatus);
}

/** Writes the places in files that a tool call names, for display. */
export const writeLocations = (locations: Call['locations']): string =>
  visible(locations.map(({ path, line }) => (line ? `${path}:${line}` : path)).join(', '));

interface ToolCallProps extends Pick<Extract<Row, { type: 'tool' }>, 'entry' | 'draft' | 'decision'> {
  /** Key of the row. */
  readonly rowKey: string;
}

/** A tool call, collapsed to one line; its output and changes can be expanded. Opens by itself when output arrives live. */
export function ToolCall({ entry, draft, decision, rowKey }: ToolCallProps) {
  const [chosen, setOpen] = useRowOpen(rowKey);
  const isOpen = chosen === true;
  const isLive = draft !== null && draft.text !== '';
  useEffect(() => {
    if (isLive && chosen === null) setOpen(true);
  });
  const { toolKind, toolStatus, output, diffs, locations } = entry;
  const title = toolTitle(entry.title);
  const isFailed = toolStatus === 'FAILED' && !isStopped(entry) && decision === null;
  const reason = isFailed && !isOpen && output ? failureReason(output) : null;
  const hasMore = Boolean(output) || isLive || diffs.length > 0 || locations.length > 0;
  return (
    <details
      className={`tool ${isStopped(entry) ? 'stopped' : toolStatus.toLowerCase()}`}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => open !== isOpen && setOpen(open)}
    >
      <summary>
        <Icon name={kindIcon[toolKind] ?? 'gear'} />
        <span className="title">{visible(title) || texts.toolCall}</span>
        <Size diffs={diffs} />
        <span className="state">{stateLabel(entry, decision)}</span>
        <FoldsMark />
        {reason !== null && <span className="reason">{visible(reason)}</span>}
      </summary>
      {isOpen && (
        <div className="tool-body">
          {!hasMore && <p className="hint">{texts.noDetails}</p>}
          {diffs.length === 0 && locations.length > 0 && <p className="hint">{writeLocations(locations)}</p>}
          {diffs.map((diff, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a call may change one file twice.
            <Change title={diff.path} change={diff} key={index} />
          ))}
          {(output || isLive) && (
            <Output title={title} draft={draft} output={output ?? null} isPart={entry.outputFile != null} />
          )}
          {entry.outputFile && <WholeOutput bytes={entry.outputBytes ?? null} file={entry.outputFile} />}
        </div>
      )}
    </details>
  );
}

type OutputProps = Pick<ToolCallProps, 'draft'> & {
  readonly title: string;
  readonly output: string | null;
  readonly isPart: boolean;
};

function Output({ title, draft, output, isPart }: OutputProps) {
  const [screen] = useState(() => new OutputScreen());
  return <Terminal {...screen.apply(draft, output, isPart)} title={title} />;
}

const fileQuery = graphql`
  query toolCallFileQuery($id: ID!) {
    attachment(id: $id) {
      name
      url
    }
  }
`;

interface WholeOutputProps {
  readonly bytes: number | null;
  readonly file: NonNullable<Call['outputFile']>;
}

/** The file with all of the output. Its signed URL expires after an hour, so a click downloads from a new one. */
function WholeOutput({ bytes, file: { attachmentId, url } }: WholeOutputProps) {
  const environment = useRelayEnvironment();
  const download = async (event: MouseEvent) => {
    event.preventDefault();
    const options = { fetchPolicy: 'network-only' } as const;
    const found = await fetchQuery<toolCallFileQuery>(environment, fileQuery, { id: attachmentId }, options)
      .toPromise()
      .catch(() => undefined);
    const address = safeAddress(found?.attachment?.url ?? url);
    if (address !== undefined) downloadFile(address, found?.attachment?.name ?? '');
  };
  return (
    <p className="hint">
      <a href={safeAddress(url)} download="" onClick={(event) => void download(event)}>
        {texts.download}
      </a>
      {bytes !== null && ` (${writeSize(bytes)})`}
    </p>
  );
}

function Size({ diffs }: { readonly diffs: Call['diffs'] }) {
  const size = useMemo(() => sizeOf(diffs), [diffs]);
  if (!size || size.added + size.removed === 0) return null;
  return (
    <span className="size">
      <ins>+{size.added}</ins> <del>−{size.removed}</del>
    </span>
  );
}
