const fields = ':is(input:not([type="hidden"], [type="file"], [hidden]), textarea, select):not(:disabled)';

/** Focuses a dialog's first field, or its harmless button: never the close button. */
export function focusFirst(dialog: HTMLElement | null): void {
  const body = dialog?.querySelector('.dialog-body');
  if (!dialog || body?.contains(document.activeElement)) return;
  const first = body?.querySelector<HTMLElement>(fields);
  // If the form's fields are still loading, no button gets the focus: the space bar would press it.
  const other = body?.querySelector('form')
    ? dialog
    : dialog.querySelector<HTMLElement>('.dialog-body button, footer button');
  (first ?? other ?? dialog).focus();
}

/** Returns true if the focused element was removed, so that Tab would start at the top. */
export function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Returns true if a dialog is open. */
export const isInDialog = (): boolean => document.querySelector('dialog[open]') !== null;

/** Focuses the heading of the page. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('#main :is(h1, h2)');
  if (!heading || isInDialog()) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Returns true if the element accepts typed text. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select, [contenteditable]')
  );
}

/** Keeps the focus near its position when the focused element is removed. Returns a function that stops this. */
export function keepFocus(page: HTMLElement): () => void {
  let last: { readonly element: Element; readonly near: Element | null } | null = null;
  const come = ({ target }: FocusEvent) => {
    const element = target as Element;
    last = page.contains(element) ? { element, near: element.closest('[role="log"], .actions') } : null;
  };
  const observer = new MutationObserver(() => {
    if (!last || last.element.isConnected || !isLost() || isInDialog()) return;
    const { near } = last;
    last = null;
    const next = near?.isConnected
      ? near.matches('[tabindex]')
        ? near
        : near.querySelector('button:not(:disabled)')
      : null;
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    else focusHeading();
  });
  document.addEventListener('focusin', come);
  observer.observe(page, { childList: true, subtree: true });
  return () => {
    document.removeEventListener('focusin', come);
    observer.disconnect();
  };
}
