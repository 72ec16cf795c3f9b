import { inTurn } from '../../turns.ts';
import type { AutomationRecord } from '../model/automations.ts';
import { recurrencesOf } from '../model/definition.ts';
import { nextZonedOccurrences, parseZonedRecurrence, type ZonedRecurrence } from '../recurrence/zoned-recurrence.ts';

/** Rules whose times are remembered; the one that was not asked for the longest goes first. */
const maxRules = 2_000;

/** After a step that took longer than this the next one finds a single time. */
const quickMs = 2;

/** The times of one rule that have been found. */
interface CachedTimes {
  readonly zoned: ZonedRecurrence;
  /** They are all that lie between this moment and the last of them. */
  after: Date;
  times: Date[];
  /** None follows. */
  isComplete: boolean;
  /** What looks for more at this moment. */
  search: Promise<void> | null;
}

const cache = new Map<string, CachedTimes>();

/** What of an automation its times come of. */
export type Recurring = Pick<AutomationRecord, 'enabled' | 'triggers' | 'createdAt'>;

/**
 * The next time of an automation's recurring triggers that lies after a moment, found at once, for those who hold locks; null:
 * there is none. TooDearError for rules that take more than a few milliseconds: ask {@link upcomingOccurrences}.
 */
export function nextOccurrenceAtOnce({ enabled, triggers, createdAt }: Recurring, after: Date): Date | null {
  if (!enabled) return null;
  const times = recurrencesOf(triggers).flatMap(({ text, timeZone }) => {
    const { zoned } = parseZonedRecurrence(text, createdAt, timeZone);
    return zoned === null ? [] : nextZonedOccurrences(zoned, after, 1, 'quick').map((time) => time.getTime());
  });
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/**
 * The next times of an automation's recurring triggers that lie after a moment, at most `count`, in order, each once; none while
 * it is disabled. Rules are read from when it was made. What has been found is remembered for all who ask, and what has not is
 * looked for in turns, since a rule may take a hundred milliseconds for one time.
 */
export async function upcomingOccurrences(automation: Recurring, after: Date, count: number): Promise<Date[]> {
  if (!automation.enabled) return [];
  const found = await Promise.all(
    recurrencesOf(automation.triggers).map(({ text, timeZone }) =>
      timesOf({ text, timeZone, createdAt: automation.createdAt }, after, count),
    ),
  );
  const times = new Set(found.flat().map((time) => time.getTime()));
  return [...times]
    .toSorted((one, other) => one - other)
    .slice(0, count)
    .map((time) => new Date(time));
}

interface Rule {
  readonly text: string;
  readonly timeZone: string | null;
  /** Where it begins, if it does not say so itself. */
  readonly createdAt: Date;
}

async function timesOf(rule: Rule, after: Date, count: number): Promise<readonly Date[]> {
  const entry = entryOf(rule);
  if (entry === null) return [];
  for (;;) {
    if (entry.search !== null) {
      await entry.search;
      continue;
    }
    // The clock was put back: what lay before was never looked at.
    if (after < entry.after) Object.assign(entry, { after, times: [], isComplete: false });
    const times = entry.times.filter((time) => time > after);
    if (times.length >= count || entry.isComplete) return times.slice(0, count);
    entry.search = findMore(entry, after, count).finally(() => {
      entry.search = null;
    });
  }
}

function entryOf(rule: Rule): CachedTimes | null {
  const key = JSON.stringify([rule.text, rule.timeZone, rule.createdAt]);
  const entry = cache.get(key) ?? readRule(rule);
  if (entry === null) return null;
  // At the end again: the first of a map is the oldest.
  cache.delete(key);
  cache.set(key, entry);
  for (const oldest of cache.keys()) {
    if (cache.size <= maxRules) break;
    cache.delete(oldest);
  }
  return entry;
}

function readRule({ text, timeZone, createdAt }: Rule): CachedTimes | null {
  const { zoned } = parseZonedRecurrence(text, createdAt, timeZone);
  // Nothing has been looked at: whatever moment is asked for first lies before this one.
  return zoned && { zoned, after: new Date(8.64e15), times: [], isComplete: false, search: null };
}

async function findMore(entry: CachedTimes, after: Date, count: number): Promise<void> {
  let step = 1;
  // No longer than what was asked for: what lies in the past is of no use to anybody.
  entry.times = entry.times.filter((time) => time > after);
  entry.after = after;
  while (entry.times.length < count && !entry.isComplete) {
    const wanted = Math.min(step, count - entry.times.length);
    const from = entry.times.at(-1) ?? after;
    const { found, tookMs } = await inTurn(() => {
      const startedAt = performance.now();
      return { found: nextZonedOccurrences(entry.zoned, from, wanted), tookMs: performance.now() - startedAt };
    });
    entry.times.push(...found);
    entry.isComplete = found.length < wanted;
    step = tookMs > quickMs ? 1 : 5;
  }
}
