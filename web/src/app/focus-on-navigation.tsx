import { useEffect } from 'react';
import { focusHeading, isInDialog } from '../ui/focus.ts';

let last: string | null = null;
let isEntered = false;

/** To be called when somebody has come in by the form: the page that comes then has what the form had, the focus. */
export function focusAfterSignIn(): void {
  isEntered = true;
}

/**
 * Gives the focus to the page that one has come to: to the line that one came back from, where that is on it, else to its
 * heading. What has taken the focus itself keeps it.
 */
export function FocusOnNavigation({ path }: { readonly path: string }) {
  useEffect(() => {
    const from = last;
    last = path;
    if (isInDialog() || (!isEntered && (from === null || from === path))) return;
    isEntered = false;
    const { activeElement } = document;
    if (activeElement?.matches('#main :not(h1, h2)')) return;
    const line = from && document.querySelector<HTMLElement>(`#main [data-list-item][href="${CSS.escape(from)}"]`);
    if (line) line.focus({ preventScroll: true });
    else focusHeading();
  }, [path]);
  return null;
}
