import { useEffect, useState } from 'react';

/**
 * Returns parameters of the page's address, and then removes the query, so that the history and copied addresses do not have them. Not
 * while it renders: React may render a page twice before it shows it.
 */
export function useTakenQuery<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string | null>> {
  const [values] = useState(() => {
    const query = new URLSearchParams(location.search);
    return Object.fromEntries(names.map((name) => [name, query.get(name)])) as Record<Name, string | null>;
  });
  useEffect(() => {
    if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  }, []);
  return values;
}
