/** Maximum size in bytes (UTF-8) of the retained text of a draft. */
export const maxRetainedBytes = 64 * 1_024;
/** Text is joined to parts of about this length: parts are dropped and read as a whole. */
const partLength = 1_024;

interface Part {
  text: string;
  bytes: number;
}

/** The end of a text that grows, with its position in the whole. Positions are in UTF-16 code units. */
export class DraftWindow {
  /** In parts, so that the end can be read without the rest. */
  #parts: Part[] = [];
  #bytes = 0;
  #start = 0;
  #end = 0;

  /** Position of the first retained character. */
  get start(): number {
    return this.#start;
  }

  /** Position after the last character. */
  get end(): number {
    return this.#end;
  }

  /** Adds text at the end; drops text at the start if the window becomes too large. */
  append(text: string): void {
    for (let from = 0; from < text.length; ) {
      const last = text.charCodeAt(from + partLength - 1);
      const to = from + (last >= 0xd800 && last <= 0xdbff ? partLength - 1 : partLength);
      this.#add(from === 0 && to >= text.length ? text : text.slice(from, to));
      from = to;
    }
    while (this.#bytes > maxRetainedBytes) {
      const dropped = this.#parts.shift() as Part;
      this.#bytes -= dropped.bytes;
      this.#start += dropped.text.length;
    }
  }

  /** Continues at a position, without the text before it. */
  jumpTo(position: number): void {
    this.#parts = [];
    this.#bytes = 0;
    this.#start = position;
    this.#end = position;
  }

  /** Returns the text from a position on, or from the first retained character if that is later. */
  from(position: number): string {
    let text = '';
    let start = this.#end;
    for (let n = this.#parts.length - 1; n >= 0 && start > position; n--) {
      const part = (this.#parts[n] as Part).text;
      start -= part.length;
      text = (start < position ? part.slice(position - start) : part) + text;
    }
    return text;
  }

  #add(text: string): void {
    const bytes = Buffer.byteLength(text);
    const last = this.#parts.at(-1);
    if (last !== undefined && last.text.length + text.length <= partLength) {
      last.text += text;
      last.bytes += bytes;
    } else {
      this.#parts.push({ text, bytes });
    }
    this.#bytes += bytes;
    this.#end += text.length;
  }
}
