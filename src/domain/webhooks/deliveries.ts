import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import { fieldsOf, type Row, selectFields, selectionOf } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../list-filter.ts';
import type { NestedList } from '../nested-pages.ts';
import { inOrder, type ListOrder } from '../sorted-pages.ts';
import type { WebhookEndpointRecord } from './endpoints.ts';
import type { WebhookDeliveryType } from './event-types.ts';

/** The status of a delivery. */
export const webhookDeliveryStatuses = ['pending', 'delivered', 'failed'] as const;
/** See {@link webhookDeliveryStatuses}. */
export type WebhookDeliveryStatus = (typeof webhookDeliveryStatuses)[number];

/** One attempt of a delivery, and its response. */
export interface WebhookAttempt {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Null: no response. */
  readonly statusCode: number | null;
  /** The reason of a failure, as a sentence; null: success. */
  readonly error: string | null;
  /** The beginning of the response's body. */
  readonly answer: string;
}

const webhookDeliveryFields = fieldsOf('WebhookDelivery', ['seq', 'attemptCount', 'begunAt']);

/**
 * A delivery to an endpoint, until it succeeds or is given up. `eventId`: the unprefixed id of the log entry; for a test
 * its own. `sessionId` null: a test. `nextAttemptAt` null: the delivery is finished.
 */
export interface WebhookDeliveryRecord extends Pick<Row<'WebhookDelivery'>, (typeof webhookDeliveryFields)[number]> {
  readonly eventType: WebhookDeliveryType;
  readonly status: WebhookDeliveryStatus;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly WebhookAttempt[];
}

/** The columns of a {@link WebhookDeliveryRecord} of a `webhook_delivery` aliased `d`. */
export const webhookDeliveryColumns = selectFields('WebhookDelivery', 'd', webhookDeliveryFields);
/** The same for the Prisma client. */
export const webhookDeliverySelection = selectionOf(webhookDeliveryFields);

/** Returns a row that the Prisma client read as a record. */
export const toWebhookDelivery = (
  row: Pick<Row<'WebhookDelivery'>, (typeof webhookDeliveryFields)[number]>,
): WebhookDeliveryRecord => row as WebhookDeliveryRecord;

/** Conditions of a list of deliveries; ids are unprefixed. */
export interface WebhookDeliveryFilter extends Pick<ListFilter, 'createdAfter' | 'createdBefore'> {
  readonly status?: readonly WebhookDeliveryStatus[] | undefined;
  readonly sessionId?: string | undefined;
}

/** Returns the deliveries of an endpoint as a nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT. */
export function webhookDeliveriesOf(
  context: Context,
  endpoint: Pick<WebhookEndpointRecord, 'id' | 'organizationId'>,
  filter: WebhookDeliveryFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<WebhookDeliveryRecord> {
  const { viewer } = context;
  requireUsable(context, endpoint.organizationId, permissionFor.manageWebhooks);
  checkListFilter(filter);
  return {
    ...inOrder('webhookDeliveries', order, {}),
    key: `webhookDeliveries ${JSON.stringify([filter, order])}`,
    ownerId: endpoint.id,
    row: 'd',
    table: 'webhook_delivery',
    columns: webhookDeliveryColumns,
    owners: (bind) =>
      `join webhook_endpoint w on w.id = owner.id join organization o on o.id = w.organization_id
          and o.enterprise_id = ${bind(viewer.enterpriseId)} and o.deleted_at is null`,
    where: (bind) => [
      'd.endpoint_id = owner.id',
      ...oneOfConditions('d.status', filter.status, bind),
      ...(filter.sessionId === undefined ? [] : [`d.session_id = ${bind(filter.sessionId)}`]),
      ...listFilterConditions('d', filter, [], bind),
    ],
  };
}

/**
 * Returns the deliveries of these unprefixed ids that the viewer may see, in the ids' order; null for each other id.
 */
export async function findWebhookDeliveries(
  context: Context,
  ids: readonly string[],
): Promise<(WebhookDeliveryRecord | null)[]> {
  const scope = organizationsWith(context.viewer, permissionFor.manageWebhooks);
  const rows = await context.store.query<WebhookDeliveryRecord>(
    `select ${webhookDeliveryColumns} from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
       join organization o on o.id = w.organization_id
      where d.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null
        and ($3::boolean or o.id = any($4::text[]))`,
    [ids, scope.enterpriseId, scope.all, scope.ids],
  );
  return inOrderOf(ids, rows);
}
