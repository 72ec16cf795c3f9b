import { useEffect, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useCompletionsQuery, useCompletionsQuery$data } from '../__generated__/useCompletionsQuery.graphql.ts';
import { completions as texts } from '../texts/session.ts';
import { type CompletionToken, splitPath } from './completion-token.ts';

const query = graphql`
  query useCompletionsQuery(
    $organizationId: ID!
    $sessionId: ID!
    $search: String
    $directory: String!
    $withRepositories: Boolean!
    $withFiles: Boolean!
  ) {
    organization(id: $organizationId) {
      repositories(first: 5, filter: { search: $search }) @include(if: $withRepositories) {
        nodes {
          host
          path
        }
      }
      own: playbooks(first: 10, filter: { search: $search, accessType: ORGANIZATION }) {
        nodes {
          playbookId
          title
          macro
        }
      }
      shared: playbooks(first: 10, filter: { search: $search, accessType: ENTERPRISE }) {
        nodes {
          playbookId
          title
          macro
        }
      }
    }
    session(id: $sessionId) @include(if: $withFiles) {
      files(path: $directory, first: 100) {
        nodes {
          name
          path
          type
        }
      }
    }
  }
`;

/** A text that can replace the typed word. */
export interface Completion {
  readonly key: string;
  readonly label: string;
  readonly under: string;
  readonly insert: string;
  /** True for a directory, whose entries can be completed next. */
  readonly isOpen: boolean;
}

/** The time in ms after the last key until the service is asked. */
const typingMs = 150;
/** At most this many files and playbooks are offered. */
const maxEach = 6;

interface CompletionSource {
  readonly organizationId: string;
  /** The session whose files are offered; null: none. */
  readonly sessionId: string | null;
}

const none: readonly Completion[] = [];

/** The completions of a word, from one request for each pause in typing; the former ones until it is answered. */
export function useCompletions(
  { organizationId, sessionId }: CompletionSource,
  token: CompletionToken | null,
): readonly Completion[] {
  const environment = useRelayEnvironment();
  const [found, setFound] = useState(none);
  const { sign = null, search = '' } = token ?? {};
  useEffect(() => {
    if (sign === null) return setFound(none);
    let reading: { unsubscribe(): void } | null = null;
    const timer = window.setTimeout(() => {
      const { directory } = splitPath(search);
      const withRepositories = sign === '@';
      const variables = {
        ...{ organizationId, sessionId: sessionId ?? '', search: search || null, directory, withRepositories },
        withFiles: withRepositories && sessionId !== null,
      };
      reading = fetchQuery<useCompletionsQuery>(environment, query, variables).subscribe({
        next: (data) => setFound(completionsOf(data, search)),
        error: () => setFound(none),
      });
    }, typingMs);
    return () => {
      clearTimeout(timer);
      reading?.unsubscribe();
    };
  }, [environment, organizationId, sessionId, sign, search]);
  return sign === null ? none : found;
}

function completionsOf({ organization, session }: useCompletionsQuery$data, search: string): readonly Completion[] {
  const { name } = splitPath(search);
  const files = session?.files?.nodes.filter((file) => file.name.toLowerCase().includes(name.toLowerCase())) ?? [];
  const playbooks = [...(organization?.own?.nodes ?? []), ...(organization?.shared?.nodes ?? [])];
  return [
    ...(organization?.repositories?.nodes ?? []).map(({ host, path }) => ({
      ...{ key: `repository:${host}/${path}`, label: path, under: texts.repository({ host }) },
      ...{ insert: `@${path} `, isOpen: false },
    })),
    ...files.slice(0, maxEach).map(({ path, type }) => {
      const isOpen = type === 'DIRECTORY';
      return {
        ...{ key: `file:${path}`, label: isOpen ? `${path}/` : path, under: isOpen ? texts.directory : texts.file },
        ...{ insert: isOpen ? `@${path}/` : `@${path} `, isOpen },
      };
    }),
    ...playbooks
      .filter(({ macro }) => macro != null)
      .slice(0, maxEach)
      .map(({ playbookId, title, macro }) => ({
        ...{ key: `playbook:${playbookId}`, label: title, under: texts.playbook({ macro: macro ?? '' }) },
        ...{ insert: `${macro} `, isOpen: false },
      })),
  ];
}
