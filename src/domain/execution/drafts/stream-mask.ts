import { storable } from '../../../common/plain-text.ts';
import { replaceSpans } from '../runs/masking.ts';
import type { FindSpans } from '../runs/secret-spans.ts';
import type { HeadCheck } from './head-check.ts';

/** The parts of a run's masking that drafts use. */
export interface DraftMasking {
  /** Null: there are no secrets. */
  readonly findSpans: FindSpans | null;
  /** See {@link createSafeLength}. */
  readonly safeLength: (text: string) => number;
  /** See {@link createHeadCheck}. */
  readonly mayBeInside: HeadCheck;
}

/**
 * Neutral text: no secret continues with it, so that the border of a text beside it does not count as one. Longer than the rest of
 * an encoded character.
 */
const neutral = '\u0001'.repeat(16);

/** Masks a text that grows, in time linear in its length. */
export interface StreamMask {
  /**
   * Takes the whole text so far, and returns the masked text after what was returned before, as far as more text cannot change it.
   */
  next(text: string): string;
  /** Takes the whole text, which has ended, and returns the rest of the masked text. */
  rest(text: string): string;
  /** Number of characters of the text whose masked form was returned. */
  cut(): number;
}

/** Creates a {@link StreamMask}. What it returns is the beginning of the masked whole: a text is read from its last cut on. */
export function createStreamMask({ findSpans, safeLength, mayBeInside }: DraftMasking): StreamMask {
  let cut = 0;
  return {
    cut: () => cut,
    rest(text) {
      const [isHead, open] = [cut === 0, storable(text.slice(cut))];
      cut = text.length;
      if (findSpans === null || isHead) return findSpans === null ? open : replaceSpans(open, findSpans(open, true));
      const padded = neutral + open;
      return replaceSpans(padded, findSpans(padded, true)).slice(neutral.length);
    },
    next(text) {
      const open = storable(text.slice(cut).replace(/[\uD800-\uDBFF]$/, ''));
      if (open === '') return '';
      if (findSpans === null) {
        cut += open.length;
        return open;
      }
      const isHead = cut === 0;
      if (isHead && mayBeInside(open)) return '';
      // The start of the whole text is a border: it may begin in the middle of a secret.
      const spans = findSpans(open + neutral, isHead);
      let safe = safeLength(open);
      for (let covering = safe; covering >= 0; ) {
        safe = covering;
        const before = spans.filter(([from, to]) => from < safe && to > safe).map(([from]) => from);
        covering = before.length === 0 ? -1 : Math.min(...before);
      }
      if (safe === 0) return '';
      cut += safe;
      const whole = spans.filter(([, to]) => to <= safe);
      return replaceSpans(open.slice(0, safe), whole);
    },
  };
}
