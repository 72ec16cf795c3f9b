import { z } from 'zod';
import { refuse } from '../../../common/errors.ts';
import { isStorable, text } from '../../input.ts';
import { maxPromptLength, tagsSchema } from '../../sessions/create-session.ts';
import { isTimeZone } from '../recurrence/time-zones.ts';
import { conditionProblems, conditionsSchema, fieldProblems } from './conditions.ts';
import { findEventType, findSimilarEventType, recurringEvent, webhookEvent } from './event-types.ts';
import { missedRunsPolicies } from './missed-runs.ts';

/**
 * Maximum number of triggers and actions of one automation, and of recurring triggers, whose check is the most
 * expensive.
 */
const maxCounts = { triggers: 20, actions: 10, recurring: 5 } as const;

const maxItemsMessage = (name: string, count: number) => `"${name}" must have at most ${count} items.`;
const word = (name: string, max = 200) => text(name, { min: 1, max });
const oneOf = <const T extends readonly [string, ...string[]]>(name: string, values: T) =>
  z.enum(values, { error: `"${name}" must be one of ${values.join(', ')}.` });
const integer = (name: string, min: number, max: number) =>
  z
    .int({ error: `"${name}" must be an integer.` })
    .min(min, `"${name}" must be at least ${min}.`)
    .max(max, `"${name}" must be at most ${max}.`);
const manyInt = 2_147_483_647;

const notifyWhen = ['always', 'dispatch_failed', 'dispatch_succeeded'] as const;

const notificationsSchema = z.strictObject({
  email: z
    .strictObject({
      when: oneOf('when', notifyWhen),
      recipients: z.array(word('recipients', 320)).max(100, maxItemsMessage('recipients', 100)).nullish(),
    })
    .nullish(),
  slack: z.strictObject({ when: oneOf('when', notifyWhen), channelId: word('channelId') }).nullish(),
});

const triggerSchema = z
  .strictObject({
    eventType: word('eventType'),
    /** Null: every event of the type. */
    conditions: conditionsSchema.nullish().transform((conditions) => conditions ?? null),
    replies: z
      .array(z.strictObject({ type: oneOf('type', ['notify_thread', 'attach_thread', 'post_response']) }))
      .max(10, maxItemsMessage('replies', 10))
      .nullish()
      .transform((replies) => replies ?? []),
    /** The time zone of a recurrence; if omitted: UTC. REST has no field for it. */
    timeZone: z.string().nullish(),
  })
  .superRefine(({ eventType, conditions, timeZone }, check) => {
    const addIssue = (path: string[], message: string) => check.addIssue({ code: 'custom', path, message });
    if (findEventType(eventType) === null) {
      const similar = findSimilarEventType(eventType);
      addIssue(
        ['eventType'],
        `"eventType" must be one of the event types that automationSchemas (GraphQL) or GET /v3/organizations/{org_id}/automations/schemas lists, but was ${JSON.stringify(eventType.slice(0, 80))}.${similar === null ? '' : ` Did you mean ${similar}?`}`,
      );
    }
    for (const { path, message } of fieldProblems(eventType, conditions)) {
      check.addIssue({ code: 'custom', path, message });
    }
    const all = (conditions?.any ?? []).flatMap((each) => each.all);
    const recurrences = all.filter(({ operator }) => operator === 'recurrence');
    if (timeZone != null && !isTimeZone(timeZone)) {
      addIssue(
        ['timeZone'],
        `"timeZone" must be a name of the IANA time zone database, such as Europe/Berlin, but was ${JSON.stringify(timeZone.slice(0, 80))}.`,
      );
    }
    if (eventType !== recurringEvent) {
      if (timeZone != null) addIssue(['timeZone'], `"timeZone" is for ${recurringEvent} only.`);
      if (recurrences.length > 0) addIssue(['conditions'], `The operator recurrence is for ${recurringEvent} only.`);
      return;
    }
    const [only] = all;
    if (all.length !== 1 || only?.field !== 'rrule' || only.operator !== 'recurrence') {
      addIssue(
        ['conditions'],
        `"conditions" of ${recurringEvent} must be exactly one: the field rrule, the operator recurrence.`,
      );
    }
  })
  // Stored only if set, so that triggers without it keep their stored form.
  .transform(({ timeZone, ...trigger }): typeof trigger & { readonly timeZone?: string } =>
    timeZone == null ? trigger : { ...trigger, timeZone },
  );

/** Settings of the sessions that an automation starts, in inputs. */
export const sessionOptions = z.strictObject({
  tags: tagsSchema.nullish(),
  platform: word('platform').nullish(),
  bypassApproval: z.boolean().nullish(),
  notifications: notificationsSchema.nullish(),
  playbookId: z.string().nullish(),
  repos: z.array(word('repos')).max(100, maxItemsMessage('repos', 100)).nullish(),
});

const promptRules = { min: 1, max: maxPromptLength, isBlankRefused: true } as const;

/** The prompts of actions in inputs. */
export const actionPrompts = z.object({
  prompt: text('prompt', promptRules),
  setupPrompt: text('setupPrompt', promptRules),
});
const { prompt, setupPrompt } = actionPrompts.shape;

const actionSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('start_session'), prompt, session: sessionOptions.nullish() }),
    z.strictObject({
      type: z.literal('message_session'),
      prompt,
      targetSessionId: z.string().nullish(),
      autoCreate: z.boolean().nullish(),
    }),
    z.strictObject({
      type: z.literal('monitor_session'),
      setupPrompt,
      slackMonitorConfig: z.record(z.string(), z.unknown()).refine(isStorable, {
        error: '"slackMonitorConfig" must not contain NUL characters or lone surrogates.',
      }),
    }),
  ],
  { error: '"type" must be one of start_session, message_session, monitor_session.' },
);

/** The triggers in inputs. */
export const triggersSchema = z
  .array(triggerSchema)
  .max(maxCounts.triggers, maxItemsMessage('triggers', maxCounts.triggers))
  .superRefine((triggers, check) => {
    const count = (type: string) => triggers.filter(({ eventType }) => eventType === type).length;
    const addIssue = (message: string) => check.addIssue({ code: 'custom', message });
    if (count(webhookEvent) > 1) addIssue(`"triggers" must have at most one of ${webhookEvent}.`);
    if (count(recurringEvent) > maxCounts.recurring) {
      addIssue(`"triggers" must have at most ${maxCounts.recurring} of ${recurringEvent}.`);
    }
    for (const { path, message } of conditionProblems(triggers.map(({ conditions }) => conditions))) {
      check.addIssue({ code: 'custom', path, message });
    }
  });

/** The actions in inputs. */
export const actionsSchema = z
  .array(actionSchema)
  .min(1, '"actions" must have at least one item.')
  .max(maxCounts.actions, maxItemsMessage('actions', maxCounts.actions))
  .superRefine((actions, check) => {
    const count = (type: string) => actions.filter((each) => each.type === type).length;
    const addIssue = (message: string, path: (string | number)[] = []) =>
      check.addIssue({ code: 'custom', path, message });
    for (const [n, action] of actions.entries()) {
      if (action.type !== 'message_session' || action.targetSessionId != null || action.autoCreate) continue;
      const message = '"targetSessionId" or "autoCreate" is required: without them, there is no session to write to.';
      addIssue(message, [n, 'targetSessionId']);
    }
    if (count('start_session') > 1) addIssue('"actions" must have at most one start_session.');
    if (count('monitor_session') > 0 && actions.length > 1)
      addIssue('A monitor_session must be the only one of "actions".');
  });

const address = z
  .strictObject({
    hostname: word('hostname', 253).nullish(),
    ipv4: word('ipv4', 18).nullish(),
    ipv6: word('ipv6', 43).nullish(),
  })
  .refine((one) => Object.values(one).filter((value) => value != null).length === 1, {
    error: '"allow" must hold objects with one of hostname, ipv4 and ipv6.',
  });

/** Options besides triggers and actions: each null if it is not set. */
export const optionSchemas = {
  limits: z
    .strictObject({
      maxAcuLimit: integer('maxAcuLimit', 1, 1_000).nullish(),
      invocations: z
        .strictObject({
          maxPerWindow: integer('maxPerWindow', 1, manyInt),
          windowSeconds: integer('windowSeconds', 60, manyInt),
        })
        .nullish(),
    })
    .nullish(),
  concurrency: z
    .strictObject({
      maxConcurrentRuns: integer('maxConcurrentRuns', 1, manyInt).nullish(),
      maxQueueDepth: integer('maxQueueDepth', 0, manyInt).nullish(),
    })
    .nullish(),
  metadata: z
    .record(word('metadata', 32), text('metadata', { max: 128 }))
    .refine((pairs) => Object.keys(pairs).length <= 16, { error: '"metadata" must have at most 16 pairs.' })
    .nullish(),
  notifications: notificationsSchema.nullish(),
  sessionSettings: z
    .strictObject({
      sessionMode: oneOf('sessionMode', ['normal', 'fast', 'lite', 'ultra', 'fusion']).nullish(),
      netPolicy: z.strictObject({ allow: z.array(address).max(200, maxItemsMessage('allow', 200)) }).nullish(),
    })
    .nullish(),
  securityProfile: z.strictObject({ profileId: word('profileId') }).nullish(),
  templateId: word('templateId').nullish(),
  /** REST has no field for this and the next option. If omitted: latest. */
  missedRuns: oneOf('missedRuns', missedRunsPolicies).nullish(),
  /** Maximum delay after its occurrences, so that many automations with the same time do not start at once. */
  jitterSeconds: integer('jitterSeconds', 0, 900).nullish(),
  tools: z
    .strictObject({
      mcpServers: z.array(word('mcpServers')).max(100, maxItemsMessage('mcpServers', 100)).nullish(),
      slackChannels: z.array(word('slackChannels')).max(100, maxItemsMessage('slackChannels', 100)).nullish(),
      slackDmScope: word('slackDmScope').nullish(),
      linearEnabled: z.boolean().nullish(),
    })
    .nullish(),
} as const;

/** The names of {@link optionSchemas}. */
export const optionNames = Object.keys(optionSchemas) as (keyof typeof optionSchemas)[];

/** The owner of its sessions: the organization, or the user that created the automation. */
export const runAsTypes = ['organization', 'creator'] as const;
/** See {@link runAsTypes}. */
export type RunAs = (typeof runAsTypes)[number];

/** A complete automation in inputs; on a change every field is optional. */
export const definitionSchema = z.strictObject({
  name: text('name', { min: 1, max: 500 }),
  enabled: z.boolean().nullish(),
  runAs: z.strictObject({ type: oneOf('type', runAsTypes) }).nullish(),
  triggers: triggersSchema,
  actions: actionsSchema,
  ...optionSchemas,
});

/** See {@link definitionSchema}. */
export type AutomationInput = z.input<typeof definitionSchema>;
/** A trigger as it is stored. */
export type Trigger = z.output<typeof triggerSchema>;
/** An action as it is stored. */
export type Action = z.output<typeof actionSchema>;
/** The options as they are stored: only those that are set. */
export type AutomationOptions = {
  readonly [Name in keyof typeof optionSchemas]?: z.output<(typeof optionSchemas)[Name]>;
};

/** The rule of a recurring trigger and its path. */
export interface TriggerRecurrence {
  readonly text: string;
  /** Null: UTC. */
  readonly timeZone: string | null;
  readonly path: readonly string[];
}

/** Returns the rules of the recurring triggers. */
export function recurrencesOf(triggers: readonly Trigger[]): TriggerRecurrence[] {
  return triggers.flatMap(({ eventType, conditions, timeZone = null }, n) => {
    const value = eventType === recurringEvent ? conditions?.any[0]?.all[0]?.value : undefined;
    const path = ['triggers', String(n), 'conditions', 'any', '0', 'all', '0', 'value'];
    return typeof value === 'string' ? [{ text: value, timeZone, path }] : [];
  });
}

/** True if external callers can start it. */
export const hasWebhook = (triggers: readonly Trigger[]): boolean =>
  triggers.some(({ eventType }) => eventType === webhookEvent);

/** Creates INVALID_INPUT at the rule, with the problem as a sentence. */
export function refuseRecurrence(path: readonly string[], problem: string): Error {
  return refuse(path, `"value" is not a valid recurrence: ${problem}`);
}
