import { useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useTargetNamesQuery } from '../../__generated__/useTargetNamesQuery.graphql.ts';
import { repositoryName } from '../../session/repository-text.ts';

/** The most ids of one query. */
const maxIds = 100;

const document = graphql`
  query useTargetNamesQuery($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on Playbook {
        title
      }
      ... on Secret {
        key
      }
      ... on Automation {
        name
      }
      ... on GitConnection {
        name
      }
      ... on KnowledgeNote {
        name
      }
      ... on KnowledgeFolder {
        name
      }
      ... on Snapshot {
        name
      }
      ... on Role {
        name
      }
      ... on ProviderKey {
        name
      }
      ... on IdpGroup {
        name
      }
      ... on ApiKey {
        name
      }
      ... on Organization {
        name
      }
      ... on WebhookEndpoint {
        url
      }
      ... on Repository {
        host
        path
      }
      ... on Principal {
        displayName
      }
    }
  }
`;

type Found = NonNullable<useTargetNamesQuery['response']['nodes'][number]>;

function nameOf(node: Found): string | null {
  if (node.host != null && node.path != null) return repositoryName({ host: node.host, path: node.path });
  return node.title ?? node.key ?? node.name ?? node.url ?? node.displayName ?? null;
}

/**
 * Returns the names of resources by their REST ids, those that still exist and that the viewer may see. All ids that are new are read
 * by one query, as many as a page has.
 */
export function useTargetNames(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const environment = useRelayEnvironment();
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const known = useRef(new Set<string>());
  const wanted = [...new Set(ids)].filter((id) => id !== null && !known.current.has(id)).slice(0, maxIds);
  const key = wanted.join();
  useEffect(() => {
    if (key === '') return;
    const requested = key.split(',');
    for (const id of requested) known.current.add(id);
    // Without an answer, the ids stay.
    fetchQuery<useTargetNamesQuery>(environment, document, { ids: requested })
      .toPromise()
      .then((found) => {
        const all = requested.map((id, at) => {
          const node = found?.nodes[at];
          return [id, node ? nameOf(node) : null] as const;
        });
        setNames((before) => new Map([...before, ...all.filter((each) => each[1] !== null)] as [string, string][]));
      })
      .catch(() => undefined);
  }, [environment, key]);
  return names;
}
