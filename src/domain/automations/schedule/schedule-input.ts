import { z } from 'zod';
import { refuse } from '../../../common/errors.ts';
import { text } from '../../input.ts';
import { maxPromptLength, tagsSchema } from '../../sessions/create-session.ts';
import type { Action, Trigger } from '../model/definition.ts';
import { recurringEvent } from '../model/event-types.ts';
import {
  type ScheduleDefinition,
  scheduleAgents,
  scheduleNotices,
  scheduleTypes,
} from '../model/schedule-definition.ts';
import { rulesOfCron } from '../recurrence/cron.ts';
import { requireValidRecurrences } from './plan-occurrence.ts';

const oneOf = <const T extends readonly [string, ...string[]]>(name: string, values: T) =>
  z.enum(values, { error: `"${name}" must be one of ${values.join(', ')}.` });
const word = (name: string) => text(name, { min: 1, max: 200 });

const fields = {
  scheduleType: oneOf('scheduleType', scheduleTypes),
  frequency: text('frequency', { min: 1, max: 200 }).nullable(),
  intervalCount: z
    .int({ error: '"intervalCount" must be an integer.' })
    .min(1, '"intervalCount" must be at least 1.')
    .max(1_000, '"intervalCount" must be at most 1000.'),
  scheduledAt: z.iso
    .datetime({ offset: true, error: '"scheduledAt" must be a time such as 2026-12-01T09:00:00Z.' })
    .nullable(),
  prompt: text('prompt', { min: 1, max: maxPromptLength, isBlankRefused: true }),
  agent: oneOf('agent', scheduleAgents),
  notifyOn: oneOf('notifyOn', scheduleNotices),
  bypassApproval: z.boolean(),
  platform: word('platform').nullable(),
  playbookId: z.string().nullable(),
  tags: tagsSchema.nullable(),
  targetSessionId: z.string().nullable(),
  slackChannelId: word('slackChannelId').nullable(),
  slackTeamId: word('slackTeamId').nullable(),
} as const;

/** The fields of a schedule in inputs. */
export const scheduleSchema = z.object({
  ...z.object(fields).partial().shape,
  name: text('name', { min: 1, max: 500 }).optional(),
  enabled: z.boolean().optional(),
  runAsUserId: z.string().nullable().optional(),
});

/** The input of a schedule; an omitted field has its default, or on a change does not change. */
export type ScheduleInput = {
  readonly [Name in keyof z.input<typeof scheduleSchema>]?: z.input<typeof scheduleSchema>[Name];
};

/** The default values of a schedule. */
export const defaultSchedule: ScheduleDefinition = {
  scheduleType: 'recurring',
  frequency: null,
  intervalCount: 1,
  scheduledAt: null,
  prompt: '',
  agent: 'standard',
  notifyOn: 'failure',
  bypassApproval: false,
  platform: null,
  playbookId: null,
  tags: null,
  targetSessionId: null,
  slackChannelId: null,
  slackTeamId: null,
};

/** See {@link ScheduleInput}. */
export type ParsedSchedule = z.output<typeof scheduleSchema>;

/**
 * Applies the input to an existing schedule. If the type changes, the fields of the other type are cleared. Throws
 * INVALID_INPUT.
 */
export function combineSchedule(before: ScheduleDefinition, input: ParsedSchedule, now: Date): ScheduleDefinition {
  const changes = Object.fromEntries(
    Object.keys(defaultSchedule).flatMap((name) => {
      const value = input[name as keyof ParsedSchedule];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const after: ScheduleDefinition = { ...before, ...changes };
  if (after.scheduleType === 'recurring') {
    if (after.frequency === null)
      throw refuse(['frequency'], '"frequency" is required: a recurring schedule needs one.');
    if (input.scheduledAt != null) throw refuse(['scheduledAt'], '"scheduledAt" must be omitted: the schedule recurs.');
    if (input.targetSessionId != null) {
      throw refuse(['targetSessionId'], '"targetSessionId" must be omitted: the schedule recurs.');
    }
    return { ...after, scheduledAt: null, targetSessionId: null };
  }
  if (input.frequency != null) throw refuse(['frequency'], '"frequency" must be omitted: the schedule runs once.');
  if (after.scheduledAt === null) {
    throw refuse(['scheduledAt'], '"scheduledAt" is required: a schedule that runs once needs a time.');
  }
  const at = new Date(after.scheduledAt);
  const isTimeChanged = input.scheduledAt !== undefined || input.scheduleType !== undefined;
  if (isTimeChanged && at <= now) {
    throw refuse(['scheduledAt'], `"scheduledAt" must be in the future, but was ${at.toISOString()}.`);
  }
  return { ...after, frequency: null, intervalCount: 1, scheduledAt: at.toISOString() };
}

/**
 * Returns the triggers and actions of a schedule's automation. Throws INVALID_INPUT at `frequency` for an invalid cron
 * expression.
 */
export function triggersAndActionsOf(
  schedule: ScheduleDefinition,
  createdAt: Date,
): { triggers: Trigger[]; actions: Action[] } {
  const { prompt, targetSessionId, tags, platform, bypassApproval, playbookId } = schedule;
  const start = (time: Date) => `DTSTART:${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}\nRRULE:`;
  const values =
    schedule.scheduledAt !== null
      ? [`${start(new Date(schedule.scheduledAt))}FREQ=DAILY;COUNT=1`]
      : rulesOfCron(schedule.frequency ?? '', schedule.intervalCount)?.map((rule) => start(createdAt) + rule);
  if (!values) {
    const message = `"frequency" must be a cron expression of five fields, such as "0 9 * * 1-5", but was ${JSON.stringify(schedule.frequency?.slice(0, 60))}.`;
    throw refuse(['frequency'], message);
  }
  const triggers = values.map((value) => ({
    eventType: recurringEvent,
    conditions: { any: [{ all: [{ field: 'rrule', operator: 'recurrence' as const, value }] }] },
    replies: [],
  }));
  if (targetSessionId !== null) return { triggers, actions: [{ type: 'message_session', prompt, targetSessionId }] };
  const session = { tags: tags === null ? null : [...tags], platform, bypassApproval, playbookId };
  return { triggers, actions: [{ type: 'start_session', prompt, session }] };
}

/** Throws INVALID_INPUT at `frequency` unless it fires, and not too often. */
export function requireFrequency(triggers: readonly Trigger[], start: Date, now: Date): Promise<void> {
  return requireValidRecurrences(triggers, { start, now }, (problem) =>
    refuse(['frequency'], `"frequency" cannot be used: ${problem}`),
  );
}
