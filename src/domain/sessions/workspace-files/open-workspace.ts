import { CheckpointError, type MissingPart } from '../../../checkpoints/driver.ts';
import { openCheckpoint } from '../../../checkpoints/open-checkpoint.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import { type Field, selectFields } from '../../../store/tables.ts';
import type { CheckpointRecord } from '../../checkpoints/checkpoint.ts';
import { openCheckpointKey } from '../../checkpoints/checkpoint-key.ts';
import { segmentSource } from '../../checkpoints/segment-source.ts';
import type { Services } from '../../context.ts';
import { isOutage } from '../../unavailable.ts';
import { createWorkspaceTree } from './manifest-tree.ts';
import { type OpenTrees, openTrees } from './open-trees.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

const fields = [
  'id',
  'sessionId',
  'organizationId',
  'content',
  'missing',
  'createdAt',
] as const satisfies readonly Field<'Checkpoint'>[];

/** The files of a session's workspace as of one checkpoint. */
export interface OpenedWorkspace {
  /** Unprefixed. */
  readonly checkpointId: string;
  readonly sessionId: string;
  /** The time of the checkpoint. */
  readonly savedAt: Date;
  /** The parts of the workspace that the checkpoint lacks. */
  readonly missing: readonly MissingPart[];
  readonly tree: WorkspaceTree;
}

/** A checkpoint of a session. */
export interface WorkspaceKey {
  /** Unprefixed, as the other id. */
  readonly sessionId: string;
  /** Null: the newest. */
  readonly checkpointId: string | null;
}

type OpenServices = Pick<Services, 'store' | 'keyring' | 'now' | 'segments'>;

type Checkpoint = Pick<CheckpointRecord, 'id' | 'sessionId' | 'organizationId' | 'content' | 'missing' | 'createdAt'>;

/** Operations that open the workspaces of more sessions are refused: each one is read from the file storage. */
const maxAtOnce = 20;

/**
 * Opens the workspaces of sessions that the viewer may view, in the order of the keys, by one statement. Null for a session without a
 * checkpoint. An error in place of each other one that cannot be opened: NOT_FOUND if the session has no such checkpoint, and
 * those of {@link asWorkspaceError}. Throws LIMIT_EXCEEDED for more than 20.
 */
export async function openWorkspaces(
  services: OpenServices,
  keys: readonly WorkspaceKey[],
): Promise<(OpenedWorkspace | Error | null)[]> {
  if (keys.length > maxAtOnce) {
    throw new DomainError('LIMIT_EXCEEDED', `An operation can read the files of at most ${maxAtOnce} checkpoints.`);
  }
  const rows = await services.store.query<Checkpoint & { key: number }>(
    `select k.key::int as key, ${selectFields('Checkpoint', 'c', fields)}
       from unnest($1::text[], $2::text[]) with ordinality k (session_id, checkpoint_id, key)
       join run r on r.session_id = k.session_id
       join checkpoint c on c.id = coalesce(k.checkpoint_id, r.checkpoint_id) and c.session_id = k.session_id`,
    [keys.map(({ sessionId }) => sessionId), keys.map(({ checkpointId }) => checkpointId)],
  );
  const found = new Map(rows.map((row) => [row.key, row]));
  const opened: (OpenedWorkspace | Error | null)[] = [];
  // One after another: the manifest of each can have many MB.
  for (const [n, { checkpointId }] of keys.entries()) {
    const row = found.get(n + 1);
    if (row) opened.push(await open(services, row).catch((error: unknown) => asWorkspaceError(error) as Error));
    else opened.push(checkpointId === null ? null : notFound('checkpoint'));
  }
  return opened;
}

/** {@link openWorkspaces} for one key. Throws the error. */
export async function openWorkspace(services: OpenServices, key: WorkspaceKey): Promise<OpenedWorkspace | null> {
  const [workspace = null] = await openWorkspaces(services, [key]);
  if (workspace instanceof Error) throw workspace;
  return workspace;
}

const cachesOf = new WeakMap<Services['segments'], OpenTrees>();

async function open(services: OpenServices, checkpoint: Checkpoint): Promise<OpenedWorkspace> {
  const { id, sessionId, organizationId, content, createdAt: savedAt } = checkpoint;
  const trees = cachesOf.get(services.segments) ?? openTrees();
  cachesOf.set(services.segments, trees);
  const tree = await trees.open(id, async () => {
    const key = await openCheckpointKey(services, organizationId);
    return createWorkspaceTree(await openCheckpoint({ content, key, segments: segmentSource(services) }));
  });
  return { checkpointId: id, sessionId, savedAt, missing: missingOf(checkpoint), tree };
}

// The agent's home may contain secrets: nothing of it is shown, not even the names of its files.
const missingOf = ({ missing }: Checkpoint): readonly MissingPart[] =>
  missing.flatMap((part) =>
    part.path.startsWith('workspace/') ? [{ ...part, path: part.path.slice('workspace/'.length) }] : [],
  );

/**
 * Converts an error of the engine: INVALID_STATE for a checkpoint that is damaged or missing, and the storage's own error if it does not answer.
 * Returns other errors as they are.
 */
export function asWorkspaceError(error: unknown): unknown {
  if (!(error instanceof CheckpointError)) return error;
  if (error.code === 'FAILED' && isOutage(error.cause)) return error.cause;
  if (error.code !== 'DAMAGED' && error.code !== 'MISSING') return error;
  const message =
    error.code === 'MISSING'
      ? 'The file storage does not have the files of this checkpoint. Choose another checkpoint, or try again later.'
      : 'The checkpoint is damaged. Choose another one.';
  return Object.assign(new DomainError('INVALID_STATE', message), { cause: error });
}
