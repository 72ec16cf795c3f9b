import { useEffect } from 'react';
import { focusHeading, isInDialog, isLost } from '../ui/focus.ts';

let last: string | null = null;
let isEntered = false;
let isWaiting = false;
/** The element with the focus when the navigation ended without a heading. */
let waitedAt: Element | null = null;

/** Call after a sign-in by the form: the next page then gets the focus that the form had. */
export function focusAfterSignIn(): void {
  isEntered = true;
}

/** Call when a page has shown a placeholder without a heading, and now has one: it gets the focus unless the user has moved it. */
export function focusWhenLoaded(): void {
  if (isWaiting && (isLost() || document.activeElement === waitedAt)) focusHeading();
  isWaiting = false;
}

/**
 * Moves the focus after a navigation: to the row that the user came back from if it is on the page, otherwise to the
 * heading. An element that has focused itself keeps the focus.
 */
export function FocusOnNavigation({ path }: { readonly path: string }) {
  useEffect(() => {
    const from = last;
    last = path;
    if (isInDialog() || (!isEntered && (from === null || from === path))) return;
    isEntered = false;
    isWaiting = document.querySelector('#main :is(h1, h2)') === null;
    const { activeElement } = document;
    waitedAt = activeElement;
    if (activeElement?.matches('#main :not(h1, h2)')) return;
    const line = from && document.querySelector<HTMLElement>(`#main [data-list-item][href="${CSS.escape(from)}"]`);
    if (line) line.focus({ preventScroll: true });
    else focusHeading();
  }, [path]);
  return null;
}
