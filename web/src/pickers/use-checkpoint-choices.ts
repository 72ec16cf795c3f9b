import { graphql } from 'react-relay';
import type { CheckpointKind, useCheckpointChoicesQuery } from '../__generated__/useCheckpointChoicesQuery.graphql.ts';
import { checkpointChoices as texts } from '../texts/pickers.ts';
import { dateFormat } from '../ui/date.ts';
import type { ChoiceSource } from '../ui/use-choices.ts';
import { useSource } from './use-source.ts';

const exact = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' });

interface NamedCheckpoint {
  readonly kind: CheckpointKind;
  /** The number of the last turn that had begun. */
  readonly turn: number;
}

/** Names the point of a session's work that a checkpoint is of. */
export function pointOf({ kind, turn }: NamedCheckpoint): string {
  if (kind === 'REWIND') return turn === 0 ? texts.rewindToStart : texts.rewindToTurn({ turn });
  if (kind === 'FORK') return texts.startOfFork;
  if (kind === 'ENVIRONMENT') return texts.startOfSession;
  if (turn === 0) return texts.beforeFirstTurn;
  if (kind === 'TURN_END') return texts.endOfTurn({ turn });
  return kind === 'HANDOVER' ? texts.beforeStop({ turn }) : texts.duringTurn({ turn });
}

// The end of a turn is saved again with the files that git ignores, in addition.
function isLastOfItsTurn({ kind, turn }: NamedCheckpoint, at: number, all: readonly NamedCheckpoint[]): boolean {
  const newer = all[at - 1];
  return kind !== 'TURN_END' || newer?.kind !== 'TURN_END' || newer.turn !== turn;
}

/** The checkpoints of a session, newest first, with one for each end of a turn. */
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
        choices: session.checkpoints.nodes.filter(isLastOfItsTurn).map(({ checkpointId, kind, turn, createdAt }) => ({
          value: checkpointId,
          label: pointOf({ kind, turn }),
          under: exact.format(new Date(createdAt)),
        })),
        pageInfo: session.checkpoints.pageInfo,
      },
  );
}
