import { refuse } from '../../../common/errors.ts';
import type { Context } from '../../../domain/context.ts';
import { onlyOrganizationId } from '../../../domain/identity/organizations/use-organization.ts';
import type { Dialect } from '../dialect.ts';
import { earlierDialect } from '../earlier-dialect.ts';

/** ISO 8601 in UTC with milliseconds. */
export const time = (at: Date): string => at.toISOString();

/** The maximum and the default of `limit`. */
export const page = { max: 1_000, default: 100 } as const;

/** Version 1: `{detail}`, ISO times, limit and offset, keys that act in one organization. */
export const dialect: Dialect = {
  ...earlierDialect('v1'),
  title: 'Switchyard, version 1',
  description: 'Sessions of the organization that the key belongs to. Legacy: version 3 is the current one.',
  wireNames: { first: 'limit', isUnlisted: 'unlisted', trigger: 'trigger_description', folderId: 'parent_folder_id' },
};

/** The organization that the key acts in: the paths of v1 name none. INVALID_INPUT for a key that has several or none. */
export async function organizationOf(context: Context): Promise<string> {
  const id = await onlyOrganizationId(context);
  if (id === null)
    throw refuse(['organizationId'], 'This key belongs to no single organization. v1 needs a key of an organization.');
  return id;
}
