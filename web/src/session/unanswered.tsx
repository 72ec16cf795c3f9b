import { createContext, useContext } from 'react';
import { unanswered as texts } from '../texts/session-transcript.ts';
import { Button } from '../ui/button.tsx';

/** The messages in the transcript that the agent could not be started for. */
export interface Unanswered {
  /** Their ids. */
  readonly ids: ReadonlySet<string>;
  /** Null: the viewer may not withdraw them. */
  readonly withdraw: ((id: string) => void) | null;
}

/** See {@link Unanswered}. */
export const UnansweredContext = createContext<Unanswered>({ ids: new Set(), withdraw: null });

/** Says of a message that it is not answered, and withdraws it. */
export function UnansweredTag({ id }: { readonly id: string }) {
  const { ids, withdraw } = useContext(UnansweredContext);
  if (!ids.has(id)) return null;
  return (
    <>
      <span className="tag">{texts.notAnswered}</span>
      {withdraw !== null && (
        <Button size="small" tone="quiet" icon="close" aria-label={texts.withdraw} onClick={() => withdraw(id)} />
      )}
    </>
  );
}
