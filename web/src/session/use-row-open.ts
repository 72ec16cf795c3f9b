import { createContext, useContext, useState } from 'react';

/** The rows of a transcript that the user opened or closed, by their keys: rows out of sight are not rendered. */
export const RowsOpenContext = createContext<Map<string, boolean>>(new Map());

/** The state of a row that can be opened. Null: not chosen yet. */
export function useRowOpen(key: string): readonly [boolean | null, (isOpen: boolean) => void] {
  const rows = useContext(RowsOpenContext);
  const [isOpen, setOpen] = useState(rows.get(key) ?? null);
  const choose = (next: boolean) => {
    rows.set(key, next);
    setOpen(next);
  };
  return [isOpen, choose];
}
