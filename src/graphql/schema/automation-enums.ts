import { type Operator, operandOf, operatorNames } from '../../domain/automations/conditions.ts';
import type { AutomationOptions, RunAs, Trigger } from '../../domain/automations/definition.ts';
import type { EventField } from '../../domain/automations/event-types.ts';
import type { MissedRuns } from '../../domain/automations/missed-runs.ts';
import type { RunStatus } from '../../domain/automations/runs.ts';
import { errorCatalogue } from '../../domain/errors.ts';
import { builder } from '../builder.ts';
import { valuesOf } from './enums.ts';

type Values<T extends string> = Record<Uppercase<T>, { readonly value: T; readonly description: string }>;

/** AutomationRunStatus of the contract. */
export const AutomationRunStatusEnum = builder.enumType('AutomationRunStatus', {
  description: 'The state of a run of an automation.',
  values: {
    QUEUED: { value: 'queued', description: 'The run waits until fewer runs of its automation are at work.' },
    STARTED: { value: 'started', description: 'The run has a session, which it started or wrote to.' },
    FAILED: { value: 'failed', description: 'The run failed; `error` says why.' },
    SKIPPED: {
      value: 'skipped',
      description: 'A limit, or the policy for missed times, left the run out; `error` says why.',
    },
  } as const satisfies Values<RunStatus>,
});

const runErrorCodes = [...Object.keys(errorCatalogue), 'INTERNAL'] as (keyof typeof errorCatalogue | 'INTERNAL')[];

/** AutomationRunErrorCode of the contract. */
export const AutomationRunErrorCodeEnum = builder.enumType('AutomationRunErrorCode', {
  description: 'The kind of error for which a run failed or was skipped.',
  values: valuesOf(runErrorCodes, (code) =>
    code === 'INTERNAL' ? 'The service itself failed; its log says more.' : errorCatalogue[code],
  ),
});

/** AutomationRunAsType of the contract. */
export const AutomationRunAsTypeEnum = builder.enumType('AutomationRunAsType', {
  description: 'The owner of the sessions that an automation starts.',
  values: {
    ORGANIZATION: { value: 'organization', description: 'The organization: the sessions have no user.' },
    CREATOR: { value: 'creator', description: 'The user who created the automation.' },
  } as const satisfies Values<RunAs>,
});

/** AutomationMissedRuns of the contract. */
export const AutomationMissedRunsEnum = builder.enumType('AutomationMissedRuns', {
  description: 'What is done about times that were missed by more than five minutes because the service did not run.',
  values: {
    LATEST: { value: 'latest', description: 'The last missed time is made up for.' },
    SKIP: { value: 'skip', description: 'No missed time is made up for.' },
    ALL: {
      value: 'all',
      description: 'Each missed time is made up for; where there are more than 100, the last time of them.',
    },
  } as const satisfies Values<MissedRuns>,
});

type When = NonNullable<NonNullable<AutomationOptions['notifications']>['email']>['when'];

/** AutomationNotifyWhen of the contract. */
export const AutomationNotifyWhenEnum = builder.enumType('AutomationNotifyWhen', {
  description: 'The runs of an automation of which somebody is notified.',
  values: {
    ALWAYS: { value: 'always', description: 'Every run that is not skipped.' },
    DISPATCH_FAILED: { value: 'dispatch_failed', description: 'Runs that failed.' },
    DISPATCH_SUCCEEDED: { value: 'dispatch_succeeded', description: 'Runs that have a session.' },
  } as const satisfies Values<When>,
});

type Mode = NonNullable<NonNullable<AutomationOptions['sessionSettings']>['sessionMode']>;

/** AutomationSessionMode of the contract. */
export const AutomationSessionModeEnum = builder.enumType('AutomationSessionMode', {
  description: 'The mode that the sessions of an automation are to work in. It is kept and given back.',
  values: {
    NORMAL: { value: 'normal', description: 'The mode of sessions that name none.' },
    FAST: { value: 'fast', description: 'The mode that REST calls "fast".' },
    LITE: { value: 'lite', description: 'The mode that REST calls "lite".' },
    ULTRA: { value: 'ultra', description: 'The mode that REST calls "ultra".' },
    FUSION: { value: 'fusion', description: 'The mode that REST calls "fusion".' },
  } as const satisfies Values<Mode>,
});

type Reply = Trigger['replies'][number]['type'];

/** AutomationReply of the contract. */
export const AutomationReplyEnum = builder.enumType('AutomationReply', {
  description: 'An answer that is given where an event came from.',
  values: {
    NOTIFY_THREAD: { value: 'notify_thread', description: 'The thread that the event is of is told of the session.' },
    ATTACH_THREAD: { value: 'attach_thread', description: 'The thread that the event is of is joined to the session.' },
    POST_RESPONSE: { value: 'post_response', description: 'The answer of the session is posted.' },
  } as const satisfies Values<Reply>,
});

/** AutomationConditionOperator of the contract. */
export const AutomationConditionOperatorEnum = builder.enumType('AutomationConditionOperator', {
  description: 'A way to compare a field of an event with a value.',
  values: valuesOf<Operator>(
    operatorNames,
    (name) => `The operator "${name}" of REST; its value is ${operandOf(name)}.`,
  ),
});

/** AutomationFieldType of the contract. */
export const AutomationFieldTypeEnum = builder.enumType('AutomationFieldType', {
  description: 'The type of the values that a field of an event has.',
  values: {
    STRING: { value: 'string', description: 'A text, as the title of a session.' },
    NUMBER: { value: 'number', description: 'A number, as a count or an amount.' },
    BOOLEAN: { value: 'boolean', description: 'Either true or false.' },
    LIST: { value: 'list', description: 'A list of texts, as the tags of a session.' },
    JSON: { value: 'json', description: 'Any JSON value; a path behind the name leads into it.' },
    RECURRENCE: { value: 'recurrence', description: 'A rule of RFC 5545, as "FREQ=DAILY;BYHOUR=9".' },
  } as const satisfies Values<EventField['type']>,
});
