import { useCallback, useMemo, useState } from 'react';

/** A choice in a {@link Picker}. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Distinguishes choices with the same name. */
  readonly under?: string | null | undefined;
}

/** A page of choices, with the cursor of the next one; null: it is the last. */
export interface ChoicePage {
  readonly choices: readonly Choice[];
  readonly next: string | null;
}

/** Reads a page of choices; null is the first cursor. Memoized by callers while it reads the same list. */
export type ChoiceSource = (after: string | null) => Promise<ChoicePage>;

/** The choices read from a source. */
export interface Choices {
  readonly choices: readonly Choice[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** The error of the last page. */
  readonly problem: string | null;
  /** Reads the next page, unless one is being read. */
  more(): void;
  /** Starts again; the current choices stay until the first page arrives. */
  restart(): void;
}

type Found = Pick<Choices, 'choices' | 'hasMore' | 'isLoading' | 'problem'>;
const nothing: Found = { choices: [], hasMore: true, isLoading: false, problem: null };

/** Reads a source page by page on request. */
export function useChoices(source: ChoiceSource): Choices {
  const [count, setCount] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each count is a reading from the first page on.
  const reading = useMemo(() => ({ source, after: null as string | null, isBusy: false }), [source, count]);
  const [found, setFound] = useState({ ...nothing, reading });
  const more = useCallback(() => {
    if (reading.isBusy) return;
    reading.isBusy = true;
    const isFirst = reading.after === null;
    const set = (change: (before: readonly Choice[]) => Found) =>
      setFound((before) => ({ ...change(before.reading.source === source ? before.choices : []), reading }));
    set((choices) => ({ choices, hasMore: true, isLoading: true, problem: null }));
    // Ignores responses for a previous source.
    const settle = (change: (before: readonly Choice[]) => Found) => {
      reading.isBusy = false;
      setFound((before) => (before.reading === reading ? { ...change(before.choices), reading } : before));
    };
    source(reading.after).then(
      ({ choices, next }) => {
        reading.after = next;
        settle((before) => ({
          choices: isFirst ? choices : [...before, ...choices],
          hasMore: next !== null,
          isLoading: false,
          problem: null,
        }));
      },
      (error: Error) => settle((choices) => ({ choices, hasMore: true, isLoading: false, problem: error.message })),
    );
  }, [reading, source]);
  const restart = useCallback(() => setCount((before) => before + 1), []);
  const stands: Found =
    found.reading === reading ? found : { ...nothing, choices: found.reading.source === source ? found.choices : [] };
  return { ...stands, more, restart };
}

/** A source with fixed choices. */
export function fixedChoices(choices: readonly Choice[]): ChoiceSource {
  return async () => ({ choices, next: null });
}

/** A source that combines several, one after the other. */
export function inTurn(sources: readonly ChoiceSource[]): ChoiceSource {
  return async (after) => {
    // The cursor: the index of the source, and its own cursor.
    const [, number = '0', own = ''] = /^(\d+):(.*)$/s.exec(after ?? '') ?? [];
    const at = Number(number);
    const source = sources[at];
    if (!source) return { choices: [], next: null };
    const { choices, next } = await source(own || null);
    if (next !== null) return { choices, next: `${at}:${next}` };
    return { choices, next: at + 1 < sources.length ? `${at + 1}:` : null };
  };
}

/** A source without the choices of a source whose values it had before, regardless of case. */
export function distinct(source: ChoiceSource): ChoiceSource {
  const seen = new Set<string>();
  return async (after) => {
    if (after === null) seen.clear();
    const { choices, next } = await source(after);
    const found = choices.filter(({ value }) => {
      const key = value.toLowerCase();
      return !seen.has(key) && seen.add(key);
    });
    return { choices: found, next };
  };
}
