import type { FieldMap } from '@pothos/core';
import type { AutomationOptions } from '../../domain/automations/definition.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import { AutomationSessionModeEnum } from './automation-enums.ts';

type Given<T> = NonNullable<T>;
type Fields<T extends object> = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) => FieldMap;
const object = <T extends object>(name: string, description: string, fields: Fields<T>) =>
  builder.objectRef<T>(name).implement({ description, fields });

type Limits = Given<AutomationOptions['limits']>;

const Invocations = object<Given<Limits['invocations']>>('AutomationInvocationLimit', said.invocations, (t) => ({
  maxPerWindow: t.exposeInt('maxPerWindow', { description: said.maxPerWindow }),
  windowSeconds: t.exposeInt('windowSeconds', { description: said.windowSeconds }),
}));

/** AutomationLimits. */
export const AutomationLimits = object<Limits>('AutomationLimits', said.limits, (t) => ({
  maxAcuLimit: t.exposeInt('maxAcuLimit', { nullable: true, description: said.maxAcuLimit }),
  invocations: t.field({
    type: Invocations,
    nullable: true,
    description: said.invocations,
    resolve: ({ invocations }) => invocations,
  }),
}));

/** AutomationConcurrency. */
export const AutomationConcurrency = object<Given<AutomationOptions['concurrency']>>(
  'AutomationConcurrency',
  said.concurrency,
  (t) => ({
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', { nullable: true, description: said.maxConcurrentRuns }),
    maxQueueDepth: t.exposeInt('maxQueueDepth', { nullable: true, description: said.maxQueueDepth }),
  }),
);

type Settings = Given<AutomationOptions['sessionSettings']>;
type Policy = Given<Settings['netPolicy']>;

const Address = object<Policy['allow'][number]>('AutomationNetAddress', said.address, (t) => ({
  hostname: t.exposeString('hostname', { nullable: true, description: said.hostname }),
  ipv4: t.exposeString('ipv4', { nullable: true, description: said.ipv4 }),
  ipv6: t.exposeString('ipv6', { nullable: true, description: said.ipv6 }),
}));

const NetPolicy = object<Policy>('AutomationNetPolicy', said.netPolicy, (t) => ({
  allow: t.field({ type: [Address], description: said.allow, resolve: ({ allow }) => allow }),
}));

/** AutomationSessionSettings. */
export const AutomationSessionSettings = object<Settings>('AutomationSessionSettings', said.sessionSettings, (t) => ({
  sessionMode: t.expose('sessionMode', {
    type: AutomationSessionModeEnum,
    nullable: true,
    description: said.sessionMode,
  }),
  netPolicy: t.field({
    type: NetPolicy,
    nullable: true,
    description: said.netPolicy,
    resolve: ({ netPolicy }) => netPolicy,
  }),
}));

/** AutomationSecurityProfile. */
export const AutomationSecurityProfile = object<Given<AutomationOptions['securityProfile']>>(
  'AutomationSecurityProfile',
  said.securityProfile,
  (t) => ({ profileId: t.exposeString('profileId', { description: said.profileId }) }),
);

/** AutomationTools. */
export const AutomationTools = object<Given<AutomationOptions['tools']>>('AutomationTools', said.tools, (t) => ({
  mcpServers: t.stringList({
    nullable: true,
    description: said.mcpServers,
    resolve: ({ mcpServers }) => mcpServers ?? null,
  }),
  slackChannels: t.stringList({
    nullable: true,
    description: said.slackChannels,
    resolve: ({ slackChannels }) => slackChannels ?? null,
  }),
  slackDmScope: t.exposeString('slackDmScope', { nullable: true, description: said.slackDmScope }),
  isLinearEnabled: t.exposeBoolean('linearEnabled', { nullable: true, description: said.isLinearEnabled }),
}));
