import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { pageOf } from '../../../domain/pages.ts';
import { forkSession } from '../../../domain/sessions/checkpoints/fork-session.ts';
import { forksOf } from '../../../domain/sessions/checkpoints/forks.ts';
import { rewindSession } from '../../../domain/sessions/checkpoints/rewind-session.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { addMutation } from './add-mutation.ts';
import { Checkpoint } from './checkpoints.ts';
import { boundary, managesSession, viewsSession } from './needs.ts';
import { parseSessionFilter, sessionListArgs } from './session-filter.ts';
import { sessionIdDescription } from './session-id.ts';
import { SessionSecretInput } from './session-mutations.ts';
import { Session, SessionList } from './sessions.ts';

/** A point of a session's work in inputs. */
export const SessionPointInput = builder.inputType('SessionPointInput', {
  isOneOf: true,
  description: 'Point of a session’s work. Exactly one member.',
  fields: (t) => ({
    checkpointId: t.id({ description: 'Global ID or REST id of a checkpoint of the session.' }),
    turn: t.int({
      description:
        'Number of a turn that has ended: the point is the end of the turn. INVALID_STATE if its checkpoint was deleted.',
    }),
  }),
});

addMutation('rewindSession', {
  description:
    'Reverts the files and the agent of a session to a checkpoint or to the end of a turn. The log is not reverted: it gets an entry of the kind REWIND and continues. If the agent works, its turn is stopped. Messages that the agent has not received stay queued until the next message. The agent starts with the reverted files at the next message, which tells it that later messages no longer hold. INVALID_STATE if the session accepts no messages.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    point: t.field({
      type: SessionPointInput,
      required: true,
      description: 'Point to return to. NOT_FOUND for a checkpoint that is not one of the session.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: { type: Session, description: 'Session after the rewind. Null if `userErrors` is not empty.' },
    checkpoint: {
      type: Checkpoint,
      description:
        'Newest checkpoint of the session, a copy of the one that it returned to. Null if `userErrors` is not empty, and if it was deleted since.',
    },
  },
  act: async ({ sessionId, point }, { domain, loaders }, options) => {
    const input = { sessionId, point, ...options };
    const { session, checkpointId } = await rewindSession(ofAnySession(domain, 'manage'), input);
    return { session, checkpoint: await loaders.checkpoints.load(checkpointId) };
  },
});

addMutation('forkSession', {
  description:
    'Starts a session with the files and the agent of another session at a checkpoint or at the end of a turn. The fork is a child of that session, belongs to the viewer, and has the same settings and the same repositories, each with a branch of its own. It has the session secrets only if the viewer started the other session. The other session does not change.',
  needs: [managesSession, viewsSession, 'createSession'],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    point: t.field({
      type: SessionPointInput,
      required: true,
      description: 'Point that the fork begins at. NOT_FOUND for a checkpoint that is not one of the session.',
    }),
    prompt: t.string({
      description:
        'Task for the agent, 1 to 500,000 characters, not only spaces. If null or omitted, the fork waits for its first message.',
    }),
    title: t.string({
      description:
        'Title of the fork, at most 10,000 characters. Defaults to the first line of the prompt, or else to the title of the session.',
    }),
    tags: t.stringList({
      description:
        'Tags of the fork: at most 50, each of 1 to 200 characters. Defaults to those of the session that the organization still allows.',
    }),
    maxAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the fork may use, greater than 0 and at most the organization’s limit for a session. Defaults to the limit of the session.',
    }),
    sessionSecrets: t.field({
      type: [SessionSecretInput],
      description: 'Secrets for the fork only, which replace copied ones with the same key. Maximum 200.',
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
  act: async ({ sessionSecrets, ...input }, { domain }, options) => {
    const context = ofAnySession(ofAnySession(domain, 'view'), 'manage');
    const secrets = sessionSecrets?.map(({ isSensitive, ...secret }) => ({ ...secret, sensitive: isSensitive }));
    const origin = domain.viewer.consoleSessionId === undefined ? 'api' : 'webapp';
    const { session } = await forkSession(context, { ...input, sessionSecrets: secrets }, { origin, ...options });
    return { session };
  },
});

const SessionForkOrigin = builder.objectRef<SessionRecord>('SessionForkOrigin').implement({
  description: 'Session and checkpoint that a fork was made of.',
  fields: (t) => ({
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session that the fork was made of; null if the viewer may not view the session.',
      resolve: ({ forkedFromId }, _args, { loaders }) =>
        forkedFromId === null ? null : loaders.sessions.load(forkedFromId),
    }),
    checkpoint: t.field({
      type: Checkpoint,
      nullable: true,
      description: 'Checkpoint that the fork began at; null if it was deleted, or if the viewer may not view it.',
      resolve: ({ forkedCheckpointId }, _args, { loaders }) =>
        forkedCheckpointId === null ? null : loaders.checkpoints.load(forkedCheckpointId),
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  forks: t.connection(
    {
      type: Session,
      ...boundary(viewsSession),
      description:
        'Forks of the session, which are among its `children`. Newest first unless `orderBy` says otherwise.',
      args: sessionListArgs(t.arg),
      resolve: async (session, { filter, orderBy, ...page }, context) => {
        const list = forksOf(
          ofAnySession(context.domain, 'view'),
          session,
          parseSessionFilter(filter),
          orderBy ?? undefined,
        );
        return nestedConnection(context, list, pageOf(page));
      },
    },
    SessionList.connection,
  ),
  forkedFrom: t.field({
    type: SessionForkOrigin,
    nullable: true,
    description: 'Session and checkpoint that the session is a fork of; null if it is no fork.',
    resolve: (session) => (session.forkedFromId === null ? null : session),
  }),
}));
