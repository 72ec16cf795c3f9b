import type { ErrorCode } from '../../../common/errors.ts';

/**
 * Status of a run. `queued`: it waits until fewer runs of the automation are active. `started`: it has a session.
 * `skipped`: a limit or the policy for missed occurrences left it out, which is not a failure.
 */
export const runStatuses = ['queued', 'started', 'failed', 'skipped'] as const;
/** See {@link runStatuses}. */
export type RunStatus = (typeof runStatuses)[number];

/**
 * The event that started a run: its type, and its details that may be shown. Never a secret, nor the body of a webhook.
 */
export interface RunTrigger {
  readonly eventType: string;
  readonly [name: string]: unknown;
}

/** A run of an automation, including failed and skipped ones. */
export interface AutomationRun {
  readonly id: string;
  readonly automationId: string;
  readonly organizationId: string;
  /** Key of the event, unique for each automation. Internal. */
  readonly deliveryKey: string;
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  /** The unprefixed id of the session that it started or wrote to; null while there is none. */
  readonly sessionId: string | null;
  /** The reason for a failed or skipped run. INTERNAL: an unexpected error; the log of the process has the details. */
  readonly errorCode: ErrorCode | 'INTERNAL' | null;
  readonly errorMessage: string | null;
  /** Number of attempts: only failed occurrences of recurring triggers are retried. */
  readonly attempts: number;
  /** Number of automations before it in a chain of sessions that start automations. */
  readonly depth: number;
  /** The occurrence of the recurring trigger; null: another event started the run. */
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
}

/** The columns of an {@link AutomationRun} of an `automation_run` aliased `r`. */
export const runColumns = `r.id, r.automation_id as "automationId", r.organization_id as "organizationId", r.delivery_key as "deliveryKey",
  r.trigger, r.status,
  r.session_id as "sessionId", r.error_code as "errorCode", r.error_message as "errorMessage", r.attempts, r.depth,
  r.scheduled_for as "scheduledFor", r.created_at as "createdAt", r.started_at as "startedAt"`;
