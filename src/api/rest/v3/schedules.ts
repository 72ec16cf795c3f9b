import { z } from '@hono/zod-openapi';
import { createSchedule, deleteSchedule, updateSchedule } from '../../../domain/automations/change-schedules.ts';
import type { ScheduleInput } from '../../../domain/automations/schedule/schedule-input.ts';
import {
  getSchedule,
  listSchedules,
  maxSchedules,
  type ScheduleRecord,
  withPlaybook,
} from '../../../domain/automations/schedule/schedules.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { Deprecation } from '../deprecation.ts';
import { integerParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { actorOf } from './automation-shapes.ts';
import { pageOf } from './dialect.ts';
import { toOurNames } from './wire-names.ts';

const collection = '/v3/organizations/{org_id}/schedules';
const one = `${collection}/{schedule_id}` as const;

/** Automations replace schedules. No source dates the deprecation: it is that of versions 1 and 2. */
const deprecation: Deprecation = { since: new Date('2026-01-01T00:00:00Z') };
/** The end of `POST` for organizations that have automations (docs/wire/v3.md#schedules). The other routes have no end. */
const sunset = new Date('2026-09-24T00:00:00Z');

const agents = z.enum(['devin', 'data_analyst']);
const notices = z.enum(['always', 'failure', 'never']);
const types = z.enum(['recurring', 'one_time']);
const instant = z.string().openapi({ format: 'date-time' });
const frequency = { description: 'Cron: minute, hour, day of the month, month, day of the week, in UTC.' };

const fields = {
  agent: agents.nullish().openapi({ default: 'devin' }),
  bypass_approval: z.boolean().nullish().openapi({ default: false }),
  frequency: z.string().nullish().openapi(frequency),
  interval_count: z.number().nullish().openapi({ default: 1, description: 'Every which of the frequency’s periods.' }),
  notify_on: notices.nullish().openapi({ default: 'failure' }),
  platform: z.string().nullish(),
  playbook_id: z.string().nullish(),
  schedule_type: types.nullish().openapi({ default: 'recurring' }),
  scheduled_at: instant.nullish(),
  slack_channel_id: z.string().nullish(),
  slack_team_id: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  target_devin_id: z.string().nullish().openapi({ description: 'Gets the prompt as a message. With one_time only.' }),
} as const;

const createRequest = z
  .object({ name: z.string(), prompt: z.string(), ...fields, create_as_user_id: z.string().nullish() })
  .openapi('ScheduleCreateRequest');

const updateRequest = z
  .object({
    name: z.string().nullish(),
    prompt: z.string().nullish(),
    enabled: z.boolean().nullish(),
    ...fields,
    run_as_user_id: z.string().nullish(),
  })
  .openapi('ScheduleUpdateRequest');

const scheduleResponse = z
  .object({
    scheduled_session_id: z.string(),
    org_id: z.string(),
    name: z.string(),
    prompt: z.string(),
    enabled: z.boolean(),
    agent: agents,
    bypass_approval: z.boolean(),
    frequency: z.string().nullable(),
    interval_count: z.int(),
    notify_on: notices,
    platform: z.string().nullable(),
    playbook: z.object({ playbook_id: z.string(), title: z.string().nullable() }).nullable(),
    schedule_type: types,
    scheduled_at: instant.nullable(),
    slack_channel_id: z.string().nullable(),
    slack_team_id: z.string().nullable(),
    tags: z.array(z.string()).nullable(),
    target_devin_id: z.string().nullable(),
    consecutive_failures: z.int(),
    last_executed_at: instant.nullable(),
    last_error_at: instant.nullable(),
    last_error_message: z.string().nullable(),
    created_at: instant,
    created_by: z.string().nullable(),
    last_edited_by: z.string().nullable(),
    updated_at: instant,
  })
  .openapi('ScheduleResponse');

const listQuery = z.object({
  limit: integerParam('limit', {
    description: 'Items in this page.',
    minimum: 1,
    maximum: maxSchedules,
    default: maxSchedules,
  }),
  offset: integerParam('offset', { description: 'Items before this page.', minimum: 0, default: 0 }),
});

const text = (at: Date | null) => at?.toISOString() ?? null;

function present(record: ScheduleRecord): z.input<typeof scheduleResponse> {
  const { schedule } = record;
  return {
    scheduled_session_id: prefixedId('automation', record.id),
    org_id: prefixedId('organization', record.organizationId),
    name: record.name,
    prompt: schedule.prompt,
    enabled: record.enabled,
    agent: schedule.agent === 'standard' ? 'devin' : schedule.agent,
    bypass_approval: schedule.bypassApproval,
    frequency: schedule.frequency,
    interval_count: schedule.intervalCount,
    notify_on: schedule.notifyOn,
    platform: schedule.platform,
    playbook:
      schedule.playbookId === null
        ? null
        : { playbook_id: prefixedId('playbook', schedule.playbookId), title: record.playbookTitle },
    schedule_type: schedule.scheduleType,
    scheduled_at: schedule.scheduledAt,
    slack_channel_id: schedule.slackChannelId,
    slack_team_id: schedule.slackTeamId,
    tags: schedule.tags === null ? null : [...schedule.tags],
    target_devin_id: schedule.targetSessionId,
    consecutive_failures: record.consecutiveFailures,
    last_executed_at: text(record.lastRunAt),
    last_error_at: text(record.lastErrorAt),
    last_error_message: record.lastErrorMessage,
    created_at: record.createdAt.toISOString(),
    created_by: actorOf(record.userId, record.serviceUserId) || null,
    last_edited_by: actorOf(record.updatedByUserId, record.updatedByServiceUserId) || null,
    updated_at: record.updatedAt.toISOString(),
  };
}

/** The fields that null resets to a default. For other fields that cannot be null, null changes nothing. */
const defaults = { agent: 'devin', bypass_approval: false, interval_count: 1, notify_on: 'failure' } as const;
const nonNullableFields = ['name', 'prompt', 'enabled', 'schedule_type'];

// The field for the user that it runs as has another name in the create request.
function read(body: z.output<typeof createRequest> | z.output<typeof updateRequest>): ScheduleInput {
  const entries = Object.entries(body)
    .map(([name, value]) => [
      name,
      value ?? (value === null ? (defaults[name as keyof typeof defaults] ?? null) : value),
    ])
    .filter(([name, value]) => !(value === null && nonNullableFields.includes(name as string)))
    .map(([name, value]) => [
      name === 'create_as_user_id' ? 'run_as_user_id' : name,
      value === 'devin' && name === 'agent' ? 'standard' : value,
    ]);
  return toOurNames(Object.fromEntries(entries)) as ScheduleInput;
}

/** `/v3/organizations/{org_id}/schedules`: deprecated; automations in their earlier shape. */
export function serveSchedules(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listSchedules',
      deprecation,
      successor: 'GET /v3/organizations/{org_id}/automations',
      summary: 'List the schedules of an organization, newest first',
      query: listQuery,
      answer: pageOf(scheduleResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const { limit = maxSchedules, offset = 0 } = query;
      const found = await listSchedules(context, { organizationId: param('org_id'), limit, offset });
      return { items: found.items.map(present), end_cursor: null, has_next_page: found.hasNextPage, total: null };
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [collection],
      name: 'createSchedule',
      deprecation: { ...deprecation, sunset },
      successor: 'POST /v3/organizations/{org_id}/automations',
      summary: 'Make a schedule; since 24 September 2026 only where an organization has no automations yet',
      body: createRequest,
      answer: scheduleResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) => {
      const input = { ...read(body), name: body.name, prompt: body.prompt };
      return present(await withPlaybook(context, await createSchedule(context, param('org_id'), input)));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [one],
      name: 'getSchedule',
      deprecation,
      successor: 'GET /v3/organizations/{org_id}/automations/{schedule_id}',
      summary: 'Read a schedule',
      answer: scheduleResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => present(await getSchedule(context, automationRefOf(param))),
  );

  api.serve(
    {
      method: 'patch',
      paths: [one],
      name: 'updateSchedule',
      deprecation,
      successor: 'PATCH /v3/organizations/{org_id}/automations/{schedule_id}',
      summary: 'Change a schedule: what is left out stays, null clears',
      body: updateRequest,
      answer: scheduleResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) =>
      present(await withPlaybook(context, await updateSchedule(context, automationRefOf(param), read(body)))),
  );

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: 'deleteSchedule',
      deprecation,
      successor: 'DELETE /v3/organizations/{org_id}/automations/{schedule_id}',
      summary: 'Delete a schedule; sessions that it started stay',
      answer: scheduleResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) =>
      present(await withPlaybook(context, await deleteSchedule(context, automationRefOf(param)))),
  );
}

const automationRefOf = (param: (name: string) => string) => ({
  organizationId: param('org_id'),
  automationId: param('schedule_id'),
});
