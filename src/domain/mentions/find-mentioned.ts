import type { Services } from '../context.ts';
import { readMentionSettings } from '../repositories/mention-settings.ts';
import {
  coversPath,
  needsNoPermission,
  resolveRepositories,
  type UsableRepository,
} from '../repositories/resolve-repositories.ts';
import type { ClaimedMention } from './claim-mentions.ts';

/** The organization that a mention reaches, and its repository. */
export interface Mentioned {
  /** Unprefixed. */
  readonly organizationId: string;
  readonly repository: UsableRepository;
}

/**
 * The reasons why a mention reaches no organization. `none`: no organization may use the repository. `chosen`: that of the settings
 * may not. `several`: several may, and the settings choose none. `read_only`: the organization may not write to the repository.
 */
export type MentionRefusal = 'none' | 'chosen' | 'several' | 'read_only';

// Two are enough to know that there are several.
const users = `
  select distinct o.id from organization o
    join git_connection con on con.enterprise_id = o.enterprise_id and con.host_key = $2 and con.deleted_at is null
    left join git_permission p on p.organization_id = o.id and p.git_connection_id = con.id and ${coversPath('p', '$3')}
   where o.enterprise_id = $1 and o.deleted_at is null and ($4::text is null or o.id = $4)
     and (p.id is not null or ${needsNoPermission('o', 'con')})
   limit 2`;

/**
 * Returns the organization that a mention reaches: the one that the settings of the repository choose, or else the only one that
 * may use the repository. Otherwise the reason why it reaches none. Null: mentions are switched off.
 */
export async function findMentioned(
  services: Services,
  { enterpriseId, host, path, pathKey }: ClaimedMention,
): Promise<Mentioned | MentionRefusal | null> {
  return services.store.transact(async (tx) => {
    const [row] = await tx.query<{ settings: unknown }>(
      'select r.settings from repository r where r.enterprise_id = $1 and r.host = $2 and r.path_key = $3',
      [enterpriseId, host, pathKey],
    );
    const { isMentionAnswered, mentionOrganizationId } = readMentionSettings(row?.settings);
    if (!isMentionAnswered) return null;
    const found = await tx.query<{ id: string }>(users, [enterpriseId, host, pathKey, mentionOrganizationId]);
    const [only, ...others] = found;
    if (!only) return mentionOrganizationId === null ? 'none' : 'chosen';
    if (others.length > 0) return 'several';
    const [repository] = await resolveRepositories(services, tx, only.id, [`https://${host}/${path}`]);
    if (!repository) return 'none';
    return repository.isReadOnly ? 'read_only' : { organizationId: only.id, repository };
  });
}
