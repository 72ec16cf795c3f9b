import { useEffect, useRef } from 'react';
import { Change } from '../../ui/change.tsx';
import { Time } from '../../ui/time.tsx';
import { differing, type Values } from './values.ts';

/** How the service has what a form is about. */
export interface Saved {
  readonly values: Values;
  /** What stands for values that are ids. */
  readonly displayValues?: Values;
  readonly at: string;
  readonly version: number;
  /** Who saved it; null: that is not known. */
  readonly by: string | null;
}

/** What is said when the form shows what somebody else has saved. */
export const theirsTakenText = 'The form shows what was saved.';

/** What is said when the service could not be asked. */
export const checkFailedText = 'It could not be seen whether somebody has changed it, so nothing was saved. Try again.';

interface SavedMeanwhileProps {
  readonly saved: Omit<Saved, 'version'>;
  /** What the form was made from. */
  readonly base: Values;
  /** What the fields are called. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What somebody else has changed since a form was opened, field by field. */
export function SavedMeanwhile({ saved: { values, displayValues, at, by }, base, labels }: SavedMeanwhileProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form is long, and each time something else was saved.
  useEffect(() => {
    heading.current?.closest('section')?.scrollIntoView({ block: 'start' });
    heading.current?.focus({ preventScroll: true });
  }, [values]);
  return (
    <section className="saved-meanwhile" aria-labelledby="saved-meanwhile">
      <h2 id="saved-meanwhile" tabIndex={-1} ref={heading}>
        {by ? <bdi>{by}</bdi> : 'Somebody else'} has saved this while you wrote
      </h2>
      <p>
        That was <Time at={at} />. Nothing was overwritten, and what you wrote is still in the form. This is what they
        changed:
      </p>
      {differing(values, base).map((name) => {
        const displayValue = displayValues?.[name];
        const change = displayValue === undefined ? { oldText: base[name] ?? '', newText: values[name] ?? '' } : null;
        return (
          <Change
            key={name}
            title={labels[name] ?? name}
            change={change ?? { oldText: '', newText: displayValue ?? '' }}
          />
        );
      })}
    </section>
  );
}
