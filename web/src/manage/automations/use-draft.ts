import { useEffect, useState } from 'react';
import { findDraft, saveDraft } from '../../ui/drafts.ts';
import { type Definition, type Draft, newDraft, readDraft } from './draft.ts';
import type { FieldTypes } from './trigger.ts';

/** What is half written of an automation. */
interface DraftState {
  /** What it was made from; null: it is new. */
  readonly base: Definition | null;
  readonly draft: Draft;
}

/** Under what name it is kept. `id`: the automation's; null: a new one of the organization. */
const draftName = (id: string | null, organizationId: string | undefined) =>
  `automation-form:${id ?? `new:${organizationId}`}`;

/** Whether something is half written of an automation. */
export const hasDraft = (id: string): boolean => findDraft(draftName(id, undefined)) !== null;

/**
 * An automation as it stands in its form, kept in this tab until it is saved or cancelled. `read`: how the service has it; null
 * for a new one. What it was made from stays as it was when the form was opened: what others change meanwhile is not taken back.
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
    /** Begins with what the service has. Gives what takes that back. */
    discard() {
      const next = begin();
      saveDraft(name, null);
      setFirst([next, false]);
      setState(next);
      return () => setState(state);
    },
    /** Takes what the service has now. Gives what takes that back. */
    take(base: Definition) {
      setState({ base, draft: readDraft(base, typeOf) });
      return () => setState(state);
    },
    /** Nothing of it is kept any more. Gives what keeps it again; null where nothing was written. */
    end() {
      saveDraft(name, null);
      return state === first && !isRestored ? null : () => saveDraft(name, state);
    },
  };
}
