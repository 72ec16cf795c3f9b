import { graphql } from 'react-relay';
import type { CheckpointKind, useCheckpointChoicesQuery } from '../__generated__/useCheckpointChoicesQuery.graphql.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

interface NamedCheckpoint {
  readonly kind: CheckpointKind;
  /** The number of the last turn that had begun. */
  readonly turn: number;
}

/** Names the point of a session's work that a checkpoint is of. */
export function pointOf({ kind, turn }: NamedCheckpoint): string {
  if (kind === 'REWIND') return turn === 0 ? 'Rewind to before turn 1' : `Rewind to turn ${turn}`;
  if (kind === 'FORK') return 'Start of the fork';
  if (turn === 0) return 'Before turn 1';
  if (kind === 'TURN_END') return `End of turn ${turn}`;
  return kind === 'HANDOVER' ? `Turn ${turn}, before a stop` : `During turn ${turn}`;
}

/** The checkpoints of a session, newest first. */
export function useCheckpointChoices(sessionId: string): ChoiceSource {
  return useSource<useCheckpointChoicesQuery>(
    graphql`
      query useCheckpointChoicesQuery($id: ID!, $after: String) @throwOnFieldError {
        session(id: $id) {
          checkpoints(first: 100, after: $after) {
            nodes {
              checkpointId
              kind
              turn
              createdAt
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    `,
    { id: sessionId },
    ({ session }) =>
      session && {
        choices: session.checkpoints.nodes.map(({ checkpointId, kind, turn, createdAt }) => ({
          value: checkpointId,
          label: pointOf({ kind, turn }),
          under: exact.format(new Date(createdAt)),
        })),
        pageInfo: session.checkpoints.pageInfo,
      },
  );
}
