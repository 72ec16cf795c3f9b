import { useState } from 'react';
import { createPortal } from 'react-dom';
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
import { useRestoreAwake } from '../sessions/use-restore-awake.ts';
import { common } from '../texts/common.ts';
import { sessionButtons as texts } from '../texts/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';

/** Buttons for a session, depending on its status: suspend or resume, terminate, archive. */
export function SessionButtons({
  session: reference,
  slot,
}: {
  readonly session: sessionButtons_session$key;
  /** The element that shows them; null: they are shown here. */
  readonly slot: HTMLElement | null;
}) {
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
    const text = isArchived ? texts.sessionArchived : texts.sessionUnarchived;
    const undo = async () => {
      await put(!isArchived, true);
      if (isArchived) await restoreAwake(session);
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
  usePageActions([
    ...(isAwake ? [{ label: texts.suspendSession, icon: 'pause', run: askToSleep } as const] : []),
    ...(isSuspended && !session.isArchived ? [{ label: texts.resumeSession, icon: 'play', run: wake } as const] : []),
    {
      label: session.isArchived ? texts.unarchiveSession : texts.archiveSession,
      icon: 'archive',
      run: askToPut,
    },
    ...(isOver ? [] : [{ label: texts.terminateSession, icon: 'power', run: () => setAsking(true) } as const]),
  ]);
  const buttons = (
    <div className="actions">
      {isAwake && (
        <Button size="small" icon="pause" isBusy={isSuspending} onClick={askToSleep}>
          {texts.suspend}
        </Button>
      )}
      {isSuspended && !session.isArchived && (
        <Button size="small" icon="play" isBusy={isResuming} onClick={wake}>
          {texts.resume}
        </Button>
      )}
      {!isOver && (
        <Button size="small" icon="power" tone="danger" isBusy={isTerminating} onClick={() => setAsking(true)}>
          {common.terminate}
        </Button>
      )}
      <Button size="small" icon="archive" isBusy={isArchiving || isUnarchiving} onClick={askToPut}>
        {session.isArchived ? common.unarchive : common.archive}
      </Button>
    </div>
  );
  return (
    <>
      {slot ? createPortal(buttons, slot) : buttons}
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
