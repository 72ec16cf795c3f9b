import { z } from '@hono/zod-openapi';
import type { AutomationChange, WrittenAutomation } from '../../../domain/automations/change-automations.ts';
import type { AutomationRecord } from '../../../domain/automations/model/automations.ts';
import { operatorsOfType } from '../../../domain/automations/model/conditions.ts';
import type { AutomationInput } from '../../../domain/automations/model/definition.ts';
import { listedEventTypes, webhookEvent } from '../../../domain/automations/model/event-types.ts';
import { upcomingOccurrences } from '../../../domain/automations/schedule/upcoming-occurrences.ts';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { integerParam } from '../query.ts';
import { pageQuery, time, timeSchema } from './dialect.ts';
import { toOurNames, toWireNames } from './wire-names.ts';

/** The maximum and the default size of a page of automations or runs: smaller than of other lists. */
export const automationsPage = { max: 100, default: 100 } as const;

/** The query parameters of these pages. */
export const automationsQuery = z.object({
  ...pageQuery,
  first: integerParam('first', {
    description: 'Items in this page.',
    minimum: 1,
    maximum: automationsPage.max,
    default: automationsPage.default,
  }),
});

const when = z.enum(['always', 'dispatch_failed', 'dispatch_succeeded']);
const notifications = z.strictObject({
  email: z.strictObject({ when, recipients: z.array(z.string()).nullish() }).nullish(),
  slack: z.strictObject({ when, channel_id: z.string() }).nullish(),
});

const condition = z.strictObject({
  field: z.string(),
  operator: z.string().openapi({ description: 'One of those that the schemas list.' }),
  value: z
    .unknown()
    .optional()
    .openapi({ description: 'A text, a number, a list or nothing, as the operator needs it.' }),
});

const conditions = z
  .strictObject({ any: z.array(z.strictObject({ all: z.array(condition) })) })
  .openapi({ description: 'Any of these, of which all must hold. Null: every event.' });

const trigger = z.strictObject({
  event_type: z.string().openapi({ description: 'One of those that the schemas list, such as "schedule:recurring".' }),
  conditions: conditions.nullish(),
  replies: z.array(z.strictObject({ type: z.enum(['notify_thread', 'attach_thread', 'post_response']) })).nullish(),
});

const sessionOptions = z.strictObject({
  tags: z.array(z.string()).nullish(),
  platform: z.string().nullish(),
  bypass_approval: z.boolean().nullish(),
  notifications: notifications.nullish(),
  playbook_id: z.string().nullish(),
  repos: z.array(z.string()).nullish(),
});

// A record silently drops the name `__proto__`, so it does no harm. It is refused because it would not be stored.
const named = <T extends z.ZodType>(record: T) =>
  z.preprocess((value, check) => {
    if (value !== null && typeof value === 'object' && Object.hasOwn(value, '__proto__')) {
      check.addIssue({ code: 'custom', path: ['__proto__'], message: '"__proto__" is not a valid name.' });
    }
    return value;
  }, record);

const prompt = z.string().openapi({
  description: `May name a playbook (@playbook:…), macros (!name), secrets (\${NAME}) and repositories (@owner/name); what does not exist is refused.`,
});

const action = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('start_session'), prompt, session: sessionOptions.nullish() }),
  z.strictObject({
    type: z.literal('message_session'),
    prompt,
    target_devin_id: z.string().nullish(),
    auto_create: z.boolean().nullish().openapi({
      description: 'Whether a session is started if the target is missing or no longer accepts messages.',
    }),
  }),
  z.strictObject({
    type: z.literal('monitor_session'),
    setup_prompt: z.string(),
    slack_monitor_config: named(z.record(z.string(), z.unknown())),
  }),
]);

const runAs = z.strictObject({
  type: z
    .enum(['organization', 'creator'])
    .openapi({ description: '"organization", or "creator": its sessions belong to the user who made it.' }),
});

const options = {
  limits: z
    .strictObject({
      max_acu_limit: z.number().nullish(),
      invocations: z.strictObject({ max_per_window: z.number(), window_seconds: z.number() }).nullish(),
    })
    .nullish(),
  concurrency: z
    .strictObject({ max_concurrent_runs: z.number().nullish(), max_queue_depth: z.number().nullish() })
    .nullish(),
  metadata: named(z.record(z.string(), z.string())).nullish(),
  notifications: notifications.nullish(),
  session_settings: z
    .strictObject({
      devin_mode: z.enum(['normal', 'fast', 'lite', 'ultra', 'fusion']).nullish(),
      net_policy: z
        .strictObject({
          allow: z.array(
            z.strictObject({
              hostname: z.string().nullish(),
              ipv4: z.string().nullish(),
              ipv6: z.string().nullish(),
            }),
          ),
        })
        .nullish(),
    })
    .nullish(),
  security_profile: z.strictObject({ profile_id: z.string() }).nullish(),
  template_id: z.string().nullish(),
  tools: z
    .strictObject({
      mcp_servers: z.array(z.string()).nullish(),
      slack_channels: z.array(z.string()).nullish(),
      slack_dm_scope: z.string().nullish(),
      linear_enabled: z.boolean().nullish(),
    })
    .nullish(),
} as const;

/** A new automation. Unknown fields are refused. */
export const automationCreateRequest = z
  .strictObject({
    name: z.string().openapi({ description: '1 to 500 characters.' }),
    triggers: z.array(trigger),
    actions: z.array(action),
    run_as: runAs.nullish().openapi({ description: 'The organization when left out.' }),
    enabled: z.boolean().nullish().openapi({ description: 'True when left out.' }),
    ...options,
  })
  .openapi('AutomationCreateRequest');

/** Changes of an automation: a missing field stays, and null clears a field that is optional in a new automation. */
export const automationUpdateRequest = z
  .strictObject({
    name: z.string().optional(),
    triggers: z.array(trigger).optional(),
    actions: z.array(action).optional(),
    run_as: runAs.nullish(),
    enabled: z.boolean().nullish(),
    ...options,
  })
  .openapi('AutomationUpdateRequest');

const webhook = z.object({
  url: z.string().openapi({ description: 'Where events are posted to.' }),
  secret: z
    .string()
    .nullable()
    .openapi({ description: 'Sent as X-Webhook-Secret. Shown once, by the request that made it; null ever after.' }),
});

/** An automation on the wire. */
export const automationResponse = z
  .object({
    automation_id: z.string(),
    org_id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    run_as: z.object({ type: z.enum(['organization', 'creator']) }),
    triggers: z.array(
      z.object({
        event_type: z.string(),
        conditions: z.record(z.string(), z.unknown()).nullable(),
        replies: z.array(z.object({ type: z.string() })),
        webhook: webhook.optional().openapi({ description: 'Of webhook:incoming.' }),
      }),
    ),
    actions: z.array(z.looseObject({ type: z.string() })),
    ...Object.fromEntries(
      Object.keys(options).map((name) => [name, z.unknown().openapi({ description: 'Null: not set.' })]),
    ),
    next_run_at: timeSchema.nullable().openapi({ description: 'Unix seconds; null: no recurring trigger will fire.' }),
    next_runs: z
      .array(timeSchema)
      .optional()
      .openapi({ description: 'The next five times of its recurring triggers; not in lists.' }),
    last_run_at: timeSchema.nullable(),
    created_at: timeSchema,
    created_by: z.string().openapi({ description: 'A user or a service user.' }),
    updated_at: timeSchema,
    updated_by: z.string().openapi({ description: 'As `created_by`.' }),
  })
  .openapi('AutomationResponse');

/** Converts a request body to the domain's names. The domain validates it again with all its rules. */
export function readAutomation<T extends AutomationInput | AutomationChange>(body: object): T {
  return toOurNames(body) as T;
}

/** The actor as REST writes it; '' for the service itself. */
export function actorOf(userId: string | null, serviceUserId: string | null): string {
  if (userId !== null) return prefixedId('user', userId);
  return serviceUserId === null ? '' : prefixedId('serviceUser', serviceUserId);
}

/** An automation as in lists. {@link presentAutomation} adds fields for a single one. */
export function presentListed(
  context: Context,
  automation: AutomationRecord,
  webhookSecret: string | null = null,
): z.input<typeof automationResponse> {
  const { nextRunAt, lastRunAt } = automation;
  const url = `${context.baseUrl}/webhooks/automations/${automation.id}`;
  const set = toWireNames(automation.options) as Record<string, unknown>;
  return {
    automation_id: prefixedId('automation', automation.id),
    org_id: prefixedId('organization', automation.organizationId),
    name: automation.name,
    enabled: automation.enabled,
    run_as: { type: automation.runAs },
    triggers: automation.triggers.map((each) => ({
      event_type: each.eventType,
      conditions: each.conditions,
      replies: each.replies,
      ...(each.eventType === webhookEvent ? { webhook: { url, secret: webhookSecret } } : {}),
    })),
    actions: automation.actions.map(presentAction),
    ...Object.fromEntries(Object.keys(options).map((name) => [name, set[name] ?? null])),
    next_run_at: nextRunAt === null ? null : time(nextRunAt),
    last_run_at: lastRunAt === null ? null : time(lastRunAt),
    created_at: time(automation.createdAt),
    created_by: actorOf(automation.userId, automation.serviceUserId),
    updated_at: time(automation.updatedAt),
    updated_by: actorOf(automation.updatedByUserId, automation.updatedByServiceUserId),
  };
}

// Ids have no prefix in the domain; session ids have none on this wire either.
function presentAction(each: AutomationRecord['actions'][number]): { type: string } {
  if (each.type !== 'start_session' || each.session?.playbookId == null) return toWireNames(each) as { type: string };
  const playbookId = prefixedId('playbook', each.session.playbookId);
  return toWireNames({ ...each, session: { ...each.session, playbookId } }) as { type: string };
}

/**
 * One automation, with the next occurrences of its recurring triggers, and its webhook's secret if that was just
 * created.
 */
export async function presentAutomation(
  context: Context,
  { automation, webhookSecret }: WrittenAutomation,
): Promise<z.input<typeof automationResponse>> {
  const nextRuns = (await upcomingOccurrences(automation, context.now(), 5)).map(time);
  return { ...presentListed(context, automation, webhookSecret), next_runs: nextRuns };
}

/** The trigger types. */
export const schemasResponse = z
  .object({
    sources: z
      .record(
        z.string(),
        z.record(
          z.string(),
          z.object({
            has_source: z
              .boolean()
              .openapi({ description: 'False: it is taken and kept, but nothing here makes such events.' }),
            description: z.string(),
            fields: z.record(
              z.string(),
              z.object({
                type: z.string(),
                required: z.boolean(),
                description: z.string(),
                operators: z.array(z.string()).openapi({ description: 'Those that can hold for it.' }),
              }),
            ),
          }),
        ),
      )
      .openapi({ description: 'By source and word of the event; the word "*" stands for any.' }),
    operators: z.array(z.string()),
  })
  .openapi('AutomationSchemas');

/** Every known event, by its source. */
export function presentSources(): z.input<typeof schemasResponse>['sources'] {
  const sources: z.input<typeof schemasResponse>['sources'] = {};
  for (const { source, word, hasSource, description, fields } of listedEventTypes) {
    const shown = Object.entries(fields).map(([field, { type, isRequired, description }]) => [
      field,
      { type, required: isRequired, description, operators: [...operatorsOfType[type]] },
    ]);
    const event = { has_source: hasSource, description, fields: Object.fromEntries(shown) };
    sources[source] = { ...sources[source], [word]: event };
  }
  return sources;
}
