import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** Longer than any path of Linux. */
const maxLength = 4_096;

/** Query parameters of the page's URL, so that its view can be linked to. An empty value counts as missing. */
export function useUrlParams<Name extends string>(
  names: readonly Name[],
): {
  readonly values: Readonly<Record<Name, string>>;
  readonly isAny: boolean;
  /** Changes the URL. `isNewEntry`: the browser's back button returns to the URL before. */
  change(changes: Partial<Readonly<Record<Name, string>>>, options?: { readonly isNewEntry?: boolean }): void;
  clear(): void;
} {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const values = useMemo(() => {
    const parsed = new URLSearchParams(text);
    // A URL may be mistyped or malicious: impossible values are dropped.
    const readParam = (name: Name) => (parsed.get(name) ?? '').replaceAll('\0', '').slice(0, maxLength);
    return Object.fromEntries(names.map((name) => [name, readParam(name)])) as Record<Name, string>;
  }, [text, names]);
  const change = useCallback(
    (changes: Partial<Readonly<Record<Name, string>>>, { isNewEntry = false } = {}) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries<string | undefined>(changes)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: !isNewEntry },
      ),
    [setParams],
  );
  const clear = useCallback(
    () => change(Object.fromEntries(names.map((name) => [name, ''])) as Record<Name, string>),
    [change, names],
  );
  return { values, isAny: names.some((name) => values[name] !== ''), change, clear };
}
