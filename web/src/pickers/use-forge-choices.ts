import { useMemo } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useForgeChoicesConnectionsQuery } from '../__generated__/useForgeChoicesConnectionsQuery.graphql.ts';
import type { useForgeChoicesQuery } from '../__generated__/useForgeChoicesQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import type { ChoiceSource } from '../ui/use-choices.ts';

const connectionsQuery = graphql`
  query useForgeChoicesConnectionsQuery {
    enterprise {
      gitConnections(first: 5, filter: { providerType: [GITHUB_APP, GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN] }) {
        nodes {
          gitConnectionId
          host
        }
      }
    }
  }
`;

const repositoriesQuery = graphql`
  query useForgeChoicesQuery($id: ID!, $organizationId: ID!, $after: String) {
    gitConnection(id: $id) {
      repositories(first: 100, after: $after, organizationId: $organizationId) {
        nodes {
          path
        }
        endCursor
      }
    }
  }
`;

/** The maximum number of pages that are read of one connection. */
const maxPages = 10;

interface Position {
  /** The index of the connection. */
  readonly at: number;
  /** The number of its page, from 0. */
  readonly page: number;
  readonly after: string | null;
}

const start: Position = { at: 0, page: 0, after: null };

/** Tells if the viewer may read what forges list. */
export function useSeesForges(): boolean {
  const { may } = useSigned();
  return may('MANAGE_ORGANIZATIONS') || may('MANAGE_ENTERPRISE_SETTINGS');
}

/** The repositories that the forges of the enterprise list and the organization may use; null if the viewer may not read them. */
export function useForgeChoices(organizationId: string): ChoiceSource | null {
  const environment = useRelayEnvironment();
  const isAllowed = useSeesForges();
  return useMemo(() => {
    if (!isAllowed) return null;
    const read = async () => {
      const data = await fetchQuery<useForgeChoicesConnectionsQuery>(environment, connectionsQuery, {}).toPromise();
      return data?.enterprise?.gitConnections?.nodes ?? [];
    };
    let connections: ReturnType<typeof read> | null = null;
    return async (cursor) => {
      const { at, page, after } = cursor === null ? start : (JSON.parse(cursor) as Position);
      if (cursor === null) connections = read();
      const all = await (connections ?? read());
      const connection = all[at];
      if (!connection) return { choices: [], next: null };
      const variables = { id: connection.gitConnectionId, organizationId, after };
      // A forge that does not answer leaves the others.
      const data = await fetchQuery<useForgeChoicesQuery>(environment, repositoriesQuery, variables)
        .toPromise()
        .catch(() => null);
      const { nodes = [], endCursor = null } = data?.gitConnection?.repositories ?? {};
      const host = connection.host.replace(/^https?:\/\//, '').replace(/\/+$/, '');
      const choices = nodes.map(({ path }) => ({ value: `${host}/${path}`, label: path, under: host }));
      const further = { at, page: page + 1, after: endCursor };
      const following = endCursor !== null && page + 1 < maxPages ? further : { ...start, at: at + 1 };
      return { choices, next: following.at < all.length ? JSON.stringify(following) : null };
    };
  }, [environment, organizationId, isAllowed]);
}
