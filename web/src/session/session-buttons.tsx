import { useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { sessionButtons_session$key } from '../__generated__/sessionButtons_session.graphql.ts';
import type { sessionButtonsArchiveMutation } from '../__generated__/sessionButtonsArchiveMutation.graphql.ts';
import type { sessionButtonsResumeMutation } from '../__generated__/sessionButtonsResumeMutation.graphql.ts';
import type { sessionButtonsSuspendMutation } from '../__generated__/sessionButtonsSuspendMutation.graphql.ts';
import type { sessionButtonsTerminateMutation } from '../__generated__/sessionButtonsTerminateMutation.graphql.ts';
import type { sessionButtonsUnarchiveMutation } from '../__generated__/sessionButtonsUnarchiveMutation.graphql.ts';
import { usePageActions } from '../layout/page-actions.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { useTurnGuard } from '../sessions/turn-guard.tsx';
import { lossOf } from '../sessions/turn-loss.ts';
import { useRestoreAwake } from '../sessions/use-restore-awake.ts';
import { common } from '../texts/common.ts';
import { sessionButtons as texts } from '../texts/session.ts';
import { archiveEffects } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { MenuButton, type MenuItem } from '../ui/menu.tsx';
import { useToasts } from '../ui/toasts.tsx';

interface SessionAction extends MenuItem {
  /** Names the button. It is the same for an action and the one that reverts it, so that the focus stays. */
  readonly key: 'sleep' | 'terminate' | 'archive';
  /** The label of the button: the verb alone. */
  readonly verb: string;
  readonly isBusy: boolean;
}

interface SessionButtonsProps {
  readonly session: sessionButtons_session$key;
  /** True for a menu of all actions, with `before` as the first, instead of a button for each. */
  readonly isMenu: boolean;
  readonly before: MenuItem;
}

/** Actions on a session, depending on its status: suspend or resume, terminate, archive. The palette has them too. */
export function SessionButtons({ session: reference, isMenu, before }: SessionButtonsProps) {
  const session = useFragment(
    graphql`
      fragment sessionButtons_session on Session {
        id
        sessionId
        status
        statusDetail
        endReason
        isArchived
        pendingQuestion {
          id
        }
      }
    `,
    reference,
  );
  const [suspend, isSuspending] = useMutation<sessionButtonsSuspendMutation>(graphql`
    mutation sessionButtonsSuspendMutation($input: SuspendSessionInput!) {
      suspendSession(input: $input) {
        session {
          ...sessionButtons_session
          status
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [resume, isResuming] = useMutation<sessionButtonsResumeMutation>(graphql`
    mutation sessionButtonsResumeMutation($input: ResumeSessionInput!) {
      resumeSession(input: $input) {
        session {
          ...sessionButtons_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [terminate, isTerminating] = useMutation<sessionButtonsTerminateMutation>(graphql`
    mutation sessionButtonsTerminateMutation($input: TerminateSessionInput!) {
      terminateSession(input: $input) {
        session {
          ...sessionButtons_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [archive, isArchiving] = useMutation<sessionButtonsArchiveMutation>(graphql`
    mutation sessionButtonsArchiveMutation($input: ArchiveSessionInput!) {
      archiveSession(input: $input) {
        session {
          ...sessionButtons_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [unarchive, isUnarchiving] = useMutation<sessionButtonsUnarchiveMutation>(graphql`
    mutation sessionButtonsUnarchiveMutation($input: UnarchiveSessionInput!) {
      unarchiveSession(input: $input) {
        session {
          ...sessionButtons_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  const restoreAwake = useRestoreAwake();
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const [guardTurns, turnDialog] = useTurnGuard();
  const variables = { input: { sessionId: session.sessionId } };
  const isOver = session.status === 'EXIT';
  // A failed session is continued by Retry or a message, below its transcript.
  const isSuspended = session.status === 'SUSPENDED';
  const isAwake = !isOver && !isSuspended && session.status !== 'ERROR';
  const set = (values: Readonly<Record<string, string | boolean>>) => (store: RecordSourceSelectorProxy) => {
    const record = store.get(session.id);
    for (const [name, value] of Object.entries(values)) record?.setValue(value, name);
  };
  // Each is the undo of the other.
  const put = async (isArchived: boolean, isUndoing = false) => {
    const { errors } = await (isArchived ? archive : unarchive)(variables, set({ isArchived }));
    if (errors !== null) return;
    const suspended = lossOf(session) === null ? '' : ` ${archiveEffects.agentSuspended}`;
    const text = isArchived ? `${texts.sessionArchived}${suspended}` : texts.sessionUnarchived;
    const undo = async () => {
      await put(!isArchived, true);
      if (isArchived) await restoreAwake([session]);
    };
    toasts.say(text, isUndoing ? undefined : () => void undo());
  };
  const sleep = async () => {
    const { payload } = await suspend(variables);
    // The page shows the current status, not the one that will follow.
    if (payload?.session && payload.session.status !== 'SUSPENDED') toasts.say(texts.suspendedLater);
  };
  const askToSleep = () => guardTurns('suspend', [session], () => void sleep());
  const askToPut = () =>
    session.isArchived ? void put(false) : guardTurns('archive', [session], () => void put(true));
  const wake = () => void resume(variables, set({ status: 'RESUMING' }));
  const actions: SessionAction[] = [];
  if (isAwake) {
    const verb = texts.suspend;
    const label = texts.suspendSession;
    actions.push({ key: 'sleep', label, verb, icon: 'pause', isBusy: isSuspending, run: askToSleep });
  }
  if (isSuspended && !session.isArchived) {
    const [label, verb] = [texts.resumeSession, texts.resume];
    actions.push({ key: 'sleep', label, verb, icon: 'play', isBusy: isResuming, run: wake });
  }
  if (!isOver) {
    const [label, verb] = [texts.terminateSession, common.terminate];
    const ask = () => setAsking(true);
    actions.push({ key: 'terminate', label, verb, icon: 'power', tone: 'danger', isBusy: isTerminating, run: ask });
  }
  actions.push({
    key: 'archive',
    label: session.isArchived ? texts.unarchiveSession : texts.archiveSession,
    verb: session.isArchived ? common.unarchive : common.archive,
    icon: 'archive',
    isBusy: isArchiving || isUnarchiving,
    run: askToPut,
  });
  usePageActions([before, ...actions]);
  return (
    <>
      {isMenu ? (
        <MenuButton label={texts.actions} items={[before, ...actions]} isBusy={actions.some(({ isBusy }) => isBusy)} />
      ) : (
        <div className="actions">
          {actions.map(({ key, verb, icon, tone, isBusy, run }) => (
            <Button key={key} size="small" icon={icon} tone={tone ?? 'plain'} isBusy={isBusy} onClick={run}>
              {verb}
            </Button>
          ))}
        </div>
      )}
      {turnDialog}
      {isAsking && (
        <Confirm
          title={texts.terminateTitle}
          text={texts.terminateText}
          confirmLabel={common.terminate}
          isBusy={isTerminating}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void terminate(variables, set({ status: 'EXIT', endReason: 'TERMINATED' }));
          }}
        />
      )}
    </>
  );
}
