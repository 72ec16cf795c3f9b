import type { Transaction } from '../../../store/store.ts';
import { parseId } from '../../ids.ts';
import type { NewEntry } from '../log.ts';
import type { InheritedRepository } from '../repositories/inherited-repositories.ts';
import type { SessionCheckpoint } from './checkpoints.ts';
import { checkpointColumns } from './checkpoints.ts';
import { lockCheckpoints } from './copy-checkpoint.ts';
import { pointText } from './rewind-data.ts';

/** The checkpoint that a new session begins with. */
export interface Beginning {
  /** The transaction has locked the run of its session. */
  readonly checkpoint: SessionCheckpoint;
  /** The snapshot that it is of; null: the session is a fork. */
  readonly snapshotName: string | null;
  readonly repositories: readonly InheritedRepository[];
}

/** The data of the log entry of a session that did not begin empty, as `beginning`. All ids are unprefixed. */
export interface BeginningData {
  readonly kind: 'fork' | 'snapshot';
  /** The session that the files are of, and the last entry of its log that the agent knows. */
  readonly sessionId: string;
  readonly seq: number;
  readonly turn: number;
  /** The time of the checkpoint, in ISO 8601. */
  readonly savedAt: string;
  readonly isTurnEnd: boolean;
  /** Null: a fork. */
  readonly snapshotName: string | null;
  /** The clones in the workspace, with the branches that they were on. */
  readonly clones: readonly { readonly directory: string; readonly branch: string }[];
}

/** Returns the log entry of a session that begins with a checkpoint. */
export function beginningEntry({ checkpoint, snapshotName, repositories }: Beginning): NewEntry {
  const { sessionId, seq, turn, kind, createdAt } = checkpoint;
  const data: BeginningData = {
    kind: snapshotName === null ? 'fork' : 'snapshot',
    sessionId,
    seq,
    turn,
    savedAt: createdAt.toISOString(),
    isTurnEnd: kind === 'TURN_END',
    snapshotName,
    clones: repositories.filter(({ isCloned }) => isCloned).map(({ directory, branch }) => ({ directory, branch })),
  };
  const body =
    snapshotName === null
      ? `The session is a fork. It begins with the files and the agent of another session at ${pointText(data)}.`
      : `The session begins with the files of the snapshot ${JSON.stringify(snapshotName)}.`;
  return { kind: 'NOTICE', body, data: { beginning: data } };
}

// A name never has the form of an id.
const named = 'n.organization_id = $1 and (n.id = $2 or n.name = $3)';
const source = `select n.session_id as "sessionId" from snapshot n where ${named}`;
const content = `
  select n.name, n.repositories, ${checkpointColumns} from snapshot n join checkpoint c on c.id = n.checkpoint_id where ${named}`;

/**
 * Returns the snapshot of an organization that the input of a new session names, by its id in any form or its name; null: there is none.
 * A principal that may start sessions there may use every snapshot of it.
 */
export async function findBeginning(
  tx: Transaction,
  organizationId: string,
  snapshotId: string,
): Promise<Beginning | null> {
  type Found = SessionCheckpoint & { readonly name: string; readonly repositories: readonly InheritedRepository[] };
  const values = [organizationId, parseId('snapshot', snapshotId), snapshotId];
  const [owner] = await tx.query<{ sessionId: string }>(source, values);
  if (!owner) return null;
  await lockCheckpoints(tx, owner.sessionId);
  const [found] = await tx.query<Found>(content, values);
  if (!found) return null;
  const { name, repositories, ...checkpoint } = found;
  return { checkpoint, snapshotName: name, repositories };
}

/** The log entry of a session whose input names a snapshot that does not exist. */
export function missingSnapshotEntry(snapshotId: string): NewEntry {
  const body = `There is no snapshot ${JSON.stringify(snapshotId)} in the organization, so the session begins with an empty workspace.`;
  return { kind: 'NOTICE', body, data: { isWarning: true } };
}
