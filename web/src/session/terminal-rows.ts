import { useRef } from 'react';
import { OutputScreen } from './output-screen.ts';
import type { TerminalLine } from './terminal-screen.ts';
import { textOf } from './terminal-search.ts';
import { toolTitle } from './tool-title.ts';
import type { Command } from './use-commands.ts';

/** A row of the tab Terminal. */
export type TerminalRow =
  | { readonly type: 'command'; readonly key: string; readonly command: Command; readonly hasOutput: boolean }
  | { readonly type: 'line'; readonly key: string; readonly line: TerminalLine }
  /** The beginning of the output is missing. */
  | { readonly type: 'cut'; readonly key: string };

/** Returns the text of a row in which the search looks. */
export function searchedText(row: TerminalRow): string {
  if (row.type === 'command') return toolTitle(row.command.entry.title);
  return row.type === 'line' ? textOf(row.line.runs) : '';
}

/** The rows of several commands: each with the lines of its output. */
export function useTerminalRows(commands: readonly Command[]): readonly TerminalRow[] {
  const screens = useRef(new Map<string, OutputScreen>());
  const rows: TerminalRow[] = [];
  for (const command of commands) {
    const { key, entry, draft } = command;
    const screen = screens.current.get(key) ?? new OutputScreen();
    screens.current.set(key, screen);
    const { lines, isCut } = screen.apply(draft, entry.output ?? null, entry.outputFile != null);
    rows.push({ type: 'command', key, command, hasOutput: lines.length > 0 });
    if (isCut) rows.push({ type: 'cut', key: `${key}:cut` });
    for (const line of lines) rows.push({ type: 'line', key: `${key} ${line.key}`, line });
  }
  return rows;
}
