import { useEffect, useState } from 'react';
import { findDraft, keepDraft } from '../../ui/drafts.ts';
import { type Definition, type Draft, newDraft, readDraft } from './draft.ts';
import type { FieldTypes } from './trigger.ts';

/** What is half written of an automation. */
interface Written {
  /** What it was made from; null: it is new. */
  readonly given: Definition | null;
  readonly draft: Draft;
}

/** Under what name it is kept. `id`: the automation's; null: a new one of the organization. */
const keptAs = (id: string | null, organizationId: string | undefined) => `automation:${id ?? `new:${organizationId}`}`;

/** Whether something is half written of an automation. */
export const isHalfWritten = (id: string): boolean => findDraft(keptAs(id, undefined)) !== null;

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
  const name = keptAs(id, organizationId);
  const begin = (): Written => {
    const given = read();
    return { given, draft: given ? readDraft(given, typeOf) : newDraft() };
  };
  const [[first, isRestored], setFirst] = useState(() => {
    const kept = findDraft<Written>(name);
    return [kept ?? begin(), kept !== null] as const;
  });
  const [written, setWritten] = useState(first);
  useEffect(() => {
    if (written !== first) keepDraft(name, written);
  }, [name, written, first]);
  return {
    ...written,
    isRestored,
    change: (draft: Draft) => setWritten(({ given }) => ({ given, draft })),
    /** Begins with what the service has. Gives what takes that back. */
    throwAway() {
      const next = begin();
      keepDraft(name, null);
      setFirst([next, false]);
      setWritten(next);
      return () => setWritten(written);
    },
    /** Takes what the service has now. Gives what takes that back. */
    take(given: Definition) {
      setWritten({ given, draft: readDraft(given, typeOf) });
      return () => setWritten(written);
    },
    /** Nothing of it is kept any more. Gives what keeps it again; null where nothing was written. */
    end() {
      keepDraft(name, null);
      return written === first && !isRestored ? null : () => keepDraft(name, written);
    },
  };
}
