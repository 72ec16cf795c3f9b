import { useState } from 'react';
import { graphql } from 'react-relay';
import type { rewindDialogMutation } from '../__generated__/rewindDialogMutation.graphql.ts';
import { FormDialog, type FormProblem } from '../manage/kit/kit.ts';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { rewindDialog as texts } from '../texts/session-details.ts';
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
    toasts.say(texts.rewound({ label: point.label }));
    onClose();
  };
  return (
    <FormDialog
      title={texts.title}
      submitLabel={texts.rewind}
      tone="danger"
      isBusy={isBusy}
      errors={errors}
      onClose={onClose}
      onSubmit={() => void submit()}
    >
      <Point point={point} />
      <p>{texts.text}</p>
      <ul>
        <li>{texts.stopsTurn}</li>
        <li>{texts.logStays}</li>
        <li>{texts.pushedStay}</li>
      </ul>
    </FormDialog>
  );
}
