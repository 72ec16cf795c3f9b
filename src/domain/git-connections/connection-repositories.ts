import { DomainError } from '../../common/errors.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { ForgeRepository } from '../../forges/interface/forge.ts';
import type { Context } from '../context.ts';
import { badCursor, type PageLimits, pageWindow, readCursor, writeCursor } from '../pages.ts';
import { requestForge } from './check-connection.ts';
import { type GitConnectionRecord, requireSeesConnections } from './git-connections.ts';
import { openConnection } from './open-connection.ts';

/** A page of the repositories that a forge lists. */
export interface ForgeRepositories {
  readonly repositories: readonly ForgeRepository[];
  /** The cursor of the next page; null at the end. */
  readonly endCursor: string | null;
}

/** The request of a page. */
export interface ForgeRepositoryRequest {
  readonly search?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const unavailable = (error: ForgeError) =>
  Object.assign(new DomainError('INVALID_STATE', error.message), { cause: error });

/** Time for which a page is kept, in ms. */
const keptMs = 60_000;
const maxKept = 500;
const kept = new Map<string, { readonly until: number; readonly page: Promise<ForgeRepositories> }>();

/**
 * Lists the repositories that the forge shows to a connection, and keeps a page for 60 seconds in this process. Throws
 * FORBIDDEN, INVALID_INPUT, BAD_CURSOR, RATE_LIMITED; INVALID_STATE with the reason if the forge does not answer.
 */
export async function listForgeRepositories(
  context: Context,
  connection: GitConnectionRecord,
  { search, first, after }: ForgeRepositoryRequest,
  limits: PageLimits,
): Promise<ForgeRepositories> {
  requireSeesConnections(context.viewer);
  const list = `forge ${connection.id}`;
  const window = pageWindow({ first, after }, limits, (text) => readCursor(list, 1, text));
  const [cursor] = window.after ?? [];
  const now = context.now().getTime();
  const key = JSON.stringify([connection.id, connection.version, search ?? '', window.limit, cursor ?? '']);
  const found = kept.get(key);
  if (found && found.until > now) return found.page;
  const page = requestForge(context, async () => {
    try {
      const forge = await openConnection(context, connection.id);
      const query = { ...(search ? { search: search.slice(0, 200) } : {}), ...(cursor !== undefined && { cursor }) };
      const { repositories, next } = await forge.listRepositories({ ...query, limit: window.limit });
      return { repositories, endCursor: next === null ? null : writeCursor(list, next) };
    } catch (error) {
      if (!isForgeError(error)) throw error;
      if (cursor !== undefined && error.code === 'REJECTED') throw badCursor('after', after ?? '');
      throw unavailable(error);
    }
  });
  kept.delete(key);
  kept.set(key, { until: now + keptMs, page });
  page.catch(() => kept.delete(key));
  const [oldest] = kept.size > maxKept ? kept.keys() : [];
  if (oldest !== undefined) kept.delete(oldest);
  return page;
}
