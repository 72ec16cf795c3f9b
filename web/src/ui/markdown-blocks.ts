/** One or more complete top-level blocks of a Markdown text. */
export interface MarkdownBlock {
  readonly text: string;
  /** The content of a fenced code block that begins in the first column; null for everything else. */
  readonly code: string | null;
}

interface Fence {
  readonly mark: string;
  readonly isPlain: boolean;
}

const fenceStart = /^( {0,3})(?:(`{3,})[^`]*|(~{3,}).*)$/;
const listMarker = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const definition = /^ {0,3}\[(?!\^)[^\]]+\]:/;
const footnote = /^ {0,3}\[\^[^\]]+\]:/;
const html = /^ {0,3}<[!?/a-z]/i;
/** A line that no paragraph continues after: a heading or a rule. */
const headingOrRule = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:-[ \t]*){3,}$)/;

/** Small blocks are joined until they have this length: each has a cost of its own. */
const minLength = 1_000;
/** Maximum length of the link definitions of a text; with more of them, none is applied outside its block. */
const maxDefinitions = 2_000;

/**
 * Divides a Markdown text at the ends of top-level blocks, so that each part means the same alone. A text that grows is
 * read once: only the last part changes.
 */
export class MarkdownBlocks {
  #text = '';
  #closed: MarkdownBlock[] = [];
  /** Start of the first line that was not read. */
  #next = 0;
  /** Start of the last block. */
  #start = 0;
  #fence: Fence | null = null;
  /** HTML has ends of its own: the text is not divided after it. */
  #isAfterHtml = false;
  #isList = false;
  #isAfterBlank = false;
  /** A definition may not interrupt a paragraph. */
  #isInParagraph = false;
  #hasFootnotes = false;
  #definitions = '';

  /** Returns the blocks of a text. Quick if it begins with the text of the previous call. */
  of(text: string): readonly MarkdownBlock[] {
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    for (let end = text.indexOf('\n', this.#next); end >= 0; end = text.indexOf('\n', this.#next)) {
      this.#read(text.slice(this.#next, end).replace(/\r$/, ''), end + 1);
      this.#next = end + 1;
    }
    // Footnotes are numbered over the whole text.
    if (this.#hasFootnotes) return [{ text, code: null }];
    const last = text.slice(this.#start);
    if (last === '') return [...this.#closed];
    return [...this.#closed, { text: last, code: this.#fence?.isPlain ? codeOf(last) : null }];
  }

  /**
   * Returns the definitions of the links (`[name]: address`) in the text, which apply to all blocks. The last line of an open
   * text is not complete, so it defines nothing yet.
   */
  definitions(isOpen: boolean): string {
    const last = this.#text.slice(this.#next);
    const isReading = this.#fence === null && !this.#isAfterHtml;
    const isDefined = !isOpen && isReading && !this.#isInParagraph && definition.test(last);
    const all = isDefined ? `${this.#definitions}${last}\n` : this.#definitions;
    return all.length > maxDefinitions ? '' : all;
  }

  /** Reads a complete line. `end`: the start of the line after it. */
  #read(line: string, end: number): void {
    if (this.#fence !== null) {
      if (isFenceEnd(line, this.#fence.mark)) this.#close(end);
      return;
    }
    this.#isAfterHtml ||= html.test(line);
    if (footnote.test(line)) this.#hasFootnotes = true;
    if (this.#isAfterHtml) return;
    if (line.trim() === '') {
      this.#isAfterBlank = true;
      this.#isInParagraph = false;
      return;
    }
    const isMarker = listMarker.test(line);
    const isIndented = /^[ \t]/.test(line);
    const [, indent = '', backticks, tildes] = fenceStart.exec(line) ?? [];
    const mark = backticks ?? tildes;
    const isNested = this.#isList && indent.length > 1;
    if (mark !== undefined && !isNested) {
      this.#close(this.#next);
      this.#fence = { mark, isPlain: indent === '' };
      return;
    }
    const isNew = this.#isAfterBlank && !isIndented && !(this.#isList && isMarker);
    if (isNew && this.#next - this.#start >= minLength) this.#close(this.#next);
    this.#isAfterBlank = false;
    if (isNew || this.#start === this.#next) this.#isList = isMarker;
    // A list may interrupt a paragraph.
    else if (isMarker) this.#isList = true;
    const isCode = !this.#isList && /^(?: {4}|\t)/.test(line);
    if (definition.test(line) && !this.#isInParagraph) this.#definitions += `${line}\n`;
    else this.#isInParagraph = !headingOrRule.test(line) && !(isCode && !this.#isInParagraph);
  }

  /** Ends the last block at a position. */
  #close(at: number): void {
    const text = this.#text.slice(this.#start, at);
    const code = this.#fence?.isPlain ? codeOf(text) : null;
    if (text.trim() !== '') this.#closed.push({ text, code });
    this.#start = at;
    this.#fence = null;
    this.#isList = false;
    this.#isAfterBlank = false;
    this.#isInParagraph = false;
  }

  #reset(): void {
    this.#closed = [];
    this.#next = 0;
    this.#start = 0;
    this.#fence = null;
    this.#isAfterHtml = false;
    this.#isList = false;
    this.#isAfterBlank = false;
    this.#isInParagraph = false;
    this.#hasFootnotes = false;
    this.#definitions = '';
  }
}

function isFenceEnd(line: string, mark: string): boolean {
  const end = line.replace(/^ {0,3}/, '').trimEnd();
  return end.length >= mark.length && end === mark.charAt(0).repeat(end.length);
}

/** The content of a fenced code block, without its fences. */
function codeOf(block: string): string {
  const start = block.indexOf('\n') + 1;
  if (start === 0) return '';
  const mark = /^(?:`+|~+)/.exec(block)?.[0] ?? '```';
  const body = block.slice(start);
  const lastLine = body.trimEnd().slice(body.trimEnd().lastIndexOf('\n') + 1);
  return isFenceEnd(lastLine, mark) ? body.trimEnd().slice(0, -lastLine.length) : body;
}

/** Returns the text of a block with the definitions of its links. They come first: a block may end within code. */
export const withDefinitions = (text: string, definitions: string): string =>
  definitions !== '' && text.includes('[') ? `${definitions}\n${text}` : text;

/** Maximum length of a link at the end that is shown without its address until it is complete. */
const maxOpenLink = 500;

/**
 * Prepares a text that is still being written: an unfinished link shows its text, an address appears when it is
 * complete, bold text and code are closed, and no line becomes a heading because a list begins below it.
 */
export function settleMarkdown(text: string): string {
  const paragraph = text.lastIndexOf('\n\n');
  const from = Math.max(paragraph < 0 ? 0 : paragraph + 2, text.length - 4 * maxOpenLink);
  let last = text.slice(from);
  last = last.replace(/(^|\n) {0,3}(?:-+|=+|[*+]|\d{1,9}[.)]?)[ \t]*$/, '$1');
  const codeMarks = last.match(/`/g)?.length ?? 0;
  if (codeMarks % 2 === 1) return `${text.slice(0, from)}${last.replace(/`+$/, '')}${last.endsWith('`') ? '' : '`'}`;
  last = last.replace(/!?\[([^\][\n]{0,500})(?:\](?:\([^()\n]{0,500})?)?$/, '$1');
  last = last.replace(/(?:https?:\/\/|www\.)[^\s<>`)\]]*$/i, '');
  last = last.replace(/(^|[^*])\*{1,3}$/, '$1');
  const strong = last.match(/\*\*/g)?.length ?? 0;
  return text.slice(0, from) + (strong % 2 === 1 ? `${last.trimEnd()}**` : last);
}
