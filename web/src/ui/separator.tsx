import './separator.css';
import { type KeyboardEvent, type PointerEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';

interface SeparatorProps {
  /** Its name for screen readers: the part that it resizes. */
  readonly label: string;
  /** The ID of the element before it, whose size it changes. */
  readonly controls: string;
  /** The element that contains both parts. It gets `--before` and `--after`, the sizes of the parts in percent. */
  readonly box: RefObject<HTMLElement | null>;
  /** The size of the part before it in percent: at first, and after a double click. */
  readonly start: number;
  readonly initial: number;
  readonly min: number;
  readonly max: number;
  /** Called after the user has chosen another size. */
  readonly onResize: (percent: number) => void;
  /** Hides the part after it: the key Enter. */
  readonly onCollapse?: () => void;
}

/** The change by an arrow key, and with Shift, in percent. */
const step = { small: 2, large: 10 } as const;

/**
 * The line between two parts of a page, beside each other. The pointer moves it, and so do the arrow keys, Home and End
 * (https://www.w3.org/WAI/ARIA/apg/patterns/windowsplitter/).
 */
export function Separator(props: SeparatorProps) {
  const { label, controls, box, start, initial, min, max, onResize, onCollapse } = props;
  const clamp = (percent: number) => Math.min(max, Math.max(min, percent));
  const [percent, setPercent] = useState(() => clamp(start));
  const [isDragged, setDragged] = useState(false);
  // React renders a move later than the release that follows it.
  const dragged = useRef<number | null>(null);
  useLayoutEffect(() => {
    box.current?.style.setProperty('--before', `${percent}%`);
    box.current?.style.setProperty('--after', `${100 - percent}%`);
  }, [box, percent]);
  const choose = (next: number) => {
    setPercent(clamp(next));
    onResize(clamp(next));
  };
  const press = (event: KeyboardEvent) => {
    const by = event.shiftKey ? step.large : step.small;
    if (event.key === 'ArrowLeft') choose(percent - by);
    else if (event.key === 'ArrowRight') choose(percent + by);
    else if (event.key === 'Home') choose(min);
    else if (event.key === 'End') choose(max);
    else if (event.key === 'Enter' && onCollapse) onCollapse();
    else return;
    event.preventDefault();
  };
  const move = ({ clientX }: PointerEvent) => {
    if (dragged.current === null || !box.current) return;
    const { left, width } = box.current.getBoundingClientRect();
    dragged.current = clamp(((clientX - left) / width) * 100);
    setPercent(dragged.current);
  };
  const release = () => {
    if (dragged.current === null) return;
    choose(dragged.current);
    dragged.current = null;
    setDragged(false);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr has no value and no focus.
    <div
      className="separator"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-controls={controls}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={min}
      aria-valuemax={max}
      data-dragged={isDragged || undefined}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = percent;
        setDragged(true);
      }}
      onPointerMove={move}
      onPointerUp={release}
      onLostPointerCapture={release}
      onDoubleClick={() => choose(initial)}
    />
  );
}
