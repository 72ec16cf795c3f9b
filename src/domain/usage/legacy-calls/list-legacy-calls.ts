import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { inLivingOrganization } from '../../identity/organizations/scope.ts';
import type { LegacyRoute } from '../../legacy-usage.ts';
import type { CountedList } from '../../nested-pages.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';

/** The number of calls of a legacy route by a key, up to half a minute late. */
export interface LegacyCallRecord extends LegacyRoute {
  readonly apiKeyId: string;
  readonly count: number;
  readonly lastCalledAt: Date;
}

type Position = readonly [at: string, apiKeyId: string, version: string, route: string];

/**
 * Lists the enterprise's keys that still call legacy routes, with the routes, the latest call first. Throws FORBIDDEN;
 * the errors of pages.
 */
export async function listLegacyCalls(
  context: Context,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<LegacyCallRecord>> {
  const { window, values, bind, where, order } = startList(context, request, limits);
  const rows = await queryList<LegacyCallRecord>(
    context.store,
    `select ${columns} from ${calls} where ${where} order by ${order} limit ${bind(window.limit + 1)}`,
    values,
  );
  return toPage(rows, window, cursorOf);
}

/**
 * The same for the keys that act in each of these organizations, by unprefixed ids, in their order and in one
 * statement.
 */
export async function listLegacyCallsOfOrganizations(
  context: Context,
  organizationIds: readonly string[],
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<LegacyCallRecord>[]> {
  const { window, values, bind, where, order, direction } = startList(context, request, limits);
  const rows = await queryList<LegacyCallRecord & { organizationId: string }>(
    context.store,
    `select c.*, p.id as "organizationId" from unnest(${bind(organizationIds)}::text[]) p(id) cross join lateral (
       select ${columns} from ${calls} where k.organization_id = p.id and ${where}
        order by ${order} limit ${bind(window.limit + 1)}) c
      order by c."lastCalledAt" ${direction}, c."apiKeyId" ${direction}, c.version ${direction}, c.route ${direction}`,
    values,
  );
  return organizationIds.map((id) => {
    const own = rows.filter(({ organizationId }) => organizationId === id);
    return toPage<Position, LegacyCallRecord>(own, window, cursorOf);
  });
}

/**
 * Returns the calls of the enterprise, or of the keys that act in an organization, by its unprefixed id, as a list to
 * count. Throws FORBIDDEN.
 */
export function legacyCallsOf({ viewer }: Context, organizationId: string | null): CountedList {
  requireEnterprisePermission(viewer, permissionFor.viewLegacyCalls);
  const ofKey = [
    'k.id = l.api_key_id',
    inLivingOrganization('k'),
    ...(organizationId === null ? [] : ['k.organization_id = owner.id']),
  ];
  return {
    key: `legacy calls ${organizationId === null}`,
    ownerId: organizationId ?? viewer.enterpriseId,
    row: 'l',
    table: 'legacy_call',
    owners: () => '',
    where: (bind) => [
      `l.enterprise_id = ${bind(viewer.enterpriseId)}`,
      `exists (select 1 from api_key k where ${ofKey.join(' and ')})`,
    ],
  };
}

const columns = `l.api_key_id as "apiKeyId", l.version, l.route, l.count, l.last_called_at as "lastCalledAt"`;
const calls = 'legacy_call l join api_key k on k.id = l.api_key_id';
const cursorOf = (call: LegacyCallRecord) =>
  writeCursor('legacyCalls', call.lastCalledAt.getTime(), call.apiKeyId, call.version, call.route);

function startList(context: Context, request: PageRequest, limits: PageLimits) {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewLegacyCalls);
  const window = pageWindow(request, limits, readPosition);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [`l.enterprise_id = ${bind(viewer.enterpriseId)}`, inLivingOrganization('k')];
  const beyond = (sign: string, [at, ...rest]: Position) =>
    where.push(
      `(l.last_called_at, l.api_key_id, l.version, l.route) ${sign}
       (${bind(new Date(Number(at)))}::timestamptz, ${rest.map((part) => `${bind(part)}::text`).join(', ')})`,
    );
  if (window.after) beyond('<', window.after);
  if (window.before) beyond('>', window.before);
  const direction = window.backward ? 'asc' : 'desc';
  const order = ['last_called_at', 'api_key_id', 'version', 'route'].map((name) => `l.${name} ${direction}`).join();
  return { window, values, bind, where: where.join(' and '), order, direction };
}

function readPosition(text: string): Position | null {
  const parts = readCursor('legacyCalls', 4, text);
  if (!parts || parts.some((part) => part.includes('\u0000'))) return null;
  // Up to the year 9999: PostgreSQL cannot read later years as text.
  const isTime = /^\d{1,15}$/.test(parts[0] ?? '') && Number(parts[0]) < 253_402_300_800_000;
  return isTime ? (parts as unknown as Position) : null;
}
