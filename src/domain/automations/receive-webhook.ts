import { createHash } from 'node:crypto';
import type { Services } from '../context.ts';
import { DomainError, RateLimitedError } from '../errors.ts';
import { parseId } from '../ids.ts';
import type { Spending } from '../limits/counter.ts';
import { networkOf } from '../limits/network.ts';
import { secretPlace } from '../secrets/secrets.ts';
import { eventText } from './event-text.ts';
import { webhookEvent } from './event-types.ts';
import { fireLocked } from './fire.ts';
import { type Firing, lockForFiring } from './firing.ts';
import { findRun } from './run-rows.ts';
import type { AutomationRun } from './runs.ts';
import { type Look, slowMessage, type Verdicts, withVerdicts } from './verdicts.ts';
import { type BodySignature, isSignedWith, isWebhookSecret } from './webhook-secrets.ts';

/** How long the same body without an id is the same delivery. */
export const sameBodyMs = 10 * 60 * 1_000;

/** Who calls an incoming webhook. */
export interface WebhookCall {
  /** In any form, as the path has it. */
  readonly automationId: string;
  /** The secret, as the caller sent it in any header. Each one must be right; so must the signature. */
  readonly secrets: readonly string[];
  /** Of the body; null: it is not signed. */
  readonly signature: BodySignature | null;
  readonly address: string | null;
}

/** A webhook whose caller has proved that it has the secret. */
export interface OpenedWebhook {
  readonly automationId: string;
  /** What is left of its minute; null without a limit. */
  readonly spending: Spending | null;
}

/**
 * The webhook of an automation for a caller that sends its secret, or signs the body with it; null for everybody else, and
 * where there is no such webhook: nothing tells the two apart. Wrong secrets and signatures are counted for the address, as tokens that are not good are, and deliveries for
 * the automation: RATE_LIMITED.
 */
export async function openWebhook(services: Services, call: WebhookCall): Promise<OpenedWebhook | null> {
  const { secrets, signature, address } = call;
  if (secrets.length === 0 && signature === null) return null;
  const id = parseId('automation', call.automationId);
  const [found] = await services.store.query<KeptSecret>(
    `select a.organization_id as "organizationId", a.webhook_secret_hash as hash, a.webhook_secret_sealed as sealed from automation a join organization o on o.id = a.organization_id
      where a.id = $1 and a.deleted_at is null and o.deleted_at is null`,
    [id ?? ''],
  );
  const hasSecret = secrets.every((secret) => isWebhookSecret(services.keyring, secret, found?.hash ?? null));
  const hasSigned = signature === null || isSignedWith(openSecret(services, id, found), signature);
  if (!hasSecret || !hasSigned || id === null) {
    if (address === null) return null;
    const failures = await services.limits.login.spend(networkOf(address));
    if (failures?.isAllowed !== false) return null;
    throw new RateLimitedError(
      'Too many secrets or signatures from this address were wrong. Wait and try again.',
      failures,
    );
  }
  const spending = await services.limits.webhook.spend(id);
  if (spending?.isAllowed === false) {
    const said = `An automation takes ${spending.limit} deliveries in a minute. Wait and try again.`;
    throw new RateLimitedError(said, spending);
  }
  return { automationId: id, spending };
}

interface KeptSecret {
  readonly organizationId: string;
  readonly hash: string | null;
  readonly sealed: string | null;
}

function openSecret({ keyring, log }: Services, id: string | null, kept: KeptSecret | undefined): string | null {
  if (id === null || !kept?.sealed) return null;
  try {
    return keyring.open(kept.sealed, secretPlace(kept.organizationId, id));
  } catch (error) {
    // Sealed with a key that is no longer given: as if the secret were older than signatures.
    log.warn({ err: error, automationId: id }, 'The secret of an incoming webhook could not be opened.');
    return null;
  }
}

/** The most of a body that the prompt of a run shows, in characters. */
const maxShownLength = 65_536;

function textOf({ text }: Delivery): string {
  const heading = `Something came from outside (${webhookEvent}).`;
  if (text.length <= maxShownLength) return eventText(heading, text);
  const cut = `Only the first ${maxShownLength} of its ${text.length} characters are shown.`;
  return eventText(`${heading} ${cut}`, text.slice(0, maxShownLength).toWellFormed());
}

/** What a caller of a webhook delivers. */
export interface Delivery {
  /** What the sender calls it, under the name of the header that says it; null: it has no name. */
  readonly id: string | null;
  /** The body as it came: JSON. */
  readonly text: string;
  readonly body: unknown;
  /** By their names in small letters, without those that hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What became of a delivery. */
export interface Received {
  /** Null: the automation's conditions do not hold for it. */
  readonly run: AutomationRun | null;
  /** It was delivered before: the run is that one's, and nothing happened. */
  readonly isReplay: boolean;
}

/**
 * Lets an automation act on a delivery, once however often it comes: in the time that runs are kept where it has an id, within
 * {@link sameBodyMs} where its body alone tells. INVALID_STATE for a disabled automation; NOT_FOUND for one that is gone since.
 */
export function receiveWebhook(services: Services, automationId: string, delivery: Delivery): Promise<Received> {
  return withVerdicts(services, (verdicts) => receive(services, verdicts, automationId, delivery));
}

function receive(services: Services, verdicts: Verdicts, automationId: string, delivery: Delivery): Promise<Received> {
  return services.store.transact(async (tx) => {
    const firing = await lockForFiring(tx, automationId);
    const [deliveryKey, ...others] = keysOf(delivery, services.now());
    for (const key of [deliveryKey, ...others]) {
      const known = await findRun(tx, automationId, key);
      if (known !== null && isSameStill(delivery, known, services.now())) return { run: known, isReplay: true };
    }
    if (!firing.automation.enabled) throw new DomainError('INVALID_STATE', 'The automation is disabled.');
    const { organizationId } = firing.automation;
    const [verdict = false] = verdicts.find([lookOf(firing, delivery)]);
    if (verdict === false) {
      services.log.info(
        { automationId, organizationId, deliveryId: delivery.id },
        'A webhook was ignored: no conditions hold.',
      );
      return { run: null, isReplay: false };
    }
    const run = await fireLocked(services, tx, firing, {
      deliveryKey,
      trigger: { eventType: webhookEvent, ...(delivery.id === null ? {} : { deliveryId: delivery.id }) },
      addition: textOf(delivery),
      ...(verdict === true ? {} : { skip: slowMessage(verdict) }),
    });
    return { run, isReplay: false };
  });
}

function lookOf({ automation }: Firing, { body, headers }: Delivery): Look {
  const { id: automationId, organizationId, triggers } = automation;
  const conditions = triggers.filter(({ eventType }) => eventType === webhookEvent).map((each) => each.conditions);
  return { organizationId, automationId, eventId: '', conditions, event: { body, headers } };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

// Of a body without an id the key has the window in which it first came; the one before may not be over yet, and by another
// process's clock the next one may have begun.
function keysOf({ id, text }: Delivery, now: Date): [string, ...string[]] {
  if (id !== null) return [`webhook:id:${hashOf(id)}`];
  const window = Math.floor(now.getTime() / sameBodyMs);
  const keyOf = (n: number) => `webhook:body:${hashOf(text)}:${n}`;
  return [keyOf(window), keyOf(window - 1), keyOf(window + 1)];
}

const isSameStill = ({ id }: Delivery, { createdAt }: AutomationRun, now: Date) =>
  id !== null || now.getTime() - createdAt.getTime() < sameBodyMs;
