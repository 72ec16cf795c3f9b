import { requestWorkspaceDeletion } from '../../../domain/execution/workspaces/request-deletion.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { managesSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

builder.objectFields(Session, (t) => ({
  workspaceDeletedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      'Time when the session’s workspace and its agent’s home were deleted; null if they were not, or if an agent has started with new ones since.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.workspaceStates.load(id)).deletedAt,
  }),
  workspaceDeletionRequestedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description:
      'Time when the deletion of the session’s workspace was requested; null if it was not requested or is completed.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.workspaceStates.load(id)).deletionRequestedAt,
  }),
}));

addMutation('deleteSessionWorkspace', {
  description:
    'Deletes a session’s workspace and its agent’s home: the worker that has them does so within seconds, or when it runs again. The log stays, and a session that is resumed later starts with an empty workspace. Does nothing if they are already deleted. INVALID_STATE if the session is queued or running.',
  needs: [managesSession],
  input: (t) => ({ sessionId: t.id({ required: true, description: sessionIdDescription }) }),
  payload: {
    session: { type: Session, description: 'Session with the requested deletion. Null if `userErrors` is not empty.' },
  },
  act: async (input, { domain }) => {
    const session = await requestWorkspaceDeletion(ofAnySession(domain, 'manage'), { sessionId: input.sessionId });
    return { session };
  },
});
