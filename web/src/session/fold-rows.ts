import { transcriptFolds as texts } from '../texts/session.ts';
import { writeDuration } from '../ui/duration.ts';
import type { Row } from './transcript-rows.ts';

type ToolRow = Extract<Row, { type: 'tool' }>;
type ThoughtRow = Extract<Row, { type: 'thought' }>;

/** Finished tool calls that follow each other, with the thoughts between them. */
export interface FoldRow {
  readonly key: string;
  readonly type: 'fold';
  readonly rows: readonly (ToolRow | ThoughtRow)[];
  readonly isReverted?: true;
}

/** The rows of an attempt at a turn that was interrupted. */
export interface AttemptRow {
  readonly key: string;
  readonly type: 'attempt';
  readonly rows: readonly Row[];
  readonly isReverted?: true;
}

/** The first row of a day. */
export interface DayRow {
  readonly key: string;
  readonly type: 'day';
  readonly at: string;
}

/** A row as the transcript shows it. */
export type ShownRow = Row | FoldRow | AttemptRow | DayRow;

/** The number of calls from which they are folded. */
const minCalls = 2;
/** The most rows in a fold: it renders all of them when it is opened. */
const maxRows = 100;

/**
 * Folds finished tool calls that follow each other into one row, with the thoughts between them, and the rows of each interrupted
 * attempt into another, and adds the separators between days. Failed and denied calls stay visible. `isKept`: the row with this key is not folded, because it is open.
 */
export function shownRows(rows: readonly Row[], isKept: (key: string) => boolean): readonly ShownRow[] {
  const shown: ShownRow[] = [];
  let run: (ToolRow | ThoughtRow)[] = [];
  let after: ThoughtRow[] = [];
  let day: string | null = null;
  const add = (row: Row | FoldRow | AttemptRow) => {
    const at = markOf(row)?.at;
    const next = at === undefined ? day : new Date(at).toDateString();
    if (at !== undefined && next !== day) shown.push({ key: `day ${next}`, type: 'day', at });
    day = next;
    shown.push(row);
  };
  const end = () => {
    const [first] = run;
    if (first !== undefined && run.filter(({ type }) => type === 'tool').length >= minCalls)
      add({ key: `fold ${first.key}`, type: 'fold', rows: run, ...(first.isReverted && { isReverted: true }) });
    else for (const row of run) add(row);
    for (const row of after) add(row);
    [run, after] = [[], []];
  };
  for (const row of foldAttempts(rows)) {
    if (row.type === 'attempt') {
      end();
      add(row);
      continue;
    }
    const [first] = run;
    const isNext = first === undefined || (first.isReverted === row.isReverted && run.length < maxRows);
    if (isFinished(row) && !isKept(row.key)) {
      if (!isNext) end();
      run.push(...after, row);
      after = [];
    } else if (row.type === 'thought' && !row.isOpen && first !== undefined && isNext) after.push(row);
    else {
      end();
      add(row);
    }
  }
  end();
  return shown;
}

/** Replaces the rows of each interrupted attempt by one at the place of the first; the rows between them stay. */
function foldAttempts(rows: readonly Row[]): readonly (Row | AttemptRow)[] {
  const shown: (Row | AttemptRow)[] = [];
  let open: { readonly at: number; readonly rows: Row[] } | null = null;
  for (const row of rows) {
    if (row.interruptedAt === undefined) {
      shown.push(row);
      continue;
    }
    if (open === null || open.at !== row.interruptedAt || open.rows.length === maxRows) {
      open = { at: row.interruptedAt, rows: [] };
      const isReverted = row.isReverted && { isReverted: row.isReverted };
      shown.push({ key: `attempt-${row.key}`, type: 'attempt', rows: open.rows, ...isReverted });
    }
    open.rows.push(row);
  }
  return shown;
}

const isFinished = (row: Row): row is ToolRow =>
  row.type === 'tool' && row.entry.toolStatus === 'COMPLETED' && row.draft === null && row.decision === null;

/** The number in the log and the time of the first entry of a row; null for a draft and a separator. */
export function markOf(row: ShownRow): { readonly seq: number; readonly at: string } | null {
  switch (row.type) {
    case 'day':
      return null;
    case 'attempt':
    case 'fold':
      return row.rows[0] === undefined ? null : markOf(row.rows[0]);
    case 'tool':
      return { seq: row.seq, at: row.startedAt };
    case 'thought':
      return row.mark;
    case 'line':
      return { seq: row.seq, at: row.at };
    default:
      return row.entry === null ? null : { seq: row.entry.seq, at: row.entry.createdAt };
  }
}

/** Returns true if the row has failed: a tool call, a clone, or an error of the session. */
export const hasFailed = (row: ShownRow): boolean =>
  (row.type === 'tool' && row.entry.toolStatus === 'FAILED') ||
  (row.type === 'repository' && row.entry.repositoryState === 'FAILED') ||
  (row.type === 'line' && row.tone === 'bad');

const groups = [
  ['EXECUTE', texts.commands],
  ['EDIT', texts.edits],
  ['READ', texts.reads],
  ['SEARCH', texts.searches],
  ['FETCH', texts.fetches],
] as const;

/** Tool kinds that count as others. */
const sameKind: Readonly<Record<string, string>> = { DELETE: 'EDIT', MOVE: 'EDIT' };

/** Returns a summary of folded rows, such as "Ran 4 commands, edited 3 files · 42 sec". */
export function foldSummary({ rows }: Pick<FoldRow, 'rows'>): string {
  const calls = rows.flatMap((row) => (row.type === 'tool' ? [row] : []));
  const kindOf = ({ entry: { toolKind } }: ToolRow) => sameKind[toolKind] ?? toolKind;
  const known = groups.flatMap(([kind, text]) => {
    const same = calls.filter((call) => kindOf(call) === kind);
    if (same.length === 0) return [];
    return [text(kind === 'EDIT' || kind === 'READ' ? countFiles(same) : same.length)];
  });
  const rest = calls.filter((call) => !groups.some(([kind]) => kind === kindOf(call))).length;
  const parts = [...known, ...(rest > 0 ? [texts.others(rest)] : [])].join(', ');
  const from = calls[0]?.startedAt ?? '';
  const to = calls.at(-1)?.entry.createdAt ?? from;
  const duration = writeDuration(Date.parse(to) - Date.parse(from));
  const capital = parts.charAt(0).toUpperCase() + parts.slice(1);
  return duration === null ? capital : texts.withDuration({ parts: capital, duration });
}

/** Several calls may concern one file. A call without a path counts as one file. */
function countFiles(calls: readonly ToolRow[]): number {
  const paths = calls.flatMap(({ key, entry: { diffs, locations } }) => {
    const named = [...diffs, ...locations].map(({ path }) => path);
    return named.length === 0 ? [key] : [named[0] ?? key];
  });
  return new Set(paths).size;
}
