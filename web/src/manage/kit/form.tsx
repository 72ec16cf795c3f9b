/** Something that the service found wrong with what was sent. */
export interface FormProblem {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}

/** What stands in the fields of a form. */
export class FormFields {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** A text, without spaces around it; empty where there is none. */
  text(name: string): string {
    return String(this.#data.get(name) ?? '').trim();
  }

  /** A text as it stands there. */
  raw(name: string): string {
    return String(this.#data.get(name) ?? '');
  }

  /** A text; null where there is none. */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  /** A number; null where there is none. */
  number(name: string): number | null {
    const text = this.text(name);
    return text === '' ? null : Number(text);
  }

  /** Whether a box is ticked. */
  isOn(name: string): boolean {
    return this.#data.get(name) !== null;
  }

  /** The values of all ticked boxes of a name. */
  all(name: string): string[] {
    return this.#data.getAll(name).map(String);
  }

  /** The words between commas or on lines of their own. */
  list(name: string): string[] {
    return splitList(this.raw(name));
  }
}

/** The words of a text, between commas or on lines of their own. */
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

/** The errors that no field of a form shows. */
export function FormErrors({ errors, fieldNames = [] }: FormErrorsProps) {
  const others = errors?.filter(({ path }) => !path?.some((part) => fieldNames.includes(part))) ?? [];
  if (others.length === 0) return null;
  return (
    <p className="problem" role="alert">
      {others.map(({ message }) => message).join(' ')}
    </p>
  );
}
