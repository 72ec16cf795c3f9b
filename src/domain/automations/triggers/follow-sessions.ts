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
    await tx.query('update automation set session_events_since_at = null where id = $1', [id]);
  }
  if (!hasEvent) return;
  if (!enabled) return;
  // Serializes the changes of an organization, since two at once would both pass the count.
  await tx.query('select id from organization where id = $1 for no key update', [organizationId]);
  const [others] = await tx.query<{ count: number }>(
    `select count(*)::int as count from automation a where a.organization_id = $1 and a.id <> $2 and ${isFollowing}`,
    [organizationId, id],
  );
  if ((others?.count ?? 0) >= maxFollowers) {
    const message = `At most ${maxFollowers} automations of an organization may have triggers on session events.`;
    throw refuse(['triggers'], message, 'LIMIT_EXCEEDED');
  }
  // Set before it follows: earlier events are not for it.
  await ensureFeed(tx, automationFeed, organizationId);
  await tx.query('update automation set session_events_since_at = $2::timestamptz where id = $1', [id, context.now()]);
}
