import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../list-filter.ts';
import type { NestedList } from '../nested-pages.ts';
import { inOrder, type ListOrder } from '../timed-pages.ts';
import type { WebhookEndpointRecord } from './endpoints.ts';
import type { WebhookDeliveryType } from './event-types.ts';

/** Where a delivery is. */
export const webhookDeliveryStatuses = ['pending', 'delivered', 'failed'] as const;
/** See {@link webhookDeliveryStatuses}. */
export type WebhookDeliveryStatus = (typeof webhookDeliveryStatuses)[number];

/** One time that something was sent, and what came back. */
export interface WebhookAttempt {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Null: no answer came. */
  readonly statusCode: number | null;
  /** Why it was not taken, in a sentence; null: it was. */
  readonly error: string | null;
  /** The beginning of what was answered. */
  readonly answer: string;
}

/** Something that is sent to an endpoint, until it is taken or given up. */
export interface WebhookDeliveryRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly endpointId: string;
  readonly eventType: WebhookDeliveryType;
  /** The log entry's, bare; of a test its own. */
  readonly eventId: string;
  /** Null: a test. */
  readonly sessionId: string | null;
  readonly status: WebhookDeliveryStatus;
  /** The last ones, oldest first. */
  readonly attempts: readonly WebhookAttempt[];
  /** Null: it is over. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
  readonly createdAt: Date;
}

/** The columns of a {@link WebhookDeliveryRecord} of a `webhook_delivery` aliased `d`. */
export const webhookDeliveryColumns = `d.id, d.organization_id as "organizationId", d.endpoint_id as "endpointId",
  d.event_type as "eventType", d.event_id as "eventId", d.session_id as "sessionId", d.status, d.attempts,
  d.next_attempt_at as "nextAttemptAt", d.finished_at as "finishedAt", d.created_at as "createdAt"`;

/** Conditions of a list of deliveries; ids are bare. */
export interface WebhookDeliveryFilter extends Pick<ListFilter, 'createdAfter' | 'createdBefore'> {
  readonly status?: readonly WebhookDeliveryStatus[] | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * What was sent to an endpoint that has been read, or is to be, as one of many such lists. ORGANIZATION_NOT_USABLE, FORBIDDEN,
 * INVALID_INPUT.
 */
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

/** Those of these bare ids that the viewer may see, in the ids' order; null for each other. */
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
