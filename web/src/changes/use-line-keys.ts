import { type KeyboardEvent, type MouseEvent, type PointerEvent, type RefObject, useLayoutEffect, useRef } from 'react';

/** Returns the element of a line's number, by which the line is commented. */
export const lineButton = (box: HTMLElement | null, key: string): HTMLElement | null =>
  box?.querySelector<HTMLElement>(`[data-line="${key}"]`) ?? null;

const keyOf = (target: EventTarget | null): string | null =>
  (target instanceof Element && target.closest('[data-change-key]')?.getAttribute('data-change-key')) || null;

/** The lines that the user chooses: the last one may be before the first one. */
export interface ChosenLines {
  readonly from: string;
  readonly to: string;
}

/** See {@link useLineKeys}. */
interface LineActions {
  readonly chosen: ChosenLines | null;
  /** Marks lines, which are not commented yet. Null: none. */
  readonly onChoose: (chosen: ChosenLines | null) => void;
  /** Opens the form for lines. */
  readonly onComment: (chosen: ChosenLines) => void;
  /** A tap while the form is open: the range of the form ends at the line. Returns false if it cannot. */
  readonly onExtend: (to: string) => boolean;
}

/**
 * Chooses lines of a diff by their numbers, which are one stop of the Tab key. The arrow keys go to other lines, and with
 * Shift choose more of them; so do dragging, a click with Shift, and a tap while the form is open.
 */
export function useLineKeys(box: RefObject<HTMLElement | null>, actions: LineActions) {
  const { chosen, onChoose, onComment, onExtend } = actions;
  const pressed = useRef<{ from: string; to: string; isTouch: boolean } | null>(null);
  // React leaves this attribute alone, so that a step of the focus renders nothing.
  useLayoutEffect(() => {
    const current = box.current?.querySelectorAll<HTMLElement>('[data-line][tabindex="0"]') ?? [];
    if (current.length === 0) box.current?.querySelector<HTMLElement>('[data-line]')?.setAttribute('tabindex', '0');
  });
  const goTo = (button: HTMLElement) => {
    for (const each of box.current?.querySelectorAll('[data-line][tabindex="0"]') ?? [])
      each.setAttribute('tabindex', '-1');
    button.setAttribute('tabindex', '0');
    button.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const button = event.target;
    if (!(button instanceof HTMLElement)) return;
    const from = button.dataset.line;
    if (from === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[data-line]') ?? [])];
    const at = all.indexOf(button);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = all[to];
    if (!next?.dataset.line) return;
    onChoose(event.shiftKey ? { from: chosen?.from ?? from, to: next.dataset.line } : null);
    goTo(next);
  };
  const onPointerDown = (event: PointerEvent) => {
    const key =
      event.target instanceof HTMLElement ? event.target.closest<HTMLElement>('[data-line]')?.dataset.line : undefined;
    pressed.current = key === undefined ? null : { from: key, to: key, isTouch: event.pointerType === 'touch' };
  };
  const onPointerOver = (event: PointerEvent) => {
    const drag = pressed.current;
    const key = keyOf(event.target);
    if (!drag || drag.isTouch || event.buttons !== 1 || key === null || key === drag.to) return;
    drag.to = key;
    onChoose({ from: drag.from, to: key });
  };
  const onPointerUp = () => {
    const drag = pressed.current;
    if (!drag || drag.isTouch || drag.from === drag.to) return;
    pressed.current = null;
    onComment({ from: drag.from, to: drag.to });
  };
  const onClick = (event: MouseEvent) => {
    const button = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>('[data-line]') : null;
    const key = button?.dataset.line;
    if (!button || key === undefined) return;
    const isTouch = pressed.current?.isTouch === true;
    pressed.current = null;
    goTo(button);
    if ((isTouch || event.shiftKey) && onExtend(key)) return;
    const isByKey = event.detail === 0;
    onComment(isByKey && chosen?.to === key ? chosen : { from: key, to: key });
  };
  return { onKeyDown, onPointerDown, onPointerOver, onPointerUp, onClick };
}
