import { useEffect, useRef } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useSessionTabsQuery } from '../__generated__/useSessionTabsQuery.graphql.ts';
import { useUrlParams } from '../layout/use-url-params.ts';
import { sessionTabs as texts } from '../texts/session.ts';
import type { Tab } from '../ui/tabs.tsx';

const query = graphql`
  query useSessionTabsQuery($id: ID!) {
    session(id: $id) {
      changes {
        fileCount
      }
    }
  }
`;

const names = ['tab', 'turn', 'repository', 'find', 'file', 'path', 'checkpoint'] as const;

/** The parameters of the tabs themselves, which another tab does not have. */
const none = { turn: '', repository: '', find: '', file: '', path: '', checkpoint: '' };

interface ChangedSession {
  readonly changesUpdatedAt?: string | null | undefined;
  readonly changes: readonly { readonly fileCount: number }[];
}

interface SessionTabs {
  readonly tabs: readonly Tab[];
  readonly selected: 'transcript' | 'changes' | 'files';
  readonly onSelect: (id: string) => void;
}

/** The tabs of the session page. The selected one is in the URL: `?tab=changes`. */
export function useSessionTabs(id: string, { changesUpdatedAt, changes }: ChangedSession): SessionTabs {
  const environment = useRelayEnvironment();
  const { values, change } = useUrlParams(names);
  // The subscription reports only the time of new changes; the number of files is read then.
  const counted = useRef(changesUpdatedAt);
  useEffect(() => {
    if (counted.current === changesUpdatedAt) return;
    counted.current = changesUpdatedAt;
    const reading = fetchQuery<useSessionTabsQuery>(environment, query, { id }).subscribe({ error: () => undefined });
    return () => reading.unsubscribe();
  }, [environment, id, changesUpdatedAt]);
  const count = changes.reduce((sum, { fileCount }) => sum + fileCount, 0);
  return {
    tabs: [
      { id: 'transcript', label: texts.transcript },
      {
        ...{ id: 'changes', label: texts.changes },
        count: changesUpdatedAt == null ? null : count,
        countLabel: texts.fileUnit(count),
      },
      { id: 'files', label: texts.files },
    ],
    selected: values.tab === 'changes' || values.tab === 'files' ? values.tab : 'transcript',
    onSelect: (tab) => change({ ...none, tab: tab === 'transcript' ? '' : tab }, { isNewEntry: true }),
  };
}
