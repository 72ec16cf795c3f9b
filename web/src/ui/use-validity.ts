import { type FormEvent, type InputEventHandler, useState } from 'react';
import { validity as texts } from '../texts/ui.ts';

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** The constraints of a control and which of them its value breaks. */
export interface Checked {
  readonly validity: Partial<Record<Exclude<keyof ValidityState, 'valid'>, boolean>>;
  readonly type: string;
  readonly min?: string | number | undefined;
  readonly max?: string | number | undefined;
  readonly minLength?: number | undefined;
  readonly title?: string | undefined;
}

/** Returns what is wrong with the value of a control with this label, in a sentence. */
export function validityText(checked: Checked, label: string): string {
  const { validity, type, min = '', max = '', minLength = 0, title } = checked;
  if (validity.valueMissing) return type === 'checkbox' ? texts.unchecked : texts.missing({ label });
  if (validity.badInput) return type === 'number' ? texts.noNumber : texts.noDate;
  if (validity.rangeUnderflow) return texts.tooLow({ min: String(min) });
  if (validity.rangeOverflow) return texts.tooHigh({ max: String(max) });
  if (validity.stepMismatch) return texts.noInteger;
  if (validity.tooShort) return texts.tooShort({ count: minLength });
  if (validity.typeMismatch) return type === 'email' ? texts.noEmail : texts.noUrl;
  return title || texts.invalid;
}

/** The handlers of a control that shows its own error, and that error; null: it has none. */
interface Validity<T extends Control> {
  readonly problem: string | null;
  readonly onInvalid: (event: FormEvent<T>) => void;
  readonly onInput: InputEventHandler<T>;
}

/**
 * Checks a control as the browser does when its form is sent, but leaves the message to the page: the first invalid control gets the
 * focus. The error disappears with the next change.
 */
export function useValidity<T extends Control>(label: string, onInput?: InputEventHandler<T>): Validity<T> {
  const [problem, setProblem] = useState<string | null>(null);
  return {
    problem,
    onInvalid(event) {
      event.preventDefault();
      const { currentTarget } = event;
      setProblem(validityText(currentTarget, label));
      if (currentTarget === firstInvalid(currentTarget.form)) currentTarget.focus();
    },
    onInput(event) {
      if (problem !== null) setProblem(null);
      onInput?.(event);
    },
  };
}

function firstInvalid(form: HTMLFormElement | null): Element | undefined {
  return [...(form?.elements ?? [])].find(
    (element) => element.matches(':invalid') && !(element instanceof HTMLFieldSetElement),
  );
}
