import { useCallback, useMemo, useState } from 'react';

/** Something that can be chosen from a list of {@link Picker}. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** What tells it from others of that name. */
  readonly under?: string | null | undefined;
}

/** Some choices, and where the next ones begin; null: these were the last. */
export interface ChoicePage {
  readonly choices: readonly Choice[];
  readonly next: string | null;
}

/** Reads a page of choices, the first one from null. Callers keep it while it reads the same list. */
export type ChoiceSource = (after: string | null) => Promise<ChoicePage>;

/** What of a source has been read. */
export interface Choices {
  readonly choices: readonly Choice[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Why the last page could not be read. */
  readonly problem: string | null;
  /** Reads the next page, unless one is under way. */
  more(): void;
  /** Begins anew; what has been read stays until the first page is there. */
  restart(): void;
}

type Found = Pick<Choices, 'choices' | 'hasMore' | 'isLoading' | 'problem'>;
const nothing: Found = { choices: [], hasMore: true, isLoading: false, problem: null };

/** Reads a source page by page, as it is asked to. */
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
    // What was asked for of another list is too late.
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

/** A source of what is there already. */
export function fixedChoices(choices: readonly Choice[]): ChoiceSource {
  return async () => ({ choices, next: null });
}

/** A source of several, one after the other. */
export function inTurn(sources: readonly ChoiceSource[]): ChoiceSource {
  return async (after) => {
    // Where it stands: the number of the source, and its own cursor.
    const [, number = '0', own = ''] = /^(\d+):(.*)$/s.exec(after ?? '') ?? [];
    const at = Number(number);
    const source = sources[at];
    if (!source) return { choices: [], next: null };
    const { choices, next } = await source(own || null);
    if (next !== null) return { choices, next: `${at}:${next}` };
    return { choices, next: at + 1 < sources.length ? `${at + 1}:` : null };
  };
}
