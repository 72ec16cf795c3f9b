import { isUtf8 } from 'node:buffer';
import { isRefName } from '../../git/ref-names.ts';
import { type PktLine, PktLineReader } from './pkt-line.ts';
import { CertificateReader } from './push-certificate.ts';

/** A change of one ref in a push. */
export interface PushCommand {
  /** Full name: `refs/heads/main`. */
  readonly ref: string;
  /** Object ids; null: the ref does not exist before, or after the push. */
  readonly oldId: string | null;
  readonly newId: string | null;
}

/** The part of a push before its pack. */
export interface PushHead {
  readonly type: 'head';
  readonly commands: readonly PushCommand[];
  readonly capabilities: ReadonlySet<string>;
  /** Options of `git push --push-option`, which forges interpret. */
  readonly options: readonly string[];
  readonly isSigned: boolean;
  /** The number of bytes before the pack. */
  readonly bytes: number;
}

/** A push that cannot be read, with the reason as a sentence. */
export interface InvalidPush {
  readonly type: 'invalid';
  readonly reason: string;
  /** As far as they were read. */
  readonly capabilities: ReadonlySet<string>;
}

/** Bounds of {@link CommandListReader}. */
export interface CommandListLimits {
  readonly maxCommands: number;
  /** The maximum size of the part before the pack, in bytes. */
  readonly maxHeadBytes: number;
}

const commandLine = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (.+)$/;
const shallowLine = /^shallow ([0-9a-f]{40}|[0-9a-f]{64})$/;
/** Bounds the work for one push; git sends fewer than ten. */
const maxCapabilities = 64;
/** Capabilities that git sends with a value. It also accepts a value for each other one, and ignores it. */
const withValue: ReadonlySet<string> = new Set(['agent', 'object-format', 'push-cert', 'session-id']);

/**
 * Reads the part of a push (a request to git-receive-pack) before its pack. Accepts only what git itself writes, so
 * that no forge can read other commands in the same bytes. Never throws.
 */
export class CommandListReader {
  readonly #limits: CommandListLimits;
  readonly #lines = new PktLineReader();
  readonly #commands: PushCommand[] = [];
  readonly #refs = new Set<string>();
  readonly #options: string[] = [];
  #capabilities: ReadonlySet<string> = new Set();
  #certificate: CertificateReader | null = null;
  #state: 'shallow' | 'commands' | 'certificate' | 'signed' | 'options' = 'shallow';
  #found: PushHead | InvalidPush | null = null;

  constructor(limits: CommandListLimits) {
    this.#limits = limits;
  }

  /** Takes a chunk; returns the result as soon as it is known, and null before. Ignores chunks after that. */
  take(chunk: Buffer): PushHead | InvalidPush | null {
    if (this.#found !== null) return this.#found;
    this.#lines.take(chunk);
    while (this.#found === null) {
      const line = this.#lines.next();
      if (this.#lines.readBytes > this.#limits.maxHeadBytes) return this.#fail('It has too many commands.');
      if (line === null) break;
      this.#takeLine(line);
    }
    if (this.#found === null && this.#lines.takenBytes > this.#limits.maxHeadBytes)
      this.#fail('It has too many commands.');
    return this.#found;
  }

  /** Returns the result at the end of the request. */
  end(): PushHead | InvalidPush {
    return this.#found ?? this.#fail('It ends before its list of commands does.');
  }

  /** Returns all bytes taken so far: the part before the pack, and what came with it. */
  bytes(): Buffer {
    return this.#lines.bytes();
  }

  #fail(reason: string): InvalidPush {
    const found = { type: 'invalid', reason: `The push cannot be read. ${reason}`, capabilities: this.#capabilities };
    this.#found = found as InvalidPush;
    return found as InvalidPush;
  }

  #takeLine(line: PktLine): void {
    if (line.type === 'invalid') this.#fail(line.reason);
    else if (line.type === 'flush') this.#flush();
    else if (!isUtf8(line.payload)) this.#fail('A line is not UTF-8.');
    else this.#takeText(line.payload.toString('utf8'));
  }

  #takeText(text: string): void {
    switch (this.#state) {
      case 'certificate':
        this.#takeCertificateLine(text);
        break;
      case 'signed':
        this.#fail('A line follows its certificate.');
        break;
      case 'options':
        this.#takeOption(withoutNewline(text));
        break;
      case 'shallow':
        if (!shallowLine.test(withoutNewline(text))) this.#takeFirst(text);
        break;
      case 'commands':
        this.#takeCommand(withoutNewline(text));
    }
  }

  // The first line besides those of a shallow clone has the capabilities.
  #takeFirst(text: string): void {
    const nul = text.indexOf('\0');
    if (nul < 0) return void this.#fail('It has no capabilities.');
    const list = withoutNewline(text.slice(nul + 1));
    if (!/^[\x20-\x7e]*$/.test(list)) return void this.#fail('Its capabilities are not text.');
    const capabilities = list.split(' ').filter((each) => each !== '');
    if (capabilities.length > maxCapabilities) return void this.#fail('It has too many capabilities.');
    // To git, "push-options=1" is "push-options".
    if (!capabilities.every(isWellFormed)) return void this.#fail('A capability has a value that git does not send.');
    this.#capabilities = new Set(capabilities);
    const first = text.slice(0, nul);
    if (first === 'push-cert') {
      this.#certificate = new CertificateReader();
      this.#state = 'certificate';
      return;
    }
    this.#state = 'commands';
    this.#takeCommand(first);
  }

  #takeCommand(text: string): void {
    const [, oldId = '', newId = '', ref = ''] = commandLine.exec(text) ?? [];
    if (ref === '' || oldId.length !== newId.length) return void this.#fail('A command is malformed.');
    if (!isRefName(ref)) return void this.#fail('A command does not name a valid ref.');
    if (this.#refs.has(ref)) return void this.#fail('It names a ref twice.');
    if (this.#commands.length >= this.#limits.maxCommands) return void this.#fail('It has too many commands.');
    const command = { ref, oldId: idOf(oldId), newId: idOf(newId) };
    if (command.oldId === null && command.newId === null) return void this.#fail('A command changes nothing.');
    this.#refs.add(ref);
    this.#commands.push(command);
  }

  #takeCertificateLine(text: string): void {
    const line = this.#certificate?.take(text) ?? { type: 'invalid' };
    if (line.type === 'invalid') this.#fail('Its certificate is malformed.');
    else if (line.type === 'command') this.#takeCommand(line.text);
    else if (line.type === 'option') this.#takeOption(line.text);
    else if (line.type === 'end') this.#state = 'signed';
  }

  #takeOption(text: string): void {
    if (!/^[^\p{C}]*$/u.test(text)) return void this.#fail('An option is not text.');
    this.#options.push(text);
  }

  #flush(): void {
    if (this.#state === 'certificate') return void this.#fail('Its certificate does not end.');
    const hasOptions = this.#capabilities.has('push-options');
    if (hasOptions && this.#state !== 'options' && this.#commands.length > 0) {
      this.#state = 'options';
      return;
    }
    this.#found = {
      type: 'head',
      commands: this.#commands,
      capabilities: this.#capabilities,
      options: [...new Set(this.#options)],
      isSigned: this.#certificate !== null,
      bytes: this.#lines.readBytes,
    };
  }
}

// A pkt-line of text may end in a newline.
function withoutNewline(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function isWellFormed(capability: string): boolean {
  const [name = '', value] = capability.split('=', 2);
  return value === undefined || withValue.has(name);
}

function idOf(hex: string): string | null {
  return /^0+$/.test(hex) ? null : hex;
}
