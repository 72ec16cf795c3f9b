import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { FeedPlace } from '../feeds/feeds.ts';
import { type FeedEntry, type FeedUser, readFeed } from '../feeds/read-feed.ts';
import type { Action, Trigger } from './definition.ts';
import { eventText } from './event-text.ts';
import { fireLocked, noteCrash } from './fire.ts';
import { type FireCause, lockForFiring } from './firing.ts';
import { automationFeed, isFollowing, mostFollowing } from './follow-sessions.ts';
import { matchesConditions } from './match-conditions.ts';
import { mostInARow } from './session-depth.ts';
import { findSessionEvents, type SessionEvent } from './session-happenings.ts';

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
      return await readFeed(services, feedUser(hand), organizationId, from);
    } catch (error) {
      if (hand.held === null) throw error;
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

const feedUser = (hand: { held: InHand | null }): FeedUser => ({
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
      hear: (entries) => hear(services, tx, { entries, followers, hand }),
    };
  },
});

interface Hearing {
  readonly entries: readonly FeedEntry[];
  readonly followers: readonly Follower[];
  readonly hand: { held: InHand | null };
}

interface Wanted {
  readonly event: SessionEvent;
  readonly automationId: string;
}

const keyOf = ({ entry }: SessionEvent) => `event:${entry.id}`;
const wants = (triggers: readonly Trigger[], { eventType, fields }: SessionEvent) =>
  triggers.some((each) => each.eventType === eventType && matchesConditions(each.conditions, fields));

async function hear(services: Services, tx: Transaction, { entries, followers, hand }: Hearing): Promise<number> {
  const writtenTo = followers.flatMap(({ id: automationId, actions }) =>
    actions.flatMap((action) =>
      action.type === 'message_session' && action.targetSessionId != null
        ? [{ sessionId: action.targetSessionId, automationId }]
        : [],
    ),
  );
  const events = await findSessionEvents(services, tx, entries, writtenTo);
  const all = events.flatMap((event): Wanted[] =>
    followers
      .filter(({ sinceAt, triggers }) => sinceAt <= event.entry.createdAt && wants(triggers, event))
      .map(({ id: automationId }) => ({ event, automationId })),
  );
  const open = await withoutDone(tx, all);
  const now = open.slice(0, mostFirings);
  const alive = await lockAll(tx, now);
  for (const { event, automationId } of now) {
    if (!alive.has(automationId)) continue;
    const cause = causeOf(event);
    hand.held = { automationId, cause };
    const firing = await lockForFiring(tx, automationId);
    // It may have been changed since it was read, and disabled by what came just before.
    if (firing.automation.enabled && wants(firing.automation.triggers, event)) {
      await fireLocked(services, tx, firing, cause);
    }
  }
  hand.held = null;
  const rest = open[mostFirings];
  return rest === undefined ? entries.length : entries.indexOf(rest.event.entry);
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
