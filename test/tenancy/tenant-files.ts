import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/domain/ids.ts';
import type { Transaction } from '../../src/store/store.ts';
import type { TestApp } from '../support/app.ts';
import { contentOf, writeLayer } from '../support/written-segments.ts';
import { seedCheckpointKey } from './checkpoints.ts';

interface FilesSeed {
  canary(word: string): string;
  readonly organizationId: string;
  readonly sessionId: string;
  readonly createdAt: Date;
}

/** Seeds the newest checkpoint of a session, with files that can be read. */
export async function seedFiles(
  { keyring, segments }: TestApp['app']['services'],
  tx: Transaction,
  { organizationId, sessionId, canary, createdAt }: FilesSeed,
): Promise<void> {
  const key = await seedCheckpointKey({ keyring }, tx, { organizationId, createdAt });
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
  const layer = writeLayer(directory, key, {
    entries: {
      workspace: null,
      [`workspace/${canary('file')}`]: Buffer.from(canary('text')),
      [`workspace/${canary('link')}`]: { target: canary('target') },
    },
  });
  for (const { id, path, bytes } of layer.segments) {
    await segments.put(id, path);
    await tx.prisma.checkpointSegment.create({
      data: { id, sessionId, organizationId, bytes: BigInt(bytes), state: 'STORED', createdAt },
    });
  }
  await rm(directory, { recursive: true, force: true });
  const id = newId();
  const missing = [{ path: `workspace/${canary('part')}`, reason: 'TOO_LARGE', bytes: 5, files: 1 }];
  const segmentIds = layer.segments.map((segment) => segment.id);
  await tx.prisma.checkpoint.create({
    data: {
      ...{ id, sessionId, organizationId, generation: 0, kind: 'WORK', turn: 1, seq: 1, missing, createdAt },
      ...{
        content: JSON.parse(JSON.stringify(contentOf([layer]))),
        segmentIds,
        agentSessionId: canary('agent-session'),
      },
      ...{ files: 2, bytes: 7n, storedBytes: 10n },
    },
  });
  await tx.prisma.run.update({ where: { sessionId }, data: { checkpointId: id } });
}
