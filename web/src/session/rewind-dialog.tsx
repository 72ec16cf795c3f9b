import { useState } from 'react';
import { graphql } from 'react-relay';
import type { rewindDialogMutation } from '../__generated__/rewindDialogMutation.graphql.ts';
import { FormDialog, type FormProblem } from '../manage/kit/kit.ts';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { useToasts } from '../ui/toasts.tsx';
import { Point, type PointDialogProps } from './point.tsx';

/** A dialog that says what a rewind reverts, and rewinds a session to a checkpoint. */
export function RewindDialog({ sessionId, point, onClose }: PointDialogProps) {
  const toasts = useToasts();
  const keyOf = useAttemptKey();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [rewind, isBusy] = useMutation<rewindDialogMutation>(
    graphql`
      mutation rewindDialogMutation($input: RewindSessionInput!) {
        rewindSession(input: $input) {
          session {
            status
            statusDetail
            pendingQuestion {
              questionId
              reason
            }
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async () => {
    const input = { sessionId, point: { checkpointId: point.value } };
    const { errors: refused } = await rewind({ input: { ...input, idempotencyKey: keyOf(input) } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`The session was rewound to “${point.label}”. Send a message to continue.`);
    onClose();
  };
  return (
    <FormDialog
      title="Rewind this session?"
      submitLabel="Rewind"
      tone="danger"
      isBusy={isBusy}
      errors={errors}
      onClose={onClose}
      onSubmit={() => void submit()}
    >
      <Point point={point} />
      <p>
        The files of the session and the memory of the agent return to this checkpoint. Later changes to files that are
        not saved elsewhere are lost.
      </p>
      <ul>
        <li>If the agent works, its turn stops.</li>
        <li>The log stays. Later messages are marked as reverted.</li>
        <li>Commits that were pushed stay at the forge, and so do pull requests.</li>
      </ul>
    </FormDialog>
  );
}
