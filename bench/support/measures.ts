/** A row of the table: its limit, its target, its unit, and its good direction. */
interface Measure {
  readonly title: string;
  readonly unit: string;
  /** Null: only reported. */
  readonly bar: number | null;
  readonly hope: number | null;
  readonly good: 'low' | 'high';
}

const low = (title: string, unit: string, bar: number | null, hope: number | null): Measure => ({
  title,
  unit,
  bar,
  hope,
  good: 'low',
});
const high = (title: string, unit: string, bar: number | null, hope: number | null): Measure => ({
  ...low(title, unit, bar, hope),
  good: 'high',
});

/** All rows. The part before the slash is the name of the file that measures it. */
export const measures = {
  'graphql-page/cpu': low('GraphQL page, 20 sessions × 5 messages: CPU', '× PostGraphile', 0.6, 0.35),
  'graphql-page/throughput': high('GraphQL page, 20 sessions × 5 messages: throughput', '× bare', 0.4, 0.6),
  'traces/cpu': low('GraphQL page with traces of 1 % of requests: CPU', '× without', null, 1.01),
  'rest-lists/v1-cpu': low('v1 session list of 100: CPU', '× bare', 2.5, 1.5),
  'rest-lists/v3-cpu': low('v3 session list of 100: CPU', '× bare', 2.5, 1.5),
  'one-session/graphql-cpu': low('session(id): CPU', '× bare', 3, 2),
  'one-session/v3-cpu': low('GET /v3/…/sessions/{id}: CPU', '× bare', 2.5, 1.5),
  'fan-out/one-session': low('Fan-out, 1,000 subscribers on one session: CPU per delivery', '× bare ws', 2.5, 1.5),
  'fan-out/200-sessions': low('Fan-out, 1,000 subscribers over 200 sessions: CPU per delivery', '× bare ws', 6, 3),
  'idle-subscriptions/memory': low('Memory per idle subscription', 'KB', 25, 10),
  'latency/p99': low('Publish to receive, 500 messages/s over 100 sessions: p99', 'ms', null, 20),
  'notifications/growth': low('Notifications received by a process, 12 processes', '× 3 processes', null, 1.1),
  'live/one-process': low('Drafts, chunk of the agent to subscriber, one process: p95', 'ms', 100, 60),
  'live/two-processes': low('The same, API and worker in two processes: p95', 'ms', 150, 90),
  'live/opencode-one-process': low('Text of opencode, ACP chunk to subscriber, one process: p95', 'ms', 100, 60),
  'live/opencode-two-processes': low('The same, a subscriber on another process: p95', 'ms', 150, 90),
  'live/opencode-console': low('The same, visible in the console: p95', 'ms', 150, 90),
  'live/cpu': low('Drafts, 200 sessions × 20 parts/s, one subscriber each: CPU of the API', '× bare ws', 1.5, 1.2),
  'live/unwatched': low('CPU of a worker for 1,000 chunks of unwatched sessions', 'ms', null, null),
  'open-session/hover': low(
    'Console, click to transcript after the pointer was on the link for 150 ms: p95',
    'ms',
    200,
    100,
  ),
  'open-session/click': low('The same, without the pointer on the link before: p95', 'ms', 200, 150),
  'open-session/keyboard': low('The same, Enter after the link had the focus for 150 ms: p95', 'ms', 200, 100),
  'repositories/warm': low('Warm mirror, 100 MB and 5,000 files, createSession to prompt: p95', 's', 1, 0.7),
  'repositories/warm-sandbox': low('The same, in bubblewrap: p95', 's', 1, 0.7),
  'repositories/second': low('The same, the later of two sessions at once: p95', 's', null, null),
  'repositories/warm-ratio': low(
    'One session without a sandbox, against git clone --shared by hand: p50',
    '×',
    null,
    null,
  ),
  'repositories/cold': low('Cold, createSession to prompt, against git clone: median', '×', 1.25, 1.1),
  'environments/second': low('100 MB and packages of npm, set up already, createSession to prompt: p95', 's', 3, 2),
  'checkpoints/line-cpu': low('Save after a change of one line, 5,000 files: CPU, p50', 'ms', 50, 25),
  'checkpoints/line-bytes': low('The same: stored, p95', 'KB', 10, 5),
  'checkpoints/warm': low('100 MB and 20,000 ignored files, claim by another worker to prompt: p95', 's', 3, 2),
  'checkpoints/cold': low('The same, on a worker without a mirror: p95', 's', 3, 2),
  'checkpoints/warm-ratio': low('Such a move with a mirror, against git clone and tar by hand: p50', '×', null, null),
  'checkpoints/fork': low('Fork of such a session: response of forkSession, p95', 's', 1, 0.5),
  'checkpoints/fork-prompt': low('The same: request to prompt, on a worker with a mirror, p95', 's', null, null),
  'checkpoints/lost-work': low('Age of the lost tool calls when a worker is killed: p95', 's', 5, 3),
  'shared-service/start': low(
    'Another organization has 10,000 sessions in the queue and 100 sockets: createSession to prompt: p99',
    'ms',
    null,
    null,
  ),
  'shared-service/query': low('The same: a small query, p99', 'ms', null, null),
  'append/throughput': high('Append of a message (log, notification, audit): throughput', '× bare INSERT', 0.4, 0.7),
  'big-tables/first': low('First page, big tables against 10,000 sessions: time', '×', 1.3, 1.1),
  'big-tables/middle': low('Middle page by cursor, the same', '×', 1.3, 1.1),
  'big-tables/last': low('Last page by cursor, the same', '×', 1.3, 1.1),
  'big-tables/v1-offset': low('v1 page by offset, in the middle, the same', '×', null, null),
  'rows-read/unfiltered': low('Rows read beyond the page and one per level, unfiltered', 'rows', 0, null),
  'rows-read/status': low('The same, by status', 'rows', 0, null),
  'rows-read/archived': low('The same, by archived', 'rows', 0, null),
  'rows-read/tag': low('The same, by one tag', 'rows', 0, null),
  'pglite/graphql-page': high('PGlite: the GraphQL page’s throughput', '× PostgreSQL', null, null),
  'pglite/append': high('PGlite: throughput of appends', '× PostgreSQL', null, null),
  'start/ready': low('Start to ready, embedded, from an empty directory', 's', null, 3),
  'start/idle-memory': low('Idle memory, embedded', 'MB', null, 400),
} as const satisfies Record<string, Measure>;

/** See {@link measures}. */
export type MeasureName = keyof typeof measures;

/** A measured row. `value` null: it could not be measured, for the reason in `note`. */
export interface Row {
  readonly name: MeasureName;
  readonly value: number | null;
  /** The source of the value. */
  readonly note: string;
}

/** The status of a row: `hope` reached, `bar` held, `missed`, or neither defined. */
export function standing({ name, value }: Row): 'hope' | 'bar' | 'missed' | 'reported' | 'not measured' {
  const { bar, hope, good }: Measure = measures[name];
  if (value === null) return 'not measured';
  const reaches = (mark: number) => (good === 'low' ? value <= mark : value >= mark);
  if (hope !== null && reaches(hope)) return 'hope';
  if (bar === null) return 'reported';
  return reaches(bar) ? 'bar' : 'missed';
}

/** The rows as `--json` writes them. */
export function toJson(rows: readonly Row[]): object[] {
  return rows.map((row) => {
    const { bar, hope, unit, good } = measures[row.name];
    const { name, value, note } = row;
    return { name, value, bar, hope, unit, good, standing: standing(row), note };
  });
}

/** The rows as text for a terminal, which is also Markdown. */
export function toTable(rows: readonly Row[]): string {
  const sign = { low: '≤', high: '≥' } as const;
  const cells = rows.map((row) => {
    const { title, bar, hope, unit, good } = measures[row.name];
    const mark = (value: number | null) => (value === null ? '' : `${sign[good]} ${value}`);
    const value = row.value === null ? '–' : `${show(row.value)} ${unit}`;
    return [`${title} (\`${row.name}\`)`, value, mark(bar), mark(hope), standing(row), row.note];
  });
  const head = ['measure', 'value', 'bar', 'hope', 'stands', 'made of'];
  const widths = head.map((name, n) => Math.max(name.length, ...cells.map((cell) => (cell[n] ?? '').length)));
  const line = (cell: readonly string[]) => `| ${cell.map((text, n) => text.padEnd(widths[n] ?? 0)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}

/** Formats a number with its significant digits. */
export function show(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toFixed(digits);
}
