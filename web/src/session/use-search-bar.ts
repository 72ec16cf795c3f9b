import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { isInDialog } from '../ui/focus.ts';

/** The state of the search in a transcript. */
export interface SearchBar {
  readonly isOpen: boolean;
  /** The query in the page's address; empty: none. */
  readonly initial: string;
  readonly initialCursor: string | null;
  /** The parts of texts to mark. */
  readonly parts: readonly string[];
  readonly onFound: (parts: readonly string[]) => void;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** The id of the search field. */
export const searchFieldId = 'transcript-search';

const noParts: readonly string[] = [];

/**
 * Opens the search by its button, which `/` presses, by Ctrl-F or Command-F, and by the parameter `search` of the address.
 * The same key in its field leaves the search to the browser.
 */
export function useSearchBar(): SearchBar {
  const [params, setParams] = useSearchParams();
  const initial = (params.get('search') ?? '').slice(0, 300);
  const [isOpen, setOpen] = useState(initial !== '');
  const [parts, setParts] = useState(noParts);
  useEffect(() => {
    if (initial !== '') setOpen(true);
  }, [initial]);
  const onOpen = useCallback(() => setOpen(true), []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isFind = event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey);
      if (!isFind || event.altKey || event.shiftKey || isInDialog()) return;
      const field = document.getElementById(searchFieldId) as HTMLInputElement | null;
      if (field !== null && field === document.activeElement) return;
      event.preventDefault();
      setOpen(true);
      field?.select();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const onClose = useCallback(() => {
    setOpen(false);
    setParts(noParts);
    document.querySelector<HTMLElement>('.transcript .scroll')?.focus({ preventScroll: true });
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        next.delete('search');
        return next;
      },
      { replace: true },
    );
  }, [setParams]);
  return { isOpen, initial, initialCursor: params.get('entry'), parts, onFound: setParts, onOpen, onClose };
}
