import { useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useSessionTabsQuery } from '../__generated__/useSessionTabsQuery.graphql.ts';
import { useRemembered } from '../app/use-remembered.ts';
import { useUrlParams } from '../layout/use-url-params.ts';
import { sessionTabs as texts } from '../texts/session.ts';
import type { Tab } from '../ui/tabs.tsx';
import { findTab, firstTab, type PaneTab, readLastTab, type TabContents, writeLastTab } from './first-tab.ts';
import { doneOf, type Plan } from './plan-panel.tsx';

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
  readonly plan: Plan | null;
}

/** The tabs of a session page. */
export interface SessionTabs {
  readonly tabs: readonly Tab[];
  /** `conversation` beside the conversation: the pane is closed. */
  readonly selected: PaneTab | 'conversation';
  readonly onSelect: (id: string) => void;
  /** Closes the pane, or opens it at its last tab. */
  readonly toggle: () => void;
}

/**
 * The tabs of the session page. The selected one is in the URL: `?tab=changes`. If there is none, the pane beside the
 * conversation (`isSplit`) shows the tab that `firstTab` chooses when the page opens, until the user selects another one. A narrow
 * page shows the conversation.
 */
export function useSessionTabs(
  id: string,
  { changesUpdatedAt, changes, plan }: ChangedSession,
  contents: TabContents,
  isSplit: boolean,
): SessionTabs {
  const environment = useRelayEnvironment();
  const { values, change } = useUrlParams(names);
  const [last, setLast] = useRemembered('session-tab');
  const [state, setState] = useRemembered('session-pane');
  // The subscription reports only the time of new changes; the number of files is read then.
  const counted = useRef(changesUpdatedAt);
  useEffect(() => {
    if (counted.current === changesUpdatedAt) return;
    counted.current = changesUpdatedAt;
    const reading = fetchQuery<useSessionTabsQuery>(environment, query, { id }).subscribe({ error: () => undefined });
    return () => reading.unsubscribe();
  }, [environment, id, changesUpdatedAt]);
  const count = changes.reduce((sum, { fileCount }) => sum + fileCount, 0);
  // It does not change when other tabs get something to show.
  const [lastTab, setLastTab] = useState(() => firstTab(readLastTab(last), id, contents));
  const opened = isSplit && state !== 'closed' ? lastTab : 'conversation';
  const selected = findTab(values.tab) ?? opened;
  const select = (tab: string) => {
    change({ ...none, tab: tab === 'conversation' ? '' : tab }, { isNewEntry: true });
    const pane = findTab(tab);
    if (pane !== null) {
      setLast(writeLastTab({ tab: pane, sessionId: id }));
      setLastTab(pane);
      setState('open');
    }
  };
  return {
    tabs: [
      ...(isSplit ? [] : [{ id: 'conversation', label: texts.conversation }]),
      {
        ...{ id: 'changes', label: texts.changes },
        count: changesUpdatedAt == null ? null : count,
        countLabel: texts.fileUnit(count),
      },
      { id: 'terminal', label: texts.terminal },
      { id: 'files', label: texts.files },
      {
        ...{ id: 'plan', label: texts.plan },
        count: plan === null ? null : texts.planCount({ done: doneOf(plan), count: plan.length }),
        countLabel: texts.planUnit,
      },
      { id: 'output', label: texts.output },
      { id: 'details', label: texts.details },
    ],
    selected,
    onSelect: select,
    toggle: () => {
      if (selected === 'conversation') select(lastTab);
      else {
        setLast(writeLastTab({ tab: selected, sessionId: id }));
        setLastTab(selected);
        setState('closed');
        change({ ...none, tab: '' }, { isNewEntry: true });
      }
    },
  };
}
