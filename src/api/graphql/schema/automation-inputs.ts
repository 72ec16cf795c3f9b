import { builder, type SchemaTypes } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import {
  AutomationMissedRunsEnum,
  AutomationNotifyWhenEnum,
  AutomationRunAsTypeEnum,
  AutomationSessionModeEnum,
} from './automation-enums.ts';

const EmailNotificationInput = builder.inputType('EmailNotificationInput', {
  description: descriptions.email,
  fields: (t) => ({
    when: t.field({ type: AutomationNotifyWhenEnum, required: true, description: descriptions.when }),
    recipients: t.stringList({ description: descriptions.recipients }),
  }),
});

const SlackNotificationInput = builder.inputType('SlackNotificationInput', {
  description: descriptions.slack,
  fields: (t) => ({
    when: t.field({ type: AutomationNotifyWhenEnum, required: true, description: descriptions.when }),
    channelId: t.string({ required: true, description: descriptions.channelId }),
  }),
});

/** The input of AutomationNotifications. */
export const AutomationNotificationsInput = builder.inputType('AutomationNotificationsInput', {
  description: descriptions.notifications,
  fields: (t) => ({
    email: t.field({ type: EmailNotificationInput, description: descriptions.email }),
    slack: t.field({ type: SlackNotificationInput, description: descriptions.slack }),
  }),
});

export const AutomationRunAsInput = builder.inputType('AutomationRunAsInput', {
  description: descriptions.runAs,
  fields: (t) => ({
    type: t.field({ type: AutomationRunAsTypeEnum, required: true, description: descriptions.runAsType }),
  }),
});

const InvocationsInput = builder.inputType('AutomationInvocationLimitInput', {
  description: descriptions.invocations,
  fields: (t) => ({
    maxPerWindow: t.int({ required: true, description: descriptions.maxPerWindow }),
    windowSeconds: t.int({ required: true, description: descriptions.windowSeconds }),
  }),
});

const LimitsInput = builder.inputType('AutomationLimitsInput', {
  description: descriptions.limits,
  fields: (t) => ({
    maxAcuLimit: t.int({ description: descriptions.maxAcuLimit }),
    invocations: t.field({ type: InvocationsInput, description: descriptions.invocations }),
  }),
});

const ConcurrencyInput = builder.inputType('AutomationConcurrencyInput', {
  description: descriptions.concurrency,
  fields: (t) => ({
    maxConcurrentRuns: t.int({ description: descriptions.maxConcurrentRuns }),
    maxQueueDepth: t.int({ description: descriptions.maxQueueDepth }),
  }),
});

const AddressInput = builder.inputType('AutomationNetAddressInput', {
  isOneOf: true,
  description: descriptions.address,
  fields: (t) => ({
    hostname: t.string({ description: descriptions.hostname }),
    ipv4: t.string({ description: descriptions.ipv4 }),
    ipv6: t.string({ description: descriptions.ipv6 }),
  }),
});

const NetPolicyInput = builder.inputType('AutomationNetPolicyInput', {
  description: descriptions.netPolicy,
  fields: (t) => ({ allow: t.field({ type: [AddressInput], required: true, description: descriptions.allow }) }),
});

const SessionSettingsInput = builder.inputType('AutomationSessionSettingsInput', {
  description: descriptions.sessionSettings,
  fields: (t) => ({
    sessionMode: t.field({ type: AutomationSessionModeEnum, description: descriptions.sessionMode }),
    netPolicy: t.field({ type: NetPolicyInput, description: descriptions.netPolicy }),
  }),
});

const SecurityProfileInput = builder.inputType('AutomationSecurityProfileInput', {
  description: descriptions.securityProfile,
  fields: (t) => ({ profileId: t.string({ required: true, description: descriptions.profileId }) }),
});

const ToolsInput = builder.inputType('AutomationToolsInput', {
  description: descriptions.tools,
  fields: (t) => ({
    mcpServers: t.stringList({ description: descriptions.mcpServers }),
    slackChannels: t.stringList({ description: descriptions.slackChannels }),
    slackDmScope: t.string({ description: descriptions.slackDmScope }),
    isLinearEnabled: t.boolean({ description: descriptions.isLinearEnabled }),
  }),
});

/** The fields that creation and update share, besides name, triggers and actions. */
export function optionFields(
  t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>,
  of: 'create' | 'update',
) {
  const clears = of === 'update' ? ' Null clears the setting.' : '';
  const runAs = of === 'update' ? 'Must not be null.' : 'A new automation defaults to its organization.';
  return {
    runAs: t.field({ type: AutomationRunAsInput, description: `${descriptions.runAs} ${runAs}` }),
    limits: t.field({ type: LimitsInput, description: `${descriptions.limits}${clears}` }),
    concurrency: t.field({ type: ConcurrencyInput, description: `${descriptions.concurrency}${clears}` }),
    metadata: t.field({ type: 'JSON', description: `${descriptions.metadata}${clears}` }),
    notifications: t.field({
      type: AutomationNotificationsInput,
      description: `${descriptions.notifications}${clears}`,
    }),
    sessionSettings: t.field({ type: SessionSettingsInput, description: `${descriptions.sessionSettings}${clears}` }),
    securityProfile: t.field({ type: SecurityProfileInput, description: `${descriptions.securityProfile}${clears}` }),
    templateId: t.string({ description: `${descriptions.templateId}${clears}` }),
    missedRuns: t.field({ type: AutomationMissedRunsEnum, description: `${descriptions.missedRuns}${clears}` }),
    jitterSeconds: t.int({ description: `${descriptions.jitterSeconds}${clears}` }),
    tools: t.field({ type: ToolsInput, description: `${descriptions.tools}${clears}` }),
  };
}
