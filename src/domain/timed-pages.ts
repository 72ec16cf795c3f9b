import {
  type Page,
  type PageLimits,
  type PageRequest,
  type PageWindow,
  pageWindow,
  readTimeCursor,
  type TimeCursor,
  toPage,
  writeCursor,
} from './pages.ts';

const timeColumns = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/** A list that is ordered by a time and then an id. */
export interface TimedList {
  /** The name in its cursors: those of another list are refused. */
  readonly name: string;
  /** The alias of the table whose time and `id` make the order. */
  readonly row: string;
  /** Which of its times, as its records name it; `createdAt` when left out. */
  readonly at?: keyof typeof timeColumns;
  /** True: the oldest first. Left out: the newest first. */
  readonly isOldestFirst?: boolean;
}

/** The parts of a statement that reads one page of a {@link TimedList}, and what makes the page of its rows. */
export interface TimedPage {
  readonly window: PageWindow<TimeCursor>;
  /** What holds for the rows after and before the cursors; empty without cursors. */
  readonly beyond: readonly string[];
  /** `order by …`, from the end that is read from. */
  readonly order: string;
  /** The same by the columns of the given place. */
  readonly sourceOrder: string;
  /** The direction of both. */
  readonly direction: 'asc' | 'desc';
  /** The placeholder of how many rows to read: one more than the page has. */
  readonly limit: string;
  /** `at` says where a row stands, if not by its own time and `id`. */
  toPage<T extends TimedRow>(rows: readonly T[]): Page<T>;
  toPage<T>(rows: readonly T[], at: (item: T) => TimeCursor): Page<T>;
}

interface TimedRow {
  readonly id: string;
  readonly createdAt: Date;
}

/** The columns of time and id that say where a row of a {@link TimedList} stands. */
export interface RowPlace {
  readonly at: string;
  readonly id: string;
}

/**
 * Reads a request for a page of a list. `bind` adds a value and gives its placeholder; `place` are the columns that `beyond`
 * and `sourceOrder` go by, if not the row's own. The errors of {@link pageWindow}.
 */
export function timedPage(
  { name, row, at: time = 'createdAt', isOldestFirst = false }: TimedList,
  request: PageRequest,
  limits: PageLimits,
  bind: (value: unknown) => string,
  place?: RowPlace,
): TimedPage {
  const window = pageWindow(request, limits, (text) => readTimeCursor(name, text));
  const own: RowPlace = { at: `${row}.${timeColumns[time]}`, id: `${row}.id` };
  const source = place ?? own;
  const position = (sign: string, { at, id }: TimeCursor) =>
    `(${source.at}, ${source.id}) ${sign} (${bind(at)}::timestamptz, ${bind(id)}::text)`;
  const [later, earlier] = isOldestFirst ? ['>', '<'] : ['<', '>'];
  const direction = isOldestFirst === window.backward ? 'desc' : 'asc';
  const orderBy = (by: RowPlace) => `order by ${by.at} ${direction}, ${by.id} ${direction}`;
  return {
    window,
    beyond: [
      ...(window.after ? [position(later, window.after)] : []),
      ...(window.before ? [position(earlier, window.before)] : []),
    ],
    order: orderBy(own),
    sourceOrder: orderBy(source),
    direction,
    limit: bind(window.limit + 1),
    toPage<T>(rows: readonly T[], at: (item: T) => TimeCursor = standsAt(time)) {
      return toPage(rows, window, (item) => {
        const place = at(item);
        return writeCursor(name, place.at.getTime(), place.id);
      });
    },
  };
}

// Only reached for rows that have both: the overload without `at` asks for them.
function standsAt(time: keyof typeof timeColumns): (item: unknown) => TimeCursor {
  return (item) => {
    const row = item as TimedRow & { readonly updatedAt: Date };
    return { at: row[time], id: row.id };
  };
}
