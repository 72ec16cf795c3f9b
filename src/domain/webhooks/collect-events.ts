import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { FeedConsumer } from '../feeds/feeds.ts';
import type { FeedEntry, FeedProcessor } from '../feeds/read-feed.ts';
import { newId } from '../ids.ts';
import { eventTypeFor, sentKinds, type WebhookEventType } from './event-types.ts';

interface Endpoint {
  readonly id: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly sinceAt: Date;
}

/** The change feed's consumer for webhooks. */
export const webhookFeed: FeedConsumer = {
  feedTable: 'webhook_feed',
  progressTable: 'webhook_progress',
  isWanted: 'exists (select 1 from webhook_endpoint w where w.organization_id = f.organization_id and w.is_enabled)',
};

/** Creates deliveries of the events in an organization's listed sessions for every endpoint with their type. */
export const webhookEvents: FeedProcessor = {
  ...webhookFeed,
  kinds: sentKinds,
  async loadHandler(services, tx, organizationId) {
    const endpoints = await tx.query<Endpoint>(
      `select w.id, w.event_types as "eventTypes", w.since_at as "sinceAt" from webhook_endpoint w
        where w.organization_id = $1 and w.is_enabled`,
      [organizationId],
    );
    if (endpoints.length === 0) return null;
    return {
      sinceAt: new Date(Math.min(...endpoints.map((endpoint) => endpoint.sinceAt.getTime()))),
      async handle(entries) {
        const listed = entries.filter(({ isUnlisted }) => !isUnlisted);
        const deliveries = await insertDeliveries(services, tx, organizationId, endpoints, listed);
        if (deliveries > 0)
          tx.afterCommit(() => {
            services.notifier.notify('deliveries');
            services.notifier.notify(`resources:${organizationId}`);
          });
        return entries.length;
      },
    };
  },
};

async function insertDeliveries(
  services: Services,
  tx: Transaction,
  organizationId: string,
  endpoints: readonly Endpoint[],
  entries: readonly FeedEntry[],
): Promise<number> {
  const rows = entries.flatMap((entry) => {
    return endpoints.flatMap(({ id: endpointId, eventTypes, sinceAt }) => {
      const eventType = entry.createdAt >= sinceAt ? eventTypeFor(entry, eventTypes) : null;
      if (eventType === null) return [];
      const { id: eventId, sessionId, seq } = entry;
      return [{ id: newId(), endpointId, eventType, eventId, sessionId, seq }];
    });
  });
  if (rows.length === 0) return 0;
  await tx.query(
    `insert into webhook_delivery (id, organization_id, endpoint_id, event_type, event_id, session_id, seq, status,
       next_attempt_at, begun_at, created_at)
     select n.id, $1, n."endpointId", n."eventType", n."eventId", n."sessionId", n.seq, 'pending', $2::timestamptz,
            $2::timestamptz, $2::timestamptz
       from jsonb_to_recordset($3::jsonb) as n(id text, "endpointId" text, "eventType" text, "eventId" text,
         "sessionId" text, seq int)
     on conflict (endpoint_id, event_id) do nothing`,
    [organizationId, services.now(), JSON.stringify(rows)],
  );
  return rows.length;
}
