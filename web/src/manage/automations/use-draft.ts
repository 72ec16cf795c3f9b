import { useEffect, useState } from 'react';
import { findDraft, saveDraft } from '../../ui/drafts.ts';
import { type Definition, type Draft, newDraft, readDraft } from './draft.ts';
import type { FieldTypes } from './trigger.ts';

/** The unsaved state of an automation's form. */
interface DraftState {
  /** The stored definition; null for a new one. */
  readonly base: Definition | null;
  readonly draft: Draft;
}

/** The name under which a draft is stored. `id`: the automation's; null: a new one of the organization. */
const draftName = (id: string | null, organizationId: string | undefined) =>
  `automation-form:${id ?? `new:${organizationId}`}`;

/** Returns true if there is a draft of an automation. */
export const hasDraft = (id: string): boolean => findDraft(draftName(id, undefined)) !== null;

/**
 * The draft of an automation, stored in this tab until it is saved or cancelled. `read`: the service's version; null
 * for a new one. The base stays the version at the time when the form was opened, so that changes made by others
 * meanwhile are not reverted.
 */
export function useDraft(
  id: string | null,
  organizationId: string | undefined,
  read: () => Definition | null,
  typeOf: FieldTypes,
) {
  const name = draftName(id, organizationId);
  const begin = (): DraftState => {
    const base = read();
    return { base, draft: base ? readDraft(base, typeOf) : newDraft() };
  };
  const [[first, isRestored], setFirst] = useState(() => {
    const storedDraft = findDraft<DraftState>(name);
    return [storedDraft ?? begin(), storedDraft !== null] as const;
  });
  const [state, setState] = useState(first);
  useEffect(() => {
    if (state !== first) saveDraft(name, state);
  }, [name, state, first]);
  return {
    ...state,
    isRestored,
    change: (draft: Draft) => setState(({ base }) => ({ base, draft })),
    /** Resets the form to the service's version. Returns a function that undoes this. */
    discard() {
      const next = begin();
      saveDraft(name, null);
      setFirst([next, false]);
      setState(next);
      return () => setState(state);
    },
    /** Replaces the draft by the service's version. Returns a function that undoes this. */
    take(base: Definition) {
      setState({ base, draft: readDraft(base, typeOf) });
      return () => setState(state);
    },
    /** Deletes the stored draft. Returns a function that restores it; null if there was none. */
    end() {
      saveDraft(name, null);
      return state === first && !isRestored ? null : () => saveDraft(name, state);
    },
  };
}
