import { type FormEvent, type ReactNode, useId } from 'react';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormErrors, FormFields, type FormProblem } from './form.tsx';

interface FormDialogProps {
  readonly title: string;
  /** The label of the submit button. */
  readonly submitLabel: string;
  readonly tone?: 'primary' | 'danger';
  readonly isBusy: boolean;
  readonly errors: readonly FormProblem[] | null;
  /** The fields that show their errors themselves. */
  readonly fieldNames?: readonly string[];
  readonly size?: 'small' | 'large';
  readonly onClose: () => void;
  readonly onSubmit: (fields: FormFields) => void;
  readonly children: ReactNode;
}

/** A dialog with a form. Errors are shown beside its fields, or below them. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    submitLabel,
    tone = 'primary',
    isBusy,
    errors,
    fieldNames = [],
    size = 'small',
    onClose,
    onSubmit,
    children,
  } = props;
  const form = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isBusy) onSubmit(new FormFields(event.currentTarget));
  };
  return (
    <Dialog
      title={title}
      size={size}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} tone={tone} isBusy={isBusy}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <form id={form} className="form" autoComplete="off" onSubmit={submit}>
        {children}
        <FormErrors errors={errors} fieldNames={fieldNames} />
      </form>
    </Dialog>
  );
}
