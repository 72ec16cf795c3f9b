import { useState } from 'react';
import { graphql } from 'react-relay';
import type { snapshotDialogMutation } from '../__generated__/snapshotDialogMutation.graphql.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { SnapshotFields, snapshotFieldNames } from '../manage/snapshots/snapshot-fields.tsx';
import { useAttemptKey } from '../relay/use-attempt-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { snapshotDialog as texts } from '../texts/session-details.ts';
import { useToasts } from '../ui/toasts.tsx';
import { Point, type PointDialogProps } from './point.tsx';

/** A dialog that saves a checkpoint of a session as a snapshot, from which new sessions can start. */
export function SnapshotDialog({ sessionId, point, onClose }: PointDialogProps) {
  const toasts = useToasts();
  const keyOf = useAttemptKey();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<snapshotDialogMutation>(
    graphql`
      mutation snapshotDialogMutation($input: CreateSnapshotInput!) {
        createSnapshot(input: $input) {
          snapshot {
            name
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
  const submit = async (fields: FormFields) => {
    const input = {
      sessionId,
      point: { checkpointId: point.value },
      name: fields.text('name'),
      description: fields.textOrNull('description'),
    };
    const { payload, errors: refused } = await create({ input: { ...input, idempotencyKey: keyOf(input) } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.saved({ name: payload?.snapshot?.name ?? '' }));
    onClose();
  };
  return (
    <FormDialog
      title={texts.saveAsSnapshot}
      submitLabel={common.save}
      isBusy={isBusy}
      errors={errors}
      fieldNames={snapshotFieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <Point point={point} />
      <p>{texts.text}</p>
      <SnapshotFields errors={errors} />
    </FormDialog>
  );
}
