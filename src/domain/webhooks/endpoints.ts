import { permissionFor } from '../../auth/permissions.ts';
import { type Owner, requireAnyPermission } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import { authorColumns, type Editor, editorColumns } from '../authors.ts';
import type { Context } from '../context.ts';
import { findInOrganizations } from '../find-by-ids.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { parseId } from '../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../list-filter.ts';
import { type NestedList, organizationOwners } from '../nested-pages.ts';
import { inOrder, type ListOrder } from '../sorted-pages.ts';
import type { WebhookEventType } from './event-types.ts';

/** A webhook endpoint of an organization, without its secret, which is shown once. */
export interface WebhookEndpointRecord extends Owner, Editor {
  readonly id: string;
  readonly organizationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly WebhookEventType[];
  readonly isEnabled: boolean;
  /** The reason why the service itself disabled it; null: it did not. */
  readonly disabledReason: string | null;
  /** The start of its events. */
  readonly sinceAt: Date;
  /** Failed attempts since its last success. */
  readonly consecutiveFailures: number;
  readonly failingSinceAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of a {@link WebhookEndpointRecord} of a `webhook_endpoint` aliased `w`, without its secret. */
export const webhookEndpointColumns = `w.id, w.organization_id as "organizationId", w.url, w.description,
  w.event_types as "eventTypes", w.is_enabled as "isEnabled", w.disabled_reason as "disabledReason", w.since_at as "sinceAt",
  w.consecutive_failures as "consecutiveFailures", w.failing_since_at as "failingSinceAt", ${authorColumns('w')},
  ${editorColumns('w')}, w.created_at as "createdAt", w.updated_at as "updatedAt"`;

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
export async function getWebhookEndpoint(context: Context, id: string): Promise<WebhookEndpointRecord> {
  requireAnyPermission(context.viewer, [permissionFor.manageWebhooks]);
  const bare = parseId('webhookEndpoint', id);
  const [endpoint] = bare === null ? [] : await findWebhookEndpoints(context, [bare]);
  if (!endpoint) throw notFound('webhook endpoint');
  return endpoint;
}
