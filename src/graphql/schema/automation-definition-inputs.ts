import { builder } from '../builder.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import { AutomationConditionOperatorEnum, AutomationReplyEnum } from './automation-enums.ts';
import { AutomationNotificationsInput } from './automation-inputs.ts';

const ConditionInput = builder.inputType('AutomationConditionInput', {
  description: said.condition,
  fields: (t) => ({
    field: t.string({ required: true, description: said.field }),
    operator: t.field({ type: AutomationConditionOperatorEnum, required: true, description: said.operator }),
    value: t.field({ type: 'JSON', description: said.value }),
  }),
});

const ConditionGroupInput = builder.inputType('AutomationConditionGroupInput', {
  description: said.group,
  fields: (t) => ({ all: t.field({ type: [ConditionInput], required: true, description: said.all }) }),
});

const ConditionsInput = builder.inputType('AutomationConditionsInput', {
  description: said.conditions,
  fields: (t) => ({ any: t.field({ type: [ConditionGroupInput], required: true, description: said.any }) }),
});

const ScheduleTriggerInput = builder.inputType('ScheduleTriggerInput', {
  description: said.scheduleTrigger,
  fields: (t) => ({
    rule: t.string({ required: true, description: said.rule }),
    timeZone: t.string({ description: said.timeZone }),
    replies: t.field({ type: [AutomationReplyEnum], description: said.replies }),
  }),
});

const IncomingWebhookTriggerInput = builder.inputType('IncomingWebhookTriggerInput', {
  description: said.webhookTrigger,
  fields: (t) => ({
    conditions: t.field({ type: ConditionsInput, description: said.conditionsOfTrigger }),
    replies: t.field({ type: [AutomationReplyEnum], description: said.replies }),
  }),
});

const EventTriggerInput = builder.inputType('EventTriggerInput', {
  description: said.eventTrigger,
  fields: (t) => ({
    eventType: t.string({ required: true, description: said.eventType }),
    conditions: t.field({ type: ConditionsInput, description: said.conditionsOfTrigger }),
    replies: t.field({ type: [AutomationReplyEnum], description: said.replies }),
  }),
});

/** AutomationTriggerInput of the contract. */
export const AutomationTriggerInput = builder.inputType('AutomationTriggerInput', {
  isOneOf: true,
  description: 'A trigger of an automation. Exactly one member must be given.',
  fields: (t) => ({
    schedule: t.field({ type: ScheduleTriggerInput, description: said.scheduleTrigger }),
    incomingWebhook: t.field({ type: IncomingWebhookTriggerInput, description: said.webhookTrigger }),
    event: t.field({ type: EventTriggerInput, description: said.eventTrigger }),
  }),
});

const SessionTemplateInput = builder.inputType('AutomationSessionInput', {
  description: said.session,
  fields: (t) => ({
    tags: t.stringList({ description: said.tags }),
    platform: t.string({ description: said.platform }),
    bypassApproval: t.boolean({ description: said.bypassApproval }),
    notifications: t.field({ type: AutomationNotificationsInput, description: said.notifications }),
    playbookId: t.id({ description: said.playbookId }),
    repos: t.stringList({ description: said.repos }),
  }),
});

const StartSessionActionInput = builder.inputType('StartSessionActionInput', {
  description: said.startSession,
  fields: (t) => ({
    prompt: t.string({ required: true, description: said.prompt }),
    session: t.field({ type: SessionTemplateInput, description: said.session }),
  }),
});

const MessageSessionActionInput = builder.inputType('MessageSessionActionInput', {
  description: said.messageSession,
  fields: (t) => ({
    prompt: t.string({ required: true, description: said.prompt }),
    targetSessionId: t.id({
      description: `${said.targetSession} Global ID or REST id. Required unless autoCreate is true.`,
    }),
    autoCreate: t.boolean({ description: said.autoCreate }),
  }),
});

const MonitorSessionActionInput = builder.inputType('MonitorSessionActionInput', {
  description: said.monitorSession,
  fields: (t) => ({
    setupPrompt: t.string({ required: true, description: said.setupPrompt }),
    slackMonitorConfig: t.field({ type: 'JSON', required: true, description: said.slackMonitorConfig }),
  }),
});

/** AutomationActionInput of the contract. */
export const AutomationActionInput = builder.inputType('AutomationActionInput', {
  isOneOf: true,
  description: 'An action of an automation. Exactly one member must be given.',
  fields: (t) => ({
    startSession: t.field({ type: StartSessionActionInput, description: said.startSession }),
    messageSession: t.field({ type: MessageSessionActionInput, description: said.messageSession }),
    monitorSession: t.field({ type: MonitorSessionActionInput, description: said.monitorSession }),
  }),
});
