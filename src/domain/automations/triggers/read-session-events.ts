import { RateLimitedError } from '../../../common/errors.ts';
import type { TransactionCursor } from '../../../realtime/transaction-cursor.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { type FeedEntry, type FeedProcessor, readFeed } from '../../feeds/read-feed.ts';
import type { Action, Trigger } from '../model/definition.ts';
import { lockForRun, type RunCause } from '../runs/locked-automation.ts';
import { recordCrash, startRun } from '../runs/start-run.ts';
import { eventText } from './event-text.ts';
import { findSessionEvents, type SessionEvent } from './find-session-events.ts';
import { automationFeed, isFollowing, maxFollowers } from './follow-events.ts';
import { type EventMatcher, type MatchCandidate, slowMessage, withEventMatcher } from './match-events.ts';
import { maxChainLength } from './session-depth.ts';

/** Maximum number of runs that one transaction creates. */
const maxRuns = 20;
/** Number of attempts with an unexpected error after which the run fails and the others continue. */
const maxAttempts = 3;

interface Follower {
  readonly id: string;
  readonly triggers: readonly Trigger[];
  readonly actions: readonly Action[];
  readonly sinceAt: Date;
}

interface CurrentRun {
  automationId: string;
  cause: RunCause;
}

/**
 * Starts the runs of automations on the events in an organization's listed sessions since the last read, each event
 * once for each automation: the runs, and the feed's cursor, are one transaction. Otherwise as {@link readFeed}.
 */
export async function readSessionEvents(
  services: Services,
  organizationId: string,
  from: TransactionCursor | null,
): Promise<TransactionCursor | null> {
  for (let attempt = 1; ; attempt++) {
    const progress: { current: CurrentRun | null } = { current: null };
    try {
      return await withEventMatcher(services, (matcher) => {
        progress.current = null;
        return readFeed(services, feedProcessor(progress, matcher), organizationId, from);
      });
    } catch (error) {
      // If patterns cannot be run now, the events are read again later.
      if (progress.current === null || error instanceof RateLimitedError) throw error;
      if (attempt < maxAttempts) continue;
      const { automationId, cause } = progress.current;
      services.log.error({ err: error, automationId }, 'An automation could not act on an event of a session.');
      await services.store.transact(async (tx) => recordCrash(services, tx, await lockForRun(tx, automationId), cause));
      attempt = 0;
    }
  }
}

const feedProcessor = (progress: { current: CurrentRun | null }, matcher: EventMatcher): FeedProcessor => ({
  ...automationFeed,
  kinds: ['STATUS', 'PULL_REQUEST'],
  async loadHandler(services, tx, organizationId) {
    const followers = await tx.query<Follower>(
      `select a.id, a.triggers, a.actions, a.session_events_since_at as "sinceAt" from automation a
        where a.organization_id = $1 and ${isFollowing} order by a.id limit ${maxFollowers}`,
      [organizationId],
    );
    if (followers.length === 0) return null;
    return {
      sinceAt: new Date(Math.min(...followers.map(({ sinceAt }) => sinceAt.getTime()))),
      handle: (entries) => handleEntries(services, tx, { organizationId, entries, followers, progress, matcher }),
    };
  },
});

interface EntryBatch {
  readonly organizationId: string;
  readonly entries: readonly FeedEntry[];
  readonly followers: readonly Follower[];
  readonly progress: { current: CurrentRun | null };
  readonly matcher: EventMatcher;
}

interface PendingRun {
  readonly event: SessionEvent;
  readonly automationId: string;
}

const keyOf = ({ entry }: SessionEvent) => `event:${entry.id}`;

interface FollowerTriggers {
  readonly organizationId: string;
  readonly automationId: string;
  readonly triggers: readonly Trigger[];
}

function candidateOf(
  { organizationId, automationId, triggers }: FollowerTriggers,
  { entry, eventType, fields }: SessionEvent,
): MatchCandidate {
  const conditions = triggers.filter((each) => each.eventType === eventType).map((each) => each.conditions);
  return { organizationId, automationId, eventId: entry.id, conditions, event: fields };
}

async function handleEntries(services: Services, tx: Transaction, batch: EntryBatch): Promise<number> {
  const { organizationId, entries, followers, progress, matcher } = batch;
  const messagedSessions = followers.flatMap(({ id: automationId, actions }) =>
    actions.flatMap((action) =>
      action.type === 'message_session' && action.targetSessionId != null
        ? [{ sessionId: action.targetSessionId, automationId }]
        : [],
    ),
  );
  const events = await findSessionEvents(services, tx, entries, messagedSessions);
  const pairs = events.flatMap((event) =>
    followers
      .filter(({ sinceAt }) => sinceAt <= event.entry.createdAt)
      .map(({ id: automationId, triggers }) => {
        return { event, automationId, candidate: candidateOf({ organizationId, automationId, triggers }, event) };
      }),
  );
  // Enough for all followers of one event, so that each read makes progress.
  const found = matcher.match(
    pairs.map(({ candidate }) => candidate),
    maxFollowers,
  );
  const all: PendingRun[] = pairs.filter((_, n) => n < found.length && found[n] !== false);
  const open = await withoutDone(tx, all);
  const now = open.slice(0, maxRuns);
  const alive = await lockAll(tx, now);
  for (const { event, automationId } of now) {
    if (!alive.has(automationId)) continue;
    const cause = causeOf(event);
    progress.current = { automationId, cause };
    const locked = await lockForRun(tx, automationId);
    // It may have been changed since it was read, and disabled by an earlier event of this batch.
    const { enabled, triggers } = locked.automation;
    const [result = false] = enabled
      ? matcher.match([candidateOf({ organizationId, automationId, triggers }, event)])
      : [];
    if (result === false) continue;
    await startRun(services, tx, locked, result === true ? cause : { skip: slowMessage(result), ...cause });
  }
  progress.current = null;
  const rest = (open[maxRuns] ?? pairs[found.length])?.event;
  return rest === undefined ? entries.length : entries.indexOf(rest.entry);
}

// The rest of an entry's runs is read again together with those that exist.
async function withoutDone(tx: Transaction, all: readonly PendingRun[]): Promise<PendingRun[]> {
  if (all.length === 0) return [];
  const done = await tx.query<{ automationId: string; key: string }>(
    `select r.automation_id as "automationId", r.delivery_key as key
       from unnest($1::text[], $2::text[]) w(id, key)
       join automation_run r on r.automation_id = w.id and r.delivery_key = w.key`,
    [all.map(({ automationId }) => automationId), all.map(({ event }) => keyOf(event))],
  );
  const doneKeys = new Set(done.map(({ automationId, key }) => `${automationId} ${key}`));
  return all.filter(({ event, automationId }) => !doneKeys.has(`${automationId} ${keyOf(event)}`));
}

// Locks all of them before any runs, and in one order: a transaction that has locked a session must not wait for an
// automation.
async function lockAll(tx: Transaction, pending: readonly PendingRun[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(
    `select a.id from automation a where a.id = any($1::text[]) and ${isFollowing} order by a.id for update`,
    [[...new Set(pending.map(({ automationId }) => automationId))]],
  );
  return new Set(rows.map(({ id }) => id));
}

function causeOf(event: SessionEvent): RunCause {
  const { entry, eventType, depth, fields } = event;
  const heading = `Event in a session (${eventType}).`;
  return {
    deliveryKey: keyOf(event),
    trigger: { eventType, sessionId: entry.sessionId, eventId: entry.id },
    addition: eventText(heading, JSON.stringify({ event: eventType, session: fields }, null, 2)),
    depth,
    ...(depth < maxChainLength
      ? {}
      : { skip: `${maxChainLength} automations have triggered one another up to this session, which is the maximum.` }),
  };
}
