import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { findDraft, saveDraft } from '../../ui/drafts.ts';
import { differing, type Values, valuesIn } from './values.ts';

/** What is half written in a form, and what it was made from. */
interface Draft {
  readonly base: Values;
  readonly written: Values;
}

/** A form whose fields are kept in this tab until they are saved. */
export interface DraftForm {
  readonly form: RefObject<HTMLFormElement | null>;
  /** What its fields begin with. */
  readonly values: Values;
  /** What it was made from: as the service had it then. */
  readonly base: Values;
  /** The form's key: it is made anew when it is filled. */
  readonly round: number;
  /** Whether it began with what was not saved before. */
  readonly isRestored: boolean;
  /** Puts something else into its fields. */
  fill(values: Values, base: Values): void;
  /** To be called when something was written. */
  save(): void;
  /** Nothing of it is kept any more. Gives what keeps it again; null where nothing was written. */
  end(): (() => void) | null;
}

/**
 * What is written into a form, kept under a name: leaving the page, or loading it anew, loses nothing. A name of null keeps
 * nothing. `stored`: what the service has. Not for forms with something secret: see {@link saveDraft}.
 */
export function useDraftForm(name: string | null, stored: Values): DraftForm {
  const form = useRef<HTMLFormElement>(null);
  const [filled, setFilled] = useState(() => {
    const draft = name === null ? null : findDraft<Draft>(name);
    return draft
      ? { values: draft.written, base: draft.base, round: 0, isRestored: true }
      : { values: stored, base: stored, round: 0, isRestored: false };
  });
  const isOver = useRef(false);
  const { base } = filled;
  const store = (draft: Draft | null) => {
    if (name !== null) saveDraft(name, draft);
  };
  const read = (): Draft | null => {
    if (!form.current) return null;
    const written = valuesIn(form.current);
    return differing(written, base).length === 0 ? null : { base, written };
  };
  const save = () => {
    if (form.current && !isOver.current) store(read());
  };
  const latestSave = useRef(save);
  latestSave.current = save;
  // What is chosen from a list says nothing of it: it is looked at once more before the page is left.
  useLayoutEffect(() => {
    const last = () => latestSave.current();
    addEventListener('pagehide', last);
    return () => {
      removeEventListener('pagehide', last);
      last();
    };
  }, []);
  return {
    ...filled,
    form,
    save,
    fill(values, from) {
      store(differing(values, from).length === 0 ? null : { base: from, written: values });
      setFilled(({ round }) => ({ values, base: from, round: round + 1, isRestored: false }));
    },
    end() {
      const draft = read();
      isOver.current = true;
      store(null);
      return draft && (() => store(draft));
    },
  };
}
