import type { JournalEntry, PathState } from './journal.ts';

/** The outcome of a restore, compared with the journal of the agent's previous life. */
export interface RestoredComparison {
  /** Paths whose state the agent never had, as sentences. */
  readonly problems: readonly string[];
  /** For files that git does not ignore, and for the others. */
  readonly files: Loss;
  readonly ignored: Loss;
}

/** The finished tool calls whose changes are lost. */
export interface Loss {
  readonly steps: number;
  /** The time from the end of the first lost tool call until the kill, in ms; 0: none is lost. */
  readonly ageMs: number;
}

type Start = Extract<JournalEntry, { type: 'start' }>;

interface Step {
  readonly touches: readonly string[];
  readonly isLong: boolean;
  /** Null: it had not ended before the kill. */
  readonly endedAt: number | null;
}

/** One process of the agent: its start, and its entries after that. */
export interface Life {
  readonly start: Start;
  readonly entries: readonly JournalEntry[];
}

// The service's own files, and a database, of which a checkpoint has a consistent copy with other bytes: the agent checks it.
const otherPath = /^(?:workspace\/\.session(?:\/|$)|home\/agent\/state\.db)/;
const ignoredPath = /^workspace\/(?:.*\/)?(?:node_modules|build)(?:\/|$)/;

/**
 * Compares the files with which an agent starts with those of its last life, which ended at `killedAt`. Each path must have the state
 * after a tool call, or one from within a long tool call; which tool calls are lost follows from that.
 */
export function compareRestored(last: Life, restored: Start, killedAt: number): RestoredComparison {
  const { steps, histories } = readHistories(last, killedAt);
  const problems: string[] = [];
  const lost = { files: Number.POSITIVE_INFINITY, ignored: Number.POSITIVE_INFINITY };
  for (const path of new Set([...histories.keys(), ...Object.keys(restored.states)])) {
    if (otherPath.test(path)) continue;
    const history = histories.get(path) ?? [{ step: -1, state: null }];
    const first = findFirstLost(history, steps, { path, state: restored.states[path] ?? null });
    const isIgnored = ignoredPath.test(path);
    // A checkpoint may be older than the last save of ignored files, and have none of them.
    if (first === null && isIgnored && restored.states[path] === undefined) {
      lost.ignored = -1;
      continue;
    }
    if (first === null) {
      const states = history.map(({ step, state }) => `${step}: ${state}`).slice(-3);
      problems.push(`${path} is "${restored.states[path] ?? 'missing'}" and was ${states.join(', ')}`);
      continue;
    }
    const layer = isIgnored ? 'ignored' : 'files';
    lost[layer] = Math.min(lost[layer], first);
  }
  const lossOf = (first: number): Loss => {
    const endedAt = first < 0 ? last.start.at : (steps[first]?.endedAt ?? null);
    if (endedAt === null) return { steps: 0, ageMs: 0 };
    return { steps: steps.filter((step, n) => n >= first && step.endedAt !== null).length, ageMs: killedAt - endedAt };
  };
  return { problems, files: lossOf(lost.files), ignored: lossOf(lost.ignored) };
}

interface Change {
  /** The position of the step; -1: the start. */
  readonly step: number;
  readonly state: PathState | null;
}

function readHistories({ start, entries }: Life, killedAt: number) {
  const steps: Step[] = [];
  const histories = new Map<string, Change[]>();
  for (const [path, state] of Object.entries(start.states)) histories.set(path, [{ step: -1, state }]);
  for (const entry of entries) {
    if (entry.type === 'begin') steps.push({ touches: entry.touches, isLong: entry.isLong, endedAt: null });
    if (entry.type !== 'end' || entry.at > killedAt) continue;
    const step = steps.length - 1;
    steps[step] = { ...(steps[step] as Step), endedAt: entry.at };
    for (const [path, state] of Object.entries(entry.changes)) {
      const history = histories.get(path) ?? [{ step: -1, state: null }];
      history.push({ step, state });
      histories.set(path, history);
    }
  }
  return { steps, histories };
}

/** Returns the first step whose change of a path is lost; infinite: none; null: the path never had this state. */
function findFirstLost(
  history: readonly Change[],
  steps: readonly Step[],
  { path, state }: { path: string; state: PathState | null },
): number | null {
  const known = history.findLastIndex((change) => change.state === state);
  if (known >= 0) return history[known + 1]?.step ?? Number.POSITIVE_INFINITY;
  // A step that had begun at the kill has no recorded result.
  const touching = steps.findLastIndex(
    (step) => (step.isLong || step.endedAt === null) && step.touches.some((prefix) => isBelow(path, prefix)),
  );
  return touching >= 0 ? touching : null;
}

const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
