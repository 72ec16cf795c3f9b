import './info-tip.css';
import { type FocusEvent, type KeyboardEvent, useRef } from 'react';
import { Icon } from './icons.tsx';

interface InfoTipProps {
  /** The question that the text answers, for screen readers. */
  readonly label: string;
  readonly text: string;
}

/** A button that shows an explanation. Escape closes it, and so does the focus when it leaves. */
export function InfoTip({ label, text }: InfoTipProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (details.current) details.current.open = false;
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !details.current?.open) return;
    event.preventDefault();
    close();
  };
  const leave = (event: FocusEvent) => !event.currentTarget.contains(event.relatedTarget) && close();
  return (
    <details className="info-tip" ref={details} onKeyDown={press} onBlur={leave}>
      <summary aria-label={label}>
        <Icon name="info" size={14} />
      </summary>
      <p>{text}</p>
    </details>
  );
}
