import { type ReactNode, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { RecordSourceSelectorProxy } from 'relay-runtime';
import type { sessionActs_session$key } from '../__generated__/sessionActs_session.graphql.ts';
import type { sessionActsArchiveMutation } from '../__generated__/sessionActsArchiveMutation.graphql.ts';
import type { sessionActsResumeMutation } from '../__generated__/sessionActsResumeMutation.graphql.ts';
import type { sessionActsSuspendMutation } from '../__generated__/sessionActsSuspendMutation.graphql.ts';
import type { sessionActsTerminateMutation } from '../__generated__/sessionActsTerminateMutation.graphql.ts';
import type { sessionActsUnarchiveMutation } from '../__generated__/sessionActsUnarchiveMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { DeleteWorkspace } from './delete-workspace.tsx';

/** Buttons for what can be done with a session as it stands: suspend or resume, terminate, archive, delete its workspace. */
export function SessionActs({
  session: reference,
  children,
}: {
  readonly session: sessionActs_session$key;
  readonly children?: ReactNode;
}) {
  const session = useFragment(
    graphql`
      fragment sessionActs_session on Session {
        id
        sessionId
        status
        endReason
        isArchived
        ...deleteWorkspace_session
      }
    `,
    reference,
  );
  const [suspend, isSuspending] = useAct<sessionActsSuspendMutation>(graphql`
    mutation sessionActsSuspendMutation($input: SuspendSessionInput!) {
      suspendSession(input: $input) {
        session {
          ...sessionActs_session
          status
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [resume, isResuming] = useAct<sessionActsResumeMutation>(graphql`
    mutation sessionActsResumeMutation($input: ResumeSessionInput!) {
      resumeSession(input: $input) {
        session {
          ...sessionActs_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [terminate, isTerminating] = useAct<sessionActsTerminateMutation>(graphql`
    mutation sessionActsTerminateMutation($input: TerminateSessionInput!) {
      terminateSession(input: $input) {
        session {
          ...sessionActs_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [archive, isArchiving] = useAct<sessionActsArchiveMutation>(graphql`
    mutation sessionActsArchiveMutation($input: ArchiveSessionInput!) {
      archiveSession(input: $input) {
        session {
          ...sessionActs_session
          statusDetail
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [unarchive, isUnarchiving] = useAct<sessionActsUnarchiveMutation>(graphql`
    mutation sessionActsUnarchiveMutation($input: UnarchiveSessionInput!) {
      unarchiveSession(input: $input) {
        session {
          ...sessionActs_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const variables = { input: { sessionId: session.sessionId } };
  const isOver = session.status === 'EXIT';
  const isAsleep = session.status === 'SUSPENDED' || session.status === 'ERROR';
  const isAwake = !isOver && !isAsleep;
  const set = (values: Readonly<Record<string, string | boolean>>) => (store: RecordSourceSelectorProxy) => {
    const record = store.get(session.id);
    for (const [name, value] of Object.entries(values)) record?.setValue(value, name);
  };
  // Each is the other's undoing. What is archived is put to sleep: what was awake is woken then.
  const put = async (isArchived: boolean, isUndoing = false) => {
    const { errors } = await (isArchived ? archive : unarchive)(variables, set({ isArchived }));
    if (errors !== null) return;
    const text = isArchived ? 'The session is archived.' : 'The session is unarchived.';
    const undo = async () => {
      await put(!isArchived, true);
      if (isArchived && isAwake) await resume(variables);
    };
    toasts.say(text, isUndoing ? undefined : () => void undo());
  };
  const sleep = async () => {
    const { payload } = await suspend(variables);
    // The page shows how it stands, and not yet what will come.
    if (payload?.session && payload.session.status !== 'SUSPENDED')
      toasts.say('It is suspended as soon as its agent has stopped.');
  };
  return (
    <div className="actions">
      {children}
      {isAwake && (
        <Button size="small" icon="pause" isBusy={isSuspending} onClick={() => void sleep()}>
          Suspend
        </Button>
      )}
      {isAsleep && !session.isArchived && (
        <Button
          size="small"
          icon="play"
          isBusy={isResuming}
          onClick={() => void resume(variables, set({ status: 'RESUMING' }))}
        >
          Resume
        </Button>
      )}
      {!isOver && (
        <Button size="small" icon="stop" tone="danger" isBusy={isTerminating} onClick={() => setAsking(true)}>
          Terminate
        </Button>
      )}
      <Button
        size="small"
        icon="archive"
        isBusy={isArchiving || isUnarchiving}
        onClick={() => void put(!session.isArchived)}
      >
        {session.isArchived ? 'Unarchive' : 'Archive'}
      </Button>
      {!isAwake && <DeleteWorkspace session={session} />}
      {isAsking && (
        <Confirm
          title="Terminate this session?"
          text="Its agent is stopped and its secrets are deleted. It takes no further messages. The transcript stays."
          act="Terminate"
          isBusy={isTerminating}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void terminate(variables, set({ status: 'EXIT', endReason: 'TERMINATED' }));
          }}
        />
      )}
    </div>
  );
}
