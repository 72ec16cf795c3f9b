import { useCurrentErrors } from '../../relay/use-current-errors.ts';
/** An error that the service found in the input. */
export interface FormProblem {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}

/** The values of a form's fields. */
export class FormFields {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** A text without surrounding spaces; empty if missing. */
  text(name: string): string {
    return String(this.#data.get(name) ?? '').trim();
  }

  /** A text exactly as entered. */
  raw(name: string): string {
    return String(this.#data.get(name) ?? '');
  }

  /** A text; null if empty. */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  /** A number; null if empty. */
  number(name: string): number | null {
    const text = this.text(name);
    return text === '' ? null : Number(text);
  }

  /** Returns true if a box is checked. */
  isOn(name: string): boolean {
    return this.#data.get(name) !== null;
  }

  /** The values of all checked boxes of a name. */
  all(name: string): string[] {
    return this.#data.getAll(name).map(String);
  }

  /** The items of a text, split at commas and line breaks. */
  list(name: string): string[] {
    return splitList(this.raw(name));
  }
}

/** Splits a text at commas and line breaks. */
function splitList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

interface FormErrorsProps {
  readonly errors: readonly FormProblem[] | null;
  readonly fieldNames?: readonly string[];
}

/** The errors that no field of the form shows. */
export function FormErrors({ errors, fieldNames = [] }: FormErrorsProps) {
  const others = useCurrentErrors(errors)?.filter(({ path }) => !path?.some((part) => fieldNames.includes(part))) ?? [];
  if (others.length === 0) return null;
  return (
    <p className="problem" role="alert">
      {others.map(({ message }) => message).join(' ')}
    </p>
  );
}
