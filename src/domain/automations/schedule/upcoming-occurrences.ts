import { inTurn } from '../../turns.ts';
import type { AutomationRecord } from '../model/automations.ts';
import { recurrencesOf } from '../model/definition.ts';
import { nextZonedOccurrences, parseZonedRecurrence, type ZonedRecurrence } from '../recurrence/zoned-recurrence.ts';

/** Number of rules whose times are cached; the least recently used one is removed first. */
const maxRules = 2_000;

/** After a step that took longer than this the next one finds a single time. */
const quickMs = 2;

/** The cached times of one rule. */
interface CachedTimes {
  readonly zoned: ZonedRecurrence;
  /** They are complete between this moment and the last of them. */
  after: Date;
  times: Date[];
  /** True: no time follows. */
  isComplete: boolean;
  /** The current search for more times. */
  search: Promise<void> | null;
}

const cache = new Map<string, CachedTimes>();

/** The fields of an automation that determine its times. */
export type Recurring = Pick<AutomationRecord, 'enabled' | 'triggers' | 'createdAt'>;

/**
 * Returns the next occurrence of an automation's recurring triggers after a moment, computed at once, for callers that
 * hold locks; null: there is none. Throws OverBudgetError for rules that need more than a few milliseconds: use {@link
 * upcomingOccurrences} for them.
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
 * Returns the next occurrences of an automation's recurring triggers after a moment, at most `count`, in order, without
 * duplicates; none while it is disabled. Rules without a start begin when the automation was created. Known times are
 * cached for all callers, and others are computed over several turns of the event loop, since a rule may need a hundred
 * milliseconds for one time.
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
  /** The start of a rule that has none of its own. */
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
    // The clock was set back: earlier times have not been computed.
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
  // Moves it to the end: the first entry of a map is the oldest.
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
  // Nothing has been computed: any requested moment is before this one.
  return zoned && { zoned, after: new Date(8.64e15), times: [], isComplete: false, search: null };
}

async function findMore(entry: CachedTimes, after: Date, count: number): Promise<void> {
  let step = 1;
  // Drops times in the past.
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
