import type { Readable } from 'node:stream';
import { createKeyFilter } from './key-filter.ts';

/** Creates a function that masks these values in a text, in all encodings that programs use; see AgentLaunch. */
export type MaskOf = (values: readonly string[]) => (text: string, isPiece?: boolean) => string;

/** Masks the keys of one run: a provider may quote the old key after a rotation. */
export interface KeyMask {
  /** Masks this key too from now on. The last {@link maxKeys} are remembered. */
  add(key: string | null): void;
  /** Replaces the keys in a text. `isPiece`: the text may end in the middle of a key. */
  mask(text: string, isPiece?: boolean): string;
  /** Returns the stream with the exact keys replaced. */
  filter(stream: Readable): Readable;
}

const maxKeys = 4;
const blot = '********';

/** Creates the mask of a gateway that has seen no key. */
export function createKeyMask(maskOf: MaskOf = () => (text) => text): KeyMask {
  let keys: readonly string[] = [];
  let encoded: ReturnType<MaskOf> | null = null;
  return {
    add(key) {
      if (key === null || key === '' || keys.at(-1) === key) return;
      keys = [...keys.filter((each) => each !== key), key].slice(-maxKeys);
      encoded = null;
    },
    mask(text, isPiece) {
      if (keys.length === 0) return text;
      encoded ??= maskOf(keys);
      // Longest first: a key may contain another one.
      const exact = keys
        .toSorted((a, b) => b.length - a.length)
        .reduce((rest, key) => rest.replaceAll(key, blot), text);
      return encoded(exact, isPiece);
    },
    filter: (stream) => keys.reduce<Readable>((rest, key) => rest.pipe(createKeyFilter(key)), stream),
  };
}
