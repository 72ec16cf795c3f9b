import type { Action } from '../../../domain/automations/model/definition.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { findPlaybooks } from '../../../domain/library/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationNotifications } from './automation-notifications.ts';
import { Playbook } from './playbooks.ts';
import { Session } from './sessions.ts';

type ActionOf<T extends Action['type']> = Extract<Action, { type: T }>;
type SessionOptions = NonNullable<ActionOf<'start_session'>['session']>;

const SessionTemplate = builder.objectRef<SessionOptions>('AutomationSession').implement({
  description: descriptions.session,
  fields: (t) => ({
    tags: t.stringList({ nullable: true, description: descriptions.tags, resolve: ({ tags }) => tags ?? null }),
    platform: t.exposeString('platform', { nullable: true, description: descriptions.platform }),
    bypassApproval: t.exposeBoolean('bypassApproval', { nullable: true, description: descriptions.bypassApproval }),
    notifications: t.field({
      type: AutomationNotifications,
      nullable: true,
      description: descriptions.notifications,
      resolve: ({ notifications }) => notifications,
    }),
    playbook: t.field({
      type: Playbook,
      nullable: true,
      description: 'Playbook that the session follows. Null if there is none or the viewer may not read the playbook.',
      resolve: ({ playbookId }, _args, { loaders }) =>
        playbookId == null ? null : loaders.of(findPlaybooks).load(playbookId),
    }),
    playbookId: t.string({
      nullable: true,
      description:
        'REST id of the playbook that the session follows, even if the playbook has been deleted. Null if there is none.',
      resolve: ({ playbookId }) => (playbookId == null ? null : prefixedId('playbook', playbookId)),
    }),
    repos: t.stringList({ nullable: true, description: descriptions.repos, resolve: ({ repos }) => repos ?? null }),
  }),
});

const StartSession = builder.objectRef<ActionOf<'start_session'>>('StartSessionAction').implement({
  description: descriptions.startSession,
  fields: (t) => ({
    prompt: t.exposeString('prompt', { description: descriptions.prompt }),
    session: t.field({
      type: SessionTemplate,
      nullable: true,
      description: descriptions.session,
      resolve: ({ session }) => session,
    }),
  }),
});

const MessageSession = builder.objectRef<ActionOf<'message_session'>>('MessageSessionAction').implement({
  description: descriptions.messageSession,
  fields: (t) => ({
    prompt: t.exposeString('prompt', { description: descriptions.prompt }),
    targetSession: t.field({
      type: Session,
      nullable: true,
      description: `${descriptions.targetSession} Null if there is none yet or the viewer may not view the session.`,
      resolve: ({ targetSessionId: id }, _args, { loaders }) => (id == null ? null : loaders.sessions.load(id)),
    }),
    targetSessionId: t.string({
      nullable: true,
      description:
        'REST id of the session that receives the message, which begins with `devin-`. Null if there is none yet.',
      resolve: ({ targetSessionId: id }) => (id == null ? null : prefixedId('session', id)),
    }),
    autoCreate: t.boolean({ description: descriptions.autoCreate, resolve: ({ autoCreate }) => autoCreate ?? false }),
  }),
});

const MonitorSession = builder.objectRef<ActionOf<'monitor_session'>>('MonitorSessionAction').implement({
  description: descriptions.monitorSession,
  fields: (t) => ({
    setupPrompt: t.exposeString('setupPrompt', { description: descriptions.setupPrompt }),
    slackMonitorConfig: t.field({
      type: 'JSON',
      description: descriptions.slackMonitorConfig,
      resolve: ({ slackMonitorConfig }) => slackMonitorConfig,
    }),
  }),
});

const typeOf = {
  'start_session': 'StartSessionAction',
  'message_session': 'MessageSessionAction',
  'monitor_session': 'MonitorSessionAction',
} as const satisfies Record<Action['type'], string>;

export const AutomationAction = builder.unionType('AutomationAction', {
  description: descriptions.action,
  types: [StartSession, MessageSession, MonitorSession],
  resolveType: ({ type }) => typeOf[type],
});
