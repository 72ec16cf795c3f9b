import { createSession } from '../../domain/sessions/create-session.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { MessageEntry } from '../../domain/sessions/log.ts';
import { sendMessage } from '../../domain/sessions/messages.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { terminateSession } from '../../domain/sessions/terminate-session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { SessionMessage } from './events.ts';
import { clientMutationIdDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import { Session } from './sessions.ts';

const SessionSecretInput = builder.inputType('SessionSecretInput', {
  description: 'A secret that lives and dies with the session.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Its name: the environment variable that the agent gets.' }),
    value: t.string({ required: true, description: 'Its value. It is never given back.' }),
    sensitive: t.boolean({ defaultValue: true, description: 'Whether it is blotted out of what the agent says.' }),
  }),
});

const CreateSessionInput = builder.inputType('CreateSessionInput', {
  description: 'What a session is made from.',
  fields: (t) => ({
    organizationId: t.id({ description: 'Where; may be left out when the viewer has exactly one organization.' }),
    prompt: t.string({ required: true, description: 'What the agent shall do.' }),
    title: t.string({ description: 'What to call it; the prompt’s first line when left out.' }),
    tags: t.stringList({ description: 'At most 50.' }),
    playbookId: t.id({ description: 'A playbook to follow.' }),
    snapshotId: t.string({ description: 'A machine snapshot; kept and given back.' }),
    knowledgeIds: t.idList({ description: 'Notes to use; null: all, empty: none.' }),
    secretIds: t.idList({ description: 'Secrets to use; null: all, empty: none.' }),
    sessionSecrets: t.field({ type: [SessionSecretInput], description: 'Secrets of this session only.' }),
    maxAcuLimit: t.int({ description: 'The most agent compute units that it may use.' }),
    structuredOutputSchema: t.field({
      type: 'JSON',
      description: 'A JSON Schema (Draft 7) for its output: at most 64 KB, no external "$ref".',
    }),
    attachmentIds: t.idList({ description: 'Files for the agent.' }),
    createAsUserId: t.id({ description: 'The user that it shall belong to.' }),
    agent: t.string({ description: 'An agent profile’s id; the organization’s default when left out.' }),
    unlisted: t.boolean({ description: 'Whether lists leave it out.' }),
    idempotencyKey: t.string({ description: 'The same key and input give the same session, once, within 24 hours.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateSessionPayload = payloadType<{ session: SessionRecord; isNewSession: boolean }>(
  'CreateSessionPayload',
  'A session that was started.',
  (t) => ({
    session: t.expose('session', { type: Session, nullable: true, description: 'The session.' }),
    isNewSession: t.exposeBoolean('isNewSession', {
      nullable: true,
      description: 'False when the idempotency key had made it before.',
    }),
  }),
);

const SendMessageInput = builder.inputType('SendMessageInput', {
  description: 'A message to a session.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'The global ID, or any form of the session’s id.' }),
    message: t.string({ required: true, description: 'The words.' }),
    messageAsUserId: t.id({
      description: 'A member of the organization whose message it shall be; needs IMPERSONATE_ORG_SESSIONS.',
    }),
    attachmentIds: t.idList({ description: 'Files for the agent.' }),
    idempotencyKey: t.string({ description: 'The same key and input send one message, within 24 hours.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const SendMessagePayload = payloadType<{ session: SessionRecord; message: MessageEntry }>(
  'SendMessagePayload',
  'A message that was sent.',
  (t) => ({
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'The session; a sleeping one is being taken up again.',
    }),
    message: t.expose('message', { type: SessionMessage, nullable: true, description: 'The message in the log.' }),
  }),
);

const TerminateSessionInput = builder.inputType('TerminateSessionInput', {
  description: 'A session to end for good.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'The global ID, or any form of the session’s id.' }),
    archive: t.boolean({ defaultValue: false, description: 'Whether to put it away, too.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const TerminateSessionPayload = payloadType<{ session: SessionRecord }>(
  'TerminateSessionPayload',
  'A session that was ended.',
  (t) => ({
    session: t.expose('session', { type: Session, nullable: true, description: 'The session.' }),
  }),
);

addMutation('createSession', {
  input: CreateSessionInput,
  payload: CreateSessionPayload,
  description: 'Starts a session: it waits for a worker from now on.',
  act: async (input, context, info) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, unlisted, ...rest } = input;
    const made = await createSession(
      context.domain,
      { ...rest, isUnlisted: unlisted },
      {
        organizationId,
        // A cookie of the console is what its pages have and no program does.
        origin: context.domain.viewer.consoleSessionId === undefined ? 'api' : 'webapp',
        idempotencyKey: idempotencyKeyOf(context, input, info),
      },
    );
    return { session: made.session, isNewSession: made.isNew };
  },
});

addMutation('sendMessage', {
  input: SendMessageInput,
  payload: SendMessagePayload,
  description: 'Sends a message, and takes up a session that sleeps.',
  act: async (input, context, info) => {
    const { sessionId, message, messageAsUserId, attachmentIds } = input;
    return sendMessage(ofAnySession(context.domain, 'manage'), {
      sessionId,
      message,
      messageAsUserId,
      attachmentIds,
      idempotencyKey: idempotencyKeyOf(context, input, info),
    });
  },
});

addMutation('terminateSession', {
  input: TerminateSessionInput,
  payload: TerminateSessionPayload,
  description: 'Ends a session for good; once more does no harm.',
  act: async (input, { domain }) => {
    const { session } = await terminateSession(ofAnySession(domain, 'manage'), {
      sessionId: input.sessionId,
      archive: input.archive ?? false,
    });
    return { session };
  },
});
