import { useCallback, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useRepositoryChecksQuery } from '../__generated__/useRepositoryChecksQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { repositoriesPicker as texts } from '../texts/pickers.ts';

interface RepositoryChecks {
  /** The warnings by the names of repositories. */
  readonly warnings: ReadonlyMap<string, string>;
  /** Asks the forge for a repository; does nothing if the viewer may not ask. */
  readonly check: (name: string) => void;
}

/** Checks at their forges if repositories that users name exist. A check blocks nothing: without an answer, there is no warning. */
export function useRepositoryChecks(organizationId: string): RepositoryChecks {
  const environment = useRelayEnvironment();
  const { may } = useSigned();
  const isAllowed = may('USE_SESSIONS');
  const [warnings, setWarnings] = useState<ReadonlyMap<string, string>>(new Map());
  const requested = useRef(new Set<string>());
  const check = useCallback(
    (name: string) => {
      const key = `${organizationId} ${name}`;
      if (!isAllowed || requested.current.has(key)) return;
      requested.current.add(key);
      fetchQuery<useRepositoryChecksQuery>(
        environment,
        graphql`
          query useRepositoryChecksQuery($organizationId: ID!, $name: String!) {
            organization(id: $organizationId) {
              repositoryCheck(name: $name) {
                host
                isReadable
              }
            }
          }
        `,
        { organizationId, name },
      ).subscribe({
        next: ({ organization }) => {
          const found = organization?.repositoryCheck;
          if (found?.isReadable !== false) return;
          const unknown = hasOwner(name) ? texts.notUsable : texts.notAName;
          const warning = found.host == null ? unknown : texts.notFound({ host: found.host });
          setWarnings((before) => new Map(before).set(name, warning));
        },
        // Requested again when the name is added again.
        error: () => requested.current.delete(key),
      });
    },
    [environment, organizationId, isAllowed],
  );
  return { warnings, check };
}

/** Returns true if a name or a URL has an owner before the name of the repository. */
const hasOwner = (name: string) =>
  /[^/]\/[^/]/.test(name.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\/|^[\w.-]+@[\w.-]+:/i, ''));
