/** Maximum size in bytes (UTF-8) of the retained text of a draft. */
export const maxRetainedBytes = 64 * 1_024;
/** Size to which a text is cut that has become too long, so that it is not cut again with each part. */
const cutToBytes = 56 * 1_024;

/** The end of a text that grows, with its position in the whole. Positions are in UTF-16 code units. */
export class DraftWindow {
  #text = '';
  #bytes = 0;
  #start = 0;

  /** Position of the first retained character. */
  get start(): number {
    return this.#start;
  }

  /** Position after the last character. */
  get end(): number {
    return this.#start + this.#text.length;
  }

  /** Adds text at the end; drops text at the start if the window becomes too large. */
  append(text: string): void {
    this.#text += text;
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= maxRetainedBytes) return;
    const bytes = Buffer.from(this.#text);
    let from = bytes.length - cutToBytes;
    while (isContinuation(bytes[from])) from += 1;
    const kept = bytes.toString('utf8', from);
    this.#start += this.#text.length - kept.length;
    this.#text = kept;
    this.#bytes = bytes.length - from;
  }

  /** Continues at a position, without the text before it. */
  jumpTo(position: number): void {
    this.#text = '';
    this.#bytes = 0;
    this.#start = position;
  }

  /** Returns the text from a position on, which must not be before the first retained character. */
  from(position: number): string {
    return this.#text.slice(Math.max(0, position - this.#start));
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
