import { refuse } from '../../domain/errors.ts';
import { parseId } from '../../domain/ids.ts';
import type { Count } from '../../domain/nested-pages.ts';
import { countEnterpriseSessions, listEnterpriseSessions } from '../../domain/sessions/list-sessions.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { Enterprise } from './enterprise-ref.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
import { Session, SessionConnection } from './sessions.ts';

// The domain has the same limit, under the name that REST gives it.
const mostOrganizations = 100;

builder.objectField(Enterprise, 'sessions', (t) =>
  t.connection(
    {
      type: Session,
      description:
        'The sessions of all its organizations, newest first; archived ones too, unless filtered. Needs VIEW_ACCOUNT_SESSIONS.',
      args: {
        filter: t.arg({ type: SessionFilterInput, description: 'Which ones.' }),
        organizationIds: t.arg.idList({ description: 'Only sessions of these organizations, at most 100.' }),
      },
      resolve: async (_enterprise, { filter, organizationIds, ...page }, { domain }) => {
        if (organizationIds && organizationIds.length > mostOrganizations) {
          const said = `"organizationIds" must be at most ${mostOrganizations}, but were ${organizationIds.length}.`;
          throw refuse(['organizationIds'], said);
        }
        // An id that is none matches nothing, as any other id of something that does not exist.
        const only = organizationIds?.flatMap((id) => parseId('organization', id) ?? []);
        const request = { ...page, filter: parseSessionFilter(filter), organizationIds: only };
        let count: Promise<Count> | null = null;
        return {
          ...toConnection(await listEnterpriseSessions(domain, request, pageLimits)),
          count: () => {
            count ??= countEnterpriseSessions(domain, request);
            return count;
          },
        };
      },
    },
    SessionConnection,
  ),
);
