import { permissionFor } from '../../auth/permissions.ts';
import { holds } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import type { OrganizationWatches } from './organization-watches.ts';
import { pull } from './pull.ts';
import type { SessionRecord } from './session.ts';
import { matcherOf } from './session-conditions.ts';
import { checkFilter, type SessionFilter } from './session-filter.ts';

/**
 * The sessions of an organization as they are made and as they change from now on, those that the filter holds for then;
 * changes close together come as one. Each change is delivered at least once, whatever rings are lost, and a slow
 * subscriber gets the latest of what it missed. Ends on `return()`, when the organization is deleted, or when the viewer
 * may no longer see its sessions. ORGANIZATION_NOT_USABLE, NOT_FOUND, FORBIDDEN, INVALID_INPUT before the first one.
 */
export async function watchOrganization(
  context: Context,
  watches: OrganizationWatches,
  organizationId: string,
  filter: SessionFilter,
): Promise<AsyncIterableIterator<SessionRecord>> {
  const organization = await useOrganization(context, organizationId, permissionFor.viewSession);
  checkFilter(context.viewer, filter);
  let place = await watches.placeNow(organization.id);
  const listen = (listener: () => void) => watches.listen(organization.id, listener);
  return pull(listen, async () => {
    const changes = await watches.read(organization, place, checkFilter(context.viewer, filter));
    // After the read: permission that was lost before a change must stop that change.
    await context.liveViewers.settled();
    if (!holds(context.viewer, permissionFor.viewSession, organization.id)) return null;
    if (changes === null) return null;
    place = changes.place;
    const now = checkFilter(context.viewer, filter);
    const items = now.unlisted === undefined ? changes.sessions : changes.sessions.filter(matcherOf(now));
    return { items, more: changes.more };
  });
}
