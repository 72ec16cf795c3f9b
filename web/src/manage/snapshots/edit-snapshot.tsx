import { useState } from 'react';
import { graphql } from 'react-relay';
import type { editSnapshotMutation } from '../../__generated__/editSnapshotMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { editSnapshot as texts } from '../../texts/snapshots.ts';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { SnapshotFields, snapshotFieldNames } from './snapshot-fields.tsx';

interface EditSnapshotProps {
  readonly snapshot: {
    readonly snapshotId: string;
    readonly name: string;
    readonly description?: string | null | undefined;
    readonly version: number;
  };
  readonly onClose: () => void;
}

/** A dialog that changes the name and the description of a snapshot. */
export function EditSnapshot({ snapshot, onClose }: EditSnapshotProps) {
  const { snapshotId, version } = snapshot;
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<editSnapshotMutation>(
    graphql`
      mutation editSnapshotMutation($input: UpdateSnapshotInput!) {
        updateSnapshot(input: $input) {
          snapshot {
            name
            description
            version
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
    const { errors: refused } = await update({
      input: {
        snapshotId,
        name: fields.text('name'),
        description: fields.textOrNull('description'),
        expectedVersion: version,
      },
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.savedName({ name: fields.text('name') }));
    onClose();
  };
  return (
    <FormDialog
      title={texts.editTitle}
      submitLabel={common.save}
      isBusy={isBusy}
      errors={errors}
      fieldNames={snapshotFieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <SnapshotFields errors={errors} snapshot={snapshot} />
    </FormDialog>
  );
}
