import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { deleteWorkspace_session$key } from '../__generated__/deleteWorkspace_session.graphql.ts';
import type { deleteWorkspaceMutation } from '../__generated__/deleteWorkspaceMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { deleteWorkspace as texts } from '../texts/session-details.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';

const warning = texts.text;

/** Button that deletes the workspace of a session that is not running. Shows nothing during and after the deletion. */
export function DeleteWorkspace({ session: reference }: { readonly session: deleteWorkspace_session$key }) {
  const { sessionId, workspaceDeletedAt, workspaceDeletionRequestedAt } = useFragment(
    graphql`
      fragment deleteWorkspace_session on Session {
        sessionId
        workspaceDeletedAt
        workspaceDeletionRequestedAt
      }
    `,
    reference,
  );
  const [remove, isRemoving] = useMutation<deleteWorkspaceMutation>(graphql`
    mutation deleteWorkspaceMutation($input: DeleteSessionWorkspaceInput!) {
      deleteSessionWorkspace(input: $input) {
        session {
          workspaceDeletedAt
          workspaceDeletionRequestedAt
          ...deleteWorkspace_session
          ...workspaceNote_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  if (workspaceDeletedAt || workspaceDeletionRequestedAt) return null;
  const confirm = async () => {
    setAsking(false);
    const { payload } = await remove({ input: { sessionId } });
    const session = payload?.session;
    // A session that no worker has run yet.
    if (session && !session.workspaceDeletedAt && !session.workspaceDeletionRequestedAt) toasts.say(texts.noWorkspace);
  };
  return (
    <>
      <Button size="small" icon="trash" tone="danger" isBusy={isRemoving} onClick={() => setAsking(true)}>
        {texts.label}
      </Button>
      {isAsking && (
        <Confirm
          title={texts.confirmTitle}
          text={warning}
          confirmLabel={texts.label}
          onClose={() => setAsking(false)}
          onConfirm={() => void confirm()}
        />
      )}
    </>
  );
}
