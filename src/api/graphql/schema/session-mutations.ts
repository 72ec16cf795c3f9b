import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { openPullRequest } from '../../../domain/open-pull-requests/open-pull-request.ts';
import { createSession } from '../../../domain/sessions/create-session.ts';
import { interruptSession } from '../../../domain/sessions/interrupt-session.ts';
import { sendMessage } from '../../../domain/sessions/messages.ts';
import { retryTurn } from '../../../domain/sessions/retry-turn.ts';
import { terminateSession } from '../../../domain/sessions/terminate-session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { AgentOptionInput } from './agent-options.ts';
import { messageMode } from './event-enums.ts';
import { SessionMessage } from './events.ts';
import { managesSession } from './needs.ts';
import { PullRequestType } from './pull-requests.ts';
import { organizationIdDescription } from './scope-input.ts';
import { sessionIdDescription } from './session-id.ts';
import { SessionRepositoryInput } from './session-repositories.ts';
import { Session } from './sessions.ts';

/** A secret of one session in inputs. */
export const SessionSecretInput = builder.inputType('SessionSecretInput', {
  description: 'Secret for a single session. It is deleted when the session is terminated or expires.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: 'Name of the environment variable that the agent gets, 1 to 256 characters.',
    }),
    value: t.string({
      required: true,
      description: 'Value of the secret, at most 65,536 characters. The value is never returned.',
    }),
    isSensitive: t.boolean({
      defaultValue: true,
      description: 'Whether the value is masked in everything that the agent writes.',
    }),
  }),
});

/** The payload of createSession. */
export const CreateSessionPayload = addMutation('createSession', {
  description: 'Starts a session. The session waits in the queue until a worker takes it.',
  needs: ['createSession'],
  input: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    prompt: t.string({ required: true, description: 'Task for the agent, 1 to 500,000 characters, not only spaces.' }),
    title: t.string({
      description: 'Title of the session, at most 10,000 characters. Defaults to the first line of the prompt.',
    }),
    tags: t.stringList({
      description:
        'Tags of the session: at most 50, each of 1 to 200 characters. Defaults to the default tag of the organization.',
    }),
    playbookId: t.id({ description: 'Global ID or REST id of the playbook to follow.' }),
    snapshotId: t.string({
      description:
        'Id or name of a snapshot of the organization, 1 to 200 characters: the session begins with its files. Any other text is stored with the session, has no effect, and the log says so.',
    }),
    knowledgeIds: t.idList({
      description:
        'Global IDs or REST ids of the knowledge notes to use. All notes if null or omitted; none if the list is empty.',
    }),
    secretIds: t.idList({
      description:
        'Global IDs or REST ids of the organization’s secrets to use. All secrets if null or omitted; none if the list is empty.',
    }),
    sessionSecrets: t.field({ type: [SessionSecretInput], description: 'Secrets for this session only. Maximum 200.' }),
    maxAcuLimit: t.int({
      description:
        'Maximum number of ACUs (agent compute units) that the session may use, greater than 0 and at most the organization’s limit for a session. If null or omitted, only the organization’s limits apply.',
    }),
    structuredOutputSchema: t.field({
      type: 'JSON',
      description:
        'JSON Schema (Draft 7) for the structured output of the session. Maximum 64 KB, no external "$ref". Defaults to the schema of the playbook.',
    }),
    attachmentIds: t.idList({ description: 'Global IDs, REST ids or URLs of attachments to give to the agent.' }),
    asUserId: t.id({
      description:
        'Global ID or REST id of the organization member that the session belongs to. Another user than the viewer requires `IMPERSONATE_ORG_SESSIONS`. Defaults to the viewer.',
    }),
    agent: t.string({
      description: 'Id of the agent profile that runs the session. Defaults to the organization’s default profile.',
    }),
    options: t.field({
      type: [AgentOptionInput],
      description:
        'Options for the agent, such as its model: at most 50, each option once. Other options have the defaults of the agent profile. INVALID_INPUT for a locked option and for an option or a value that the agent is known not to offer; a value that the agent refuses at its start is dropped, and an entry in the log says so.',
    }),
    repositories: t.field({
      type: [SessionRepositoryInput],
      description:
        'Repositories to work on, at most 20. None if the list is empty. If null or omitted: the repositories that the prompt names as `@owner/name`, or else the default repositories of the organization.',
    }),
    isUnlisted: t.boolean({
      defaultValue: false,
      description: 'Whether lists leave the session out. The session can still be read by its id.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description:
        'Session that was started, now or by an earlier request with the same idempotency key. Null if `userErrors` is not empty.',
    },
  },
  names: { createAsUserId: 'asUserId' },
  act: async (input, context, options) => {
    const { organizationId, asUserId, sessionSecrets, ...rest } = input;
    const { ...session } = rest;
    const secrets = sessionSecrets?.map(({ isSensitive, ...secret }) => ({ ...secret, sensitive: isSensitive }));
    const { session: started } = await createSession(
      context.domain,
      { ...session, createAsUserId: asUserId, sessionSecrets: secrets },
      {
        organizationId,
        // Only pages of the console have its cookie.
        origin: context.domain.viewer.consoleSessionId === undefined ? 'api' : 'webapp',
        ...options,
      },
    );
    return { session: started };
  },
});

addMutation('openPullRequest', {
  description:
    'Opens a pull request of the branch that a session pushed, or finds the open one of this branch and base. The connection of the repository opens it; its body ends with the name of the viewer and the URL of the session.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    repository: t.string({
      description:
        'Repository of the session: `owner/name`, `host/owner/name`, its URL, its global ID or its REST id. Required if the session works on several repositories.',
    }),
    title: t.string({
      required: true,
      description: 'Title of the pull request, 1 to 250 characters, not only spaces.',
    }),
    body: t.string({
      description:
        'Text of the pull request in Markdown, at most 60,000 characters. Defaults to the template for pull requests of the repository.',
    }),
    base: t.string({
      description:
        'Branch that the changes are for, 1 to 255 characters. Defaults to the branch that the session started from, or else to the default branch of the repository.',
    }),
    isDraft: t.boolean({ description: 'Whether the pull request is opened as a draft. Defaults to false.' }),
    labels: t.stringList({
      description:
        'Labels to add to the pull request: at most 20, each of 1 to 100 characters. One that the forge refuses does not prevent the pull request: `warnings` has the reason.',
    }),
    reviewers: t.stringList({
      description:
        'Logins of the people to request a review from, and teams as `organization/team`: at most 20, each of 1 to 100 characters. `warnings` has the reason for one that the forge refuses.',
    }),
  }),
  payload: {
    session: { type: Session, description: 'Session with the pull request. Null if `userErrors` is not empty.' },
    pullRequest: {
      type: PullRequestType,
      description: 'Pull request that was opened or found. Null if `userErrors` is not empty.',
    },
    warnings: {
      type: ['String'],
      description:
        'Sentences about labels, reviewers and other parts that the forge refused. The log of the session has them too. Null if `userErrors` is not empty.',
    },
  },
  act: async (input, { domain }) => {
    const { session, opened } = await openPullRequest(ofAnySession(domain, 'manage'), input);
    const pullRequest = { url: opened.url, state: 'open' as const, sessionId: session.id };
    return { session, pullRequest, warnings: [...opened.warnings] };
  },
});

addMutation('sendMessage', {
  description:
    'Sends a message to a session. A suspended or finished session resumes. The message answers an open question of the agent, but never a request for a permission: it cancels the request, ends the turn and starts the next one. Use `answerQuestion` to answer a question or a request by its id. LIMIT_EXCEEDED if the session has no agent and the queue of its organization is full.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    body: t.string({
      required: true,
      description: 'Text of the message, 1 to 500,000 characters, not only spaces.',
    }),
    asUserId: t.id({
      description:
        'Global ID or REST id of the organization member to send the message as. Another user than the viewer requires `IMPERSONATE_ORG_SESSIONS`. Defaults to the viewer.',
    }),
    attachmentIds: t.idList({ description: 'Global IDs, REST ids or URLs of attachments to give to the agent.' }),
    mode: t.field({
      type: messageMode.type,
      description:
        'Effect of the message on the current turn, if the agent works. Defaults to the setting of the agent profile.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description:
        'Session after the message was sent. A suspended or finished session is being resumed. Null if `userErrors` is not empty.',
    },
    message: {
      type: SessionMessage,
      description: 'Message as it is in the session’s log. Null if `userErrors` is not empty.',
    },
  },
  names: { message: 'body', messageAsUserId: 'asUserId' },
  act: async (input, context, options) => {
    const { sessionId, body, asUserId, attachmentIds, mode } = input;
    return sendMessage(ofAnySession(context.domain, 'manage'), {
      sessionId,
      message: body,
      messageAsUserId: asUserId,
      attachmentIds,
      mode,
      ...options,
      cancelsPermission: true,
    });
  },
});

addMutation('interruptSession', {
  description:
    'Stops the work of a session, which then waits for the next message. If the agent works, its turn is cancelled: the text so far stays in the log, and open tool calls are closed as cancelled. If the session waits in the queue, it leaves the queue. Messages that the agent has not received stay queued until the next message. A session without work does not change.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description:
        'Session after the request. It may still show the old state, because the turn ends later, usually within a second: follow `sessionUpdated`. Null if `userErrors` is not empty.',
    },
  },
  act: async ({ sessionId }, { domain }, options) => ({
    session: await interruptSession(ofAnySession(domain, 'manage'), { sessionId, ...options }),
  }),
});

addMutation('retryTurn', {
  description:
    'Sends the messages of the last turn to the agent again, as a new turn together with queued messages, after the turn was stopped, cancelled by a limit, or failed. If the session failed before a turn began, only the queued messages are sent. INVALID_STATE if the session is working, has completed its last turn, or takes no messages. LIMIT_EXCEEDED if it would wait for a worker and the queue of its organization is full.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description:
        'Session after the request. It may still show the old state: follow `sessionUpdated`. Null if `userErrors` is not empty.',
    },
  },
  act: async ({ sessionId }, { domain }, options) => ({
    session: await retryTurn(ofAnySession(domain, 'manage'), { sessionId, ...options }),
  }),
});

addMutation('terminateSession', {
  description: 'Terminates a session for good. Terminating a session again is not an error.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    archive: t.boolean({
      defaultValue: false,
      description: 'Whether to archive the session as well. Defaults to false.',
    }),
  }),
  payload: {
    session: { type: Session, description: 'Session after the termination. Null if `userErrors` is not empty.' },
  },
  act: async (input, { domain }) => {
    const { session } = await terminateSession(ofAnySession(domain, 'manage'), {
      sessionId: input.sessionId,
      archive: input.archive ?? false,
    });
    return { session };
  },
});
