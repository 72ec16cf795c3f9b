import type { FieldMap } from '@pothos/core';
import type { AutomationOptions } from '../../../domain/automations/model/definition.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationSessionModeEnum } from './automation-enums.ts';

type Present<T> = NonNullable<T>;
type Fields<T extends object> = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) => FieldMap;
const object = <T extends object>(name: string, description: string, fields: Fields<T>) =>
  builder.objectRef<T>(name).implement({ description, fields });

type Limits = Present<AutomationOptions['limits']>;

const Invocations = object<Present<Limits['invocations']>>(
  'AutomationInvocationLimit',
  descriptions.invocations,
  (t) => ({
    maxPerWindow: t.exposeInt('maxPerWindow', { description: descriptions.maxPerWindow }),
    windowSeconds: t.exposeInt('windowSeconds', { description: descriptions.windowSeconds }),
  }),
);

/** AutomationLimits. */
export const AutomationLimits = object<Limits>('AutomationLimits', descriptions.limits, (t) => ({
  maxAcuLimit: t.exposeInt('maxAcuLimit', { nullable: true, description: descriptions.maxAcuLimit }),
  invocations: t.field({
    type: Invocations,
    nullable: true,
    description: descriptions.invocations,
    resolve: ({ invocations }) => invocations,
  }),
}));

/** AutomationConcurrency. */
export const AutomationConcurrency = object<Present<AutomationOptions['concurrency']>>(
  'AutomationConcurrency',
  descriptions.concurrency,
  (t) => ({
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', {
      nullable: true,
      description: descriptions.maxConcurrentRuns,
    }),
    maxQueueDepth: t.exposeInt('maxQueueDepth', { nullable: true, description: descriptions.maxQueueDepth }),
  }),
);

type Settings = Present<AutomationOptions['sessionSettings']>;
type Policy = Present<Settings['netPolicy']>;

const Address = object<Policy['allow'][number]>('AutomationNetAddress', descriptions.address, (t) => ({
  hostname: t.exposeString('hostname', { nullable: true, description: descriptions.hostname }),
  ipv4: t.exposeString('ipv4', { nullable: true, description: descriptions.ipv4 }),
  ipv6: t.exposeString('ipv6', { nullable: true, description: descriptions.ipv6 }),
}));

const NetPolicy = object<Policy>('AutomationNetPolicy', descriptions.netPolicy, (t) => ({
  allow: t.field({ type: [Address], description: descriptions.allow, resolve: ({ allow }) => allow }),
}));

/** AutomationSessionSettings. */
export const AutomationSessionSettings = object<Settings>(
  'AutomationSessionSettings',
  descriptions.sessionSettings,
  (t) => ({
    sessionMode: t.expose('sessionMode', {
      type: AutomationSessionModeEnum,
      nullable: true,
      description: descriptions.sessionMode,
    }),
    netPolicy: t.field({
      type: NetPolicy,
      nullable: true,
      description: descriptions.netPolicy,
      resolve: ({ netPolicy }) => netPolicy,
    }),
  }),
);

/** AutomationSecurityProfile. */
export const AutomationSecurityProfile = object<Present<AutomationOptions['securityProfile']>>(
  'AutomationSecurityProfile',
  descriptions.securityProfile,
  (t) => ({ profileId: t.exposeString('profileId', { description: descriptions.profileId }) }),
);

/** AutomationTools. */
export const AutomationTools = object<Present<AutomationOptions['tools']>>(
  'AutomationTools',
  descriptions.tools,
  (t) => ({
    mcpServers: t.stringList({
      nullable: true,
      description: descriptions.mcpServers,
      resolve: ({ mcpServers }) => mcpServers ?? null,
    }),
    slackChannels: t.stringList({
      nullable: true,
      description: descriptions.slackChannels,
      resolve: ({ slackChannels }) => slackChannels ?? null,
    }),
    slackDmScope: t.exposeString('slackDmScope', { nullable: true, description: descriptions.slackDmScope }),
    isLinearEnabled: t.exposeBoolean('linearEnabled', { nullable: true, description: descriptions.isLinearEnabled }),
  }),
);
