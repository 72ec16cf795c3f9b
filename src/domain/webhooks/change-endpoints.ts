import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import { maxUrlLength, outgoingUrlProblem } from '../../common/outgoing-url.ts';
import type { Transaction } from '../../store/store.ts';
import { type Row, toData } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { beginFeed } from '../feeds/feeds.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { chooseOrganization } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { changedValues } from '../record-values.ts';
import { requireVersion, type VersionCondition } from '../versions.ts';
import { webhookFeed } from './collect-events.ts';
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
  const rules = { name: 'url', variable: 'WEBHOOK_ALLOW_PRIVATE', allowPrivate };
  return z.object({
    url: text('url', { min: 1, max: maxUrlLength }).superRefine((url, check) => {
      const problem = outgoingUrlProblem(url, rules);
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
    const data = { ...toData('WebhookEndpoint', endpoint), sealed };
    await tx.prisma.webhookEndpoint.create({ data, select: { id: true } });
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
    const changed = changedValues(before, { ...change, isEnabled: change.isEnabled ?? undefined });
    const names = Object.keys(changed);
    if (names.length === 0) return before;
    const now = context.now();
    const isSwitchedOn = changed.isEnabled === true;
    if (isSwitchedOn || names.includes('url') || names.includes('eventTypes')) requireConfirmation(context);
    const restart = { sinceAt: now, disabledReason: null, consecutiveFailures: 0, failingSinceAt: null };
    const data = { ...changed, ...(isSwitchedOn ? restart : {}), ...changedBy(context, before) };
    const after = { ...before, ...data };
    await saveEndpoint(tx, after.id, data);
    await auditEndpoint(context, tx, 'update_webhook_endpoint', after, { changed: names.join(' ') });
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
    const previousUntilAt = new Date(by.updatedAt.getTime() + previousSecretMs);
    const previous = await tx.prisma.webhookEndpoint.findUnique({ where: { id: seen.id }, select: { sealed: true } });
    const change = { previousSealed: previous?.sealed ?? null, previousUntilAt, sealed, ...by };
    await saveEndpoint(tx, seen.id, change);
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
    await tx.prisma.webhookEndpoint.delete({ where: { id: endpoint.id }, select: { id: true } });
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

async function saveEndpoint(tx: Transaction, id: string, change: Partial<Row<'WebhookEndpoint'>>): Promise<void> {
  await tx.prisma.webhookEndpoint.update({
    where: { id },
    data: toData('WebhookEndpoint', change),
    select: { id: true },
  });
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
  if ((await tx.prisma.webhookEndpoint.count({ where: { organizationId } })) >= maxWebhookEndpoints) {
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
