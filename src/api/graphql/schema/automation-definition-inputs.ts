import { builder } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationConditionOperatorEnum, AutomationReplyEnum } from './automation-enums.ts';
import { AutomationNotificationsInput } from './automation-inputs.ts';

const ConditionInput = builder.inputType('AutomationConditionInput', {
  description: descriptions.condition,
  fields: (t) => ({
    field: t.string({ required: true, description: descriptions.field }),
    operator: t.field({ type: AutomationConditionOperatorEnum, required: true, description: descriptions.operator }),
    value: t.field({ type: 'JSON', description: descriptions.value }),
  }),
});

const ConditionGroupInput = builder.inputType('AutomationConditionGroupInput', {
  description: descriptions.group,
  fields: (t) => ({ all: t.field({ type: [ConditionInput], required: true, description: descriptions.all }) }),
});

const ConditionsInput = builder.inputType('AutomationConditionsInput', {
  description: descriptions.conditions,
  fields: (t) => ({ any: t.field({ type: [ConditionGroupInput], required: true, description: descriptions.any }) }),
});

const ScheduleTriggerInput = builder.inputType('ScheduleTriggerInput', {
  description: descriptions.scheduleTrigger,
  fields: (t) => ({
    rule: t.string({ required: true, description: descriptions.rule }),
    timeZone: t.string({ description: descriptions.timeZone }),
    replies: t.field({ type: [AutomationReplyEnum], description: descriptions.replies }),
  }),
});

const IncomingWebhookTriggerInput = builder.inputType('IncomingWebhookTriggerInput', {
  description: descriptions.webhookTrigger,
  fields: (t) => ({
    conditions: t.field({ type: ConditionsInput, description: descriptions.conditionsOfTrigger }),
    replies: t.field({ type: [AutomationReplyEnum], description: descriptions.replies }),
  }),
});

const EventTriggerInput = builder.inputType('EventTriggerInput', {
  description: descriptions.eventTrigger,
  fields: (t) => ({
    eventType: t.string({ required: true, description: descriptions.eventType }),
    conditions: t.field({ type: ConditionsInput, description: descriptions.conditionsOfTrigger }),
    replies: t.field({ type: [AutomationReplyEnum], description: descriptions.replies }),
  }),
});

export const AutomationTriggerInput = builder.inputType('AutomationTriggerInput', {
  isOneOf: true,
  description: 'A trigger of an automation. Exactly one member must be given.',
  fields: (t) => ({
    schedule: t.field({ type: ScheduleTriggerInput, description: descriptions.scheduleTrigger }),
    incomingWebhook: t.field({ type: IncomingWebhookTriggerInput, description: descriptions.webhookTrigger }),
    event: t.field({ type: EventTriggerInput, description: descriptions.eventTrigger }),
  }),
});

const SessionTemplateInput = builder.inputType('AutomationSessionInput', {
  description: descriptions.session,
  fields: (t) => ({
    tags: t.stringList({ description: descriptions.tags }),
    platform: t.string({ description: descriptions.platform }),
    bypassApproval: t.boolean({ description: descriptions.bypassApproval }),
    notifications: t.field({ type: AutomationNotificationsInput, description: descriptions.notifications }),
    playbookId: t.id({ description: descriptions.playbookId }),
    repos: t.stringList({ description: descriptions.repos }),
  }),
});

const StartSessionActionInput = builder.inputType('StartSessionActionInput', {
  description: descriptions.startSession,
  fields: (t) => ({
    prompt: t.string({ required: true, description: descriptions.prompt }),
    session: t.field({ type: SessionTemplateInput, description: descriptions.session }),
  }),
});

const MessageSessionActionInput = builder.inputType('MessageSessionActionInput', {
  description: descriptions.messageSession,
  fields: (t) => ({
    prompt: t.string({ required: true, description: descriptions.prompt }),
    targetSessionId: t.id({
      description: `${descriptions.targetSession} Global ID or REST id. Required unless autoCreate is true.`,
    }),
    autoCreate: t.boolean({ description: descriptions.autoCreate }),
  }),
});

const MonitorSessionActionInput = builder.inputType('MonitorSessionActionInput', {
  description: descriptions.monitorSession,
  fields: (t) => ({
    setupPrompt: t.string({ required: true, description: descriptions.setupPrompt }),
    slackMonitorConfig: t.field({ type: 'JSON', required: true, description: descriptions.slackMonitorConfig }),
  }),
});

export const AutomationActionInput = builder.inputType('AutomationActionInput', {
  isOneOf: true,
  description: 'An action of an automation. Exactly one member must be given.',
  fields: (t) => ({
    startSession: t.field({ type: StartSessionActionInput, description: descriptions.startSession }),
    messageSession: t.field({ type: MessageSessionActionInput, description: descriptions.messageSession }),
    monitorSession: t.field({ type: MonitorSessionActionInput, description: descriptions.monitorSession }),
  }),
});
