import { errorCatalogue } from '../../../common/errors.ts';
import type { Operator } from '../../../domain/automations/model/conditions.ts';
import type { AutomationOptions, RunAs, Trigger } from '../../../domain/automations/model/definition.ts';
import type { EventField } from '../../../domain/automations/model/event-field.ts';
import type { MissedRuns } from '../../../domain/automations/model/missed-runs.ts';
import type { RunStatus } from '../../../domain/automations/model/runs.ts';
import { defineEnum } from './define-enum.ts';

export const AutomationRunStatusEnum = defineEnum<RunStatus>(
  'AutomationRunStatus',
  'The status of a run of an automation.',
  {
    queued: 'The run waits in the queue until the automation has fewer active runs.',
    started: 'The run started a session or sent a message to a session.',
    failed: 'The run failed. `error` gives the reason.',
    skipped:
      'The run was skipped, for example because of a limit or the policy for missed times. `error` gives the reason.',
  },
);

export const AutomationRunErrorCodeEnum = defineEnum(
  'AutomationRunErrorCode',
  'The type of the error that made a run fail or be skipped.',
  {
    ...errorCatalogue,
    INTERNAL: 'An internal error of the service occurred. The log of the service has details.',
  },
);

export const AutomationRunAsTypeEnum = defineEnum<RunAs>(
  'AutomationRunAsType',
  'The type of owner of the sessions that an automation starts.',
  {
    organization: 'The organization owns the sessions. They have no user.',
    creator: 'The user who created the automation owns the sessions.',
  },
);

export const AutomationMissedRunsEnum = defineEnum<MissedRuns>(
  'AutomationMissedRuns',
  'A policy for scheduled times that were missed by more than five minutes because the service was not running.',
  {
    latest: 'The automation runs once, for the latest missed time.',
    skip: 'The automation does not run for missed times. The latest is recorded as a skipped run.',
    all: 'The automation runs for each missed time, oldest first. If more than 100 times were missed, it runs for at most the last 100.',
  },
);

type When = NonNullable<NonNullable<AutomationOptions['notifications']>['email']>['when'];

export const AutomationNotifyWhenEnum = defineEnum<When>(
  'AutomationNotifyWhen',
  'The runs of an automation that recipients are to be notified about.',
  {
    always: 'Recipients are notified about every run that is not skipped.',
    'dispatch_failed': 'Recipients are notified about runs that failed.',
    'dispatch_succeeded': 'Recipients are notified about runs that have a session.',
  },
);

type Mode = NonNullable<NonNullable<AutomationOptions['sessionSettings']>['sessionMode']>;

export const AutomationSessionModeEnum = defineEnum<Mode>(
  'AutomationSessionMode',
  'A mode for the sessions of an automation. Stored and returned unchanged, but not applied.',
  {
    normal: 'The default mode of sessions.',
    fast: 'The mode with the name `fast` in REST.',
    lite: 'The mode with the name `lite` in REST.',
    ultra: 'The mode with the name `ultra` in REST.',
    fusion: 'The mode with the name `fusion` in REST.',
  },
);

type Reply = Trigger['replies'][number]['type'];

export const AutomationReplyEnum = defineEnum<Reply>(
  'AutomationReply',
  'A reply to the source of an event. Stored and returned unchanged, but not sent.',
  {
    'notify_thread': 'The thread of the event is notified about the session.',
    'attach_thread': 'The thread of the event is attached to the session.',
    'post_response': 'The response of the session is posted to the source of the event.',
  },
);

export const AutomationConditionOperatorEnum = defineEnum<Operator>(
  'AutomationConditionOperator',
  'An operator that compares a field of an event with a value.',
  {
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
    'not_in':
      'The field equals no string of the value, a list of 1 to 200 strings. Also holds if the field is missing.',
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
  },
);

export const AutomationFieldTypeEnum = defineEnum<EventField['type']>(
  'AutomationFieldType',
  'The data type of a field of an event.',
  {
    string: 'A string, for example the title of a session.',
    number: 'A number, for example a count or an amount.',
    boolean: 'A boolean value: true or false.',
    list: 'A list of strings, for example the tags of a session.',
    json: 'Any JSON value. A path after the name selects a value inside it, for example `body.build.state`.',
    recurrence: 'A recurrence rule of RFC 5545, for example `FREQ=DAILY;BYHOUR=9`.',
  },
);
