import type { ErrorCode } from '../../../common/errors.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';

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

/** The repository of an event, as {@link RunTrigger} has it. */
export interface RunRepository {
  /** `host/path`. */
  readonly repository: string;
  /** The number of the pull request that the event is about; null: none. */
  readonly pullRequest: number | null;
  /** The branch or tag that the event is about; null: none. */
  readonly ref: string | null;
}

/** Returns the repository of the event that started a run; null: the event is about none. */
export function repositoryOf({ repository, pullRequest, ref }: RunTrigger): RunRepository | null {
  if (typeof repository !== 'string') return null;
  return {
    repository,
    pullRequest: typeof pullRequest === 'number' ? pullRequest : null,
    ref: typeof ref === 'string' ? ref : null,
  };
}

/** The fields of a run that a record has. */
export const runFields = fieldsOf('AutomationRun', ['addition']);

/**
 * A run of an automation, including failed and skipped ones. `deliveryKey` is internal. `sessionId` null: it has no
 * session yet. `attempts`: only failed occurrences of recurring triggers are retried.
 */
export interface AutomationRun extends Pick<Row<'AutomationRun'>, (typeof runFields)[number]> {
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  /** The reason for a failed or skipped run. INTERNAL: an unexpected error; the log of the process has the details. */
  readonly errorCode: ErrorCode | 'INTERNAL' | null;
}

/** The columns of an {@link AutomationRun} of an `automation_run` aliased `r`. */
export const runColumns = selectFields('AutomationRun', 'r', runFields);
