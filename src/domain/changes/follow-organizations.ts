import type { OrganizationPermission } from '../../auth/permissions.ts';
import { hasPermission, organizationsWith, requireAnyPermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { enterOrganization } from '../identity/organizations/use-organization.ts';
import type { ChangeScope } from './change-source.ts';
import type { WatchEntitiesRequest } from './watch-entities.ts';

/** The organizations whose objects are followed. */
interface Organizations {
  /** In any form; null: all in which the viewer has a permission. */
  readonly organizationId: string | null;
  /** Unprefixed ids of the only organizations that count; if omitted: all. */
  readonly among?: readonly string[] | undefined;
  /** The viewer needs at least one of them in each organization. */
  readonly anyOf: readonly [OrganizationPermission, ...OrganizationPermission[]];
}

/**
 * Returns the organizations of a {@link WatchEntitiesRequest}, for objects that only organizations have. Throws
 * ORGANIZATION_NOT_USABLE, NOT_FOUND, FORBIDDEN.
 */
export async function followOrganizations(
  context: Context,
  { organizationId, among, anyOf }: Organizations,
): Promise<Pick<WatchEntitiesRequest<unknown>, 'scopeNow' | 'mayView' | 'isOver'>> {
  const only = organizationId === null ? null : (await enterOrganization(context, organizationId)).id;
  requireAnyPermission(context.viewer, anyOf, only ?? undefined);
  const hasPermissionIn = (id: string) => anyOf.some((permission) => hasPermission(context.viewer, permission, id));
  return {
    scopeNow(): ChangeScope {
      const { enterpriseId, all, ids } = organizationsWith(context.viewer, ...anyOf);
      const named = only === null ? among : [only];
      return {
        enterpriseId,
        ids: named === undefined ? (all ? null : ids) : named.filter((id) => all || ids.includes(id)),
      };
    },
    mayView: ({ scopeId }) => hasPermissionIn(scopeId),
    isOver(exists) {
      if (only !== null) return !exists(only) || !hasPermissionIn(only);
      const { all, ids } = organizationsWith(context.viewer, ...anyOf);
      return !all && ids.length === 0;
    },
  };
}
