import { createHash } from 'node:crypto';
import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { webhookEvent } from '../model/event-types.ts';
import type { AutomationRun, RunTrigger } from '../model/runs.ts';
import { type LockedAutomation, lockForRun } from '../runs/locked-automation.ts';
import { findRun, findRunsOfBody } from '../runs/run-store.ts';
import { startRun } from '../runs/start-run.ts';
import { eventText } from './event-text.ts';
import { type EventMatcher, type MatchCandidate, slowMessage, withEventMatcher } from './match-events.ts';

/** Time in which an equal body without an id counts as the same delivery. */
export const sameBodyMs = 10 * 60 * 1_000;

/** Maximum length of a body in the prompt of a run, in characters. */
const maxShownLength = 65_536;

function textOf({ text }: Delivery): string {
  const heading = `Incoming event (${webhookEvent}).`;
  if (text.length <= maxShownLength) return eventText(heading, text);
  const cut = `Only the first ${maxShownLength} of its ${text.length} characters are shown.`;
  return eventText(`${heading} ${cut}`, text.slice(0, maxShownLength).toWellFormed());
}

/** A delivery to a webhook. */
export interface Delivery {
  /** The sender's id, with the name of its header; null: none. */
  readonly id: string | null;
  /** The SHA-256 of the whole body in hexadecimal, if the sender signed it; null: the sender sent the secret itself. */
  readonly signedHash: string | null;
  /** The body as received: JSON. */
  readonly text: string;
  readonly body: unknown;
  /** By lower-case names, without those with credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of a delivery. */
export interface WebhookOutcome {
  /** Null: the automation's conditions do not match. */
  readonly run: AutomationRun | null;
  /** True: the delivery is a repetition, the run is that of the first one, and nothing happened. */
  readonly isReplay: boolean;
}

/**
 * Starts a run of an automation for a delivery, once for repeated deliveries: within the retention time of runs if it
 * has an id, within {@link sameBodyMs} if only its body identifies it. A signed body also counts once within that time
 * if it comes without its id, or with one in another header. Throws INVALID_STATE for a disabled automation; NOT_FOUND
 * for one that has been deleted since.
 */
export function receiveWebhook(services: Services, automationId: string, delivery: Delivery): Promise<WebhookOutcome> {
  return withEventMatcher(services, (matcher) => receive(services, matcher, automationId, delivery));
}

function receive(
  services: Services,
  matcher: EventMatcher,
  automationId: string,
  delivery: Delivery,
): Promise<WebhookOutcome> {
  return services.store.transact(async (tx) => {
    const locked = await lockForRun(tx, automationId);
    const [deliveryKey, ...others] = keysOf(delivery, services.now());
    for (const key of [deliveryKey, ...others]) {
      const existing = await findRun(tx, automationId, key);
      if (existing !== null && isSameStill(delivery, existing, services.now()))
        return { run: existing, isReplay: true };
    }
    const repeated = await findSameSigned(tx, automationId, delivery, services.now());
    if (repeated !== null) return { run: repeated, isReplay: true };
    if (!locked.automation.enabled) throw new DomainError('INVALID_STATE', 'The automation is disabled.');
    const { organizationId } = locked.automation;
    const [result = false] = matcher.match([candidateOf(locked, delivery)]);
    if (result === false) {
      services.log.info(
        { automationId, organizationId, deliveryId: delivery.id },
        'A webhook was ignored: it met no conditions.',
      );
      return { run: null, isReplay: false };
    }
    const run = await startRun(services, tx, locked, {
      deliveryKey,
      trigger: triggerOf(delivery),
      addition: textOf(delivery),
      ...(result === true ? {} : { skip: slowMessage(result) }),
    });
    return { run, isReplay: false };
  });
}

function triggerOf({ id, signedHash }: Delivery): RunTrigger {
  return {
    eventType: webhookEvent,
    ...(id === null ? {} : { deliveryId: id }),
    ...(signedHash === null ? {} : { bodySha256: signedHash }),
  };
}

// A signature covers the body, not the id: an attacker who has seen a signed delivery could omit its id, or add one in
// another header. Two ids in the same header are two deliveries, which may have the same body.
async function findSameSigned(tx: Transaction, automationId: string, { id, signedHash }: Delivery, now: Date) {
  if (signedHash === null) return null;
  const runs = await findRunsOfBody(tx, automationId, signedHash, new Date(now.getTime() - sameBodyMs));
  return runs.find(({ trigger }) => id === null || headerOf(id) !== headerOf(trigger.deliveryId)) ?? null;
}

const headerOf = (deliveryId: unknown) => (typeof deliveryId === 'string' ? deliveryId.split(':', 1)[0] : null);

function candidateOf({ automation }: LockedAutomation, { body, headers }: Delivery): MatchCandidate {
  const { id: automationId, organizationId, triggers } = automation;
  const conditions = triggers.filter(({ eventType }) => eventType === webhookEvent).map((each) => each.conditions);
  return { organizationId, automationId, eventId: '', conditions, event: { body, headers } };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

// The key of a body without an id contains its time window. The previous window may not be over yet, and by another
// process's clock the next one may have begun.
function keysOf({ id, text }: Delivery, now: Date): [string, ...string[]] {
  if (id !== null) return [`webhook:id:${hashOf(id)}`];
  const window = Math.floor(now.getTime() / sameBodyMs);
  const keyOf = (n: number) => `webhook:body:${hashOf(text)}:${n}`;
  return [keyOf(window), keyOf(window - 1), keyOf(window + 1)];
}

const isSameStill = ({ id }: Delivery, { createdAt }: AutomationRun, now: Date) =>
  id !== null || now.getTime() - createdAt.getTime() < sameBodyMs;
