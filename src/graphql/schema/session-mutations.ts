import { createSession } from '../../domain/sessions/create-session.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { MessageEntry } from '../../domain/sessions/log.ts';
import { sendMessage } from '../../domain/sessions/messages.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { terminateSession } from '../../domain/sessions/terminate-session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { SessionMessage } from './events.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import { organizationIdDescription } from './places.ts';
import { Session } from './sessions.ts';

const SessionSecretInput = builder.inputType('SessionSecretInput', {
  description: 'A secret that lives and dies with the session.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Its name: the environment variable that the agent gets.' }),
    value: t.string({ required: true, description: 'Its value. It is never given back.' }),
    isSensitive: t.boolean({
      defaultValue: true,
      description: 'Whether its value is masked in everything that the agent says.',
    }),
  }),
});

const CreateSessionInput = builder.inputType('CreateSessionInput', {
  description: 'What a session is made from.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
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
    asUserId: t.id({
      description:
        'The member of the organization that the session belongs to; the caller when left out. Another needs IMPERSONATE_ORG_SESSIONS.',
    }),
    agent: t.string({ description: 'An agent profile’s id; the organization’s default when left out.' }),
    isUnlisted: t.boolean({
      defaultValue: false,
      description: 'Whether lists leave the session out. It can still be read by its id.',
    }),
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
    body: t.string({
      required: true,
      description: 'The text of the message: 1 to 500,000 characters, not only spaces.',
    }),
    asUserId: t.id({
      description:
        'The member of the organization whose message it is; the caller when left out. Another needs IMPERSONATE_ORG_SESSIONS.',
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
  needs: ['createSession'],
  description: 'Starts a session: it waits for a worker from now on.',
  names: { createAsUserId: 'asUserId' },
  act: async (input, context, info) => {
    const { organizationId, asUserId, sessionSecrets, ...rest } = input;
    const { idempotencyKey: _key, clientMutationId: _mutation, ...session } = rest;
    const secrets = sessionSecrets?.map(({ isSensitive, ...secret }) => ({ ...secret, sensitive: isSensitive }));
    const made = await createSession(
      context.domain,
      { ...session, createAsUserId: asUserId, sessionSecrets: secrets },
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
  needs: [managesSession],
  description:
    'Sends a message to a session. One that is suspended or has finished resumes. The message answers a question of the agent that was open when it came, but never a request for a permission: it cancels that, ends the turn, and begins the next one. `answerQuestion` answers both, by their id.',
  names: { message: 'body', messageAsUserId: 'asUserId' },
  act: async (input, context, info) => {
    const { sessionId, body, asUserId, attachmentIds } = input;
    return sendMessage(ofAnySession(context.domain, 'manage'), {
      sessionId,
      message: body,
      messageAsUserId: asUserId,
      attachmentIds,
      idempotencyKey: idempotencyKeyOf(context, input, info),
      cancelsPermission: true,
    });
  },
});

addMutation('terminateSession', {
  input: TerminateSessionInput,
  payload: TerminateSessionPayload,
  needs: [managesSession],
  description: 'Ends a session for good; once more does no harm.',
  act: async (input, { domain }) => {
    const { session } = await terminateSession(ofAnySession(domain, 'manage'), {
      sessionId: input.sessionId,
      archive: input.archive ?? false,
    });
    return { session };
  },
});
