import { type FormEvent, type InputEventHandler, useEffect, useState } from 'react';
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
  /** The sentence of a check of its own. */
  readonly validationMessage?: string | undefined;
}

/** Returns what is wrong with the value of a control with this label, in a sentence. */
export function validityText(checked: Checked, label: string): string {
  const { validity, type, min = '', max = '', minLength = 0, title, validationMessage } = checked;
  if (validity.valueMissing) return type === 'checkbox' ? texts.unchecked : texts.missing({ label });
  if (validity.badInput) return type === 'number' ? texts.noNumber : texts.noDate;
  if (validity.rangeUnderflow) return texts.tooLow({ min: String(min) });
  if (validity.rangeOverflow) return texts.tooHigh({ max: String(max) });
  if (validity.stepMismatch) return texts.noInteger;
  if (validity.tooShort) return texts.tooShort({ count: minLength });
  if (validity.typeMismatch) return type === 'email' ? texts.noEmail : texts.noUrl;
  if (validity.customError) return validationMessage || texts.invalid;
  return title || texts.invalid;
}

/** Returns what is wrong with a value, in a sentence; null: nothing. */
export type Check = (value: string) => string | null;

/** The handlers of a control that shows its own error, and that error; null: it has none. */
interface Validity<T extends Control> {
  readonly problem: string | null;
  readonly onInvalid: (event: FormEvent<T>) => void;
  readonly onInput: InputEventHandler<T>;
}

/**
 * Checks a control as the browser does when its form is sent, but leaves the message to the page: the first invalid control gets the
 * focus. The error disappears with the next change. `check` returns what is wrong with a value beyond the constraints of its element;
 * it takes part in the browser's check, so that a form shows all its errors at once.
 */
export function useValidity<T extends Control>(
  id: string,
  {
    label,
    onInput,
    check,
  }: {
    readonly label: string;
    readonly onInput?: InputEventHandler<T> | undefined;
    readonly check?: Check | undefined;
  },
): Validity<T> {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const control = document.getElementById(id);
    if (check && control) setCheck(control as Control, check);
  }, [id, check]);
  return {
    problem,
    onInvalid(event) {
      event.preventDefault();
      const { currentTarget } = event;
      setProblem(validityText(currentTarget, label));
      if (currentTarget === firstInvalid(currentTarget.form)) currentTarget.focus();
    },
    onInput(event) {
      if (check) setCheck(event.currentTarget, check);
      if (problem !== null) setProblem(null);
      onInput?.(event);
    },
  };
}

const setCheck = (control: Control, check: Check) => control.setCustomValidity(check(control.value) ?? '');

function firstInvalid(form: HTMLFormElement | null): Element | undefined {
  return [...(form?.elements ?? [])].find(
    (element) => element.matches(':invalid') && !(element instanceof HTMLFieldSetElement),
  );
}
