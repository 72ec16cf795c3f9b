import { permissionFor } from '../../auth/permissions.ts';
import { type ChangeSource, resourceTable } from '../changes/change-source.ts';
import { isWithin, type Maybe } from '../changes/filters.ts';
import { followOrganizations } from '../changes/follow-organizations.ts';
import { type ChangeWatches, type EntityChange, type EntityFilter, watchEntities } from '../changes/watch-entities.ts';
import type { Context } from '../context.ts';
import { type WebhookDeliveryRecord, type WebhookDeliveryStatus, webhookDeliveryColumns } from './deliveries.ts';

/**
 * A subscription to deliveries. `organizationId`: in any form; null: all organizations where the viewer manages
 * webhooks.
 */
export interface DeliveryChangesRequest {
  readonly organizationId: string | null;
  /** Unprefixed ids of the endpoints that count; null: all. */
  readonly endpointIds: readonly string[] | null;
  /** The id is unprefixed. */
  readonly filter: Maybe<{
    status: readonly WebhookDeliveryStatus[];
    sessionId: string;
    createdAfter: Date;
    createdBefore: Date;
  }>;
  readonly after: string | null;
}

const deliveryChanges: ChangeSource<WebhookDeliveryRecord> = {
  name: 'webhookDeliveryChanges',
  tables: [resourceTable('webhookDelivery')],
  record: { columns: webhookDeliveryColumns, joins: 'left join webhook_delivery d on d.id = c.id' },
  topics: ['resources'],
  createdAt: ({ createdAt }) => createdAt,
};

/**
 * Subscribes to the changes of deliveries, as {@link watchEntities} reports them. Throws ORGANIZATION_NOT_USABLE,
 * NOT_FOUND, FORBIDDEN, BAD_CURSOR before the first one.
 */
export async function watchDeliveries(
  context: Context,
  watches: ChangeWatches,
  { organizationId, endpointIds, filter, after }: DeliveryChangesRequest,
): Promise<AsyncIterableIterator<EntityChange<WebhookDeliveryRecord>>> {
  const followed = await followOrganizations(context, { organizationId, anyOf: [permissionFor.manageWebhooks] });
  const couldMatch = ({ endpointId, sessionId, createdAt }: WebhookDeliveryRecord) =>
    (endpointIds === null || endpointIds.includes(endpointId)) &&
    (filter.sessionId == null || filter.sessionId === sessionId) &&
    isWithin(filter, createdAt);
  const test: EntityFilter<WebhookDeliveryRecord> = {
    isMatch: (delivery) => couldMatch(delivery) && (filter.status?.includes(delivery.status) ?? true),
    couldMatch,
  };
  const request = { source: deliveryChanges, ...followed, filterNow: () => test, after };
  return watchEntities(context, watches, request);
}
