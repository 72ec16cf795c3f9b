import type { RetentionTimes, Services } from '../../src/domain/context.ts';
import type { TestApp } from './app.ts';
import { runMutation } from './people.ts';

export const dayMs = 86_400_000;

/** The services of an app in a year, when every retention time has ended. */
export function inAYear({ app: { services } }: TestApp): Services {
  const ms = 30 * dayMs;
  const retention: RetentionTimes = { sessionMs: ms, attachmentMs: ms, auditLogMs: ms, webhookDeliveryMs: ms };
  const checkpoints = { ...services.checkpoints, retentionMs: ms };
  return { ...services, now: () => new Date(Date.now() + 365 * dayMs), retention, checkpoints };
}

/** The target of a hold, by an id in any form. */
export type HoldTarget = { sessionId: string } | { organizationId: string } | { userId: string };

/** Puts a hold on a target, and returns its id. */
export async function holdTarget(
  test: TestApp,
  target: HoldTarget,
  reason: string = 'A request of a court',
): Promise<string> {
  const payload = await runMutation(test, 'createLegalHold', 'legalHold { legalHoldId }', { target, reason });
  return payload.legalHold.legalHoldId;
}

/** Releases a hold. */
export const releaseHold = (test: TestApp, legalHoldId: string) =>
  runMutation(test, 'releaseLegalHold', 'legalHold { releasedAt }', { legalHoldId });
