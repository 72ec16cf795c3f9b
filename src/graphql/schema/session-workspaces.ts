import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { requestWorkspaceDeletion } from '../../domain/workspaces/request-deletion.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { Session } from './sessions.ts';

builder.objectFields(Session, (t) => ({
  workspaceDeletedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      'When its workspace and its agent’s home were deleted; null: they were not, or an agent has started with new ones since.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.workspaceStates.load(id)).deletedAt,
  }),
  workspaceDeletionRequestedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the deletion of its workspace was requested; null: it was not, or it is done.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.workspaceStates.load(id)).deletionRequestedAt,
  }),
}));

const DeleteSessionWorkspaceInput = builder.inputType('DeleteSessionWorkspaceInput', {
  description: 'A session whose workspace is to be deleted.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'The global ID, or any form of the session’s id.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteSessionWorkspacePayload = payloadType<{ session: SessionRecord }>(
  'DeleteSessionWorkspacePayload',
  'A session whose workspace is being deleted.',
  (t) => ({ session: t.expose('session', { type: Session, nullable: true, description: 'The session.' }) }),
);

addMutation('deleteSessionWorkspace', {
  input: DeleteSessionWorkspaceInput,
  payload: DeleteSessionWorkspacePayload,
  needs: [managesSession],
  description:
    'Deletes a session’s workspace and its agent’s home now: the worker that has them does so within seconds, or when it runs again. The log stays, and a session that is resumed later starts with an empty workspace. Does nothing if they are deleted already. INVALID_STATE for a session at work.',
  act: async (input, { domain }) => {
    const session = await requestWorkspaceDeletion(ofAnySession(domain, 'manage'), { sessionId: input.sessionId });
    return { session };
  },
});
