import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';

/** Longer than any word that is looked for. */
const maxLength = 200;

/** Words of the address, so that what a page shows can be linked to; an empty one stands for none. */
export function useUrlParams<Name extends string>(
  names: readonly Name[],
): {
  readonly values: Readonly<Record<Name, string>>;
  readonly isAny: boolean;
  change(changes: Partial<Readonly<Record<Name, string>>>): void;
  clear(): void;
} {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const values = useMemo(() => {
    const parsed = new URLSearchParams(text);
    // An address may be mistyped, or be somebody's trap: what no word can be is not asked for.
    const readParam = (name: Name) => (parsed.get(name) ?? '').replaceAll('\0', '').slice(0, maxLength);
    return Object.fromEntries(names.map((name) => [name, readParam(name)])) as Record<Name, string>;
  }, [text, names]);
  const change = useCallback(
    (changes: Partial<Readonly<Record<Name, string>>>) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries<string | undefined>(changes)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  const clear = useCallback(
    () => change(Object.fromEntries(names.map((name) => [name, ''])) as Record<Name, string>),
    [change, names],
  );
  return { values, isAny: names.some((name) => values[name] !== ''), change, clear };
}
