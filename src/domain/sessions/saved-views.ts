import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { type OrganizationRecord, useOrganization } from '../identity/organizations/use-organization.ts';
import { parseInput, text } from '../input.ts';
import { lockPrincipal, principalIdOf, requirePrincipalId } from './personal-state.ts';
import { checkFilter, type SessionFilter } from './session-filter.ts';

/** Maximum number of views of a principal in an organization, and of characters of the filter of each, as JSON. */
const maxViews = 50;
const maxFilterLength = 10_000;

/** The limits of a view. */
export const savedViewSchema = z.object({ name: text('name', { min: 1, max: 100, isBlankRefused: true }) });

/** A filter of the session list that a user or service user named, in the form in which the API takes it. */
export interface SavedView {
  readonly name: string;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A view to save. `read`: reads the filter, to check it. Throws INVALID_INPUT. */
export interface SavedViewInput {
  readonly organizationId: string;
  readonly name: string;
  readonly filter?: unknown;
  readonly read: (filter: unknown) => SessionFilter;
}

/** A view with its organization. */
export interface ViewOfOrganization {
  readonly savedView: SavedView;
  readonly organization: OrganizationRecord;
}

const columns = 'v.name, v.filter, v.created_at as "createdAt", v.updated_at as "updatedAt"';

/**
 * Returns the viewer's views of organizations that it has read, oldest first, in the order of their unprefixed ids; none for a
 * service key. Throws FORBIDDEN without the permission to view the sessions of one.
 */
export async function findSavedViews(
  { store, viewer }: Context,
  organizationIds: readonly string[],
): Promise<(SavedView[] | null)[]> {
  for (const id of organizationIds) requirePermission(viewer, permissionFor.viewSession, id);
  const principalId = principalIdOf(viewer);
  if (principalId === null) return organizationIds.map(() => []);
  const rows = await store.query<SavedView & { readonly organizationId: string }>(
    `select v.organization_id as "organizationId", ${columns} from saved_view v
      where v.principal_id = $1 and v.organization_id = any($2::text[]) order by v.created_at, v.name limit $3::int`,
    [principalId, organizationIds, organizationIds.length * maxViews],
  );
  return organizationIds.map((id) =>
    rows.flatMap(({ organizationId, ...view }) => (organizationId === id ? [view] : [])),
  );
}

const save = `
  insert into saved_view as v (principal_id, organization_id, name, filter, created_at, updated_at)
  values ($1, $2, $3, $4::jsonb, $5::timestamptz, $5::timestamptz)
  on conflict (principal_id, organization_id, name) do update set filter = excluded.filter, updated_at = excluded.updated_at
  returning ${columns}`;

/**
 * Saves a filter under a name for the viewer, in place of its earlier filter of that name. Throws the errors of `useOrganization`, FORBIDDEN
 * for a service key, INVALID_INPUT, and LIMIT_EXCEEDED beyond 50 views.
 */
export async function setSavedView(context: Context, input: SavedViewInput): Promise<ViewOfOrganization> {
  const { name } = parseInput(savedViewSchema, { name: input.name });
  const organization = await useOrganization(context, input.organizationId, permissionFor.viewSession);
  const principalId = requirePrincipalId(context.viewer);
  const filter = JSON.stringify(input.filter ?? null);
  if (filter.length > maxFilterLength) {
    const message = `"filter" must have at most ${maxFilterLength} characters as JSON, but has ${filter.length}.`;
    throw refuse(['filter'], message);
  }
  checkFilter(context.viewer, input.read(input.filter));
  return context.store.transact(async (tx) => {
    await tx.query(lockPrincipal(context.viewer), [principalId]);
    const [others] = await tx.query<{ count: number }>(
      'select count(*)::int as count from saved_view where principal_id = $1 and organization_id = $2 and name <> $3',
      [principalId, organization.id, name],
    );
    if ((others?.count ?? 0) >= maxViews) {
      const message = `You can save at most ${maxViews} views in an organization: delete one first.`;
      throw refuse(['name'], message, 'LIMIT_EXCEEDED');
    }
    const [savedView] = await tx.query<SavedView>(save, [principalId, organization.id, name, filter, context.now()]);
    return { savedView: savedView as SavedView, organization };
  });
}

/** Deletes the viewer's view of a name, if there is one. Throws the errors of {@link setSavedView}. */
export async function deleteSavedView(
  context: Context,
  input: Pick<SavedViewInput, 'organizationId' | 'name'>,
): Promise<OrganizationRecord> {
  const { name } = parseInput(savedViewSchema, { name: input.name });
  const organization = await useOrganization(context, input.organizationId, permissionFor.viewSession);
  const principalId = requirePrincipalId(context.viewer);
  await context.store.execute('delete from saved_view where principal_id = $1 and organization_id = $2 and name = $3', [
    principalId,
    organization.id,
    name,
  ]);
  return organization;
}
