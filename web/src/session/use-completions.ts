import { useEffect, useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useCompletionsQuery, useCompletionsQuery$data } from '../__generated__/useCompletionsQuery.graphql.ts';
import { completions as texts } from '../texts/session.ts';
import type { CompletionToken } from './completion-token.ts';

const query = graphql`
  query useCompletionsQuery(
    $organizationId: ID!
    $sessionId: ID!
    $search: String
    $fileName: String!
    $fileCount: Int!
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
      filesByName(name: $fileName, count: $fileCount) {
        path
        type
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
/** The maximum number of files that are offered. */
const maxFiles = 8;
/** The maximum number of playbooks that are offered. */
const maxPlaybooks = 6;

interface CompletionSource {
  readonly organizationId: string;
  /** The session whose files are offered; null: none. */
  readonly sessionId: string | null;
}

/** The completions that were found for a typed word, with its sign. */
interface Found {
  readonly word: string;
  readonly completions: readonly Completion[];
}

const none: Found = { word: '', completions: [] };

/**
 * The completions of a word, from one request for each pause in typing. Until it is answered, those of the former ones that contain the
 * word and are not the word itself: Enter chooses none that does not match.
 */
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
      const withRepositories = sign === '@';
      const variables = {
        ...{ organizationId, sessionId: sessionId ?? '', search: search || null, withRepositories },
        ...{ fileName: search, fileCount: maxFiles },
        withFiles: withRepositories && sessionId !== null,
      };
      reading = fetchQuery<useCompletionsQuery>(environment, query, variables).subscribe({
        next: (data) => setFound({ word: sign + search, completions: completionsOf(data) }),
        error: () => setFound(none),
      });
    }, typingMs);
    return () => {
      clearTimeout(timer);
      reading?.unsubscribe();
    };
  }, [environment, organizationId, sessionId, sign, search]);
  return useMemo(() => {
    if (sign === null) return none.completions;
    const word = sign + search;
    if (found.word === word) return found.completions;
    const typed = search.toLowerCase();
    return found.completions.filter(
      ({ label, insert }) => insert.trimEnd() !== word && `${label} ${insert}`.toLowerCase().includes(typed),
    );
  }, [sign, search, found]);
}

function completionsOf({ organization, session }: useCompletionsQuery$data): readonly Completion[] {
  const playbooks = [...(organization?.own?.nodes ?? []), ...(organization?.shared?.nodes ?? [])];
  return [
    ...(organization?.repositories?.nodes ?? []).map(({ host, path }) => ({
      ...{ key: `repository:${host}/${path}`, label: path, under: texts.repository({ host }) },
      ...{ insert: `@${path} `, isOpen: false },
    })),
    ...(session?.filesByName ?? []).map(({ path, type }) => {
      const isOpen = type === 'DIRECTORY';
      return {
        ...{ key: `file:${path}`, label: isOpen ? `${path}/` : path, under: isOpen ? texts.directory : texts.file },
        ...{ insert: isOpen ? `@${path}/` : `@${path} `, isOpen },
      };
    }),
    ...playbooks
      .filter(({ macro }) => macro != null)
      .slice(0, maxPlaybooks)
      .map(({ playbookId, title, macro }) => ({
        ...{ key: `playbook:${playbookId}`, label: title, under: texts.playbook({ macro: macro ?? '' }) },
        ...{ insert: `${macro} `, isOpen: false },
      })),
  ];
}
