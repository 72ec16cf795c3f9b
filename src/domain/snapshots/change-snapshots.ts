import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { hasPermission, missingPermission, organizationsWith, ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { toData } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { newId, parseId, prefixedId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { changedValues } from '../record-values.ts';
import { chooseCheckpoint, type SessionPoint } from '../sessions/checkpoints/choose-checkpoint.ts';
import { lockCheckpoints } from '../sessions/checkpoints/copy-checkpoint.ts';
import { getSessionFor, isOwn } from '../sessions/find-session.ts';
import { readInheritedRepositories } from '../sessions/repositories/inherited-repositories.ts';
import { requireVersion, type VersionCondition } from '../versions.ts';
import { findSnapshots, type SnapshotRecord, snapshotColumns } from './snapshots.ts';

/** Maximum number of snapshots of an organization: each keeps its files for good. */
const maxSnapshots = 200;

/** The values of a snapshot in inputs. */
export const snapshotSchema = z.object({
  name: text('name', { min: 1, max: 200, isBlankRefused: true }).refine((name) => parseId('snapshot', name) === null, {
    error: '"name" must not have the form of an id.',
  }),
  description: text('description', { max: 2_000 }).nullish(),
});

/** The input of a snapshot. `point` null or omitted: the newest checkpoint of the session. */
export interface CreateSnapshotInput extends z.input<typeof snapshotSchema> {
  readonly sessionId: string;
  readonly point?: SessionPoint | null | undefined;
}

/**
 * Gives a name to a checkpoint of a session, so that sessions of its organization can start from it. The checkpoint is kept until the
 * snapshot is deleted, even if the session is. The viewer must be allowed to view and to change the session. Throws NOT_FOUND,
 * FORBIDDEN, INVALID_INPUT, INVALID_STATE for a session or a turn without a checkpoint, NOT_UNIQUE at `name`, LIMIT_EXCEEDED,
 * IDEMPOTENCY_CONFLICT.
 */
export async function createSnapshot(
  context: Context,
  raw: CreateSnapshotInput,
  options: CreateOptions = {},
): Promise<SnapshotRecord> {
  const session = await getSessionFor(context, permissionFor.changeSession, { sessionId: raw.sessionId });
  requirePermission(context.viewer, permissionFor.viewSession, session.organizationId);
  const { name, description = null } = parseInput(snapshotSchema, raw);
  const point = raw.point ?? null;
  const id = newId();
  const { organizationId } = session;
  const claim = { operation: 'createSnapshot', input: { ...raw, sessionId: session.id }, resultId: id };
  return context.store.transact(async (tx) => {
    const replay = await findReplay(context, tx, options, { scope: organizationId, ...claim });
    if (replay !== null) return lockSnapshot(tx, replay);
    await lockCheckpoints(tx, session.id);
    await requireRoom(tx, organizationId);
    await requireFreeName(tx, { id, organizationId, name });
    const checkpoint = await chooseCheckpoint(tx, session, point);
    const now = context.now();
    const snapshot: SnapshotRecord = {
      id,
      organizationId,
      name,
      description,
      checkpointId: checkpoint.id,
      sessionId: session.id,
      repositories: await readInheritedRepositories(tx, session.id),
      ...ownerOf(context.viewer),
      ...changedBy(context),
      createdAt: now,
      updatedAt: now,
    };
    await tx.prisma.snapshot.create({ data: toData('Snapshot', snapshot), select: { id: true } });
    const data = { session: prefixedId('session', session.id), checkpoint: prefixedId('checkpoint', checkpoint.id) };
    await auditSnapshot(context, tx, 'create_snapshot', snapshot, data);
    return snapshot;
  });
}

/** The changes of a snapshot: an omitted (or undefined) member does not change. null clears the description, and nothing else. */
export type SnapshotChange = {
  readonly [Name in keyof z.input<typeof snapshotSchema>]?: z.input<typeof snapshotSchema>[Name] | undefined;
};

/**
 * Changes the snapshot of an id in any form; writes nothing if nothing changes. The viewer must be its creator, or be allowed to change
 * the sessions of its organization. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT, NOT_UNIQUE at `name`, CONFLICT.
 */
export async function updateSnapshot(
  context: Context,
  id: string,
  raw: SnapshotChange & VersionCondition,
): Promise<SnapshotRecord> {
  const seen = await getSnapshotToChange(context, id);
  const change = parseInput(snapshotSchema.partial(), raw);
  return context.store.transact(async (tx) => {
    const before = await lockSnapshot(tx, seen.id);
    requireVersion(before, raw);
    const changed = changedValues(before, change);
    const names = Object.keys(changed);
    if (names.length === 0) return before;
    const after = { ...before, ...changed, ...changedBy(context, before) };
    if (changed.name !== undefined) await requireFreeName(tx, after);
    await tx.prisma.snapshot.update({
      where: { id: before.id },
      data: toData('Snapshot', { ...changed, ...changedBy(context, before) }),
      select: { id: true },
    });
    await auditSnapshot(context, tx, 'update_snapshot', after, { changed: names.join(' ') });
    return after;
  });
}

/**
 * Deletes a snapshot and returns it. Sessions that started from it keep their files. Its checkpoint is deleted later, unless the session
 * needs it. Permissions and errors as for {@link updateSnapshot}.
 */
export async function deleteSnapshot(
  context: Context,
  id: string,
  condition?: VersionCondition,
): Promise<SnapshotRecord> {
  const seen = await getSnapshotToChange(context, id);
  return context.store.transact(async (tx) => {
    const snapshot = await lockSnapshot(tx, seen.id);
    requireVersion(snapshot, condition);
    await tx.prisma.snapshot.delete({ where: { id: snapshot.id }, select: { id: true } });
    await auditSnapshot(context, tx, 'delete_snapshot', snapshot);
    return snapshot;
  });
}

/** Tells if the viewer may change and delete a snapshot that it can see. */
export function mayChangeSnapshot(context: Context, snapshot: SnapshotRecord): boolean {
  return hasPermission(context.viewer, permissionFor.changeSession, snapshot.organizationId, isOwn(context, snapshot));
}

async function getSnapshotToChange(context: Context, id: string): Promise<SnapshotRecord> {
  const bare = parseId('snapshot', id);
  const [snapshot = null] = bare === null ? [] : await findSnapshots(context, [bare]);
  if (snapshot && mayChangeSnapshot(context, snapshot)) return snapshot;
  // A viewer who may change no sessions of others learns nothing about the id.
  const { all, ids } = organizationsWith(context.viewer, permissionFor.changeSession);
  throw snapshot || !(all || ids.length > 0) ? missingPermission(permissionFor.changeSession) : notFound('snapshot');
}

async function lockSnapshot(tx: Transaction, id: string): Promise<SnapshotRecord> {
  const [snapshot] = await tx.query<SnapshotRecord>(
    `select ${snapshotColumns} from snapshot n where n.id = $1 for update`,
    [id],
  );
  if (!snapshot) throw notFound('snapshot');
  return snapshot;
}

async function requireRoom(tx: Transaction, organizationId: string): Promise<void> {
  await lockNames(tx, organizationId);
  if ((await tx.prisma.snapshot.count({ where: { organizationId } })) >= maxSnapshots) {
    throw refuse(['name'], `An organization has at most ${maxSnapshots} snapshots.`, 'LIMIT_EXCEEDED');
  }
}

// Serializes the creations and renames of an organization, since two at once would both pass the checks.
async function lockNames(tx: Transaction, organizationId: string): Promise<void> {
  const [organization] = await tx.query(
    'select id from organization where id = $1 and deleted_at is null for no key update',
    [organizationId],
  );
  if (!organization) throw notFound('organization');
}

async function requireFreeName(
  tx: Transaction,
  { id, organizationId, name }: Pick<SnapshotRecord, 'id' | 'organizationId' | 'name'>,
): Promise<void> {
  await lockNames(tx, organizationId);
  const taken = await tx.prisma.snapshot.count({ where: { organizationId, name, id: { not: id } } });
  if (taken === 0) return;
  throw refuse(['name'], `"name" is already in use by the snapshot ${JSON.stringify(name)}.`, 'NOT_UNIQUE');
}

function auditSnapshot(
  context: Context,
  tx: Transaction,
  action: 'create_snapshot' | 'update_snapshot' | 'delete_snapshot',
  { id: targetId, organizationId, name }: SnapshotRecord,
  more: Record<string, string> = {},
): Promise<void> {
  return audit(context, tx, action, { organizationId, targetId, data: { name, ...more } });
}
