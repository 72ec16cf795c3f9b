import { lazy, type ReactNode, Suspense } from 'react';
import { flushSync } from 'react-dom';
import type { outputPanel_session$key } from '../__generated__/outputPanel_session.graphql.ts';
import { loadWithRetry } from '../app/load-with-retry.ts';
import { sessionPage as texts } from '../texts/session.ts';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Loading } from '../ui/states.tsx';
import { panelProps, Tabs } from '../ui/tabs.tsx';
import { OutputPanel } from './output-panel.tsx';
import { type Plan, PlanPanel } from './plan-panel.tsx';
import type { SessionTabs } from './use-session-tabs.ts';
import type { Transcript } from './use-transcript.ts';
import { lastTurnMark, lastWorkEnd } from './work-end.ts';

const ChangesPanel = lazy(async () => ({
  default: (await loadWithRetry(() => import('../changes/changes-panel.tsx'))).ChangesPanel,
}));

const TerminalPanel = lazy(async () => ({
  default: (await loadWithRetry(() => import('./terminal-panel.tsx'))).TerminalPanel,
}));

const FilesPanel = lazy(async () => ({
  default: (await loadWithRetry(() => import('../files/files-panel.tsx'))).FilesPanel,
}));

interface SessionPaneProps {
  readonly tabs: SessionTabs;
  /** True beside the conversation; false: in its place. */
  readonly isSplit: boolean;
  readonly session: outputPanel_session$key & {
    readonly id: string;
    readonly sessionId: string;
    readonly changesUpdatedAt?: string | null | undefined;
    readonly workspaceDeletedAt?: string | null | undefined;
    readonly repositories: readonly unknown[];
  };
  readonly transcript: Transcript;
  readonly plan: Plan | null;
  readonly isTurnOpen: boolean;
  /** The details of the session. */
  readonly details: ReactNode;
}

/** The tabs with all of a session but its conversation. */
export function SessionPane({ tabs, isSplit, session, transcript, plan, isTurnOpen, details }: SessionPaneProps) {
  const { selected } = tabs;
  const { id, sessionId } = session;
  return (
    <div className="session-pane" id="session-pane" hidden={selected === 'conversation'}>
      {isSplit && <Tabs label={texts.tabsLabel} {...tabs} />}
      <div className="session-panel" {...panelProps('changes', selected)}>
        {selected === 'changes' && (
          <Loaded label={texts.loadingTheChanges}>
            <ChangesPanel
              {...{ id, sessionId, isTurnOpen }}
              updatedAt={session.changesUpdatedAt ?? null}
              hasRepositories={session.repositories.length > 0}
              workEnd={lastWorkEnd(transcript.entries)}
              lastTurn={lastTurnMark(transcript.entries)}
              onWrite={() => {
                if (!isSplit) flushSync(() => tabs.onSelect('conversation'));
                document.querySelector<HTMLElement>('.composer textarea')?.focus();
              }}
            />
          </Loaded>
        )}
      </div>
      <div className="session-panel" {...panelProps('terminal', selected)}>
        {selected === 'terminal' && (
          <Loaded label={texts.loadingTheCommands}>
            <TerminalPanel {...{ id, transcript }} />
          </Loaded>
        )}
      </div>
      <div className="session-panel" {...panelProps('files', selected)}>
        {selected === 'files' && (
          <Loaded label={texts.loadingTheFiles}>
            <FilesPanel {...{ id, sessionId }} isDeleted={session.workspaceDeletedAt != null} />
          </Loaded>
        )}
      </div>
      <div className="session-panel scrolls" {...panelProps('plan', selected)}>
        {selected === 'plan' && <PlanPanel plan={plan} />}
      </div>
      <div className="session-panel scrolls" {...panelProps('output', selected)}>
        {selected === 'output' && <OutputPanel session={session} />}
      </div>
      <div className="session-panel scrolls" {...panelProps('details', selected)}>
        {details}
      </div>
    </div>
  );
}

function Loaded({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Loading label={label} />}>{children}</Suspense>
    </ErrorBoundary>
  );
}
