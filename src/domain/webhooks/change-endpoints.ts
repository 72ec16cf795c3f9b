import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../authors.ts';
import type { Context } from '../context.ts';
import { beginFeed } from '../feeds/feeds.ts';
import { type CreateOptions, canonicalJson, findReplay } from '../idempotency.ts';
import { chooseOrganization } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { requireVersion, type VersionCondition } from '../versions.ts';
import { webhookFeed } from './collect-events.ts';
import { maxUrlLength, webhookUrlProblem } from './endpoint-url.ts';
import {
  getWebhookEndpoint,
  type WebhookEndpointRecord,
  webhookEndpointColumns,
  webhookSecretAssociatedData,
} from './endpoints.ts';
import { type WebhookEventType, webhookEventTypes } from './event-types.ts';

/** Maximum number of endpoints of an organization. */
const maxWebhookEndpoints = 20;
/** Time in which the previous secret signs in addition to the new one. */
export const previousSecretMs = 24 * 60 * 60 * 1_000;

const eventTypes = Object.keys(webhookEventTypes) as WebhookEventType[];

/** The values of an endpoint in inputs. Without `allowPrivate` its URL must be https. */
export function endpointSchema(allowPrivate: boolean) {
  return z.object({
    url: text('url', { min: 1, max: maxUrlLength }).superRefine((url, check) => {
      const problem = webhookUrlProblem(url, allowPrivate);
      if (problem !== null) check.addIssue({ code: 'custom', message: problem });
    }),
    description: text('description', { max: 500 }).nullish(),
    eventTypes: z
      .array(z.enum(eventTypes, { error: `"eventTypes" must be of ${eventTypes.join(', ')}.` }))
      .min(1, '"eventTypes" must have at least one item.')
      .transform((types) => [...new Set(types)]),
    isEnabled: z.boolean({ error: '"isEnabled" must be true or false.' }).nullish(),
  });
}

/** The input of an endpoint; if `eventTypes` is omitted: all of them. */
export interface CreateWebhookEndpointInput {
  readonly url: string;
  readonly description?: string | null | undefined;
  readonly eventTypes?: readonly WebhookEventType[] | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
}

/** A written endpoint, and its secret if the secret is new: it is shown once. */
export interface WrittenWebhookEndpoint {
  readonly endpoint: WebhookEndpointRecord;
  readonly secret: string | null;
}

/**
 * Creates an endpoint of an organization (in any form; if omitted: the one that the viewer's key is bound to), which
 * receives events from now on. It receives the events of all sessions, so the viewer needs the permission to view them.
 * Throws FORBIDDEN, INVALID_INPUT, ORGANIZATION_NOT_USABLE, LIMIT_EXCEEDED; IDEMPOTENCY_CONFLICT, and NOT_FOUND if the
 * endpoint that the idempotency key created is gone. Only the first call returns the secret.
 */
export async function createWebhookEndpoint(
  context: Context,
  raw: CreateWebhookEndpointInput,
  organizationId?: string | null,
  options: CreateOptions = {},
): Promise<WrittenWebhookEndpoint> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.manageWebhooks);
  requirePermission(context.viewer, permissionFor.viewSession, organization.id);
  const schema = endpointSchema(context.isPrivateWebhookAllowed);
  const input = parseInput(schema, { ...raw, eventTypes: raw.eventTypes ?? eventTypes });
  requireConfirmation(context);
  const id = newId();
  const { secret, sealed } = newSecret(context, organization.id, id);
  return context.store.transact(async (tx) => {
    const claim = { scope: organization.id, operation: 'createWebhookEndpoint', input: raw, resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return { endpoint: await lockEndpoint(tx, replay), secret: null };
    await requireRoom(tx, organization.id);
    await beginFeed(tx, webhookFeed, organization.id);
    const now = context.now();
    const endpoint: WebhookEndpointRecord = {
      id,
      organizationId: organization.id,
      url: input.url,
      description: input.description ?? null,
      eventTypes: input.eventTypes,
      isEnabled: input.isEnabled ?? true,
      disabledReason: null,
      sinceAt: now,
      consecutiveFailures: 0,
      failingSinceAt: null,
      ...ownerOf(context.viewer),
      ...changedBy(context),
      createdAt: now,
      updatedAt: now,
    };
    await tx.query(
      `insert into webhook_endpoint (id, organization_id, url, description, event_types, is_enabled, since_at, sealed, user_id,
         service_user_id, service_key_id, updated_by_user_id, updated_by_service_user_id, updated_by_service_key_id, created_at,
         updated_at)
       values ($1, $2, $3, $4, $5::text[], $6::boolean, $7::timestamptz, $8, $9, $10, $11, $9, $10, $11, $7::timestamptz,
         $7::timestamptz)`,
      [
        id,
        organization.id,
        endpoint.url,
        endpoint.description,
        endpoint.eventTypes,
        endpoint.isEnabled,
        now,
        sealed,
        endpoint.userId,
        endpoint.serviceUserId,
        endpoint.serviceKeyId,
      ],
    );
    await auditEndpoint(context, tx, 'create_webhook_endpoint', endpoint);
    return { endpoint, secret };
  });
}

/**
 * The changes of an endpoint: an omitted (or undefined) member does not change. null clears the description, and
 * nothing else.
 */
export type WebhookEndpointChange = {
  readonly [Name in keyof CreateWebhookEndpointInput]?: CreateWebhookEndpointInput[Name];
};

/**
 * Changes the endpoint of an id in any form; writes nothing if nothing changes. An endpoint that is enabled receives
 * events from then on, with its failures reset. Throws NOT_FOUND, and the errors of {@link createWebhookEndpoint}.
 */
export async function updateWebhookEndpoint(
  context: Context,
  id: string,
  raw: WebhookEndpointChange & VersionCondition,
): Promise<WebhookEndpointRecord> {
  const seen = await getEndpointToChange(context, id);
  const change = parseInput(endpointSchema(context.isPrivateWebhookAllowed).partial(), raw);
  return context.store.transact(async (tx) => {
    await beginFeed(tx, webhookFeed, seen.organizationId);
    const before = await lockEndpoint(tx, seen.id);
    requireVersion(before, raw);
    const wanted = {
      ...before,
      url: change.url ?? before.url,
      description: change.description === undefined ? before.description : change.description,
      eventTypes: change.eventTypes ?? before.eventTypes,
      isEnabled: change.isEnabled ?? before.isEnabled,
    };
    const changed = (['url', 'description', 'eventTypes', 'isEnabled'] as const).filter(
      (name) => canonicalJson(wanted[name]) !== canonicalJson(before[name]),
    );
    if (changed.length === 0) return before;
    const now = context.now();
    const isSwitchedOn = wanted.isEnabled && !before.isEnabled;
    if (isSwitchedOn || changed.includes('url') || changed.includes('eventTypes')) requireConfirmation(context);
    const restart = { sinceAt: now, disabledReason: null, consecutiveFailures: 0, failingSinceAt: null };
    const by = changedBy(context, before);
    const after = { ...wanted, ...(isSwitchedOn ? restart : {}), ...by };
    await tx.query(
      `update webhook_endpoint set url = $2, description = $3, event_types = $4::text[], is_enabled = $5::boolean,
              disabled_reason = $6, since_at = $7::timestamptz, consecutive_failures = $8::int,
              failing_since_at = $9::timestamptz, ${setEditor(10)} where id = $1`,
      [
        after.id,
        after.url,
        after.description,
        after.eventTypes,
        after.isEnabled,
        after.disabledReason,
        after.sinceAt,
        after.consecutiveFailures,
        after.failingSinceAt,
        ...editorValues(by),
      ],
    );
    await auditEndpoint(context, tx, 'update_webhook_endpoint', after, { changed: changed.join(' ') });
    return after;
  });
}

/**
 * Replaces the secret of an endpoint; the new one is shown once. The previous one also signs for {@link
 * previousSecretMs}, so that the receiver can switch. Throws NOT_FOUND, FORBIDDEN, IDEMPOTENCY_CONFLICT.
 */
export async function rotateWebhookEndpointSecret(
  context: Context,
  id: string,
  options: CreateOptions = {},
): Promise<WrittenWebhookEndpoint> {
  const seen = await getEndpointToChange(context, id);
  requireConfirmation(context);
  const { secret, sealed } = newSecret(context, seen.organizationId, seen.id);
  return context.store.transact(async (tx) => {
    const before = await lockEndpoint(tx, seen.id);
    const input = { webhookEndpointId: seen.id };
    const claim = { scope: seen.organizationId, operation: 'rotateWebhookEndpointSecret', input, resultId: seen.id };
    if ((await findReplay(context, tx, options, claim)) !== null) return { endpoint: before, secret: null };
    const by = changedBy(context, before);
    const untilAt = new Date(by.updatedAt.getTime() + previousSecretMs);
    await tx.query(
      `update webhook_endpoint set previous_sealed = sealed, previous_until_at = $3::timestamptz, sealed = $2,
              ${setEditor(4)} where id = $1`,
      [before.id, sealed, untilAt, ...editorValues(by)],
    );
    const after = { ...before, ...by };
    await auditEndpoint(context, tx, 'update_webhook_endpoint', after, { changed: 'secret' });
    return { endpoint: after, secret };
  });
}

/**
 * Deletes an endpoint with its deliveries and returns it; an attempt under way may still arrive. Throws NOT_FOUND,
 * FORBIDDEN.
 */
export async function deleteWebhookEndpoint(
  context: Context,
  id: string,
  condition?: VersionCondition,
): Promise<WebhookEndpointRecord> {
  const endpoint = await getWebhookEndpoint(context, id);
  await context.store.transact(async (tx) => {
    requireVersion(await lockEndpoint(tx, endpoint.id), condition);
    // Its deliveries are not visible without it; the service deletes them later.
    await tx.query('delete from webhook_endpoint where id = $1', [endpoint.id]);
    await auditEndpoint(context, tx, 'delete_webhook_endpoint', endpoint);
  });
  return endpoint;
}

/**
 * Returns the endpoint of an id in any form, for an act that sends session events to it. Throws NOT_FOUND, FORBIDDEN.
 */
export async function getEndpointToChange(context: Context, id: string): Promise<WebhookEndpointRecord> {
  const endpoint = await getWebhookEndpoint(context, id);
  requirePermission(context.viewer, permissionFor.viewSession, endpoint.organizationId);
  return endpoint;
}

/** Locks an endpoint until the transaction ends. Throws NOT_FOUND. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<WebhookEndpointRecord> {
  const sql = `select ${webhookEndpointColumns} from webhook_endpoint w where w.id = $1 for update`;
  const [endpoint] = await tx.query<WebhookEndpointRecord>(sql, [id]);
  if (!endpoint) throw notFound('webhook endpoint');
  return endpoint;
}

function newSecret(context: Context, organizationId: string, id: string): { secret: string; sealed: string } {
  // The format of Standard Webhooks: 24 to 64 random bytes.
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { secret, sealed: context.keyring.seal(secret, webhookSecretAssociatedData(organizationId, id)) };
}

async function requireRoom(tx: Transaction, organizationId: string): Promise<void> {
  // Serializes the creations of an organization, since two at once would both pass the count. The lock does not block
  // foreign keys.
  const [organization] = await tx.query(
    'select id from organization where id = $1 and deleted_at is null for no key update',
    [organizationId],
  );
  if (!organization) throw notFound('organization');
  const [all] = await tx.query<{ count: number }>(
    'select count(*)::int as count from webhook_endpoint where organization_id = $1',
    [organizationId],
  );
  if ((all?.count ?? 0) >= maxWebhookEndpoints) {
    throw refuse(['url'], `An organization has at most ${maxWebhookEndpoints} webhook endpoints.`, 'LIMIT_EXCEEDED');
  }
}

async function auditEndpoint(
  context: Context,
  tx: Transaction,
  action: 'create_webhook_endpoint' | 'update_webhook_endpoint' | 'delete_webhook_endpoint',
  { id: targetId, organizationId, url }: WebhookEndpointRecord,
  more: Record<string, string> = {},
): Promise<void> {
  // Only the host: paths of such URLs are often secrets themselves.
  const data = { host: new URL(url).host, ...more };
  await audit(context, tx, action, { organizationId, targetId, data });
  tx.afterCommit(() => context.notifier.notify('webhooks'));
}
