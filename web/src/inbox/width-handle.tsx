import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { inbox as texts } from '../texts/inbox.ts';

/** The width of the column with the inbox, in pixels. */
const widths = { initial: 280, min: 256, max: 520 } as const;
const key = 'switchyard:inbox-width';
/** The change by an arrow key, in pixels. */
const step = 16;

const clamp = (width: number): number => Math.round(Math.min(widths.max, Math.max(widths.min, width)));

/** Returns the width of the column with the inbox, which this browser remembers, and a function that changes it. */
export function useInboxWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => clamp(Number(localStorage.getItem(key)) || widths.initial));
  const change = (next: number) => {
    setWidth(clamp(next));
    localStorage.setItem(key, String(clamp(next)));
  };
  return [width, change];
}

interface WidthHandleProps {
  readonly width: number;
  readonly onChange: (width: number) => void;
}

/** The right edge of the column with the inbox: the pointer and the arrow keys move it, a double click resets it. */
export function WidthHandle({ width, onChange }: WidthHandleProps) {
  const [isDragged, setDragged] = useState(false);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') onChange(width - step);
    else if (event.key === 'ArrowRight') onChange(width + step);
    else if (event.key === 'Home') onChange(widths.min);
    else if (event.key === 'End') onChange(widths.max);
    else return;
    event.preventDefault();
  };
  const move = ({ clientX, currentTarget }: PointerEvent) => {
    if (isDragged) onChange(clientX - (currentTarget.parentElement?.getBoundingClientRect().left ?? 0));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr has no value and no focus.
    <div
      className="width-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={texts.resize}
      aria-valuenow={width}
      aria-valuemin={widths.min}
      aria-valuemax={widths.max}
      data-dragged={isDragged || undefined}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(true);
      }}
      onPointerMove={move}
      onPointerUp={() => setDragged(false)}
      onLostPointerCapture={() => setDragged(false)}
      onDoubleClick={() => onChange(widths.initial)}
    />
  );
}
