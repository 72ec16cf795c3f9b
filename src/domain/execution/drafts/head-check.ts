import { decodedForms, decodedGaps, decodings } from '../runs/decoded-forms.ts';
import { restsOf } from '../runs/decoded-view.ts';
import { toBytes, unfinishedAt } from '../runs/encoded-characters.ts';
import { formsOf, minMaskedLength } from '../runs/masked-forms.ts';
import { escapedGaps, markedGaps, project, textGaps } from '../runs/projection.ts';
import { pieceLength } from '../runs/secret-finder.ts';

/** Tells whether the whole of a text may turn out to be a part of a secret, as more of the text arrives. */
export type HeadCheck = (text: string) => boolean;

/** A longer text is not looked at: a piece of a secret is shorter, also with each of its characters encoded. */
const maxHeadLength = pieceLength * 16;

/**
 * Creates a {@link HeadCheck}. A text that begins in the middle of a secret is masked up to the end of that part, which is known
 * only when the text goes on in another way than the secret.
 */
export function createHeadCheck(values: readonly string[]): HeadCheck {
  const forms = values.flatMap((value) => [...formsOf(value)]);
  const plain = [...textGaps, markedGaps, escapedGaps].map((gaps) => ({ gaps, joined: joinBare(forms, gaps) }));
  const bytes = [...decodedForms(values)];
  const decoded = decodedGaps.map((gaps) => ({ gaps, joined: joinBare(bytes, gaps) }));
  if (plain.every(({ joined }) => joined === '')) return () => false;
  return (text) => {
    if (text.length > maxHeadLength) return false;
    const isInside = (bare: string, joined: string) => bare.length <= pieceLength && joined.includes(bare);
    if (plain.some(({ gaps, joined }) => isInside(project(text, gaps).text.trim(), joined))) return true;
    // More of the text may show that it is encoded, or end a character that only begins here.
    const finished = text.slice(0, unfinishedAt(text));
    return [toBytes(finished), ...decodings(finished).map(({ bytes }) => bytes)].some((each) =>
      decoded.some(({ gaps, joined }) => {
        const bare = project(each.slice(0, unfinishedAt(each)), gaps).text;
        return [0, ...restsOf(text, bare)].some((skipped) => isInside(bare.slice(skipped).trim(), joined));
      }),
    );
  };
}

function joinBare(forms: readonly string[], gaps: RegExp): string {
  return forms
    .map((form) => project(form, gaps).text)
    .filter((form) => form.length >= minMaskedLength)
    .join('\n');
}
