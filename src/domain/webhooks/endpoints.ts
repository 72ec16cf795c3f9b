import { permissionFor } from '../../auth/permissions.ts';
import { requireAnyPermission } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import { fieldsOf, type Row, selectFields, selectionOf } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { findInOrganizations, whereInOrganizations } from '../find-by-ids.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { parseId } from '../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../list-filter.ts';
import { type NestedList, organizationOwners } from '../nested-pages.ts';
import { inOrder, type ListOrder } from '../sorted-pages.ts';
import type { WebhookEventType } from './event-types.ts';

const webhookEndpointFields = fieldsOf('WebhookEndpoint', ['sealed', 'previousSealed', 'previousUntilAt']);

/** A webhook endpoint of an organization, without its secret, which is shown once. */
export interface WebhookEndpointRecord extends Pick<Row<'WebhookEndpoint'>, (typeof webhookEndpointFields)[number]> {
  readonly eventTypes: readonly WebhookEventType[];
}

/** The columns of a {@link WebhookEndpointRecord} of a `webhook_endpoint` aliased `w`, without its secret. */
export const webhookEndpointColumns = selectFields('WebhookEndpoint', 'w', webhookEndpointFields);
const webhookEndpointSelection = selectionOf(webhookEndpointFields);

/** Returns the associated data of an endpoint's sealed secret, which binds it to the endpoint. */
export function webhookSecretAssociatedData(organizationId: string, endpointId: string): string {
  return `${organizationId}:${endpointId}`;
}

/**
 * Conditions of a list of endpoints. `search`: in the URL and the description. `eventTypes`: it receives any of these.
 */
export interface WebhookEndpointFilter extends ListFilter {
  readonly isEnabled?: boolean | undefined;
  readonly isFailing?: boolean | undefined;
  readonly eventTypes?: readonly WebhookEventType[] | undefined;
}

/**
 * Returns the endpoints of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function webhookEndpointsOf(
  context: Context,
  organizationId: string,
  filter: WebhookEndpointFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<WebhookEndpointRecord> {
  requireUsable(context, organizationId, permissionFor.manageWebhooks);
  checkListFilter(filter);
  const { isEnabled, isFailing, eventTypes } = filter;
  return {
    ...inOrder('webhookEndpoints', order, {}),
    key: `webhookEndpoints ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'w',
    table: 'webhook_endpoint',
    columns: webhookEndpointColumns,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => [
      'w.organization_id = owner.id',
      ...(isEnabled === undefined ? [] : [`w.is_enabled = ${bind(isEnabled)}::boolean`]),
      ...(isFailing === undefined ? [] : [`(w.consecutive_failures > 0) = ${bind(isFailing)}::boolean`]),
      ...(eventTypes === undefined ? [] : [`w.event_types && ${bind(eventTypes)}::text[]`]),
      ...listFilterConditions('w', filter, ['url', 'description'], bind),
    ],
  };
}

/** Returns the endpoints of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. */
export function findWebhookEndpoints(
  context: Context,
  ids: readonly string[],
): Promise<(WebhookEndpointRecord | null)[]> {
  const table = { table: 'webhook_endpoint', row: 'w', columns: webhookEndpointColumns };
  return findInOrganizations<WebhookEndpointRecord>(context, table, ids, permissionFor.manageWebhooks);
}

/** Returns the endpoint of an id in any form. Throws NOT_FOUND; FORBIDDEN for a caller who may manage no webhooks. */
export async function getWebhookEndpoint({ viewer, store }: Context, id: string): Promise<WebhookEndpointRecord> {
  requireAnyPermission(viewer, [permissionFor.manageWebhooks]);
  const bare = parseId('webhookEndpoint', id);
  const where = { id: bare ?? '', ...whereInOrganizations(viewer, permissionFor.manageWebhooks) };
  const endpoint = bare && (await store.prisma.webhookEndpoint.findFirst({ where, select: webhookEndpointSelection }));
  if (!endpoint) throw notFound('webhook endpoint');
  return endpoint as WebhookEndpointRecord;
}
