import type { FieldMap } from '@pothos/core';
import type { Action, AutomationOptions, Trigger } from '../../domain/automations/definition.ts';
import { webhookEvent } from '../../domain/automations/event-types.ts';
import { prefixedId } from '../../domain/ids.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import { Playbook } from './playbooks.ts';
import { Session } from './sessions.ts';

/** A thing of its own type, of which every part may be left out. */
type Given<T> = NonNullable<T>;
type Fields<T extends object> = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) => FieldMap;
const object = <T extends object>(name: string, description: string, fields: Fields<T>) =>
  builder.objectRef<T>(name).implement({ description, fields });

type Conditions = Given<Trigger['conditions']>;
type Group = Conditions['any'][number];

const Condition = object<Group['all'][number]>('AutomationCondition', said.condition, (t) => ({
  field: t.exposeString('field', { description: said.field }),
  operator: t.exposeString('operator', { description: said.operator }),
  value: t.field({ type: 'JSON', nullable: true, description: said.value, resolve: ({ value }) => value }),
}));

const ConditionGroup = object<Group>('AutomationConditionGroup', said.group, (t) => ({
  all: t.field({ type: [Condition], description: said.all, resolve: ({ all }) => all }),
}));

const ConditionsType = object<Conditions>('AutomationConditions', said.conditions, (t) => ({
  any: t.field({ type: [ConditionGroup], description: said.any, resolve: ({ any }) => any }),
}));

/** A trigger of an automation. */
export interface TriggerOf {
  readonly automationId: string;
  readonly trigger: Trigger;
}

/** AutomationTrigger. */
export const AutomationTrigger = object<TriggerOf>('AutomationTrigger', said.trigger, (t) => ({
  eventType: t.string({ description: said.eventType, resolve: ({ trigger }) => trigger.eventType }),
  conditions: t.field({
    type: ConditionsType,
    nullable: true,
    description: said.conditionsOfTrigger,
    resolve: ({ trigger }) => trigger.conditions,
  }),
  timeZone: t.string({
    nullable: true,
    description: said.timeZone,
    resolve: ({ trigger }) => trigger.timeZone ?? null,
  }),
  replies: t.stringList({
    description: said.replies,
    resolve: ({ trigger }) => trigger.replies.map(({ type }) => type),
  }),
  webhookUrl: t.string({
    nullable: true,
    description: 'Where events are posted to, of webhook:incoming.',
    resolve: ({ automationId, trigger }, _args, { domain }) =>
      trigger.eventType === webhookEvent ? `${domain.baseUrl}/webhooks/automations/${automationId}` : null,
  }),
}));

type Notifications = Given<AutomationOptions['notifications']>;

const EmailNotification = object<Given<Notifications['email']>>('EmailNotification', said.email, (t) => ({
  when: t.exposeString('when', { description: said.when }),
  recipients: t.stringList({
    nullable: true,
    description: said.recipients,
    resolve: ({ recipients }) => recipients ?? null,
  }),
}));

const SlackNotification = object<Given<Notifications['slack']>>('SlackNotification', said.slack, (t) => ({
  when: t.exposeString('when', { description: said.when }),
  channelId: t.exposeString('channelId', { description: said.channelId }),
}));

/** AutomationNotifications. */
export const AutomationNotifications = object<Notifications>('AutomationNotifications', said.notifications, (t) => ({
  email: t.field({ type: EmailNotification, nullable: true, description: said.email, resolve: ({ email }) => email }),
  slack: t.field({ type: SlackNotification, nullable: true, description: said.slack, resolve: ({ slack }) => slack }),
}));

type SessionOptions = Given<Extract<Action, { type: 'start_session' }>['session']>;

const SessionTemplate = object<SessionOptions>('AutomationSession', said.session, (t) => ({
  tags: t.stringList({ nullable: true, description: said.tags, resolve: ({ tags }) => tags ?? null }),
  platform: t.exposeString('platform', { nullable: true, description: said.platform }),
  bypassApproval: t.exposeBoolean('bypassApproval', { nullable: true, description: said.bypassApproval }),
  notifications: t.field({
    type: AutomationNotifications,
    nullable: true,
    description: said.notifications,
    resolve: ({ notifications }) => notifications,
  }),
  playbook: t.field({
    type: Playbook,
    nullable: true,
    description: 'The playbook that it follows; null: none, or none that the viewer may read.',
    resolve: ({ playbookId }, _args, { loaders }) => (playbookId == null ? null : loaders.playbooks.load(playbookId)),
  }),
  playbookId: t.string({
    nullable: true,
    description: 'The id of the playbook that it follows, as REST writes it, also of one that is gone.',
    resolve: ({ playbookId }) => (playbookId == null ? null : prefixedId('playbook', playbookId)),
  }),
  repos: t.stringList({ nullable: true, description: said.repos, resolve: ({ repos }) => repos ?? null }),
}));

const of = <T extends Action['type']>(action: Action, type: T) =>
  action.type === type ? (action as Extract<Action, { type: T }>) : null;

/** AutomationAction. */
export const AutomationAction = object<Action>('AutomationAction', said.action, (t) => ({
  type: t.exposeString('type', { description: said.actionType }),
  prompt: t.string({
    nullable: true,
    description: said.prompt,
    resolve: (action) => ('prompt' in action ? action.prompt : null),
  }),
  session: t.field({
    type: SessionTemplate,
    nullable: true,
    description: said.session,
    resolve: (action) => of(action, 'start_session')?.session,
  }),
  targetSessionId: t.string({
    nullable: true,
    description: `${said.targetSessionId} As v1 writes the id.`,
    resolve: (action) => {
      const id = of(action, 'message_session')?.targetSessionId;
      return id == null ? null : prefixedId('session', id);
    },
  }),
  targetSession: t.field({
    type: Session,
    nullable: true,
    description: `${said.targetSessionId} Null also for who may not see it.`,
    resolve: (action, _args, { loaders }) => {
      const id = of(action, 'message_session')?.targetSessionId;
      return id == null ? null : loaders.sessions.load(id);
    },
  }),
  autoCreate: t.boolean({
    nullable: true,
    description: said.autoCreate,
    resolve: (action) => of(action, 'message_session')?.autoCreate,
  }),
  setupPrompt: t.string({
    nullable: true,
    description: said.setupPrompt,
    resolve: (action) => of(action, 'monitor_session')?.setupPrompt,
  }),
  slackMonitorConfig: t.field({
    type: 'JSON',
    nullable: true,
    description: said.slackMonitorConfig,
    resolve: (action) => of(action, 'monitor_session')?.slackMonitorConfig,
  }),
}));
