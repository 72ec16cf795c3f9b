const fields = ':is(input:not([type="hidden"], [type="file"], [hidden]), textarea, select):not(:disabled)';

/** Gives a dialog's focus to its first field, or to the button that does no harm: never to what closes it. */
export function focusFirst(dialog: HTMLElement | null): void {
  const body = dialog?.querySelector('.dialog-body');
  if (!dialog || body?.contains(document.activeElement)) return;
  const first = body?.querySelector<HTMLElement>(fields);
  // A form whose fields are still to come: it is no place for a blank that presses something.
  const other = body?.querySelector('form')
    ? dialog
    : dialog.querySelector<HTMLElement>('.dialog-body button, footer button');
  (first ?? other ?? dialog).focus();
}

/** Whether what had the focus is gone, so that the next press of Tab would begin at the top. */
export function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Whether a dialog is in front of the page. */
export const isInDialog = (): boolean => document.querySelector('dialog[open]') !== null;

/** Gives the focus to the heading of the page, from which one goes on. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('#main :is(h1, h2)');
  if (!heading || isInDialog()) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Whether what is typed goes into something. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select, [contenteditable]')
  );
}

/** Keeps the focus near where it was when what had it is taken out of the page. Gives what ends that. */
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
