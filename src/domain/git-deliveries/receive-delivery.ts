import { createHash } from 'node:crypto';
import { RateLimitedError } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { ForgeDelivery, WebhookHeaders, Webhooks } from '../../forges/interface/events.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import { insertStatement, type Row } from '../../store/tables.ts';
import { findWantedEvent } from '../automations/triggers/find-wanted-event.ts';
import type { Services } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { newId, parseId } from '../ids.ts';
import { isStorable } from '../input.ts';
import type { Spending } from '../limits/counter.ts';
import { countFailedProof } from '../limits/failed-proofs.ts';
import { findPossibleMention } from '../mentions/receive-mention.ts';

/** A request to the webhook of a git connection, with its whole body. */
export interface GitWebhookCall {
  /** In any form, as in the path. */
  readonly connectionId: string;
  readonly headers: WebhookHeaders;
  readonly body: Uint8Array;
  readonly address: string | null;
}

/** The outcome of a delivery that was stored: now, or before for one that is repeated. */
export interface ReceivedDelivery {
  readonly status: 'accepted' | 'ignored' | 'failed' | 'repeated';
  /** The reason of `failed`; otherwise null. */
  readonly error: string | null;
  readonly spending: Spending | null;
}

/**
 * Stores a delivery of a forge, once by its id and by its body, and wakes the scheduler. Returns null for an unknown
 * connection, one without a secret, and a wrong signature: a caller cannot distinguish them. The failures of an address
 * are counted, but never refuse a correct signature, since many senders share the addresses of a forge. Throws RATE_LIMITED.
 */
export async function receiveGitDelivery(services: Services, call: GitWebhookCall): Promise<ReceivedDelivery | null> {
  const { headers, body, address } = call;
  const id = parseId('gitConnection', call.connectionId);
  const { webhooks, kind } = await openWebhooks(services, id);
  const found = readSigned(webhooks, headers, body);
  if ('refusal' in found || id === null) {
    await countFailedProof(services, address);
    await recordRefusal(services, id, 'refusal' in found ? found.refusal : '');
    return null;
  }
  const spending = await services.limits.gitWebhook.spend(id);
  if (spending?.isAllowed === false) {
    const message = `A git connection accepts ${spending.limit} webhooks a minute. Wait and try again.`;
    throw new RateLimitedError(message, spending);
  }
  const row = toRow(services, id, found);
  const parts = 'delivery' in found ? await findParts(services, { ...row, kind }, found.delivery) : none;
  if (!(await store(services, row, parts))) return { status: 'repeated', error: null, spending };
  if (row.status === 'pending') services.notifier.notify('git-deliveries');
  const hasPart = parts.event !== null || parts.mention !== null;
  if (hasPart) services.notifier.notify('forge-events');
  const isAccepted = row.status === 'pending' || hasPart;
  return { status: isAccepted ? 'accepted' : row.status, error: row.error, spending };
}

/** The parts of a delivery that are stored separately: its event for automations, and a text that may name the service. */
interface Parts {
  readonly event: Row<'ForgeEvent'> | null;
  readonly mention: Row<'Mention'> | null;
}

const none: Parts = { event: null, mention: null };

async function findParts(
  services: Services,
  row: Row<'GitDelivery'> & { readonly kind: ForgeKind },
  delivery: ForgeDelivery,
): Promise<Parts> {
  return {
    event: await findWantedEvent(services, row, delivery),
    mention: await findPossibleMention(services, row, delivery),
  };
}

/** Writes a delivery and its parts. Returns false for a repeated delivery. */
async function store({ store: database }: Services, row: Row<'GitDelivery'>, parts: Parts): Promise<boolean> {
  const { text, values } = insertStatement('GitDelivery', row);
  const insert = `${text} on conflict do nothing returning id`;
  const { event, mention } = parts;
  if (event === null && mention === null) return (await database.execute(insert, values)).length > 0;
  return database.transact(async (tx) => {
    if ((await tx.query(insert, values)).length === 0) return false;
    if (event !== null) {
      const second = insertStatement('ForgeEvent', event);
      await tx.query(second.text, second.values);
    }
    if (mention !== null) {
      // Another webhook of the repository may have brought the same text.
      const third = insertStatement('Mention', mention);
      await tx.query(`${third.text} on conflict do nothing`, third.values);
    }
    return true;
  });
}

/** Opens the webhooks of a connection; ones that refuse everything if there are none, so that the steps stay the same. */
async function openWebhooks(
  services: Services,
  id: string | null,
): Promise<{ readonly webhooks: Webhooks; readonly kind: ForgeKind }> {
  const refusing = { kind: 'github_token', host: 'github.com', token: 'none', webhookSecret: null } as const;
  const opened = await openConnection(services, id ?? '').then(
    ({ webhooks, kind }) => (webhooks ? { webhooks, kind } : null),
    (error: unknown) => {
      if (!isForgeError(error)) throw error;
      if (error.code === 'CREDENTIAL_REFUSED') {
        services.log.warn({ err: error, gitConnectionId: id }, 'The secret of a webhook could not be opened.');
      }
      return null;
    },
  );
  if (opened !== null) return opened;
  const { webhooks, kind } = services.forges.open(refusing);
  if (!webhooks) throw new Error('GitHub has no webhooks.');
  return { webhooks, kind };
}

/**
 * Records the reason of a refusal for the administrators of a connection, at most once a minute, so that nobody can flood the database. An
 * unknown connection takes the same steps.
 */
async function recordRefusal({ store: database, now }: Services, id: string | null, message: string): Promise<void> {
  const at = now();
  await database.execute(
    `update git_connection set last_webhook_refusal = $2::jsonb
      where id = $1 and deleted_at is null and provider_type <> 'git_https'
        and (last_webhook_refusal is null or (last_webhook_refusal ->> 'at')::timestamptz <= $3::timestamptz)
      returning id`,
    [id ?? '', JSON.stringify({ message, at: at.toISOString() }), new Date(at.getTime() - refusalIntervalMs)],
  );
}

const refusalIntervalMs = 60_000;

/** A delivery whose signature is correct: read, or the reason why it could not be read. */
type Signed = Pick<ForgeDelivery, 'id' | 'digest'> &
  ({ readonly delivery: ForgeDelivery } | { readonly error: string });

function readSigned(
  webhooks: Webhooks,
  headers: WebhookHeaders,
  body: Uint8Array,
): Signed | { readonly refusal: string } {
  try {
    const delivery = webhooks.parse(headers, body);
    const { id, digest, payload: _, ...stored } = delivery;
    if (isStorable(stored)) return { id, digest, delivery };
    return { id, digest, error: 'The delivery has text with NUL characters or lone surrogates.' };
  } catch (error) {
    if (isForgeError(error, 'INVALID_SIGNATURE')) return { refusal: error.message };
    if (!isForgeError(error)) throw error;
    const digest = createHash('sha256').update(body).digest('hex');
    // The other ids are read by the forge's own parser, which failed: the digest identifies the delivery.
    return { id: digest, digest, error: error.message };
  }
}

function toRow(
  { now }: Services,
  gitConnectionId: string,
  signed: Signed,
): Row<'GitDelivery'> & { readonly status: 'pending' | 'ignored' | 'failed' } {
  const receivedAt = now();
  const base = {
    id: newId(),
    gitConnectionId,
    deliveryKey: signed.id,
    digest: signed.digest,
    attemptCount: 0,
    receivedAt,
  };
  if ('error' in signed) {
    const nothing = { eventName: null, action: null, repositoryPath: null, event: null, nextAttemptAt: null };
    return { ...base, ...nothing, status: 'failed', error: plainLine(signed.error, 500), finishedAt: receivedAt };
  }
  const { name, action, repository, event } = signed.delivery;
  const isPending = event !== null && repository !== null;
  return {
    ...base,
    eventName: plainLine(name, 100),
    action: action === null ? null : plainLine(action, 100),
    repositoryPath: repository,
    event: isPending ? event : null,
    status: isPending ? 'pending' : 'ignored',
    error: null,
    nextAttemptAt: isPending ? receivedAt : null,
    finishedAt: isPending ? null : receivedAt,
  } as Row<'GitDelivery'> & { readonly status: 'pending' | 'ignored' };
}
