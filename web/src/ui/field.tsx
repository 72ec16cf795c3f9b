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

/** What every field has. */
export interface FieldProps {
  readonly label: string;
  /** What to know before one fills it in. */
  readonly hint?: ReactNode;
  /** What the service found wrong with it. */
  readonly error?: string | null | undefined;
  /** The label is for screen readers alone, where what is around it says it already. */
  readonly isLabelHidden?: boolean | undefined;
}

type Wrapped<T> = FieldProps & Omit<T, 'className' | 'id'>;

/** A field with its label above, and below it what to know and what is wrong. */
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

/** The id of a field within its frame, and what describes it there. */
export function describeField(id: string, { hint, error }: FieldProps) {
  const by = [hint ? `${id}-hint` : null, error ? `${id}-error` : null].filter((each) => each !== null);
  return { id, 'aria-invalid': error ? true : undefined, 'aria-describedby': by.length > 0 ? by.join(' ') : undefined };
}

/** A line of text, with its label. */
export function TextField({
  label,
  hint,
  error,
  isLabelHidden = false,
  ...rest
}: Wrapped<InputHTMLAttributes<HTMLInputElement>> & { readonly ref?: Ref<HTMLInputElement> }) {
  const id = useId();
  return (
    <FieldFrame {...{ id, label, hint, error, isLabelHidden }}>
      <input type="text" {...rest} {...describeField(id, { label, hint, error })} />
    </FieldFrame>
  );
}

/** Several lines of text, with their label. */
export function TextArea({
  label,
  hint,
  error,
  isLabelHidden = false,
  ...rest
}: Wrapped<TextareaHTMLAttributes<HTMLTextAreaElement>> & { readonly ref?: Ref<HTMLTextAreaElement> }) {
  const id = useId();
  return (
    <FieldFrame {...{ id, label, hint, error, isLabelHidden }}>
      <textarea rows={4} {...rest} {...describeField(id, { label, hint, error })} />
    </FieldFrame>
  );
}

/** One of several, with its label; the options are its children. */
export function Select({
  label,
  hint,
  error,
  isLabelHidden = false,
  children,
  ...rest
}: Wrapped<SelectHTMLAttributes<HTMLSelectElement>>) {
  const id = useId();
  return (
    <FieldFrame {...{ id, label, hint, error, isLabelHidden }}>
      <div className="choice">
        <select {...rest} {...describeField(id, { label, hint, error })}>
          {children}
        </select>
        <Icon name="chevron" size={14} />
      </div>
    </FieldFrame>
  );
}

/** The error among `userErrors` that is about a field: its path ends with, or goes through, the field's name. */
export function errorOf(
  errors: readonly { readonly message: string; readonly path?: readonly string[] | null | undefined }[] | null,
  name: string,
): string | null {
  return errors?.find(({ path }) => path?.includes(name))?.message ?? null;
}
