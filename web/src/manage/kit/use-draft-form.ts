import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { findDraft, saveDraft } from '../../ui/drafts.ts';
import { differing, type Values, valuesIn } from './values.ts';

/** The unsaved values of a form, and the values that it started from. */
interface Draft {
  readonly base: Values;
  readonly written: Values;
}

/** A form whose fields are stored in this tab until they are saved. */
export interface DraftForm {
  readonly form: RefObject<HTMLFormElement | null>;
  /** The initial values of its fields. */
  readonly values: Values;
  /** The service's values when the form was opened. */
  readonly base: Values;
  /** The form's React key: it changes when the form is filled. */
  readonly round: number;
  /** True if it started with an unsaved draft. */
  readonly isRestored: boolean;
  /** Replaces the values of its fields. */
  fill(values: Values, base: Values): void;
  /** Call after every input. */
  save(): void;
  /** Deletes the stored draft. Returns a function that restores it; null if there was none. */
  end(): (() => void) | null;
}

/**
 * Stores the input of a form under a name, so that leaving or reloading the page loses nothing. A null name stores
 * nothing. `stored`: the service's values. Not for forms with secrets: see {@link saveDraft}.
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
  // A choice from a list fires no event, so the form is read once more before the page is left.
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
