import type { Services } from '../../../domain/context.ts';
import { createVersionApi, type VersionApi } from '../version-api.ts';
import { dialect } from './dialect.ts';
import { serveDiscovery } from './discovery.ts';
import { serveGroups } from './groups.ts';
import { serveSearch } from './search.ts';
import { serveUsers } from './users.ts';

/** Creates `/scim/v2`, by which a directory provisions users and groups (docs/scim.md). */
export function createScim(services: Services): Pick<VersionApi, 'respond'> {
  const api = createVersionApi(dialect, services);
  serveDiscovery(api);
  serveUsers(api);
  serveGroups(api);
  serveSearch(api);
  return api;
}
