import type { AutomationOptions } from '../../../domain/automations/model/definition.ts';
import { builder } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationNotifyWhenEnum } from './automation-enums.ts';

type Notifications = NonNullable<AutomationOptions['notifications']>;

const EmailNotification = builder.objectRef<NonNullable<Notifications['email']>>('EmailNotification').implement({
  description: descriptions.email,
  fields: (t) => ({
    when: t.expose('when', { type: AutomationNotifyWhenEnum, description: descriptions.when }),
    recipients: t.stringList({
      nullable: true,
      description: descriptions.recipients,
      resolve: ({ recipients }) => recipients ?? null,
    }),
  }),
});

const SlackNotification = builder.objectRef<NonNullable<Notifications['slack']>>('SlackNotification').implement({
  description: descriptions.slack,
  fields: (t) => ({
    when: t.expose('when', { type: AutomationNotifyWhenEnum, description: descriptions.when }),
    channelId: t.exposeString('channelId', { description: descriptions.channelId }),
  }),
});

/** AutomationNotifications. */
export const AutomationNotifications = builder.objectRef<Notifications>('AutomationNotifications').implement({
  description: descriptions.notifications,
  fields: (t) => ({
    email: t.field({
      type: EmailNotification,
      nullable: true,
      description: descriptions.email,
      resolve: ({ email }) => email,
    }),
    slack: t.field({
      type: SlackNotification,
      nullable: true,
      description: descriptions.slack,
      resolve: ({ slack }) => slack,
    }),
  }),
});
