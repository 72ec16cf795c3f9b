import { errorCatalogue } from '../../../common/errors.ts';
import { type Operator, operatorNames } from '../../../domain/automations/model/conditions.ts';
import type { AutomationOptions, RunAs, Trigger } from '../../../domain/automations/model/definition.ts';
import type { EventField } from '../../../domain/automations/model/event-types.ts';
import type { MissedRuns } from '../../../domain/automations/model/missed-runs.ts';
import type { RunStatus } from '../../../domain/automations/model/runs.ts';
import { builder } from '../builder.ts';
import { valuesOf } from './enums.ts';

type Values<T extends string> = Record<Uppercase<T>, { readonly value: T; readonly description: string }>;

export const AutomationRunStatusEnum = builder.enumType('AutomationRunStatus', {
  description: 'The status of a run of an automation.',
  values: {
    QUEUED: { value: 'queued', description: 'The run waits in the queue until the automation has fewer active runs.' },
    STARTED: { value: 'started', description: 'The run started a session or sent a message to a session.' },
    FAILED: { value: 'failed', description: 'The run failed. `error` gives the reason.' },
    SKIPPED: {
      value: 'skipped',
      description:
        'The run was skipped, for example because of a limit or the policy for missed times. `error` gives the reason.',
    },
  } as const satisfies Values<RunStatus>,
});

const runErrorCodes = [...Object.keys(errorCatalogue), 'INTERNAL'] as (keyof typeof errorCatalogue | 'INTERNAL')[];

export const AutomationRunErrorCodeEnum = builder.enumType('AutomationRunErrorCode', {
  description: 'The type of the error that made a run fail or be skipped.',
  values: valuesOf(runErrorCodes, (code) =>
    code === 'INTERNAL'
      ? 'An internal error of the service occurred. The log of the service has details.'
      : errorCatalogue[code],
  ),
});

export const AutomationRunAsTypeEnum = builder.enumType('AutomationRunAsType', {
  description: 'The type of owner of the sessions that an automation starts.',
  values: {
    ORGANIZATION: { value: 'organization', description: 'The organization owns the sessions. They have no user.' },
    CREATOR: { value: 'creator', description: 'The user who created the automation owns the sessions.' },
  } as const satisfies Values<RunAs>,
});

export const AutomationMissedRunsEnum = builder.enumType('AutomationMissedRuns', {
  description:
    'A policy for scheduled times that were missed by more than five minutes because the service was not running.',
  values: {
    LATEST: { value: 'latest', description: 'The automation runs once, for the latest missed time.' },
    SKIP: {
      value: 'skip',
      description: 'The automation does not run for missed times. The latest is recorded as a skipped run.',
    },
    ALL: {
      value: 'all',
      description:
        'The automation runs for each missed time, oldest first. If more than 100 times were missed, it runs for at most the last 100.',
    },
  } as const satisfies Values<MissedRuns>,
});

type When = NonNullable<NonNullable<AutomationOptions['notifications']>['email']>['when'];

export const AutomationNotifyWhenEnum = builder.enumType('AutomationNotifyWhen', {
  description: 'The runs of an automation that recipients are to be notified about.',
  values: {
    ALWAYS: { value: 'always', description: 'Recipients are notified about every run that is not skipped.' },
    DISPATCH_FAILED: { value: 'dispatch_failed', description: 'Recipients are notified about runs that failed.' },
    DISPATCH_SUCCEEDED: {
      value: 'dispatch_succeeded',
      description: 'Recipients are notified about runs that have a session.',
    },
  } as const satisfies Values<When>,
});

type Mode = NonNullable<NonNullable<AutomationOptions['sessionSettings']>['sessionMode']>;

export const AutomationSessionModeEnum = builder.enumType('AutomationSessionMode', {
  description: 'A mode for the sessions of an automation. Stored and returned unchanged, but not applied.',
  values: {
    NORMAL: { value: 'normal', description: 'The default mode of sessions.' },
    FAST: { value: 'fast', description: 'The mode with the name `fast` in REST.' },
    LITE: { value: 'lite', description: 'The mode with the name `lite` in REST.' },
    ULTRA: { value: 'ultra', description: 'The mode with the name `ultra` in REST.' },
    FUSION: { value: 'fusion', description: 'The mode with the name `fusion` in REST.' },
  } as const satisfies Values<Mode>,
});

type Reply = Trigger['replies'][number]['type'];

export const AutomationReplyEnum = builder.enumType('AutomationReply', {
  description: 'A reply to the source of an event. Stored and returned unchanged, but not sent.',
  values: {
    NOTIFY_THREAD: { value: 'notify_thread', description: 'The thread of the event is notified about the session.' },
    ATTACH_THREAD: { value: 'attach_thread', description: 'The thread of the event is attached to the session.' },
    POST_RESPONSE: {
      value: 'post_response',
      description: 'The response of the session is posted to the source of the event.',
    },
  } as const satisfies Values<Reply>,
});

const operatorMeaning: Record<Operator, string> = {
  'eq': 'The field equals the value, a string, number or boolean of the same type. For a list, one equal item is enough.',
  'neq': 'The field does not equal the value, a string, number or boolean. Also holds if the field is missing.',
  'contains': 'The field contains the value, a string. A list contains the value if one of its items equals it.',
  'not_contains': 'The field does not contain the value, a string. Also holds if the field is missing.',
  'starts_with': 'The field starts with the value, a string. Case matters.',
  'not_starts_with': 'The field does not start with the value, a string. Also holds if the field is missing.',
  'ends_with': 'The field ends with the value, a string. Case matters.',
  'not_ends_with': 'The field does not end with the value, a string. Also holds if the field is missing.',
  'gt': 'The field is a number greater than the value.',
  'lt': 'The field is a number less than the value.',
  'gte': 'The field is a number greater than or equal to the value.',
  'lte': 'The field is a number less than or equal to the value.',
  'between':
    'The field is a number between two numbers, including both. The value is a list of the two, the lower one first.',
  'in': 'The field equals a string of the value, a list of 1 to 200 strings.',
  'not_in': 'The field equals no string of the value, a list of 1 to 200 strings. Also holds if the field is missing.',
  'matches': 'Part of the field matches the value, a regular expression of RE2 of at most 1,000 characters.',
  'not_matches':
    'No part of the field matches the value, a regular expression of RE2 of at most 1,000 characters. Also holds if the field is missing.',
  'globs': 'The whole field matches a glob of the value, a list of 1 to 200 globs of at most 1,000 characters each.',
  'not_globs':
    'The field matches no glob of the value, a list of 1 to 200 globs of at most 1,000 characters each. Also holds if the field is missing.',
  'is_empty': 'The field is missing, null, or an empty string, list or object. The value must be null or left out.',
  'is_not_empty':
    'The field is present and is not null or an empty string, list or object. The value must be null or left out.',
  'recurrence':
    'The value is a recurrence rule of RFC 5545. Only the trigger `schedule:recurring` of REST uses the operator.',
};

export const AutomationConditionOperatorEnum = builder.enumType('AutomationConditionOperator', {
  description: 'An operator that compares a field of an event with a value.',
  values: valuesOf<Operator>(operatorNames, (name) => operatorMeaning[name]),
});

export const AutomationFieldTypeEnum = builder.enumType('AutomationFieldType', {
  description: 'The data type of a field of an event.',
  values: {
    STRING: { value: 'string', description: 'A string, for example the title of a session.' },
    NUMBER: { value: 'number', description: 'A number, for example a count or an amount.' },
    BOOLEAN: { value: 'boolean', description: 'A boolean value: true or false.' },
    LIST: { value: 'list', description: 'A list of strings, for example the tags of a session.' },
    JSON: {
      value: 'json',
      description: 'Any JSON value. A path after the name selects a value inside it, for example `body.build.state`.',
    },
    RECURRENCE: {
      value: 'recurrence',
      description: 'A recurrence rule of RFC 5545, for example `FREQ=DAILY;BYHOUR=9`.',
    },
  } as const satisfies Values<EventField['type']>,
});
