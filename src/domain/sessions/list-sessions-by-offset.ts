import { createHash } from 'node:crypto';
import { permissionFor } from '../../auth/permissions.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { canonicalJson } from '../idempotency.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { type PageLimits, pageWindow } from '../pages.ts';
import { findOrBeginWalk, type OffsetWalk, type WalkedList } from './offset-walks.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { checkFilter, filterConditions, type SessionFilter } from './session-filter.ts';
import { taggedSessions } from './tagged-sessions.ts';

/** A page for wires that have no cursors. */
export interface OffsetListRequest {
  readonly organizationId: string;
  readonly filter: SessionFilter;
  readonly first?: number | undefined;
  readonly offset?: number | undefined;
}

/**
 * Sessions of an organization, newest first, by offset. The pages of one walk meet whatever the order in which they are
 * asked for, also in parallel and while sessions are being made: offsets count from where the walk began (offset-walks.ts).
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export async function listSessionsByOffset(
  context: Context,
  request: OffsetListRequest,
  limits: PageLimits,
): Promise<readonly SessionRecord[]> {
  const { id: organizationId } = await useOrganization(context, request.organizationId, permissionFor.viewSession);
  const { filter, first, offset = 0 } = request;
  checkFilter(filter);
  const { limit } = pageWindow({ first }, limits, () => null);
  if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
  const list = walkedList(context, organizationId, filter);
  if (offset === 0) {
    // A list of one page needs no walk.
    const rows = await readRows(context, list, { limit: limit + 1 });
    if (rows.length <= limit) return rows;
  }
  return readPage(context, list, await findOrBeginWalk(context, list, offset), offset, limit);
}

function walkedList(context: Context, organizationId: string, filter: SessionFilter): WalkedList {
  const { viewer } = context;
  const of = [viewer.apiKeyId ?? viewer.principal.id, organizationId, filter];
  return {
    key: createHash('sha256').update(canonicalJson(of)).digest('hex'),
    organizationId,
    conditions: (bind) => [
      `s.organization_id = ${bind(organizationId)}`,
      ...filterConditions(filter, viewer.enterpriseId, bind),
    ],
    through: taggedSessions(filter, viewer.enterpriseId, (bind) => bind(organizationId)),
  };
}

// The head is counted from its old end, so that what comes at the new end moves nothing.
async function readPage(
  context: Context,
  list: WalkedList,
  walk: OffsetWalk,
  offset: number,
  limit: number,
): Promise<SessionRecord[]> {
  const fromHead = Math.max(0, Math.min(offset + limit, walk.headCount) - offset);
  const head =
    fromHead === 0
      ? []
      : await readRows(context, list, {
          newerThan: walk,
          offset: Math.max(0, walk.headCount - offset - limit),
          limit: fromHead,
        });
  if (walk.settledAt === null || fromHead === limit) return head.reverse();
  const rest = await readRows(context, list, {
    upTo: walk,
    offset: Math.max(0, offset - walk.headCount),
    limit: limit - fromHead,
  });
  return [...head.reverse(), ...rest];
}

interface Part {
  /** Oldest first, those above the settled one; all when there is none. */
  readonly newerThan?: OffsetWalk;
  /** Newest first, from the settled one. */
  readonly upTo?: OffsetWalk;
  readonly offset?: number;
  readonly limit: number;
}

function readRows(context: Context, list: WalkedList, { newerThan, upTo, offset = 0, limit }: Part) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const through = list.through?.(bind);
  const where = [...(through?.where ?? list.conditions(bind))];
  const { at, id } = through?.place ?? { at: 's.created_at', id: 's.id' };
  const edge = newerThan ?? upTo;
  if (edge?.settledAt) {
    const sign = newerThan ? '>' : '<=';
    where.push(`(${at}, ${id}) ${sign} (${bind(edge.settledAt)}::timestamptz, ${bind(edge.settledId)}::text)`);
  }
  const direction = newerThan ? 'asc' : 'desc';
  return context.store.query<SessionRecord>(
    `select ${sessionColumns} from ${through?.from ?? 'session s'} where ${where.join(' and ')}
      order by ${at} ${direction}, ${id} ${direction} limit ${bind(limit)} offset ${bind(offset)}`,
    values,
  );
}
