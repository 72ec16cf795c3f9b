import type { MissingPart } from '../../../checkpoints/driver.ts';
import { notFound } from '../../../common/errors.ts';
import {
  badCursor,
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';
import type { OpenedWorkspace } from './open-workspace.ts';
import type { WorkspaceEntry } from './workspace-tree.ts';

const listName = 'workspaceFiles';

/** A file of a page: its checkpoint is that of the list. */
export interface WorkspaceFileRecord extends WorkspaceEntry {
  readonly workspace: OpenedWorkspace;
}

/** A file of a list, with its number in it. */
interface ListedFile extends WorkspaceFileRecord {
  readonly number: number;
}

/** A page of a directory, and the number of entries in all of it. */
export interface WorkspaceFilePage {
  readonly page: Page<ListedFile>;
  readonly total: number;
}

/** Returns the parts of a directory that its checkpoint lacks; none for another entry. */
export function missingIn({ workspace, path, type }: WorkspaceFileRecord): MissingPart[] {
  if (type !== 'DIRECTORY') return [];
  return workspace.missing.filter((part) => path === '' || part.path.startsWith(`${path}/`));
}

/**
 * Returns the checkpoint of a page's cursor: the pages of a list are of one checkpoint. Null without a cursor. Throws BAD_CURSOR for
 * the cursor of another list.
 */
export function checkpointOfCursor({ after, before }: PageRequest): string | null {
  const cursor = after ?? before;
  if (cursor == null) return null;
  const [id = ''] = cursor.length <= 500 ? (readCursor(listName, 2, cursor) ?? []) : [];
  if (!/^[0-9a-f]{32}$/.test(id)) throw badCursor(after == null ? 'before' : 'after', cursor);
  return id;
}

/**
 * Returns a page of a directory: directories first, then by name. `workspace` null: there is none. Throws NOT_FOUND if it is no directory
 * of the workspace, and the errors of {@link pageWindow}.
 */
export function listWorkspaceFiles(
  workspace: OpenedWorkspace | null,
  names: readonly string[],
  request: PageRequest,
  limits: PageLimits,
): WorkspaceFilePage {
  const checkpointId = workspace?.checkpointId ?? '';
  const window = pageWindow(request, limits, (text) => readNumber(checkpointId, text));
  const all = workspace ? workspace.tree.list(names) : [];
  if (all === null) throw notFound('directory');
  const { after, before, limit, backward } = window;
  const from = after === null ? 0 : after + 1;
  const to = Math.min(all.length, before ?? all.length);
  const [first, last] = backward ? [Math.max(from, to - limit - 1), to] : [from, Math.min(to, from + limit + 1)];
  const rows = all
    .slice(first, Math.max(first, last))
    .map((entry, n) => ({ ...entry, workspace: workspace as OpenedWorkspace, number: first + n }));
  if (backward) rows.reverse();
  return { page: toPage(rows, window, ({ number }) => writeCursor(listName, checkpointId, number)), total: all.length };
}

function readNumber(checkpointId: string, cursor: string): number | null {
  const [id, number = ''] = readCursor(listName, 2, cursor) ?? [];
  return id === checkpointId && /^\d{1,7}$/.test(number) ? Number(number) : null;
}
