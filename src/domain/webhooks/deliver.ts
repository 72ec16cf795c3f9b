import { Webhook } from 'standardwebhooks';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../authors.ts';
import type { Services } from '../context.ts';
import { asSystem } from '../sessions/as-system.ts';
import { type ClaimedDelivery, secretsOf } from './claim-deliveries.ts';
import type { WebhookAttempt } from './deliveries.ts';
import { webhookMessageId, webhookPayload } from './event-payload.ts';
import { testEventType } from './event-types.ts';
import type { WebhookAnswer, WebhookRequest, WebhookSender } from './send-webhook.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * Delay after each failed attempt before the next one: nine attempts in all, the last 23 hours and 35 minutes after the
 * first.
 */
export const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
  6 * hourMs,
  10 * hourMs,
];
/** Maximum random addition to a delay, so that deliveries that failed together are not repeated together. */
const maxJitter = 0.1;
/** Age after which a delivery is no longer sent, because its endpoint was disabled or is too slow. */
const maxWaitMs = 30 * hourMs;
/** Number of attempts in a delivery's log. */
const maxStoredAttempts = 20;
/** An endpoint without a success for so long, and with so many failures, is disabled. */
const giveUp = { afterMs: 24 * hourMs, failures: 10 } as const;
const goneStatus = 410;

/**
 * Sends a claimed delivery, and records the result. An attempt that was aborted because the process stops is repeated.
 */
export async function deliver(
  services: Services,
  sender: WebhookSender,
  delivery: ClaimedDelivery,
  isStopping: () => boolean,
): Promise<void> {
  const startedAt = services.now();
  if (startedAt.getTime() - delivery.begunAt.getTime() > maxWaitMs) {
    const error = `It could not be sent within ${maxWaitMs / hourMs} hours.`;
    return record(services, delivery, { statusCode: null, error, answer: '', durationMs: 0 }, startedAt, true);
  }
  const request = signRequest(services, delivery, startedAt);
  const answer = request === null ? unsignedAnswer : await sender.send(request);
  if (isStopping() && answer.statusCode === null) return;
  await record(services, delivery, answer, startedAt, false);
}

const unsignedAnswer: WebhookAnswer = {
  statusCode: null,
  error: 'It could not be signed: the secret of the endpoint cannot be decrypted. Rotate the secret.',
  answer: '',
  durationMs: 0,
};

function signRequest(services: Services, delivery: ClaimedDelivery, at: Date): WebhookRequest | null {
  const secrets = openSecrets(services, delivery);
  if (secrets === null) return null;
  const id = webhookMessageId(delivery);
  const body = webhookPayload(delivery, services.baseUrl);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Switchyard-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / secondMs)),
    'webhook-signature': signatures.join(' '),
  };
  return { url: delivery.url, headers, body };
}

function openSecrets({ keyring, log }: Services, delivery: ClaimedDelivery): string[] | null {
  try {
    return secretsOf(keyring, delivery);
  } catch (error) {
    log.error({ err: error, endpointId: delivery.endpointId }, 'The secret of a webhook endpoint cannot be opened.');
    return null;
  }
}

async function record(
  services: Services,
  delivery: ClaimedDelivery,
  answer: WebhookAnswer,
  startedAt: Date,
  isLate: boolean,
): Promise<void> {
  const now = services.now();
  const attempt: WebhookAttempt = { startedAt: startedAt.toISOString(), ...answer };
  const isTaken = answer.error === null;
  services.metrics.webhookAttempts.inc({ result: isTaken ? 'accepted' : 'failed' });
  const isTest = delivery.eventType === testEventType;
  const delayMs = isTaken || isTest || isLate ? undefined : retryDelaysMs[delivery.attemptCount];
  const nextAttemptAt =
    delayMs === undefined ? null : new Date(now.getTime() + delayMs * (1 + Math.random() * maxJitter));
  await services.store.transact(async (tx) => {
    const written = await tx.query(
      `update webhook_delivery set status = $3, attempt_count = attempt_count + 1, attempts = $4::jsonb,
              next_attempt_at = $5::timestamptz, finished_at = $6::timestamptz
        where id = $1 and next_attempt_at = $2::timestamptz and status = 'pending' returning id`,
      [
        delivery.id,
        delivery.claimedUntilAt,
        isTaken ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending',
        JSON.stringify([...delivery.attempts, attempt].slice(-maxStoredAttempts)),
        nextAttemptAt,
        nextAttemptAt === null ? now : null,
      ],
    );
    // The claim has expired, or the delivery was requested again: the process with the new claim records the result.
    if (written.length > 0) tx.afterCommit(() => services.notifier.notify(`resources:${delivery.organizationId}`));
    if (written.length === 0 || isTest || isLate) return;
    if (isTaken) await endFailing(tx, delivery.endpointId);
    else await recordFailure(services, tx, delivery, answer, now);
  });
}

async function endFailing(tx: Transaction, endpointId: string): Promise<void> {
  await tx.query(
    `update webhook_endpoint set consecutive_failures = 0, failing_since_at = null
      where id = $1 and consecutive_failures > 0`,
    [endpointId],
  );
}

async function recordFailure(
  services: Services,
  tx: Transaction,
  delivery: ClaimedDelivery,
  { statusCode }: WebhookAnswer,
  now: Date,
): Promise<void> {
  const [endpoint] = await tx.query<{ failures: number; failingSinceAt: Date }>(
    `update webhook_endpoint set consecutive_failures = consecutive_failures + 1,
            failing_since_at = coalesce(failing_since_at, $2::timestamptz)
      where id = $1 and is_enabled
     returning consecutive_failures as failures, failing_since_at as "failingSinceAt"`,
    [delivery.endpointId, now],
  );
  if (!endpoint) return;
  const isDead =
    endpoint.failures >= giveUp.failures && now.getTime() - endpoint.failingSinceAt.getTime() >= giveUp.afterMs;
  if (statusCode !== goneStatus && !isDead) return;
  const reason =
    statusCode === goneStatus
      ? 'The endpoint answered 410 Gone.'
      : `It accepted no event for a day and failed ${endpoint.failures} times.`;
  const system = asSystem(services, delivery.enterpriseId);
  await tx.query(
    `update webhook_endpoint set is_enabled = false, disabled_reason = $2, ${setEditor(3)} where id = $1`,
    [delivery.endpointId, reason, ...editorValues({ ...changedBy(system), updatedAt: now })],
  );
  const target = { organizationId: delivery.organizationId, targetId: delivery.endpointId };
  await audit(system, tx, 'update_webhook_endpoint', {
    ...target,
    data: { changed: 'isEnabled', host: new URL(delivery.url).host, failures: endpoint.failures },
  });
}
