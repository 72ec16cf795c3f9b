import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { updateQueuedMessage, withdrawMessage } from '../../../domain/sessions/change-message.ts';
import type { MessageEntry } from '../../../domain/sessions/log.ts';
import { type MessageDelivery, maxQueuedMessages } from '../../../domain/sessions/message-states.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { defineEnum } from './define-enum.ts';
import { messageChange } from './event-enums.ts';
import { dataOf, eventType, SessionMessage, textOf } from './events.ts';
import { boundary, managesSession, viewsSession } from './needs.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const MessageDeliveryEnum = defineEnum<MessageDelivery>(
  'MessageDelivery',
  'The delivery of a message from a user to the agent.',
  {
    queued: 'The message waits for the agent. It can be edited and withdrawn, unless it closed a question.',
    delivered: 'The agent has received the message.',
    withdrawn: 'A user withdrew the message before the agent received it.',
  },
);

builder.objectFields(SessionMessage, (t) => ({
  delivery: t.field({
    type: MessageDeliveryEnum,
    nullable: true,
    description: 'Current delivery of the message to the agent; null for a message from the agent.',
    resolve: async ({ id, messageType }, _args, { loaders }) =>
      messageType === 'agent_message' ? null : ((await loaders.messageStates.load(id))?.delivery ?? null),
  }),
  editedBody: t.string({
    nullable: true,
    description:
      'Text of the message after the last edit, as the agent receives it; null if the message was not edited. `body` is the text as it was sent.',
    resolve: async ({ id, messageType }, _args, { loaders }) =>
      messageType === 'agent_message' ? null : ((await loaders.messageStates.load(id))?.editedBody ?? null),
  }),
}));

builder.objectField(Session, 'queuedMessages', (t) =>
  t.field({
    type: [SessionMessage],
    ...boundary(viewsSession),
    description: `Messages that wait for the agent and can be edited and withdrawn, oldest first. Maximum ${maxQueuedMessages}.`,
    resolve: (session, _args, { loaders }) => loaders.queuedMessages.load(session),
  }),
);

eventType(
  'MessageChangedEvent',
  'A log entry for the edit or the withdrawal of a message that the agent had not received.',
  (t) => ({
    message: t.field({
      type: SessionMessage,
      nullable: true,
      description: 'Message that was changed; null if the viewer may not read the session’s log.',
      resolve: async (entry, _args, { loaders }) => {
        const id = textOf(dataOf(entry).messageId);
        return id === null ? null : ((await loaders.logEntries.load(id)) as MessageEntry | null);
      },
    }),
    change: t.field({
      type: messageChange.type,
      description: 'Kind of the change: an edit, or the withdrawal of the message.',
      resolve: (entry) => messageChange.read(dataOf(entry).change) ?? 'edited',
    }),
    editedBody: t.string({
      nullable: true,
      description: 'New text of the message; null if the message was withdrawn.',
      resolve: (entry) => entry.body,
    }),
    changedBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that changed the message; null if the viewer may not see the principal.',
      resolve: (entry, _args, context) => loadPrincipal(context, entry),
    }),
  }),
);

const payload = {
  session: { type: Session, description: 'Session after the change. Null if `userErrors` is not empty.' },
  message: { type: SessionMessage, description: 'Message that was changed. Null if `userErrors` is not empty.' },
} as const;

addMutation('updateQueuedMessage', {
  description:
    'Replaces the text of a message that the agent has not received. A session that was stopped continues with its messages. INVALID_STATE if the agent has received the message, or if the message was withdrawn or closed a question. LIMIT_EXCEEDED if a stopped session would wait for a worker and the queue of its organization is full.',
  needs: [managesSession],
  input: (t) => ({
    messageId: t.id({ required: true, description: 'Global ID or REST id of the message.' }),
    body: t.string({
      required: true,
      description: 'New text of the message, 1 to 500,000 characters, not only spaces.',
    }),
  }),
  payload,
  names: { message: 'body' },
  act: ({ messageId, body }, { domain }) =>
    updateQueuedMessage(ofAnySession(domain, 'manage'), { messageId, message: body }),
});

addMutation('withdrawMessage', {
  description:
    'Withdraws a message that the agent has not received. Withdrawing it again is not an error. A session without other messages leaves the queue. INVALID_STATE if the agent has received the message or the message closed a question.',
  needs: [managesSession],
  input: (t) => ({
    messageId: t.id({ required: true, description: 'Global ID or REST id of the message.' }),
  }),
  payload,
  act: ({ messageId }, { domain }) => withdrawMessage(ofAnySession(domain, 'manage'), { messageId }),
});
