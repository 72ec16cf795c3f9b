import { builder, type SchemaTypes } from '../builder.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import {
  AutomationMissedRunsEnum,
  AutomationNotifyWhenEnum,
  AutomationRunAsTypeEnum,
  AutomationSessionModeEnum,
} from './automation-enums.ts';

const EmailNotificationInput = builder.inputType('EmailNotificationInput', {
  description: said.email,
  fields: (t) => ({
    when: t.field({ type: AutomationNotifyWhenEnum, required: true, description: said.when }),
    recipients: t.stringList({ description: said.recipients }),
  }),
});

const SlackNotificationInput = builder.inputType('SlackNotificationInput', {
  description: said.slack,
  fields: (t) => ({
    when: t.field({ type: AutomationNotifyWhenEnum, required: true, description: said.when }),
    channelId: t.string({ required: true, description: said.channelId }),
  }),
});

/** What AutomationNotifications are given as. */
export const AutomationNotificationsInput = builder.inputType('AutomationNotificationsInput', {
  description: said.notifications,
  fields: (t) => ({
    email: t.field({ type: EmailNotificationInput, description: said.email }),
    slack: t.field({ type: SlackNotificationInput, description: said.slack }),
  }),
});

/** AutomationRunAsInput of the contract. */
export const AutomationRunAsInput = builder.inputType('AutomationRunAsInput', {
  description: said.runAs,
  fields: (t) => ({ type: t.field({ type: AutomationRunAsTypeEnum, required: true, description: said.runAsType }) }),
});

const InvocationsInput = builder.inputType('AutomationInvocationLimitInput', {
  description: said.invocations,
  fields: (t) => ({
    maxPerWindow: t.int({ required: true, description: said.maxPerWindow }),
    windowSeconds: t.int({ required: true, description: said.windowSeconds }),
  }),
});

const LimitsInput = builder.inputType('AutomationLimitsInput', {
  description: said.limits,
  fields: (t) => ({
    maxAcuLimit: t.int({ description: said.maxAcuLimit }),
    invocations: t.field({ type: InvocationsInput, description: said.invocations }),
  }),
});

const ConcurrencyInput = builder.inputType('AutomationConcurrencyInput', {
  description: said.concurrency,
  fields: (t) => ({
    maxConcurrentRuns: t.int({ description: said.maxConcurrentRuns }),
    maxQueueDepth: t.int({ description: said.maxQueueDepth }),
  }),
});

const AddressInput = builder.inputType('AutomationNetAddressInput', {
  isOneOf: true,
  description: said.address,
  fields: (t) => ({
    hostname: t.string({ description: said.hostname }),
    ipv4: t.string({ description: said.ipv4 }),
    ipv6: t.string({ description: said.ipv6 }),
  }),
});

const NetPolicyInput = builder.inputType('AutomationNetPolicyInput', {
  description: said.netPolicy,
  fields: (t) => ({ allow: t.field({ type: [AddressInput], required: true, description: said.allow }) }),
});

const SessionSettingsInput = builder.inputType('AutomationSessionSettingsInput', {
  description: said.sessionSettings,
  fields: (t) => ({
    sessionMode: t.field({ type: AutomationSessionModeEnum, description: said.sessionMode }),
    netPolicy: t.field({ type: NetPolicyInput, description: said.netPolicy }),
  }),
});

const SecurityProfileInput = builder.inputType('AutomationSecurityProfileInput', {
  description: said.securityProfile,
  fields: (t) => ({ profileId: t.string({ required: true, description: said.profileId }) }),
});

const ToolsInput = builder.inputType('AutomationToolsInput', {
  description: said.tools,
  fields: (t) => ({
    mcpServers: t.stringList({ description: said.mcpServers }),
    slackChannels: t.stringList({ description: said.slackChannels }),
    slackDmScope: t.string({ description: said.slackDmScope }),
    isLinearEnabled: t.boolean({ description: said.isLinearEnabled }),
  }),
});

/** The fields that a new automation and a change have alike, beside name, triggers and actions. */
export function optionFields(
  t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>,
  of: 'create' | 'update',
) {
  const clears = of === 'update' ? ' Null clears the setting.' : '';
  const runAs = of === 'update' ? 'Must not be null.' : 'A new automation defaults to its organization.';
  return {
    runAs: t.field({ type: AutomationRunAsInput, description: `${said.runAs} ${runAs}` }),
    limits: t.field({ type: LimitsInput, description: `${said.limits}${clears}` }),
    concurrency: t.field({ type: ConcurrencyInput, description: `${said.concurrency}${clears}` }),
    metadata: t.field({ type: 'JSON', description: `${said.metadata}${clears}` }),
    notifications: t.field({ type: AutomationNotificationsInput, description: `${said.notifications}${clears}` }),
    sessionSettings: t.field({ type: SessionSettingsInput, description: `${said.sessionSettings}${clears}` }),
    securityProfile: t.field({ type: SecurityProfileInput, description: `${said.securityProfile}${clears}` }),
    templateId: t.string({ description: `${said.templateId}${clears}` }),
    missedRuns: t.field({ type: AutomationMissedRunsEnum, description: `${said.missedRuns}${clears}` }),
    jitterSeconds: t.int({ description: `${said.jitterSeconds}${clears}` }),
    tools: t.field({ type: ToolsInput, description: `${said.tools}${clears}` }),
  };
}
