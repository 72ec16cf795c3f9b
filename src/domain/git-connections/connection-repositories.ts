import { permissionFor } from '../../auth/permissions.ts';
import { DomainError } from '../../common/errors.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { ForgeRepository } from '../../forges/interface/forge.ts';
import type { Context } from '../context.ts';
import { type OrganizationRecord, useOrganization } from '../identity/organizations/use-organization.ts';
import { badCursor, type PageLimits, pageWindow, readCursor, writeCursor } from '../pages.ts';
import { findUsablePaths } from '../repositories/resolve-repositories.ts';
import { requestForge } from './check-connection.ts';
import { type GitConnectionRecord, requireSeesConnections } from './git-connections.ts';
import { keepAnswers } from './kept-answers.ts';
import { openConnection } from './open-connection.ts';

/** A page of the repositories that a forge lists. */
export interface ForgeRepositories {
  readonly repositories: readonly ForgeRepository[];
  /** The cursor of the next page; null at the end. */
  readonly endCursor: string | null;
}

/** The request of a page. */
export interface ForgeRepositoryRequest {
  /** In any form. Only repositories that this organization may use; all if missing. */
  readonly organizationId?: string | null | undefined;
  readonly search?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const unavailable = (error: ForgeError) =>
  Object.assign(new DomainError('INVALID_STATE', error.message), { cause: error });

const kept = keepAnswers<ForgeRepositories>();

/**
 * Lists the repositories that the forge shows to a connection, and keeps a page for 60 seconds in this process. Throws
 * FORBIDDEN, NOT_FOUND, INVALID_INPUT, BAD_CURSOR, RATE_LIMITED; INVALID_STATE with the reason if the forge does not answer.
 */
export async function listForgeRepositories(
  context: Context,
  connection: GitConnectionRecord,
  { organizationId, ...request }: ForgeRepositoryRequest,
  limits: PageLimits,
): Promise<ForgeRepositories> {
  requireSeesConnections(context.viewer);
  if (organizationId == null) return readPage(context, connection, request, limits);
  const { id } = await useOnce(context, organizationId);
  const page = await readPage(context, connection, request, limits);
  const paths = page.repositories.map(({ path }) => path);
  const usable = await findUsablePaths(context.store, id, connection.hostKey, paths);
  return { ...page, repositories: page.repositories.filter(({ path }) => usable.has(path)) };
}

const used = new WeakMap<Context, Map<string, Promise<OrganizationRecord>>>();

// Once for all connections of a request, which then fail in their order.
function useOnce(context: Context, organizationId: string): Promise<OrganizationRecord> {
  const known = used.get(context) ?? new Map<string, Promise<OrganizationRecord>>();
  used.set(context, known);
  const organization =
    known.get(organizationId) ?? useOrganization(context, organizationId, permissionFor.viewRepositories);
  known.set(organizationId, organization);
  return organization;
}

async function readPage(
  context: Context,
  connection: GitConnectionRecord,
  { search, first, after }: Omit<ForgeRepositoryRequest, 'organizationId'>,
  limits: PageLimits,
): Promise<ForgeRepositories> {
  const list = `forge ${connection.id}`;
  const window = pageWindow({ first, after }, limits, (text) => readCursor(list, 1, text));
  const [cursor] = window.after ?? [];
  const key = JSON.stringify([connection.id, connection.version, search ?? '', window.limit, cursor ?? '']);
  const read = async () => {
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
  };
  return kept.find(context, key, () => requestForge(context, read));
}
