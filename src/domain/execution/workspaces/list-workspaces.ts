import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Services } from '../../context.ts';
import { isSessionDirectory, sessionsIn } from './session-directories.ts';

/** A workspace and home in a data directory. */
export interface ListedWorkspace {
  readonly sessionId: string;
  /** Space on the disk, without files that cannot be read. */
  readonly bytes: number;
  /** Null: the database does not know the session. */
  readonly status: string | null;
  /** Terminated, expired, archived, or of a deleted organization. */
  readonly isOver: boolean;
}

/** Lists the workspaces in a data directory, the largest first. */
export async function listWorkspaces({ store }: Pick<Services, 'store'>, dataDir: string): Promise<ListedWorkspace[]> {
  const root = sessionsIn(dataDir);
  const ids = (await readdir(root).catch(() => [])).filter(isSessionDirectory);
  const rows = await store.query<{ id: string; status: string; isOver: boolean }>(
    `select s.id, s.status, coalesce(s.ended_by in ('terminated', 'expired'), false) or s.is_archived
            or o.deleted_at is not null as "isOver"
       from session s join organization o on o.id = s.organization_id where s.id = any($1::text[])`,
    [ids],
  );
  const sessions = new Map(rows.map((row) => [row.id, row]));
  const found: ListedWorkspace[] = [];
  for (const sessionId of ids) {
    const { status = null, isOver = false } = sessions.get(sessionId) ?? {};
    found.push({ sessionId, bytes: await sizeOf(join(root, sessionId)), status, isOver });
  }
  return found.sort((a, b) => b.bytes - a.bytes);
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  const open = [directory];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) open.push(inner);
      bytes += (await lstat(inner).catch(() => null))?.blocks ?? 0;
    }
  }
  // A block of lstat has 512 bytes on every system.
  return bytes * 512;
}
