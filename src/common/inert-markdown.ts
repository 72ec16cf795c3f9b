import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { parseUrl } from './parse-url.ts';
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

/** A repository whose issues a text may close. */
export interface OwnRepository {
  /** With the port, if it has one. */
  readonly host: string;
  readonly path: string;
}

/**
 * Makes a Markdown text that a stranger may have influenced harmless where it is published: it mentions nobody, closes no issue but those
 * of `own`, loads no image and has no HTML, also no comment that hides text. All of these stay readable, and code is unchanged. A text
 * whose structure cannot be read becomes a block of code. A hostile text of 20,000 characters takes many seconds.
 */
export function inertMarkdown(text: string, own: OwnRepository | null = null): string {
  let current = plainMarkdown(text).trim();
  try {
    for (let round = 0; round < maxRounds; round++) {
      const edits = editsOf(current, own);
      if (edits.length === 0) return current;
      current = apply(current, edits);
    }
  } catch (error) {
    // The parser is recursive, and the text may be nested too deeply.
    if (!(error instanceof RangeError)) throw error;
  }
  return blockOf(current);
}

/** Makes a text a block of code, in which it is harmless. */
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
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|reopen(?:s|ed|ing)?)(?=[:\s]+(?:issues?\s+)?\S{0,200}?(?:[#!;]|\/(?:issues|pulls?|merge_requests|work_items)\/)\d)/gi;
const reference = /[#!;]\d|\/(?:issues|pulls?|merge_requests|work_items)\/\d/i;
// GitLab closes all issues of a list.
const nextWord = /(?:[:,\s]|\band\b)*(?:issues?\s+)?(\S{0,300})/y;

/** A zero-width space, as a text in Markdown gets it. */
const space = '&#8203;';

/** Returns the positions after the "@" of mentions and after words that close issues, of others than `own`. */
function* dangerousIn(text: string, own: OwnRepository | null): Generator<{ start: number; end: number }> {
  for (const { index, 0: found } of text.matchAll(mention)) yield { start: index, end: index + found.length };
  for (const { index, 0: found } of text.matchAll(closing)) {
    const end = index + found.length;
    if (own === null || !closesOnly(own, text, end)) yield { start: index, end };
  }
}

/** Tells if all references to issues that follow a closing word are to a repository. */
function closesOnly(own: OwnRepository, text: string, at: number): boolean {
  nextWord.lastIndex = at;
  for (;;) {
    const word = (nextWord.exec(text)?.[1] ?? '').replaceAll(space, '');
    if (!reference.test(word)) return true;
    if (!isOwn(own, word)) return false;
  }
}

function isOwn({ host, path }: OwnRepository, word: string): boolean {
  const [, of, address] = /^([\w./-]*)[#!]\d+[.,;:)]*$|^(https?:\/\/\S+?)[.,;:)]*$/.exec(word) ?? [];
  if (of !== undefined) return of === '' || of.toLowerCase() === path.toLowerCase();
  const url = parseUrl(address ?? '');
  if (url === null || url.host !== host.toLowerCase()) return false;
  const [, owner] = /^\/(.+?)\/(?:-\/)?(?:issues|pulls?|merge_requests|work_items)\/\d+$/.exec(url.pathname) ?? [];
  return owner?.toLowerCase() === path.toLowerCase();
}

/** {@link inertMarkdown} for a line that is no Markdown, such as a title. It gets invisible spaces. */
export function inertLine(line: string, own: OwnRepository | null = null): string {
  const edits = [...dangerousIn(line, own)].map(({ end }): Edit => ({ start: end, end, text: '\u200b' }));
  return apply(
    line,
    edits.sort((one, other) => one.start - other.start),
  );
}

function editsOf(text: string, own: OwnRepository | null): Edit[] {
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
  for (const { start, end } of dangerousIn(text, own)) {
    if (isText(start)) edits.push({ start: end, end, text: space });
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
