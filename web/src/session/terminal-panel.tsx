import { useVirtualizer } from '@tanstack/react-virtual';
import { common } from '../texts/common.ts';
import { sessionPage } from '../texts/session.ts';
import { terminalPanel as texts } from '../texts/session-panes.ts';
import { toolCall } from '../texts/session-transcript.ts';
import './terminal.css';
import './terminal-panel.css';
import { type KeyboardEvent, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { searchedText, type TerminalRow, useTerminalRows } from './terminal-rows.ts';
import type { TerminalLine } from './terminal-screen.ts';
import { isFound, markRuns, textOf } from './terminal-search.ts';
import { styleOf } from './terminal-style.ts';
import { stateLabel } from './tool-call.tsx';
import { toolTitle } from './tool-title.ts';
import { type Command, useCommands } from './use-commands.ts';
import type { Transcript } from './use-transcript.ts';

interface TerminalPanelProps {
  /** The global id of the session. */
  readonly id: string;
  readonly transcript: Transcript;
}

/** All commands of a session with their output, live, in one place. It stays at its end unless the user scrolls up. */
export function TerminalPanel({ id, transcript }: TerminalPanelProps) {
  const { commands, hasEarlier, isLoading, loadEarlier } = useCommands(id, transcript);
  const rows = useTerminalRows(commands);
  const [search, setSearch] = useState('');
  const query = useDeferredValue(search.toLowerCase());
  const box = useRef<HTMLElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (rows[index]?.type === 'command' ? 32 : 18),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 20,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: 60,
    paddingEnd: 12,
  });
  const isEmpty = rows.length === 0;
  useLayoutEffect(() => {
    if (!isEmpty) list.scrollToEnd();
  }, [isEmpty, list]);
  const found = useSearch(rows, query, (index) => list.scrollToIndex(index, { align: 'center' }));
  if (!transcript.isLoaded) return <Loading label={sessionPage.loadingTheCommands} />;
  return (
    <section className="terminal-panel" aria-label={texts.terminal}>
      <search className="terminal-bar" hidden={isEmpty && !hasEarlier}>
        <TextField
          label={texts.search}
          isLabelHidden
          type="search"
          placeholder={texts.search}
          value={search}
          maxLength={200}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key === 'Enter') found.go(event.shiftKey ? -1 : 1);
            else if (event.key === 'Escape' && search !== '') setSearch('');
            else return;
            // Escape would stop the agent.
            event.preventDefault();
          }}
        />
        <Button
          size="small"
          icon="arrowUp"
          aria-label={texts.previous}
          disabled={found.count === 0}
          onClick={() => found.go(-1)}
        />
        <Button
          size="small"
          icon="arrowDown"
          aria-label={texts.next}
          disabled={found.count === 0}
          onClick={() => found.go(1)}
        />
        <span role="status">
          {query !== '' &&
            (found.count === 0 ? common.noMatches : texts.matches({ at: found.at + 1, count: found.count }))}
        </span>
        {hasEarlier && (
          <Button size="small" isBusy={isLoading} onClick={() => void loadEarlier()}>
            {texts.loadEarlier}
          </Button>
        )}
      </search>
      {isEmpty ? (
        <Empty title={texts.none} text={hasEarlier ? texts.noneHere : texts.noneText} />
      ) : (
        <section
          className="terminal terminal-lines"
          ref={box}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too.
          tabIndex={0}
          aria-label={texts.output}
          dir="ltr"
        >
          <div className="terminal-rows" style={{ height: list.getTotalSize() }}>
            {list.getVirtualItems().map(({ index, key, start }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <div
                  className="terminal-row"
                  key={key}
                  data-index={index}
                  data-current={row.key === found.key || undefined}
                  ref={list.measureElement}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <RowContent row={row} query={query} rows={rows} />
                </div>
              );
            })}
          </div>
        </section>
      )}
    </section>
  );
}

/** Finds the rows that contain a query, the last one first. */
function useSearch(rows: readonly TerminalRow[], query: string, show: (index: number) => void) {
  const [key, setKey] = useState<string | null>(null);
  const matches = useMemo(
    () => (query === '' ? [] : rows.flatMap((row, index) => (isFound(searchedText(row), query) ? [index] : []))),
    [rows, query],
  );
  const known = matches.findIndex((index) => rows[index]?.key === key);
  const at = known < 0 ? matches.length - 1 : known;
  const target = matches[at];
  const scroll = useRef(show);
  scroll.current = show;
  // biome-ignore lint/correctness/useExhaustiveDependencies: not when output arrives.
  useEffect(() => {
    if (target !== undefined) scroll.current(target);
  }, [query, key]);
  const go = (by: number) => {
    const next = matches[(at + by + matches.length) % matches.length];
    if (next !== undefined) setKey(rows[next]?.key ?? null);
  };
  return { count: matches.length, at, key: target === undefined ? null : rows[target]?.key, go };
}

interface RowContentProps {
  readonly row: TerminalRow;
  readonly query: string;
  readonly rows: readonly TerminalRow[];
}

function RowContent({ row, query, rows }: RowContentProps) {
  if (row.type === 'cut') return <span className="terminal-cut">{texts.cut}</span>;
  if (row.type === 'line') return <Line line={row.line} query={query} />;
  return <CommandLine command={row.command} query={query} text={() => outputOf(rows, row)} hasOutput={row.hasOutput} />;
}

/** Returns the output of a command as text. */
function outputOf(rows: readonly TerminalRow[], command: TerminalRow): string {
  const lines: string[] = [];
  for (const row of rows.slice(rows.indexOf(command) + 1)) {
    if (row.type === 'command') break;
    if (row.type === 'line') lines.push(`${textOf(row.line.runs)}\n`);
  }
  return lines.join('');
}

interface CommandLineProps {
  readonly command: Command;
  readonly query: string;
  readonly text: () => string;
  readonly hasOutput: boolean;
}

function CommandLine({ command, query, text, hasOutput }: CommandLineProps) {
  const copy = useCopy();
  const { entry, decision, startedAt } = command;
  const title = visible(toolTitle(entry.title)) || toolCall.toolCall;
  return (
    <div className={`terminal-command ${entry.toolStatus.toLowerCase()}`}>
      <Icon name="chevron" size={12} />
      <b>
        <Marked runs={[{ text: title, style: '' }]} query={query} />
      </b>
      <span className="state">{stateLabel(entry, decision)}</span>
      <Time at={startedAt} />
      {hasOutput && (
        <Button
          tone="quiet"
          size="small"
          icon="copy"
          aria-label={texts.copyOutput({ title })}
          onClick={() => void copy(text())}
        />
      )}
    </div>
  );
}

function Line({ line, query }: { readonly line: TerminalLine; readonly query: string }) {
  return (
    <span className="terminal-line">
      <Marked runs={line.runs} query={query} />
      {'\n'}
    </span>
  );
}

function Marked({ runs, query }: { readonly runs: TerminalLine['runs']; readonly query: string }) {
  return markRuns(runs, query).map(({ text, style, isMatch }, index) => {
    const shown = isMatch ? <mark>{text}</mark> : text;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity.
      <span key={index} {...styleOf(style)}>
        {shown}
      </span>
    );
  });
}
