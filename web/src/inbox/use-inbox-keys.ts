import { type RefObject, useEffect } from 'react';
import { isInDialog, isTyping } from '../ui/focus.ts';

/**
 * Keys of the inbox: `j` and `k` move down and up along its rows, from the session that the page shows if no row has the focus. The
 * arrow keys do so if a row has it. `u` moves to the next unread row, `s` pins or unpins the row with the focus, and `a` archives it.
 */
export function useInboxKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isInDialog()) return;
      const rows = rowsOf(list.current);
      const row = (event.target as Element | null)?.closest?.('.inbox-row');
      const own = row?.querySelector<HTMLElement>('[data-list-item]') ?? null;
      const at = own ? rows.indexOf(own) : rows.findIndex((each) => each.ariaCurrent === 'page');
      if (event.key === 'j' || (own && event.key === 'ArrowDown')) rows[Math.min(at + 1, rows.length - 1)]?.focus();
      else if (event.key === 'k' || (own && event.key === 'ArrowUp')) rows[Math.max(at - 1, 0)]?.focus();
      else if (event.key === 'u') nextUnread(rows, at)?.focus();
      else if (event.key === 's' && own) row?.querySelector<HTMLElement>('[data-act="pin"]')?.click();
      else if (event.key === 'a' && own) row?.querySelector<HTMLElement>('[data-act="archive"]')?.click();
      else return;
      event.stopImmediatePropagation();
      event.preventDefault();
    };
    // Before other listeners of the document.
    document.addEventListener('keydown', press, true);
    return () => document.removeEventListener('keydown', press, true);
  }, [list]);
}

const rowsOf = (list: Element | null): HTMLElement[] =>
  [...(list?.querySelectorAll<HTMLElement>('[data-list-item]') ?? [])].filter((row) => row.checkVisibility());

/** Moves the focus from a row, which is about to disappear, to the next one, or else to the previous one. */
export function leaveRow(row: Element): void {
  const rows = rowsOf(row.closest('.inbox'));
  const at = rows.findIndex((each) => row.contains(each));
  (rows[at + 1] ?? rows[at - 1])?.focus();
}

/** Returns the next unread row after a position, from the top again after the last one. */
export function nextUnread<Row extends { readonly dataset: DOMStringMap }>(
  rows: readonly Row[],
  at: number,
): Row | undefined {
  return [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(({ dataset }) => dataset.unread !== undefined);
}
