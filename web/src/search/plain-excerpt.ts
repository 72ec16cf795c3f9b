import type { TextRange } from './text-range.ts';

interface Excerpt {
  readonly text: string;
  readonly ranges: readonly TextRange[];
}

/** The common Markdown syntax. What the group matches stays. */
const syntax = [
  /^#{1,6}[ \t]+/dgm,
  /^ *(?:`{3,}|~{3,}).*$\n?/dgm,
  /!?\[([^\][\n]*)\]\([^()\s]*\)/dg,
  /\*\*([^*\n]+)\*\*/dg,
  /`+([^`\n]+)`+/dg,
];

/** Removes the common Markdown syntax from a text, besides syntax that a search matched, and moves the ranges of the matches. */
export function plainExcerpt(text: string, ranges: readonly TextRange[]): Excerpt {
  return syntax.reduce<Excerpt>((excerpt, pattern) => withoutSyntax(excerpt, pattern), { text, ranges });
}

function withoutSyntax({ text, ranges }: Excerpt, pattern: RegExp): Excerpt {
  const removed = [...text.matchAll(pattern)].flatMap(({ index, 0: all, indices }) => {
    const end = index + all.length;
    const [keptFrom, keptTo] = indices?.[1] ?? [end, end];
    const parts = [
      { start: index, end: keptFrom },
      { start: keptTo, end },
    ];
    const isMatched = parts.some((part) => ranges.some((range) => overlaps(part, range)));
    return isMatched ? [] : parts;
  });
  const moved = (at: number) =>
    at - removed.reduce((sum, { start, end }) => sum + Math.max(0, Math.min(at, end) - start), 0);
  return {
    text: removed.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text),
    ranges: ranges.map(({ start, length }) => ({ start: moved(start), length: moved(start + length) - moved(start) })),
  };
}

const overlaps = (part: { readonly start: number; readonly end: number }, { start, length }: TextRange): boolean =>
  part.start < start + length && start < part.end;
