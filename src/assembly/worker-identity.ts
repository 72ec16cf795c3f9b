import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameFile, readFileIdentity } from '../store/file-identity.ts';

/** A worker's identity, which lives in its locked data directory. */
export interface WorkerIdentity {
  readonly id: string;
  /** True if this start found that the data directory is a copy. The original, which keeps its id, may be running. */
  readonly isCopy: boolean;
  /** Ids of the originals whose workspaces the directory has copies of. */
  readonly formerIds: readonly string[];
}

interface Record {
  readonly id: string;
  /** The {@link readFileIdentity} of the file with the id: a copied directory has the same record in another file. */
  readonly file: string | null;
  readonly formerIds: readonly string[];
}

const isId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{16}$/.test(text);

/**
 * Reads a worker's id, or creates one. A restarted worker recognizes its own leases and agents by it. A copied
 * directory gets a new id, because the leases and agents of the old one belong to the original.
 */
export async function readWorkerIdentity(dataDir: string): Promise<WorkerIdentity> {
  const path = join(dataDir, 'worker.id');
  const found = (await readFile(path, 'utf8').catch(() => '')).trim();
  const record = await readRecord(dataDir);
  if (!isId(found)) return makeIdentity(dataDir, false, record?.formerIds ?? []);
  const file = await readFileIdentity(path);
  const isKnown = record?.id === found && record.file !== null && file !== null;
  if (isKnown && !isSameFile(record.file, file)) return makeIdentity(dataDir, true, [...record.formerIds, found]);
  const formerIds = record?.formerIds ?? [];
  await writeRecord(dataDir, { id: found, file, formerIds });
  return { id: found, isCopy: false, formerIds };
}

/** Forgets the ids of the originals, once their workspaces are this worker's own. */
export async function forgetFormerIds(dataDir: string, id: string): Promise<void> {
  await writeRecord(dataDir, { id, file: await readFileIdentity(join(dataDir, 'worker.id')), formerIds: [] });
}

async function makeIdentity(dataDir: string, isCopy: boolean, formerIds: readonly string[]): Promise<WorkerIdentity> {
  const path = join(dataDir, 'worker.id');
  const id = randomBytes(8).toString('hex');
  await writeFile(path, `${id}\n`, { mode: 0o600 });
  await writeRecord(dataDir, { id, file: await readFileIdentity(path), formerIds });
  return { id, isCopy, formerIds };
}

async function readRecord(dataDir: string): Promise<Record | null> {
  try {
    const record = JSON.parse(await readFile(join(dataDir, 'worker.json'), 'utf8')) as Partial<Record>;
    const formerIds = Array.isArray(record.formerIds) ? record.formerIds.filter(isId) : [];
    return isId(record.id) ? { id: record.id, file: record.file ?? null, formerIds } : null;
  } catch {
    return null;
  }
}

async function writeRecord(dataDir: string, record: Record): Promise<void> {
  const path = join(dataDir, 'worker.json');
  await writeFile(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
