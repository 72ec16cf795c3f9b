import type { Draft } from './open-drafts.ts';
import { type TerminalLine, TerminalScreen } from './terminal-screen.ts';

/** The output of a tool call, applied to a screen. */
export interface Output {
  readonly lines: readonly TerminalLine[];
  /** True if the beginning of the output is not among the lines. */
  readonly isCut: boolean;
}

/** The screen of a tool call, which keeps its lines between renderings. */
export class OutputScreen {
  #screen = new TerminalScreen();
  /** The draft or the text that the screen shows; null: nothing. */
  #source: string | null = null;
  /** True if the screen has the output to its end. */
  #isComplete = false;
  /** True if the screen lacks the beginning. */
  #isCut = false;
  /** Position in the draft after the last character that the screen has. */
  #end = 0;
  #lines: readonly TerminalLine[] = [];

  /**
   * Applies the output of a tool call: what is new of a draft, or the output of the entry. The screen of a complete draft
   * stays when the entry follows, which may have less of it. `isPart`: the output of the entry is only the end of the output.
   */
  apply(draft: Draft | null, output: string | null, isPart: boolean): Output {
    if (draft !== null) this.#applyDraft(draft);
    else if (this.#source === null || !(this.#isComplete || this.#source === `text ${output}`)) {
      this.#restart(`text ${output}`, isPart, 0);
      this.#write(output ?? '');
    }
    const lines = this.#lines;
    // The line after the last line break is not there yet.
    const shown = lines.at(-1)?.runs.length === 0 ? lines.slice(0, -1) : lines;
    return { lines: shown, isCut: this.#isCut || this.#screen.isCut };
  }

  #applyDraft(draft: Draft): void {
    const source = `${draft.draftId} ${draft.revision}`;
    if (this.#source !== source || draft.start > this.#end) this.#restart(source, draft.start > 0, draft.start);
    const end = draft.start + draft.text.length;
    if (end > this.#end) {
      this.#write(draft.text.slice(this.#end - draft.start));
      this.#end = end;
    }
    this.#isComplete = draft.isDone;
  }

  #restart(source: string, isCut: boolean, end: number): void {
    this.#screen = new TerminalScreen();
    this.#source = source;
    this.#isComplete = false;
    this.#isCut = isCut;
    this.#end = end;
    this.#lines = [];
  }

  #write(text: string): void {
    this.#screen.write(text);
    this.#lines = this.#screen.lines();
  }
}
