import { useMemo } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { workspaceNote_session$key } from '../__generated__/workspaceNote_session.graphql.ts';
import type { workspaceNoteQuery } from '../__generated__/workspaceNoteQuery.graphql.ts';
import { usePolling } from '../relay/use-polling.ts';
import { workspaceNote as texts } from '../texts/session-transcript.ts';
import { Icon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';

const query = graphql`
  query workspaceNoteQuery($id: ID!) {
    session(id: $id) {
      ...workspaceNote_session
      ...deleteWorkspace_session
    }
  }
`;

/** Interval between two reads while the workspace is being deleted, in milliseconds. */
const everyMs = 2_000;

/** Line that says that the session's workspace was deleted, by a user or by retention, or is being deleted. */
export function WorkspaceNote({ session: reference }: { readonly session: workspaceNote_session$key }) {
  const session = useFragment(
    graphql`
      fragment workspaceNote_session on Session {
        id
        endReason
        workspaceDeletedAt
        workspaceDeletionRequestedAt
      }
    `,
    reference,
  );
  const { id, endReason, workspaceDeletedAt, workspaceDeletionRequestedAt } = session;
  const variables = useMemo(() => ({ id }), [id]);
  const isPending = Boolean(workspaceDeletionRequestedAt);
  usePolling<workspaceNoteQuery>({ query, variables, everyMs: isPending ? everyMs : null });
  const at = workspaceDeletedAt ?? workspaceDeletionRequestedAt;
  if (!at) return null;
  const isFinal = endReason === 'TERMINATED' || endReason === 'EXPIRED';
  return (
    <p className="banner quiet">
      <Icon name="trash" />
      {/* Without the time, which a screen reader would read again at each change. */}
      <span role="status">{isPending ? texts.beingDeleted : isFinal ? texts.deleted : texts.deletedResumable}</span>
      <Time at={at} />
    </p>
  );
}
