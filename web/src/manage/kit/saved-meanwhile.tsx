import { useEffect, useRef } from 'react';
import { savedMeanwhile as texts } from '../../texts/manage-kit.ts';
import { Change } from '../../ui/change.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { differing, type Values } from './values.ts';

/** The service's current version of a form's object. */
export interface Saved {
  readonly values: Values;
  /** The texts to show for values that are ids. */
  readonly displayValues?: Values;
  readonly at: string;
  readonly version: number;
  /** The name of the user who saved it; null if unknown. */
  readonly by: string | null;
}

/** The message when the form shows what another user saved. */
export const theirsTakenText = texts.theirsTaken;

/** The message when the current version could not be read. */
export const checkFailedText = texts.checkFailed;

interface SavedMeanwhileProps {
  readonly saved: Omit<Saved, 'version'>;
  /** The values that the form started from. */
  readonly base: Values;
  /** The labels of the fields. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The changes that another user saved since the form was opened, by field. */
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
        {by ? <RichText text={texts.savedBy} slots={{ name: <bdi>{by}</bdi> }} /> : texts.savedBySomebody}
      </h2>
      <p>
        <RichText text={texts.nothingOverwritten} slots={{ time: <Time at={at} /> }} />
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
