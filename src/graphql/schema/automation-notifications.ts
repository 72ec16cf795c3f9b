import type { AutomationOptions } from '../../domain/automations/definition.ts';
import { builder } from '../builder.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import { AutomationNotifyWhenEnum } from './automation-enums.ts';

type Notifications = NonNullable<AutomationOptions['notifications']>;

const EmailNotification = builder.objectRef<NonNullable<Notifications['email']>>('EmailNotification').implement({
  description: said.email,
  fields: (t) => ({
    when: t.expose('when', { type: AutomationNotifyWhenEnum, description: said.when }),
    recipients: t.stringList({
      nullable: true,
      description: said.recipients,
      resolve: ({ recipients }) => recipients ?? null,
    }),
  }),
});

const SlackNotification = builder.objectRef<NonNullable<Notifications['slack']>>('SlackNotification').implement({
  description: said.slack,
  fields: (t) => ({
    when: t.expose('when', { type: AutomationNotifyWhenEnum, description: said.when }),
    channelId: t.exposeString('channelId', { description: said.channelId }),
  }),
});

/** AutomationNotifications. */
export const AutomationNotifications = builder.objectRef<Notifications>('AutomationNotifications').implement({
  description: said.notifications,
  fields: (t) => ({
    email: t.field({ type: EmailNotification, nullable: true, description: said.email, resolve: ({ email }) => email }),
    slack: t.field({ type: SlackNotification, nullable: true, description: said.slack, resolve: ({ slack }) => slack }),
  }),
});
