import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { ensureFeed, type FeedConsumer } from '../../feeds/feeds.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { Trigger } from '../model/definition.ts';
import { isForgeEvent, isSessionEvent } from '../model/event-types.ts';

/**
 * Maximum number of automations of an organization that follow its session events, and as many that follow events of
 * forges: each event is matched against all of them.
 */
export const maxFollowers = 200;

/** SQL condition: an automation aliased `a` follows session events. */
export const isFollowing = 'a.session_events_since_at is not null and a.is_enabled and a.deleted_at is null';

/** SQL condition: an automation aliased `a` follows events of forges. */
export const isFollowingForges = 'a.forge_events_since_at is not null and a.is_enabled and a.deleted_at is null';

/** The change feed's consumer for automations. */
export const automationFeed: FeedConsumer = {
  feedTable: 'automation_feed',
  progressTable: 'automation_progress',
  isWanted: `exists (select 1 from automation a where a.organization_id = f.organization_id and ${isFollowing})`,
};

/** A kind of events that automations follow from a time on, which the column of this name stores. */
interface FollowedKind {
  readonly since: 'sessionEventsSinceAt' | 'forgeEventsSinceAt';
  readonly isEvent: (eventType: string) => boolean;
  /** The events in messages. */
  readonly events: string;
  /** Prepares an organization before the first automation follows. */
  readonly begin: (tx: Transaction, organizationId: string) => Promise<void>;
}

const kinds: readonly FollowedKind[] = [
  {
    since: 'sessionEventsSinceAt',
    isEvent: isSessionEvent,
    events: 'session events',
    begin: (tx, organizationId) => ensureFeed(tx, automationFeed, organizationId),
  },
  {
    since: 'forgeEventsSinceAt',
    isEvent: isForgeEvent,
    events: 'events of forges',
    begin: () => Promise.resolve(),
  },
];

/**
 * Makes a written automation follow the events of its triggers from now on: those of sessions, and those of forges. Throws
 * LIMIT_EXCEEDED beyond {@link maxFollowers}. `before` null: it is new.
 */
export async function followEvents(
  context: Context,
  tx: Transaction,
  automation: AutomationRecord,
  before: AutomationRecord | null,
): Promise<void> {
  for (const kind of kinds) await follow(context, tx, automation, before, kind);
}

async function follow(
  context: Context,
  tx: Transaction,
  automation: AutomationRecord,
  before: AutomationRecord | null,
  { since, isEvent, events, begin }: FollowedKind,
): Promise<void> {
  const { id, organizationId, triggers, enabled } = automation;
  const hasEvent = (all: readonly Trigger[]) => all.some(({ eventType }) => isEvent(eventType));
  const isFollower = hasEvent(triggers) && enabled;
  if (before !== null && hasEvent(before.triggers) && !isFollower) await setSince(tx, id, since, null);
  if (!isFollower) return;
  // Serializes the changes of an organization, since two at once would both pass the count.
  await tx.query('select id from organization where id = $1 for no key update', [organizationId]);
  const followers = { NOT: { [since]: null }, isEnabled: true, deletedAt: null };
  const others = await tx.prisma.automation.count({ where: { organizationId, ...followers, id: { not: id } } });
  if (others >= maxFollowers) {
    const message = `At most ${maxFollowers} automations of an organization may have triggers on ${events}.`;
    throw refuse(['triggers'], message, 'LIMIT_EXCEEDED');
  }
  // Set before it follows: earlier events are not for it.
  await begin(tx, organizationId);
  await setSince(tx, id, since, context.now());
}

async function setSince(tx: Transaction, id: string, name: FollowedKind['since'], at: Date | null): Promise<void> {
  await tx.prisma.automation.update({ where: { id }, data: { [name]: at }, select: { id: true } });
}
