/** Returns parameters of the page's address, and removes the query, so that the history and copied addresses do not have them. */
export function takeQuery<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string | null>> {
  const query = new URLSearchParams(location.search);
  const values = Object.fromEntries(names.map((name) => [name, query.get(name)])) as Record<Name, string | null>;
  if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  return values;
}
