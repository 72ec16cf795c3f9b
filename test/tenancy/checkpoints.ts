import { randomBytes } from 'node:crypto';
import { newId } from '../../src/domain/ids.ts';
import type { Transaction } from '../../src/store/store.ts';
import type { TestApp } from '../support/app.ts';
import { contentOf, newSegmentId } from '../support/checkpoints.ts';

/** The session that the seeded rows belong to. */
interface SeededSession {
  readonly organizationId: string;
  readonly sessionId: string;
  readonly createdAt: Date;
  canary(word: string): string;
}

/** Seeds a checkpoint of a session with its segment and the key of its organization, and returns its id. */
export async function seedCheckpoint(
  services: Pick<TestApp['app']['services'], 'keyring'>,
  tx: Transaction,
  { organizationId, sessionId, createdAt, canary }: SeededSession,
): Promise<string> {
  const [id, segmentId] = [newId(), newSegmentId()];
  await seedCheckpointKey(services, tx, { organizationId, createdAt });
  await tx.prisma.checkpointSegment.create({
    data: { id: segmentId, sessionId, organizationId, bytes: 10n, state: 'STORED', createdAt },
  });
  const missing = [{ path: `workspace/${canary('part')}`, reason: 'TOO_LARGE', bytes: 5, files: 1 }];
  await tx.prisma.checkpoint.create({
    data: {
      ...{ id, sessionId, organizationId, generation: 0, kind: 'TURN_END', turn: 1, seq: 1, missing, createdAt },
      ...{
        agentSessionId: canary('agent-session'),
        content: JSON.parse(JSON.stringify(contentOf(segmentId))),
        segmentIds: [segmentId],
      },
      ...{ files: 2, bytes: 7n, storedBytes: 10n },
    },
  });
  return id;
}

/** Seeds the key of an organization's checkpoints, unless it has one, and returns it. */
export async function seedCheckpointKey(
  { keyring }: Pick<TestApp['app']['services'], 'keyring'>,
  tx: Transaction,
  { organizationId, createdAt }: Pick<SeededSession, 'organizationId' | 'createdAt'>,
): Promise<Buffer> {
  const bound = `${organizationId}:checkpoints`;
  const stored = await tx.prisma.checkpointKey.findUnique({ where: { organizationId } });
  const sealed = stored?.sealed ?? keyring.seal(randomBytes(32).toString('base64'), bound);
  if (!stored) await tx.prisma.checkpointKey.create({ data: { organizationId, sealed, createdAt } });
  return Buffer.from(keyring.open(sealed, bound), 'base64');
}

/** Seeds a snapshot of a session's checkpoint. */
export async function seedSnapshot(
  tx: Transaction,
  session: SeededSession & { readonly checkpointId: string; readonly userId: string | null },
): Promise<void> {
  const { organizationId, sessionId, checkpointId, userId, createdAt, canary } = session;
  const id = newId();
  await tx.prisma.snapshot.create({
    data: {
      // Sessions of a tenant have the same words.
      ...{ id, organizationId, name: `${canary('base')}-${id}`, description: canary('description') },
      ...{ checkpointId, sessionId, userId, createdAt, updatedAt: createdAt },
    },
  });
}
