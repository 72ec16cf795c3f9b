import { sgrText, takeSgr } from './terminal-style.ts';

/** A line of a terminal. It is replaced when it changes. */
export interface TerminalLine {
  readonly key: number;
  readonly runs: readonly TerminalRun[];
}

/** Characters with the same style. */
export interface TerminalRun {
  readonly text: string;
  /** The escape sequences that set the style; empty for none. */
  readonly style: string;
}

interface Cells {
  readonly key: number;
  readonly characters: string[];
  readonly styles: string[];
  /** Null after a change. */
  shown: TerminalLine | null;
}

/** Lines and characters before these are dropped. */
const maxLines = 5_000;
const maxCells = 250_000;
/** A longer line goes on in the next one. */
const maxColumns = 2_000;
/** The farthest place to which output may move the cursor: beyond it, a few bytes would make a large screen. */
const farthest = { column: 300, row: 200 };
/** A longer escape sequence without an end is shown as text. */
const maxPending = 4_096;

// Built from codes, since control characters in a literal are easily mistaken.
const esc = '\\u001b';
const ends = `(?:\\u0007|${esc}\\\\)`;
const controlSequence = `${esc}\\[([0-?]*)([ -/]*)([@-~])`;
const controlString = `${esc}[\\]PX^_][^\\u0007\\u001b]*${ends}`;
const tokens = new RegExp(
  `${controlSequence}|${controlString}|${esc}[ -/]*([0-~])|([\\u0000-\\u001f\\u007f-\\u009f])|([^\\u0000-\\u001f\\u007f-\\u009f]+)`,
  'gu',
);
const unfinished = new RegExp(`${esc}(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\\u0007\\u001b]*${esc}?|[ -/]*)$`);

/**
 * The screen of a program's output: applies carriage returns and the cursor movements of progress bars, and drops all
 * other control sequences. It grows downwards and is never cleared: what a program clears scrolls away.
 */
export class TerminalScreen {
  #lines: Cells[] = [];
  #row = 0;
  #column = 0;
  /** The first line that the cursor can return to. */
  #home = 0;
  #saved = { row: 0, column: 0 };
  #style: ReadonlyMap<string, string> = new Map();
  #styleText = '';
  #pending = '';
  #cells = 0;
  #nextKey = 0;

  /** True if lines were dropped at the front. */
  isCut = false;

  /** Returns the lines; those that did not change are the same objects. */
  lines(): readonly TerminalLine[] {
    return this.#lines.map((line) => {
      line.shown ??= { key: line.key, runs: runsOf(line) };
      return line.shown;
    });
  }

  write(added: string): void {
    const text = this.#pending + added;
    const rest = unfinished.exec(text);
    const isPending = rest !== null && text.length - rest.index <= maxPending;
    this.#pending = isPending ? text.slice(rest.index) : '';
    for (const match of text.slice(0, isPending ? rest.index : text.length).matchAll(tokens)) {
      const [, parameters, intermediates, final, single, control, characters] = match;
      if (characters !== undefined) this.#print(characters);
      else if (control !== undefined) this.#control(control);
      else if (single !== undefined) this.#single(single);
      else if (final !== undefined && intermediates === '') this.#sequence(final, parameters ?? '');
    }
  }

  #print(text: string): void {
    for (const character of text) {
      if (this.#column >= maxColumns) this.#newLine();
      const line = this.#line();
      this.#pad(line, this.#column);
      if (this.#column === line.characters.length) this.#cells += 1;
      line.characters[this.#column] = character;
      line.styles[this.#column] = this.#styleText;
      line.shown = null;
      this.#column += 1;
    }
  }

  #control(control: string): void {
    if (control === '\n') this.#newLine();
    else if (control === '\r') this.#column = 0;
    else if (control === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (control === '\t') this.#moveTo(this.#row, (Math.floor(this.#column / 8) + 1) * 8);
  }

  #single(final: string): void {
    if (final === '7') this.#saved = { row: this.#row, column: this.#column };
    else if (final === '8') this.#moveTo(this.#saved.row, this.#saved.column);
    else if (final === 'M') this.#moveTo(this.#row - 1, this.#column);
    else if (final === 'E') this.#newLine();
  }

  #sequence(final: string, parameters: string): void {
    if (final === 'm') {
      this.#style = takeSgr(this.#style, parameters);
      this.#styleText = sgrText(this.#style);
      return;
    }
    const [first, second] = parameters.split(';').map((each) => (/^\d{1,6}$/.test(each) ? Number(each) : undefined));
    const count = Math.max(1, first ?? 1);
    const [row, column] = [this.#row, this.#column];
    if (final === 'A') this.#moveTo(row - count, column);
    else if (final === 'B') this.#moveTo(row + count, column);
    else if (final === 'C') this.#moveTo(row, column + count);
    else if (final === 'D') this.#moveTo(row, column - count);
    else if (final === 'E') this.#moveTo(row + count, 0);
    else if (final === 'F') this.#moveTo(row - count, 0);
    else if (final === 'G') this.#moveTo(row, count - 1);
    else if (final === 'd') this.#moveTo(this.#home + count - 1, column);
    else if (final === 'H' || final === 'f') this.#moveTo(this.#home + count - 1, Math.max(1, second ?? 1) - 1);
    else if (final === 'K') this.#eraseInLine(first ?? 0);
    else if (final === 'J') this.#eraseBelow(first ?? 0);
    else if (final === 'X') this.#erase(column, column + Math.min(count, farthest.column));
    else if (final === 'P') this.#delete(count);
    else if (final === 's') this.#saved = { row, column };
    else if (final === 'u') this.#moveTo(this.#saved.row, this.#saved.column);
  }

  #moveTo(row: number, column: number): void {
    this.#row = Math.min(Math.max(row, this.#home), Math.max(this.#row, this.#home + farthest.row, this.#lines.length));
    this.#column = Math.min(Math.max(0, column), Math.max(this.#column, farthest.column));
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#line();
  }

  #eraseInLine(part: number): void {
    const line = this.#line();
    if (part === 1) this.#erase(0, this.#column + 1);
    else this.#truncate(line, part === 0 ? this.#column : 0);
  }

  #eraseBelow(part: number): void {
    if (part === 0) {
      this.#truncate(this.#line(), this.#column);
      for (const { characters } of this.#lines.slice(this.#row + 1)) this.#cells -= characters.length;
      this.#lines.length = this.#row + 1;
    } else if (part === 2 || part === 3) {
      // The lines stay above.
      this.#home = this.#lines.at(-1)?.characters.length === 0 ? this.#lines.length - 1 : this.#lines.length;
      this.#row = this.#home;
      this.#column = 0;
    }
  }

  #erase(from: number, to: number): void {
    const line = this.#line();
    for (let at = from; at < Math.min(to, line.characters.length); at++) {
      line.characters[at] = ' ';
      line.styles[at] = '';
    }
    line.shown = null;
  }

  #delete(count: number): void {
    const line = this.#line();
    this.#cells -= line.characters.splice(this.#column, count).length;
    line.styles.splice(this.#column, count);
    line.shown = null;
  }

  #truncate(line: Cells, length: number): void {
    if (line.characters.length <= length) return;
    this.#cells -= line.characters.length - length;
    line.characters.length = length;
    line.styles.length = length;
    line.shown = null;
  }

  #pad(line: Cells, length: number): void {
    while (line.characters.length < length) {
      line.characters.push(' ');
      line.styles.push('');
      this.#cells += 1;
    }
  }

  /** The line with the cursor, with the lines before it. */
  #line(): Cells {
    while (this.#lines.length <= this.#row) {
      this.#lines.push({ key: this.#nextKey++, characters: [], styles: [], shown: null });
    }
    if (this.#lines.length > maxLines || this.#cells > maxCells) this.#dropFront();
    return this.#lines[this.#row] as Cells;
  }

  /** Drops a tenth of the lines, but not those with the cursor and after it. */
  #dropFront(): void {
    const count = Math.min(Math.max(1, Math.floor(this.#lines.length / 10)), this.#row);
    for (const { characters } of this.#lines.splice(0, count)) this.#cells -= characters.length;
    this.#row -= count;
    this.#home = Math.max(0, this.#home - count);
    this.#saved = { ...this.#saved, row: Math.max(0, this.#saved.row - count) };
    this.isCut ||= count > 0;
  }
}

function runsOf({ characters, styles }: Cells): TerminalRun[] {
  const runs: { text: string; style: string }[] = [];
  for (let at = 0; at < characters.length; at++) {
    const [text, style] = [characters[at] as string, styles[at] as string];
    const last = runs.at(-1);
    if (last?.style === style) last.text += text;
    else runs.push({ text, style });
  }
  return runs;
}
