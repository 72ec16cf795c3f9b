import type { ForgeError } from '../../forges/interface/errors.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Times between the reads of a pull request, in ms. */
const readIntervals = {
  /** Shorter than a minute, so that a change is seen within one. */
  open: 55_000,
  /** Webhooks arrive: polls only find what they missed. */
  withWebhooks: 10 * minuteMs,
  /** All sessions of the pull request are archived or over, or none changed for a week. */
  idle: 15 * minuteMs,
} as const;

/** Time after a read until the next one that a failed check causes, in ms: other checks often end at the same moment. */
export const promptMs = 300;
/** Time after a read until the next one that an event causes of which there are many, in ms. */
export const frequentMs = 10_000;

/** Time after the last change of a session until its pull requests are polled less, or not any longer if it is archived or over. */
const idleLimitMs = 7 * dayMs;
/** Time after the last event in which webhooks are taken to arrive. */
const webhookTrustMs = 7 * dayMs;

/** The facts that decide when a pull request is read again. */
export interface ReadFacts {
  readonly now: Date;
  /** False: merged or closed. */
  readonly isOpen: boolean;
  readonly webhookAt: Date | null;
  /** A session of the pull request is neither over nor archived. */
  readonly hasActiveSession: boolean;
  /** The last change of one of its sessions; null: there are none. */
  readonly sessionsChangedAt: Date | null;
}

/** Returns the time of the next read without an event; null: never. */
export function nextPollAt({ now, isOpen, webhookAt, hasActiveSession, sessionsChangedAt }: ReadFacts): Date | null {
  const at = now.getTime();
  if (!isOpen || sessionsChangedAt === null) return null;
  const isOld = at - sessionsChangedAt.getTime() > idleLimitMs;
  if (!hasActiveSession && isOld) return null;
  const hasWebhooks = webhookAt !== null && at - webhookAt.getTime() < webhookTrustMs;
  const between = Math.max(
    readIntervals.open,
    hasWebhooks ? readIntervals.withWebhooks : 0,
    hasActiveSession && !isOld ? 0 : readIntervals.idle,
  );
  return new Date(at + between);
}

const connectionCodes: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'CREDENTIAL_REFUSED',
  'INVALID_CONNECTION',
  'UNREACHABLE',
]);

/** Tells if a failure is one of the connection, so that its other pull requests would fail too. */
export const isOfConnection = ({ code }: ForgeError): boolean => connectionCodes.has(code);

/** Returns the time of the next attempt after `count` failures in a row: a minute, doubled up to an hour, or when the forge says. */
export function retryAt(now: Date, count: number, forgeSays: Date | null): Date {
  const pauseMs = Math.min(hourMs, minuteMs * 2 ** Math.min(count - 1, 10));
  return new Date(Math.max(now.getTime() + pauseMs, forgeSays?.getTime() ?? 0));
}
