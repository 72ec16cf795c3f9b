/** A JSON value that may contain usage, reduced to the members that lead to it. */
export type UsageDocument = Readonly<Record<string, unknown>>;

/** The maximum size of one usage object in bytes. Real ones take less than one kilobyte. */
export const maxUsageBytes = 16_384;

/** Members with the id of the model. */
const modelNames = ['model', 'modelVersion'];
/** The longest id of a model that is read, in bytes. */
const maxModelBytes = 200;

/** Members that hold usage, and the objects in which providers put such a member. */
const usageNames = ['usage', 'usageMetadata'];
const envelopeNames = ['message', 'response'];
const maxNameBytes = Math.max(...[...usageNames, ...envelopeNames, ...modelNames].map((name) => name.length));

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Finds usage objects, and the ids of models beside them, in JSON texts, byte by byte: `usage` or `usageMetadata` in the top-level object, in its `message`
 * or `response`, or in the objects of a top-level array. The same names at deeper levels are a model's text and do not
 * count. Reads each byte once and buffers at most {@link maxUsageBytes}, however long or malformed the text is. Never
 * throws.
 */
export class UsageScanner {
  readonly #onUsage: (found: UsageDocument) => void;
  readonly #onModel: ((model: string, isTopLevel: boolean) => void) | null;
  /** The id of a model being read; null: none. */
  #model: number[] | null = null;
  /** True if the next string is the id of a model. */
  #isModelNext = false;
  #depth = 0;
  /** The depth of the object whose members are read: 1, or 2 in an array. */
  #base = 1;
  #isInString = false;
  #isEscaped = false;
  /** True if the next string is the name of a member. */
  #isNameNext = false;
  /** The name being read; null: none, or one that is too long. */
  #name: string | null = null;
  #lastName: string | null = null;
  /** The `message` or `response` that encloses the current position. */
  #envelope: string | null = null;
  /** The usage object being read, and the depth at which it ends; null: none. */
  #usage: { readonly name: string; readonly depth: number; bytes: number[] } | null = null;

  constructor(
    onUsage: (found: UsageDocument) => void,
    onModel: ((model: string, isTopLevel: boolean) => void) | null = null,
  ) {
    this.#onUsage = onUsage;
    this.#onModel = onModel;
  }

  /** The number of buffered bytes. */
  get bufferedBytes(): number {
    return this.#usage?.bytes.length ?? 0;
  }

  /** Starts a new text, even if the last one was incomplete. */
  reset(): void {
    this.#depth = 0;
    this.#base = 1;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#isNameNext = false;
    this.#name = null;
    this.#lastName = null;
    this.#envelope = null;
    this.#usage = null;
    this.#model = null;
    this.#isModelNext = false;
  }

  /** Processes the next byte. */
  take(byte: number): void {
    if (this.#isInString) this.#takeInString(byte);
    else if (byte === quote) this.#beginString(byte);
    else if (byte === openObject || byte === openArray) this.#open(byte);
    else if (byte === closeObject || byte === closeArray) this.#close(byte);
    else if (byte === comma) this.#separate(byte);
    else if (byte === colon) this.#beginValue(byte);
    else this.#keep(byte);
  }

  #takeInString(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) {
      this.#isEscaped = true;
      // No provider escapes these names, or the ids of models.
      this.#name = null;
      this.#model = null;
    } else if (byte === quote) {
      this.#isInString = false;
      this.#giveModel();
      this.#lastName = this.#name;
      this.#name = null;
    } else if (this.#model !== null) {
      if (this.#model.length < maxModelBytes) this.#model.push(byte);
      else this.#model = null;
    } else if (this.#name !== null) {
      this.#name = this.#name.length < maxNameBytes ? this.#name + String.fromCharCode(byte) : null;
    }
  }

  #beginString(byte: number): void {
    this.#keep(byte);
    this.#isInString = true;
    this.#model = this.#isModelNext ? [] : null;
    this.#isModelNext = false;
    this.#name = this.#isNameNext ? '' : null;
    this.#isNameNext = false;
  }

  #open(byte: number): void {
    this.#keep(byte);
    this.#isModelNext = false;
    if (this.#depth === 0) this.#base = byte === openArray ? 2 : 1;
    this.#depth++;
    this.#isNameNext = byte === openObject && this.#isFollowed();
    this.#lastName = null;
  }

  #close(byte: number): void {
    this.#isModelNext = false;
    if (this.#usage?.depth === this.#depth) this.#give();
    this.#keep(byte);
    this.#depth = Math.max(0, this.#depth - 1);
    if (this.#depth <= this.#base) this.#envelope = null;
    this.#isNameNext = false;
    this.#lastName = null;
  }

  #separate(byte: number): void {
    this.#isModelNext = false;
    if (this.#usage?.depth === this.#depth) this.#give();
    this.#keep(byte);
    if (this.#depth <= this.#base) this.#envelope = null;
    // Between the items of an array, a string is not a name, but no colon follows it either.
    this.#isNameNext = this.#isFollowed();
    this.#lastName = null;
  }

  #beginValue(byte: number): void {
    this.#keep(byte);
    const name = this.#lastName;
    this.#lastName = null;
    if (name === null || this.#usage !== null || !this.#isFollowed()) return;
    if (this.#onModel !== null && modelNames.includes(name)) this.#isModelNext = true;
    else if (usageNames.includes(name)) this.#usage = { name, depth: this.#depth, bytes: [] };
    else if (this.#depth === this.#base && envelopeNames.includes(name)) this.#envelope = name;
  }

  #isFollowed(): boolean {
    return this.#depth === this.#base || (this.#depth === this.#base + 1 && this.#envelope !== null);
  }

  #keep(byte: number): void {
    const usage = this.#usage;
    if (usage === null) return;
    if (usage.bytes.length < maxUsageBytes) usage.bytes.push(byte);
    else this.#usage = null;
  }

  #giveModel(): void {
    const bytes = this.#model;
    this.#model = null;
    if (bytes === null || bytes.length === 0) return;
    this.#onModel?.(Buffer.from(bytes).toString('utf8'), this.#depth === this.#base && this.#base === 1);
  }

  #give(): void {
    const usage = this.#usage;
    this.#usage = null;
    if (usage === null) return;
    try {
      const found = { [usage.name]: JSON.parse(Buffer.from(usage.bytes).toString('utf8')) as unknown };
      this.#onUsage(this.#envelope === null || this.#depth === this.#base ? found : { [this.#envelope]: found });
    } catch {
      // Not JSON.
    }
  }
}
