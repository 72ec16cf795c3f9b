import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { ensureFeed, type FeedConsumer } from '../../feeds/feeds.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { Trigger } from '../model/definition.ts';
import { isSessionEvent } from '../model/event-types.ts';

/**
 * Maximum number of automations of an organization that follow its session events: each event is matched against all of
 * them.
 */
export const maxFollowers = 200;

/** SQL condition: an automation aliased `a` follows session events. */
export const isFollowing = 'a.session_events_since_at is not null and a.is_enabled and a.deleted_at is null';

/** The change feed's consumer for automations. */
export const automationFeed: FeedConsumer = {
  feedTable: 'automation_feed',
  progressTable: 'automation_progress',
  isWanted: `exists (select 1 from automation a where a.organization_id = f.organization_id and ${isFollowing})`,
};

const hasSessionEvent = (triggers: readonly Trigger[]) => triggers.some(({ eventType }) => isSessionEvent(eventType));

/**
 * Makes a written automation follow session events from now on if its triggers are on such events. Throws
 * LIMIT_EXCEEDED beyond {@link maxFollowers}. `before` null: it is new.
 */
export async function followSessions(
  context: Context,
  tx: Transaction,
  automation: AutomationRecord,
  before: AutomationRecord | null,
): Promise<void> {
  const { id, organizationId, triggers, enabled } = automation;
  const hasEvent = hasSessionEvent(triggers);
  if (before !== null && hasSessionEvent(before.triggers) && !(hasEvent && enabled)) {
    await setSince(tx, id, null);
  }
  if (!hasEvent) return;
  if (!enabled) return;
  // Serializes the changes of an organization, since two at once would both pass the count.
  await tx.query('select id from organization where id = $1 for no key update', [organizationId]);
  const followers = { NOT: { sessionEventsSinceAt: null }, isEnabled: true, deletedAt: null };
  const others = await tx.prisma.automation.count({ where: { organizationId, ...followers, id: { not: id } } });
  if (others >= maxFollowers) {
    const message = `At most ${maxFollowers} automations of an organization may have triggers on session events.`;
    throw refuse(['triggers'], message, 'LIMIT_EXCEEDED');
  }
  // Set before it follows: earlier events are not for it.
  await ensureFeed(tx, automationFeed, organizationId);
  await setSince(tx, id, context.now());
}

async function setSince(tx: Transaction, id: string, sessionEventsSinceAt: Date | null): Promise<void> {
  await tx.prisma.automation.update({ where: { id }, data: { sessionEventsSinceAt }, select: { id: true } });
}
