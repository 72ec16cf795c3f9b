import type { Workspaces } from '../../../agents/sandbox/workspaces.ts';
import type { Services } from '../../context.ts';
import { isSessionHeld } from '../../legal-holds/held.ts';

/** A workspace and home. */
export interface ListedWorkspace {
  readonly sessionId: string;
  /** Space on the disk, without files that cannot be read. */
  readonly bytes: number;
  /** Null: the database does not know the session. */
  readonly status: string | null;
  /** Terminated, expired, archived, or of a deleted organization. */
  readonly isOver: boolean;
  /** A legal hold covers the session. */
  readonly isHeld: boolean;
}

/** Lists the workspaces of a storage, the largest first. */
export async function listWorkspaces(
  { store }: Pick<Services, 'store'>,
  workspaces: Workspaces,
): Promise<ListedWorkspace[]> {
  const ids: string[] = [];
  for await (const id of workspaces.ids()) ids.push(id);
  const rows = await store.query<{ id: string; status: string; isOver: boolean; isHeld: boolean }>(
    `select s.id, s.status, coalesce(s.ended_by in ('terminated', 'expired'), false) or s.is_archived
            or o.deleted_at is not null as "isOver", ${isSessionHeld} as "isHeld"
       from session s join organization o on o.id = s.organization_id where s.id = any($1::text[])`,
    [ids],
  );
  const sessions = new Map(rows.map((row) => [row.id, row]));
  const found: ListedWorkspace[] = [];
  for (const sessionId of ids) {
    const { status = null, isOver = false, isHeld = false } = sessions.get(sessionId) ?? {};
    found.push({ sessionId, bytes: await workspaces.sizeOf(sessionId), status, isOver, isHeld });
  }
  return found.sort((a, b) => b.bytes - a.bytes);
}
