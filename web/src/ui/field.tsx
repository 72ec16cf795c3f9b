import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import { Icon } from './icons.tsx';
import { problemText } from './problem-text.ts';
import { type Check, useValidity } from './use-validity.ts';

/** The common properties of fields. */
export interface FieldProps {
  readonly label: string;
  /** A hint for filling it in. */
  readonly hint?: ReactNode;
  /** The service's error for this field. What the browser checks itself comes before it, in the same place. */
  readonly error?: string | null | undefined;
  /** True if only screen readers get the label, because the context shows it already. */
  readonly isLabelHidden?: boolean | undefined;
}

type Checkable<T> = Wrapped<T> & { readonly check?: Check | undefined };

type Wrapped<T> = FieldProps & Omit<T, 'className' | 'id'>;

/** A field with its label above, and its hint and error below. */
export function FieldFrame(props: FieldProps & { readonly id: string; readonly children: ReactNode }) {
  const { id, label, hint, error, isLabelHidden, children } = props;
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? 'for-readers' : undefined}>
        {label}
      </label>
      {children}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="problem" id={`${id}-error`} role="alert">
          {problemText(error)}
        </p>
      )}
    </div>
  );
}

/** The ids that connect a field with its hint and error. */
export function describeField(id: string, { hint, error }: FieldProps) {
  const by = [hint ? `${id}-hint` : null, error ? `${id}-error` : null].filter((each) => each !== null);
  return { id, 'aria-invalid': error ? true : undefined, 'aria-describedby': by.length > 0 ? by.join(' ') : undefined };
}

/** A text field with its label. */
export function TextField({
  label,
  hint,
  error,
  isLabelHidden = false,
  check,
  ...rest
}: Checkable<InputHTMLAttributes<HTMLInputElement>> & { readonly ref?: Ref<HTMLInputElement> }) {
  const id = useId();
  const { problem, ...checks } = useValidity(id, { label, onInput: rest.onInput, check });
  const shown = problem ?? error;
  return (
    <FieldFrame {...{ id, label, hint, error: shown, isLabelHidden }}>
      <input type="text" {...rest} {...checks} {...describeField(id, { label, hint, error: shown })} />
    </FieldFrame>
  );
}

/** A multi-line text field with its label. */
export function TextArea({
  label,
  hint,
  error,
  isLabelHidden = false,
  check,
  ...rest
}: Checkable<TextareaHTMLAttributes<HTMLTextAreaElement>> & { readonly ref?: Ref<HTMLTextAreaElement> }) {
  const id = useId();
  const { problem, ...checks } = useValidity(id, { label, onInput: rest.onInput, check });
  const shown = problem ?? error;
  return (
    <FieldFrame {...{ id, label, hint, error: shown, isLabelHidden }}>
      <textarea rows={4} {...rest} {...checks} {...describeField(id, { label, hint, error: shown })} />
    </FieldFrame>
  );
}

/** A select field with its label; the options are its children. */
export function Select({
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
  ...rest
}: Wrapped<SelectHTMLAttributes<HTMLSelectElement>>) {
  const id = useId();
  const { problem, ...checks } = useValidity(id, { label, onInput: rest.onInput });
  const shown = problem ?? error;
  return (
    <FieldFrame {...{ id, label, hint, error: shown, isLabelHidden }}>
      <div className="choice">
        <select {...rest} {...checks} {...describeField(id, { label, hint, error: shown })}>
          {children}
        </select>
        <Icon name="chevron" size={14} />
      </div>
    </FieldFrame>
  );
}

/** The error among `userErrors` for a field: its path ends with, or contains, the field's name. */
export function errorOf(
  errors: readonly { readonly message: string; readonly path?: readonly string[] | null | undefined }[] | null,
  name: string,
): string | null {
  return errors?.find(({ path }) => path?.includes(name))?.message ?? null;
}
