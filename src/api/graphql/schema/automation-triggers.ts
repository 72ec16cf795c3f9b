import type { Trigger } from '../../../domain/automations/model/definition.ts';
import { recurringEvent, webhookEvent } from '../../../domain/automations/model/event-types.ts';
import { builder } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationConditionOperatorEnum, AutomationReplyEnum } from './automation-enums.ts';

type Conditions = NonNullable<Trigger['conditions']>;
type Group = Conditions['any'][number];

const Condition = builder.objectRef<Group['all'][number]>('AutomationCondition').implement({
  description: descriptions.condition,
  fields: (t) => ({
    field: t.exposeString('field', { description: descriptions.field }),
    operator: t.expose('operator', { type: AutomationConditionOperatorEnum, description: descriptions.operator }),
    value: t.field({ type: 'JSON', nullable: true, description: descriptions.value, resolve: ({ value }) => value }),
  }),
});

const ConditionGroup = builder.objectRef<Group>('AutomationConditionGroup').implement({
  description: descriptions.group,
  fields: (t) => ({ all: t.field({ type: [Condition], description: descriptions.all, resolve: ({ all }) => all }) }),
});

const ConditionsType = builder.objectRef<Conditions>('AutomationConditions').implement({
  description: descriptions.conditions,
  fields: (t) => ({
    any: t.field({ type: [ConditionGroup], description: descriptions.any, resolve: ({ any }) => any }),
  }),
});

/** A trigger with its automation. */
export interface TriggerOf {
  readonly automationId: string;
  readonly trigger: Trigger;
}

const typeOf = {
  [recurringEvent]: 'ScheduleTrigger',
  [webhookEvent]: 'IncomingWebhookTrigger',
} as Readonly<Record<string, string>>;

export const AutomationTrigger = builder.interfaceRef<TriggerOf>('AutomationTrigger').implement({
  description: descriptions.trigger,
  resolveType: ({ trigger }) => typeOf[trigger.eventType] ?? 'EventTrigger',
  fields: (t) => ({
    eventType: t.string({ description: descriptions.eventType, resolve: ({ trigger }) => trigger.eventType }),
    replies: t.field({
      type: [AutomationReplyEnum],
      description: descriptions.replies,
      resolve: ({ trigger }) => trigger.replies.map(({ type }) => type),
    }),
  }),
});

builder.objectRef<TriggerOf>('ScheduleTrigger').implement({
  description: descriptions.scheduleTrigger,
  interfaces: [AutomationTrigger],
  fields: (t) => ({
    rule: t.string({ description: descriptions.rule, resolve: ({ trigger }) => ruleOf(trigger) }),
    timeZone: t.string({
      nullable: true,
      description: descriptions.timeZone,
      resolve: ({ trigger }) => trigger.timeZone ?? null,
    }),
  }),
});

// The definition of automations guarantees that such a trigger has exactly one condition.
const ruleOf = ({ conditions }: Trigger) => String(conditions?.any[0]?.all[0]?.value ?? '');

builder.objectRef<TriggerOf>('IncomingWebhookTrigger').implement({
  description: descriptions.webhookTrigger,
  interfaces: [AutomationTrigger],
  fields: (t) => ({
    conditions: t.field({
      type: ConditionsType,
      nullable: true,
      description: descriptions.conditionsOfTrigger,
      resolve: ({ trigger }) => trigger.conditions,
    }),
    webhookUrl: t.field({
      type: 'URI',
      description:
        'URL of the incoming webhook. Callers post JSON to the URL and authenticate with the webhook secret of the automation.',
      resolve: ({ automationId }, _args, { domain }) => `${domain.baseUrl}/webhooks/automations/${automationId}`,
    }),
  }),
});

builder.objectRef<TriggerOf>('EventTrigger').implement({
  description: descriptions.eventTrigger,
  interfaces: [AutomationTrigger],
  fields: (t) => ({
    conditions: t.field({
      type: ConditionsType,
      nullable: true,
      description: descriptions.conditionsOfTrigger,
      resolve: ({ trigger }) => trigger.conditions,
    }),
  }),
});
