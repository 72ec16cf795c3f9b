import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { plainMarkdown } from './plain-text.ts';

/** A part of a Markdown text to replace. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Nodes = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number];

/** Maximum number of times that a text is parsed. HTML that became text may have Markdown in it. */
const maxRounds = 5;

/**
 * Makes a Markdown text that a stranger may have influenced harmless where it is published: it mentions nobody, closes no issue, loads no
 * image and has no HTML, also no comment that hides text. All of these stay readable, and code is unchanged. A text whose structure cannot
 * be read becomes a block of code. A hostile text of 20,000 characters takes many seconds.
 */
export function inertMarkdown(text: string): string {
  let current = plainMarkdown(text).trim();
  try {
    for (let round = 0; round < maxRounds; round++) {
      const edits = editsOf(current);
      if (edits.length === 0) return current;
      current = apply(current, edits);
    }
  } catch (error) {
    // The parser is recursive, and the text may be nested too deeply.
    if (!(error instanceof RangeError)) throw error;
  }
  return blockOf(current);
}

/** Makes a text a block of code, in which it is harmless whatever its structure. */
export function codeBlock(text: string): string {
  return blockOf(plainMarkdown(text).trim());
}

function blockOf(text: string): string {
  const max = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(max + 1);
  return `${fence}text\n${text}\n${fence}`;
}

// An entity may stand for the sign or for the first letter. An email address mentions nobody.
const mention = /(?<![A-Za-z0-9])(?:@|&#0*64;|&#[xX]0*40;|&commat;)(?=\w|&(?!#8203;))/g;
// Followed by a reference to an issue, or by its address.
const closing =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|reopen(?:s|ed|ing)?)(?=[:\s]+\S{0,200}?(?:[#!;]|\/(?:issues|pulls?|merge_requests)\/)\d)/gi;

function editsOf(text: string): Edit[] {
  const edits: Edit[] = [];
  const texts: { readonly start: number; readonly end: number }[] = [];
  const visit = (node: Nodes) => {
    const start = node.position?.start.offset ?? 0;
    const end = node.position?.end.offset ?? 0;
    if (node.type === 'html') {
      for (let at = text.indexOf('<', start); at >= 0 && at < end; at = text.indexOf('<', at + 1))
        edits.push({ start: at, end: at + 1, text: '&lt;' });
    } else if (node.type === 'image' || node.type === 'imageReference') edits.push({ start, end: start, text: '\\' });
    else if (node.type === 'text') texts.push({ start, end });
    // Forges mention nobody in links.
    if ('children' in node && node.type !== 'link') for (const child of node.children) visit(child);
    if (node.type === 'link') for (const child of node.children) if (child.type !== 'text') visit(child);
  };
  visit(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  const isText = (at: number) => texts.some(({ start, end }) => start <= at && at < end);
  // Zero-width spaces as entities are visible in the source.
  for (const { index } of text.matchAll(/<(?=!--)/g))
    if (isText(index)) edits.push({ start: index, end: index + 1, text: '&lt;' });
  for (const { index, 0: found } of [...text.matchAll(mention), ...text.matchAll(closing)]) {
    const end = index + found.length;
    if (isText(index)) edits.push({ start: end, end, text: '&#8203;' });
  }
  return edits.sort((one, other) => one.start - other.start);
}

function apply(text: string, edits: readonly Edit[]): string {
  let [result, at] = ['', 0];
  for (const { start, end, text: replacement } of edits) {
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at);
}
