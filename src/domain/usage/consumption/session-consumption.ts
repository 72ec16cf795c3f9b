import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { inLivingOrganization } from '../../identity/organizations/scope.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';
import type { PullRequest } from '../../sessions/session.ts';
import { type PeriodInput, periodOf } from './cycles.ts';

/** The consumption of one session in a period, with the details for a bill. */
export interface SessionConsumption {
  readonly sessionId: string;
  readonly acus: number;
  /** Null: the session was deleted when its retention ended. */
  readonly title: string | null;
  readonly createdAt: Date;
  readonly pullRequests: readonly PullRequest[];
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  /** The name of the user or the service user; null for a service key. */
  readonly creatorName: string | null;
  readonly creatorEmail: string | null;
}

const list = 'sessionConsumption';

function readSessionCursor(text: string): string | null {
  const [id] = readCursor(list, 1, text) ?? [];
  return id !== undefined && /^[0-9a-f]{32}$/.test(id) ? id : null;
}

/**
 * Lists the enterprise's sessions with consumption in a period, the newest session first (their ids are ordered by
 * time). Throws FORBIDDEN without ViewAccountConsumption, and the errors of `periodOf` and `pageWindow`.
 */
export async function listSessionConsumption(
  context: Context,
  request: PageRequest & PeriodInput,
  limits: PageLimits,
): Promise<Page<SessionConsumption>> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseConsumption);
  const { startsAt, endsAt } = periodOf(context, request);
  const window = pageWindow(request, limits, readSessionCursor);
  const values: unknown[] = [viewer.enterpriseId, startsAt, endsAt, window.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['u.enterprise_id = $1', 'u.used_at >= $2::timestamptz', 'u.used_at < $3::timestamptz'];
  if (window.after) where.push(`u.session_id < ${bind(window.after)}`);
  if (window.before) where.push(`u.session_id > ${bind(window.before)}`);
  const direction = window.backward ? 'asc' : 'desc';
  const rows = await queryList<SessionConsumption>(
    context.store,
    `with used as (
       select u.session_id, sum(u.acus::numeric)::float8 as acus from usage u
        where ${where.join(' and ')} and ${inLivingOrganization('u')}
        group by u.session_id order by u.session_id ${direction} limit $4)
     select used.session_id as "sessionId", used.acus, s.title, coalesce(s.created_at, d.created_at) as "createdAt",
            coalesce(s.pull_requests, '[]') as "pullRequests", o.id as "organizationId", o.name as "organizationName",
            coalesce(s.user_id, d.user_id) as "userId", coalesce(s.service_user_id, d.service_user_id) as "serviceUserId",
            coalesce(a.name, b.name, a.email) as "creatorName", a.email as "creatorEmail"
       from used left join session s on s.id = used.session_id left join deleted_session d on d.session_id = used.session_id
       join organization o on o.id = coalesce(s.organization_id, d.organization_id)
       left join user_account a on a.id = coalesce(s.user_id, d.user_id)
       left join service_user b on b.id = coalesce(s.service_user_id, d.service_user_id)
      order by used.session_id ${direction}`,
    values,
  );
  return toPage(rows, window, ({ sessionId }) => writeCursor(list, sessionId));
}
