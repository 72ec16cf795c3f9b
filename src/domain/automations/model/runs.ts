import type { ErrorCode } from '../../errors.ts';

/**
 * How far a run came. `queued`: it waits until fewer of the automation's are at work. `started`: there is a session.
 * `skipped`: a limit or the policy for missed times left it out, which is no failure.
 */
export const runStatuses = ['queued', 'started', 'failed', 'skipped'] as const;
/** See {@link runStatuses}. */
export type RunStatus = (typeof runStatuses)[number];

/** What a run answers: the type of the event, and what of it may be shown. Never a secret, nor the body of a webhook. */
export interface RunTrigger {
  readonly eventType: string;
  readonly [name: string]: unknown;
}

/** One time that an automation acted, or should have. */
export interface AutomationRun {
  readonly id: string;
  readonly automationId: string;
  readonly organizationId: string;
  /** What it answers, once for each automation. Nothing for outside. */
  readonly deliveryKey: string;
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  /** The session that it started or wrote to, bare; null while there is none. */
  readonly sessionId: string | null;
  /** Why it failed or was skipped. INTERNAL: not by a refusal; the log of the process says more. */
  readonly errorCode: ErrorCode | 'INTERNAL' | null;
  readonly errorMessage: string | null;
  /** How often it was tried: only failed times of recurring triggers are tried again. */
  readonly attempts: number;
  /** How many automations stand before it in a chain of sessions that start automations. */
  readonly depth: number;
  /** The time of the recurring trigger; null: something else started it. */
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
}

/** The columns of an {@link AutomationRun} of an `automation_run` aliased `r`. */
export const runColumns = `r.id, r.automation_id as "automationId", r.organization_id as "organizationId", r.delivery_key as "deliveryKey",
  r.trigger, r.status,
  r.session_id as "sessionId", r.error_code as "errorCode", r.error_message as "errorMessage", r.attempts, r.depth,
  r.scheduled_for as "scheduledFor", r.created_at as "createdAt", r.started_at as "startedAt"`;
