import { common } from '../../texts/common.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import type { FormProblem } from '../kit/kit.ts';

/** The names of the fields of {@link SnapshotFields}. */
export const snapshotFieldNames = ['name', 'description'];

interface SnapshotFieldsProps {
  readonly errors: readonly FormProblem[] | null;
  /** The current values of a snapshot that exists. */
  readonly snapshot?: { readonly name: string; readonly description?: string | null | undefined };
}

/** The name and the description of a snapshot. */
export function SnapshotFields({ errors, snapshot }: SnapshotFieldsProps) {
  return (
    <>
      <TextField
        label={common.name}
        name="name"
        required
        maxLength={200}
        defaultValue={snapshot?.name ?? ''}
        error={errorOf(errors, 'name')}
      />
      <TextField
        label={common.description}
        name="description"
        maxLength={2_000}
        defaultValue={snapshot?.description ?? ''}
        error={errorOf(errors, 'description')}
      />
    </>
  );
}
