import { common } from '../texts/common.ts';
import { sessionPage as texts } from '../texts/session.ts';
import './session.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { fetchQuery, graphql, usePreloadedQuery, useRelayEnvironment } from 'react-relay';
import { Link } from 'wouter';
import type { AgentSteer, sessionPageQuery, sessionPageQuery$data } from '../__generated__/sessionPageQuery.graphql.ts';
import type { sessionPageSubscription } from '../__generated__/sessionPageSubscription.graphql.ts';
import { focusWhenLoaded } from '../app/focus-on-navigation.tsx';
import { useRemembered } from '../app/use-remembered.ts';
import { CommentDraft, CommentsContext } from '../comments/comment-draft.ts';
import { useMarkRead } from '../inbox/use-mark-read.ts';
import { useTitle } from '../layout/page.tsx';
import { useLive } from '../relay/use-live.ts';
import { listAddress } from '../sessions/list-position.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { permissionName } from '../ui/permission-text.ts';
import { Separator } from '../ui/separator.tsx';
import { Loading } from '../ui/states.tsx';
import { panelProps, Tabs } from '../ui/tabs.tsx';
import { useIsWide } from '../ui/use-is-wide.ts';
import { ActivityStatus } from './activity-status.tsx';
import { Announcements } from './announcements.tsx';
import { FilesContext, findFile, splitFiles } from './attachments.tsx';
import { hasNewMessage } from './can-retry.ts';
import { Checkpoints } from './checkpoints.tsx';
import { Composer } from './composer.tsx';
import { Details } from './details.tsx';
import { ForkedFrom } from './forked-from.tsx';
import { KeyAction } from './key-action.tsx';
import { MissingSession } from './missing-session.tsx';
import { PendingQuestion } from './pending-question.tsx';
import { plainTitle } from './plain-title.ts';
import { OtherViewers, Typing, usePresence } from './presence.tsx';
import { QueueNote } from './queue-note.tsx';
import { QueuedMessages, useQueued, useWithdraw } from './queued-messages.tsx';
import { QuotaNote } from './quota-note.tsx';
import { RepositoryLine } from './repositories.tsx';
import { Retry } from './retry.tsx';
import { SessionButtons } from './session-buttons.tsx';
import { type SessionLoad, useSessionLoad } from './session-load.ts';
import { sessionPageDocument } from './session-page-query.ts';
import { SessionPane } from './session-pane.tsx';
import { Transcript } from './transcript.tsx';
import { lastPlan } from './transcript-rows.ts';
import { UnansweredContext } from './unanswered.tsx';
import { useChoose } from './use-answer.ts';
import { useEditSession } from './use-edit-session.tsx';
import { useRepositoryStep } from './use-repository-step.ts';
import { useReturn } from './use-return.ts';
import { useSessionTabs } from './use-session-tabs.ts';
import { canStop } from './use-stop.ts';
import { useTranscript } from './use-transcript.ts';
import { hasCommand } from './work-end.ts';
import { WorkspaceNote } from './workspace-note.tsx';

const subscription = graphql`
  subscription sessionPageSubscription($id: ID!) {
    sessionUpdated(sessionId: $id) {
      id
      title
      status
      statusDetail
      endReason
      isArchived
      isUnread
      changesUpdatedAt
      workspaceDeletedAt
      pendingQuestion {
        questionId
        reason
        ...pendingQuestion_question
      }
      attachments(first: 50) {
        nodes {
          attachmentId
          name
          sizeBytes
          url
        }
      }
      ...sessionButtons_session
      ...repositories_session
      ...details_session
      ...useEditSession_session
      ...outputPanel_session
      ...workspaceNote_session
      ...quotaNote_session
    }
  }
`;

const renewMs = 45 * 60_000;

/** The width of the page in pixels from which the pane is beside the conversation. */
const splitWidth = 700;
/** The part of the conversation in percent of the width. */
const conversation = { initial: 56, min: 30, max: 70 } as const;

/** `/sessions/{id}`: the page that every `url` of a session links to. */
export function SessionPage({ id }: { readonly id: string }) {
  const load = useSessionLoad(id);
  // Not by suspending: React then shows the content no sooner than 300 ms after the placeholder.
  return load.isDone() ? <Loaded load={load} /> : <Loading label={common.loadingPage} />;
}

function Loaded({ load }: { readonly load: SessionLoad }) {
  const { session, agents } = usePreloadedQuery<sessionPageQuery>(sessionPageDocument, load.reference);
  useEffect(focusWhenLoaded, []);
  if (session) {
    const steer = agents.find(({ agentId }) => agentId === session.agent)?.steer ?? null;
    return <LoadedSession session={session} steer={steer} key={session.id} />;
  }
  return <MissingSession />;
}

type Session = NonNullable<sessionPageQuery$data['session']>;

interface LoadedSessionProps {
  readonly session: Session;
  /** The effect of a message during a turn that chooses none; null: unknown. */
  readonly steer: AgentSteer | null;
}

function LoadedSession({ session, steer }: LoadedSessionProps) {
  const { id, sessionId, status, statusDetail, endReason, isArchived, pendingQuestion } = session;
  const title = plainTitle(session.title);
  useTitle(title);
  useMarkRead(session);
  const environment = useRelayEnvironment();
  const transcript = useTranscript(id, session.transcript ?? null);
  const queue = useQueued(id, transcript);
  const variables = useMemo(() => ({ id }), [id]);
  const presence = usePresence(id);
  const refetch = useCallback(
    () =>
      void fetchQuery<sessionPageQuery>(environment, sessionPageDocument, { id, withTranscript: false })
        .toPromise()
        .catch(() => undefined),
    [environment, id],
  );
  useLive<sessionPageSubscription>({ subscription, variables, onBack: refetch });
  const last = transcript.entries.at(-1);
  const named = last?.__typename === 'SessionMessage' ? splitFiles(last.body).files : [];
  const isUnknown = named.some((address) => findFile(session.attachments.nodes, address) === null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each message with files that are not known yet.
  useEffect(() => {
    if (isUnknown) refetch();
  }, [isUnknown, last?.id, refetch]);
  // Signed URLs of files are valid for an hour.
  useEffect(() => {
    const timer = window.setInterval(refetch, renewMs);
    return () => clearInterval(timer);
  }, [refetch]);
  const isWorking = canStop({ status, statusDetail, hasQuestion: pendingQuestion != null });
  const isWaiting = status === 'RUNNING' && statusDetail === 'WAITING_FOR_USER' && pendingQuestion == null;
  // The session keeps its status until a worker has it.
  const isQueued = isWaiting && !transcript.hasLater && hasNewMessage(transcript.entries);
  const shownStatus = isQueued ? { status: 'RESUMING', statusDetail: null } : { status, statusDetail };
  useReturn(isWorking);
  const choose = useChoose(sessionId);
  const closed = refusalOf(endReason, isArchived);
  const [withdraw] = useWithdraw(queue.read);
  const stored = session.events.nodes[0]?.entries ?? null;
  const { isAllowed: mayChange, missingPermission } = session.viewerCanManage;
  const hasFailed = status === 'ERROR' && closed === null;
  const unanswered = useMemo(
    () => ({ ids: hasFailed ? queue.inTranscript : new Set<string>(), withdraw: mayChange ? withdraw : null }),
    [hasFailed, queue.inTranscript, mayChange, withdraw],
  );
  useRepositoryStep(transcript.entries, refetch);
  const plan = (transcript.hasLater ? null : lastPlan(transcript.entries)) ?? stored;
  const page = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const isSplit = useIsWide(page, splitWidth);
  const contents = {
    changes: session.changes.some(({ fileCount }) => fileCount > 0),
    // Earlier parts of the log may have commands too.
    terminal: transcript.hasEarlier || hasCommand(transcript.entries),
    files: session.newestCheckpoint.nodes.length > 0 && session.workspaceDeletedAt == null,
    plan: plan !== null,
    output: session.structuredOutput != null,
  };
  const tabs = useSessionTabs(id, { ...session, plan }, contents, isSplit);
  const [width, rememberWidth] = useRemembered('session-width');
  const [comments] = useState(() => new CommentDraft(sessionId));
  const [edit, editDialog] = useEditSession(session);
  return (
    <CommentsContext value={mayChange && closed === null ? comments : null}>
      <div className="page full session" ref={page}>
        <header className="session-head">
          <Link
            href={listAddress()}
            className="button quiet small bare"
            aria-label={texts.allSessions}
            title={texts.allSessions}
          >
            <Icon name="back" />
          </Link>
          <div className="session-name">
            <h1 title={title}>{title}</h1>
            {mayChange && isSplit && (
              <Button size="small" tone="quiet" icon="edit" aria-label={texts.rename} onClick={edit} />
            )}
            <span role="status">
              <StatusBadge {...shownStatus} endReason={endReason} />
            </span>
            {isArchived && <span className="tag">{common.archived}</span>}
            <OtherViewers others={presence.others} />
          </div>
          {mayChange && (
            <SessionButtons
              session={session}
              isMenu={!isSplit}
              before={{ label: texts.rename, icon: 'edit', run: edit }}
            />
          )}
          {isSplit && (
            <Button
              tone="quiet"
              size="small"
              icon="pane"
              aria-label={texts.sidePanel}
              aria-controls="session-pane"
              aria-expanded={tabs.selected !== 'conversation'}
              onClick={tabs.toggle}
            />
          )}
        </header>
        {transcript.error !== null && (
          <p className="banner" role="status">
            <Icon name="warning" />
            {transcript.error}
          </p>
        )}
        <ForkedFrom session={session} />
        <RepositoryLine session={session} />
        <WorkspaceNote session={session} />
        <QueueNote sessionId={sessionId} status={shownStatus.status} />
        <QuotaNote session={session} mayChange={mayChange} />
        {!isSplit && <Tabs label={texts.tabsLabel} {...tabs} />}
        <div
          className={isSplit ? 'session-body split' : 'session-body'}
          ref={body}
          data-pane={tabs.selected === 'conversation' ? 'closed' : 'open'}
        >
          <section
            className="conversation"
            aria-label={texts.conversation}
            {...(isSplit ? { id: 'panel-conversation' } : panelProps('conversation', tabs.selected))}
          >
            <Announcements entries={transcript.entries} isLoaded={transcript.isLoaded} />
            <FilesContext value={session.attachments.nodes}>
              <UnansweredContext value={unanswered}>
                <Transcript
                  sessionId={sessionId}
                  transcript={transcript}
                  questionId={pendingQuestion?.questionId ?? null}
                />
              </UnansweredContext>
            </FilesContext>
            <Typing others={presence.others} />
            <ActivityStatus {...shownStatus} isArchived={isArchived} entries={transcript.entries} />
            {mayChange && !isWorking && !isQueued && closed === null && !transcript.hasLater && (
              <Retry
                {...{ sessionId, status }}
                entries={transcript.entries}
                hasQueued={queue.messages.length + queue.inTranscript.size > 0}
              />
            )}
            {mayChange && closed === null && !transcript.hasLater && (
              <KeyAction
                {...{ status, statusDetail }}
                entries={transcript.entries}
                agentId={session.agent ?? null}
                organizationId={session.organization.organizationId}
                creatorId={session.createdBy?.id ?? null}
              />
            )}
            <FilesContext value={session.attachments.nodes}>
              <QueuedMessages
                messages={queue.messages}
                read={queue.read}
                mayChange={mayChange && closed === null}
                label={queueLabel({ isClosed: closed !== null, isWorking: isWorking || isQueued, hasFailed, status })}
              />
            </FilesContext>
            {pendingQuestion && (
              <PendingQuestion
                key={pendingQuestion.questionId}
                question={pendingQuestion}
                entries={transcript.entries}
                mayAnswer={mayChange && closed === null}
                onChoose={choose}
              />
            )}
            <Composer
              onType={presence.typed}
              sessionId={sessionId}
              organizationId={session.organization.organizationId}
              refusal={closed ?? (mayChange ? null : readOnly(missingPermission))}
              placeholder={placeholderOf(status, statusDetail, pendingQuestion != null)}
              questionId={pendingQuestion?.reason === 'QUESTION' ? pendingQuestion.questionId : null}
              isWorking={isWorking}
              isPermission={pendingQuestion?.reason === 'PERMISSION'}
              steer={steer}
              isInTurn={isWorking && status === 'RUNNING' && statusDetail?.startsWith('WAITING_FOR_') !== true}
            />
          </section>
          {isSplit && tabs.selected !== 'conversation' && (
            <Separator
              label={texts.resize}
              controls="panel-conversation"
              box={body}
              start={Number(width) || conversation.initial}
              {...conversation}
              onResize={(percent) => rememberWidth(String(percent))}
              onCollapse={tabs.toggle}
            />
          )}
          <SessionPane
            {...{ tabs, isSplit, session, transcript, plan }}
            isTurnOpen={isWorking && status === 'RUNNING'}
            details={
              <Details session={session} mayEdit={mayChange}>
                {mayChange && (
                  <Checkpoints
                    sessionId={sessionId}
                    mayRewind={closed === null}
                    mayFork={session.organization.viewerPermissions.includes('USE_SESSIONS')}
                  />
                )}
              </Details>
            }
          />
        </div>
        {editDialog}
      </div>
    </CommentsContext>
  );
}

interface QueueState {
  readonly isClosed: boolean;
  readonly isWorking: boolean;
  readonly hasFailed: boolean;
  readonly status: string;
}

function queueLabel({ isClosed, isWorking, hasFailed, status }: QueueState): string {
  if (isClosed) return texts.notDelivered;
  if (isWorking) return texts.queued;
  if (status === 'SUSPENDED') return texts.waitsForResume;
  return hasFailed ? texts.notAnswered : texts.waits;
}

const readOnly = (missing: string | null | undefined) =>
  missing == null ? texts.readOnly : texts.readOnlyWithout({ permission: permissionName(missing) });

function refusalOf(endReason: string | null | undefined, isArchived: boolean): string | null {
  // Unarchiving it would not help.
  if (endReason === 'TERMINATED') return texts.terminated;
  if (endReason === 'EXPIRED') return texts.expired;
  return isArchived ? texts.archived : null;
}

function placeholderOf(status: string, statusDetail: string | null | undefined, hasQuestion: boolean): string {
  if (statusDetail === 'WAITING_FOR_USER') return hasQuestion ? texts.placeholderAnswer : texts.placeholderContinue;
  if (statusDetail === 'WAITING_FOR_APPROVAL') return texts.placeholderReply;
  if (statusDetail === 'WAITING_FOR_QUOTA') return texts.placeholderContinueNow;
  if (status === 'SUSPENDED') return texts.placeholderResume;
  if (status === 'EXIT' || status === 'ERROR') return texts.placeholderContinueSession;
  return texts.placeholder;
}
