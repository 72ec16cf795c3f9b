import { type RefObject, useEffect } from 'react';

const isInside = (row: Element) => row.contains(document.activeElement);

/**
 * Makes the rows of the inbox one stop of the Tab key: the session that the page shows, or the row that had the focus last, or else the
 * first one, with its buttons. The keys of the inbox move between the rows.
 */
export function useOneTabStop(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    let stop: Element | undefined;
    const update = () => {
      const rows = [...element.querySelectorAll('.inbox-row')];
      const shown = rows.filter((row) => row.checkVisibility());
      if (stop === undefined || !shown.includes(stop))
        stop = shown.find(isInside) ?? shown.find((row) => row.matches('[data-current]')) ?? shown[0];
      for (const row of rows)
        for (const control of row.querySelectorAll<HTMLElement>('a,button')) control.tabIndex = row === stop ? 0 : -1;
    };
    const choose = (row: Element | null | undefined) => {
      if (row && row !== stop) {
        stop = row;
        update();
      }
    };
    const follow = ({ target }: Event) => choose((target as Element).closest('.inbox-row'));
    const observer = new MutationObserver((changes) => {
      update();
      if (changes.some(({ type }) => type === 'attributes') && ![...element.querySelectorAll('li')].some(isInside))
        choose(element.querySelector('.inbox-row[data-current]'));
    });
    observer.observe(element, { childList: true, subtree: true, attributeFilter: ['data-current'] });
    element.addEventListener('focusin', follow);
    // A group was opened or closed. The event does not bubble.
    element.addEventListener('toggle', update, true);
    update();
    return () => {
      observer.disconnect();
      element.removeEventListener('focusin', follow);
      element.removeEventListener('toggle', update, true);
    };
  }, [list]);
}
