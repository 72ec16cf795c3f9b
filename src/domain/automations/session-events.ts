import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import type { FeedPlace } from '../feeds/feeds.ts';
import { type FeedEntry, type FeedUser, readFeed } from '../feeds/read-feed.ts';
import type { Action, Trigger } from './definition.ts';
import { eventText } from './event-text.ts';
import { fireLocked, noteCrash } from './fire.ts';
import { type FireCause, lockForFiring } from './firing.ts';
import { automationFeed, isFollowing, mostFollowing } from './follow-sessions.ts';
import { mostInARow } from './session-depth.ts';
import { findSessionEvents, type SessionEvent } from './session-happenings.ts';
import { type Look, slowMessage, type Verdicts, withVerdicts } from './verdicts.ts';

/** Runs that one transaction makes. */
const mostFirings = 20;
/** After so many attempts that ended with an error which is no refusal, the run fails and the others go on. */
const mostAttempts = 3;

interface Follower {
  readonly id: string;
  readonly triggers: readonly Trigger[];
  readonly actions: readonly Action[];
  readonly sinceAt: Date;
}

interface InHand {
  automationId: string;
  cause: FireCause;
}

/**
 * Lets automations act on what has happened in an organization's listed sessions since it was last read, each event once for
 * each automation: the runs, and how far was read, are one transaction. As {@link readFeed}.
 */
export async function readSessionEvents(
  services: Services,
  organizationId: string,
  from: FeedPlace | null,
): Promise<FeedPlace | null> {
  for (let attempt = 1; ; attempt++) {
    const hand: { held: InHand | null } = { held: null };
    try {
      return await withVerdicts(services, (verdicts) => {
        hand.held = null;
        return readFeed(services, feedUser(hand, verdicts), organizationId, from);
      });
    } catch (error) {
      // Where patterns cannot be run now, the events come again.
      if (hand.held === null || error instanceof RateLimitedError) throw error;
      if (attempt < mostAttempts) continue;
      const { automationId, cause } = hand.held;
      services.log.error({ err: error, automationId }, 'An automation could not act on an event of a session.');
      await services.store.transact(async (tx) =>
        noteCrash(services, tx, await lockForFiring(tx, automationId), cause),
      );
      attempt = 0;
    }
  }
}

const feedUser = (hand: { held: InHand | null }, verdicts: Verdicts): FeedUser => ({
  ...automationFeed,
  kinds: ['STATUS'],
  async listen(services, tx, organizationId) {
    const followers = await tx.query<Follower>(
      `select a.id, a.triggers, a.actions, a.session_events_since_at as "sinceAt" from automation a
        where a.organization_id = $1 and ${isFollowing} order by a.id limit ${mostFollowing}`,
      [organizationId],
    );
    if (followers.length === 0) return null;
    return {
      sinceAt: new Date(Math.min(...followers.map(({ sinceAt }) => sinceAt.getTime()))),
      hear: (entries) => hear(services, tx, { organizationId, entries, followers, hand, verdicts }),
    };
  },
});

interface Hearing {
  readonly organizationId: string;
  readonly entries: readonly FeedEntry[];
  readonly followers: readonly Follower[];
  readonly hand: { held: InHand | null };
  readonly verdicts: Verdicts;
}

interface Wanted {
  readonly event: SessionEvent;
  readonly automationId: string;
}

const keyOf = ({ entry }: SessionEvent) => `event:${entry.id}`;

interface Following {
  readonly organizationId: string;
  readonly automationId: string;
  readonly triggers: readonly Trigger[];
}

function lookOf(
  { organizationId, automationId, triggers }: Following,
  { entry, eventType, fields }: SessionEvent,
): Look {
  const conditions = triggers.filter((each) => each.eventType === eventType).map((each) => each.conditions);
  return { organizationId, automationId, eventId: entry.id, conditions, event: fields };
}

async function hear(services: Services, tx: Transaction, hearing: Hearing): Promise<number> {
  const { organizationId, entries, followers, hand, verdicts } = hearing;
  const writtenTo = followers.flatMap(({ id: automationId, actions }) =>
    actions.flatMap((action) =>
      action.type === 'message_session' && action.targetSessionId != null
        ? [{ sessionId: action.targetSessionId, automationId }]
        : [],
    ),
  );
  const events = await findSessionEvents(services, tx, entries, writtenTo);
  const pairs = events.flatMap((event) =>
    followers
      .filter(({ sinceAt }) => sinceAt <= event.entry.createdAt)
      .map(({ id: automationId, triggers }) => {
        return { event, automationId, look: lookOf({ organizationId, automationId, triggers }, event) };
      }),
  );
  // Enough for all followers of one event, so that each reading gets further.
  const found = verdicts.find(
    pairs.map(({ look }) => look),
    mostFollowing,
  );
  const all: Wanted[] = pairs.filter((_, n) => n < found.length && found[n] !== false);
  const open = await withoutDone(tx, all);
  const now = open.slice(0, mostFirings);
  const alive = await lockAll(tx, now);
  for (const { event, automationId } of now) {
    if (!alive.has(automationId)) continue;
    const cause = causeOf(event);
    hand.held = { automationId, cause };
    const firing = await lockForFiring(tx, automationId);
    // It may have been changed since it was read, and disabled by what came just before.
    const { enabled, triggers } = firing.automation;
    const [verdict = false] = enabled ? verdicts.find([lookOf({ organizationId, automationId, triggers }, event)]) : [];
    if (verdict === false) continue;
    await fireLocked(services, tx, firing, verdict === true ? cause : { skip: slowMessage(verdict), ...cause });
  }
  hand.held = null;
  const rest = (open[mostFirings] ?? pairs[found.length])?.event;
  return rest === undefined ? entries.length : entries.indexOf(rest.entry);
}

// What was left of an entry comes again with those that have been told of it.
async function withoutDone(tx: Transaction, all: readonly Wanted[]): Promise<Wanted[]> {
  if (all.length === 0) return [];
  const done = await tx.query<{ automationId: string; key: string }>(
    `select r.automation_id as "automationId", r.delivery_key as key
       from unnest($1::text[], $2::text[]) w(id, key)
       join automation_run r on r.automation_id = w.id and r.delivery_key = w.key`,
    [all.map(({ automationId }) => automationId), all.map(({ event }) => keyOf(event))],
  );
  const known = new Set(done.map(({ automationId, key }) => `${automationId} ${key}`));
  return all.filter(({ event, automationId }) => !known.has(`${automationId} ${keyOf(event)}`));
}

// All of them before any acts, and in one order: who has locked a session must wait for no automation.
async function lockAll(tx: Transaction, wanted: readonly Wanted[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(
    `select a.id from automation a where a.id = any($1::text[]) and ${isFollowing} order by a.id for update`,
    [[...new Set(wanted.map(({ automationId }) => automationId))]],
  );
  return new Set(rows.map(({ id }) => id));
}

function causeOf(event: SessionEvent): FireCause {
  const { entry, eventType, depth, fields } = event;
  const heading = `Something happened in a session (${eventType}).`;
  return {
    deliveryKey: keyOf(event),
    trigger: { eventType, sessionId: entry.sessionId, eventId: entry.id },
    addition: eventText(heading, JSON.stringify({ event: eventType, session: fields }, null, 2)),
    depth,
    ...(depth < mostInARow
      ? {}
      : { skip: `${mostInARow} automations have followed one another to this session, and no more may.` }),
  };
}
