import { bareForms, decodedForms, decodedGaps, decodings } from './decoded-forms.ts';
import { unfinishedAt, unfinishedQuoteAt } from './encoded-characters.ts';
import { formsOf } from './masked-forms.ts';
import { escapedGaps, hasEscapedGaps, markedGaps, project, textGaps, withoutOpenMark } from './projection.ts';
import { pieceLength, piecesOf } from './secret-finder.ts';
import { createSpanFinder } from './secret-spans.ts';

/** Typical maximum length of an encoded character, which determines how far back encoded secrets are searched. */
const maxEncodedLength = 16;

/**
 * Marks between the lines of a secret are not white space: this multiple of its length is searched, which suffices for
 * lines of eight characters.
 */
const maxMarkShare = 2;

/**
 * The number of characters before the end of the stored text in which a complete secret, or the last piece of a long
 * one, is searched.
 */
const maxPieceLength = pieceLength * maxEncodedLength;

/**
 * Tells how much of an incomplete text may be stored. Its end may be the beginning of a secret, in any of its forms and
 * with any of its characters encoded, which could not be recognized in two pieces. The stored part does not end inside
 * a complete secret either, because the end of that may be the beginning of another one. `findSpans`: an existing
 * finder of the same values.
 */
export function createSafeLength(
  values: readonly string[],
  findSpans = createSpanFinder(values),
): (text: string) => number {
  const plain = createPlainTail(values);
  const forms = [...decodedForms(values)];
  const views = decodedGaps.map((gaps) => ({ gaps, find: createTailFinder(bareForms(forms, gaps)) }));
  const maxLength = Math.max(0, ...forms.map((form) => form.length));
  if (maxLength === 0 || findSpans === null) return (text) => text.length;
  const lengthOf = (text: string) => {
    // The rest of an encoded character may follow.
    const whole = unfinishedAt(text);
    const start = startOfLast(text.slice(0, whole), maxLength * maxEncodedLength);
    const starts = decodings(text.slice(start, whole)).flatMap((pass) =>
      views.map(({ gaps, find }) => {
        const open = gaps === escapedGaps ? withoutOpenMark(pass.bytes) : pass.bytes;
        const { text: bytes, at } = project(open, gaps);
        // Text that was encoded twice may be incomplete too.
        const inner = unfinishedAt(bytes);
        const tail = find(bytes.slice(0, inner)) ?? inner;
        return tail < bytes.length ? start + pass.startOf(at(tail)) : whole;
      }),
    );
    return Math.min(plain(text.slice(0, whole)) ?? whole, plain(text) ?? whole, ...starts);
  };
  return (text) => {
    const quote = unfinishedQuoteAt(text);
    const beforeQuote = quote < text.length ? lengthOf(text.slice(0, quote)) : quote;
    const length = beforeQuote < quote ? Math.min(beforeQuote, lengthOf(text)) : lengthOf(text);
    if (length === text.length) return length;
    const start = startOfLast(text.slice(0, length), maxPieceLength);
    const spans = findSpans(text.slice(start), false);
    // Spans may overlap: before the first of those that cover the cut, another may cover it.
    for (let cut = length; ; ) {
      const covering = spans.filter(([from, to]) => start + from < cut && start + to > cut);
      if (covering.length === 0) return cut;
      cut = Math.min(...covering.map(([from]) => start + from));
    }
  };
}

/**
 * Finds the index in a text from which its end may be the first part of a secret, ignoring gaps: before the first of
 * its lines. Null: there is none.
 */
function createPlainTail(values: readonly string[]): (text: string) => number | null {
  const forms = [...new Set(values.flatMap((value) => [...formsOf(value)]))];
  const views = [...textGaps, markedGaps, escapedGaps].map((gaps) => {
    const isMarked = gaps === markedGaps || gaps === escapedGaps;
    const bare = bareForms(gaps === textGaps[1] ? forms.filter((form) => /\s/.test(form)) : forms, gaps);
    return { gaps, isMarked, find: createTailFinder(bare), maxLength: Math.max(0, ...bare.map((form) => form.length)) };
  });
  return (text) => {
    const starts = views.flatMap(({ gaps, isMarked, find, maxLength }) => {
      if (maxLength === 0) return [];
      const start = startOfLast(text, isMarked ? maxLength * maxMarkShare : maxLength);
      if (gaps === escapedGaps && !hasEscapedGaps.test(text.slice(start))) return [];
      // An escaped line break, as in JSON, may follow the backslashes.
      const end = isMarked ? withoutOpenMark(text.slice(start)) : text.slice(start);
      const { text: bare, at } = project(end, gaps);
      const tail = find(bare);
      return tail === null ? [] : [start + at(tail)];
    });
    return starts.length === 0 ? null : Math.min(...starts);
  };
}

/** Returns the index of the first of the last `count` characters that are not white space: gaps may have any length. */
function startOfLast(text: string, count: number): number {
  let index = text.length;
  for (let left = count; index > 0 && left > 0; ) if (!isSpace(text, --index)) left--;
  return index;
}

// Control characters count as white space here: searching a little further back is harmless.
const isSpace = (text: string, index: number) => {
  const code = text.charCodeAt(index);
  return code <= 0x20 || (code >= 0xa0 && /\s/.test(text.charAt(index)));
};

/**
 * Finds the index of the longest end of a text that is the beginning of one of these forms, or of a piece of a long one; null:
 * there is none.
 */
function createTailFinder(forms: readonly string[]): (text: string) => number | null {
  const [findForm, findPiece] = [createBeginningFinder(forms), createBeginningFinder(piecesOf(forms))];
  return (text) => {
    const [form, piece] = [findForm(text), findPiece(text)];
    return form === null || piece === null ? (form ?? piece) : Math.min(form, piece);
  };
}

function createBeginningFinder(forms: Iterable<string>): (text: string) => number | null {
  const byFirst = new Map<string, string[]>();
  let maxLength = 0;
  for (const form of new Set(forms)) {
    const first = form.charAt(0);
    byFirst.set(first, [...(byFirst.get(first) ?? []), form]);
    maxLength = Math.max(maxLength, form.length);
  }
  return (text) => {
    for (let from = Math.max(0, text.length - maxLength + 1); from < text.length; from++) {
      const same = byFirst.get(text.charAt(from));
      if (!same) continue;
      const end = text.slice(from);
      if (same.some((form) => form.length > end.length && form.startsWith(end))) return from;
    }
    return null;
  };
}
