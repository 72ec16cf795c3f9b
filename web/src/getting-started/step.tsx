import { type ReactNode, useId } from 'react';
import { step as texts } from '../texts/getting-started.ts';
import { Icon } from '../ui/icons.tsx';

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  /** True if the step needs attention, although the next one is possible. */
  readonly isDoubtful?: boolean;
  /** True for the first step that is not done. */
  readonly isCurrent: boolean;
  readonly children: ReactNode;
}

/** A step of the first-run page. */
export function Step({ number, title, isDone, isDoubtful = false, isCurrent, children }: StepProps) {
  const heading = useId();
  return (
    <li
      className={`card step${isDone ? ' done' : isDoubtful ? ' doubtful' : ''}`}
      aria-current={isCurrent ? 'step' : undefined}
    >
      <span className="step-number" aria-hidden="true">
        {isDone ? <Icon name="check" /> : isDoubtful ? <Icon name="warning" /> : number}
      </span>
      <section aria-labelledby={heading}>
        <h2 id={heading} tabIndex={-1}>
          {title}
          {isDone && <span className="for-readers">{texts.done}</span>}
        </h2>
        {children}
      </section>
    </li>
  );
}
