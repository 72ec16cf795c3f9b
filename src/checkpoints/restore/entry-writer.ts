import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import type { CheckpointDirectories, CheckpointRoot, RestoreRequest } from '../driver.ts';
import { type Entry, fromMtime } from '../manifest.ts';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_DIRECTORY } = constants;

/** The longest path for the system, and the longest part of a path that one step opens. */
const maxPathBytes = 4_000;

/** Options of {@link EntryWriter}. */
export interface EntryWriterOptions extends Pick<RestoreRequest, 'owner'> {
  /** New directories that no other process uses. */
  readonly directories: CheckpointDirectories;
  /** The umask of the process. */
  readonly umask: number;
}

/**
 * Creates the entries of a checkpoint in new directories, by synchronous calls. The paths must be checked (`mergeLayers`). Throws errors of the
 * system.
 */
export class EntryWriter {
  readonly #options: EntryWriterOptions;
  readonly #roots: CheckpointDirectories;
  /** The composed file that was written last. */
  #composed: { readonly path: string; readonly fd: number } | null = null;

  constructor(options: EntryWriterOptions) {
    this.#options = options;
    this.#roots = options.directories;
  }

  /** Creates a directory, whose attributes are set by {@link finishDirectory} after its content was written. */
  createDirectory(path: string): void {
    this.#at(path, (target) => mkdirSync(target, 0o700));
  }

  /** Writes a complete file. */
  writeFile(path: string, entry: Entry, content: Uint8Array): void {
    // As root, or for the owner, the file stays writable here in any mode.
    const fd = this.#at(path, (target) =>
      openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, entry.mode & 0o777),
    );
    try {
      writeAll(fd, content, null);
      this.#setAttributes(fd, entry, (entry.mode & (0o7000 | this.#options.umask)) !== 0);
    } finally {
      closeSync(fd);
    }
  }

  /** Writes a part of a file, whose attributes are set by {@link finishFile} at the end. */
  writePart(path: string, position: number, content: Uint8Array): void {
    if (this.#composed?.path !== path) {
      this.closePart();
      const fd = this.#at(path, (target) => openSync(target, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600));
      this.#composed = { path, fd };
    }
    writeAll(this.#composed?.fd as number, content, position);
  }

  /** Closes the file of {@link writePart}. */
  closePart(): void {
    if (this.#composed !== null) closeSync(this.#composed.fd);
    this.#composed = null;
  }

  /** Sets the attributes of a file that was written in parts. */
  finishFile(path: string, entry: Entry): void {
    const fd = this.#at(path, (target) => openSync(target, O_WRONLY | O_NOFOLLOW));
    this.#finish(fd, entry);
  }

  /** Sets the attributes of a directory. Call it for the directories in it before. */
  finishDirectory(path: string, entry: Entry): void {
    const fd = this.#at(path, (target) => openSync(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    this.#finish(fd, entry);
  }

  /** Creates a link. Its target is not used. */
  writeLink(path: string, entry: Entry): void {
    this.#at(path, (target) => {
      symlinkSync(toSystem(entry.target), target);
      const { owner } = this.#options;
      if (owner !== null) lchownSync(target, owner.uid, owner.gid);
      const time = timeOf(entry);
      lutimesSync(target, time, time);
    });
  }

  #finish(fd: number, entry: Entry): void {
    try {
      this.#setAttributes(fd, entry, true);
    } finally {
      closeSync(fd);
    }
  }

  // The owner first, because that removes setuid and setgid.
  #setAttributes(fd: number, entry: Entry, needsMode: boolean): void {
    const { owner } = this.#options;
    if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
    if (needsMode || owner !== null) fchmodSync(fd, entry.mode);
    const time = timeOf(entry);
    futimesSync(fd, time, time);
  }

  /** Does work with the path of an entry for the system. If it would be too long, it begins at an open directory. */
  #at<T>(path: string, work: (target: string | Buffer) => T): T {
    const slash = path.indexOf('/');
    const root = (slash < 0 ? path : path.slice(0, slash)) as CheckpointRoot;
    let start: string = this.#roots[root];
    let rest = slash < 0 ? '' : path.slice(slash);
    if (start.length + rest.length <= maxPathBytes) return work(joined(start, rest));
    let fd: number | null = null;
    try {
      while (rest.length > maxPathBytes - 100) {
        const cut = rest.lastIndexOf('/', maxPathBytes - 400);
        const next = openSync(joined(start, rest.slice(0, cut)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (fd !== null) closeSync(fd);
        fd = next;
        start = `/proc/self/fd/${fd}`;
        rest = rest.slice(cut);
      }
      return work(joined(start, rest));
    } finally {
      if (fd !== null) closeSync(fd);
    }
  }
}

/** Converts the time of an entry for `utimes`, which takes a negative number for the present. */
export function timeOf({ mtime }: Entry): number | Date {
  const time = fromMtime(mtime);
  return time < 0 ? new Date(time * 1_000) : time;
}

function writeAll(fd: number, content: Uint8Array, position: number | null): void {
  for (let written = 0; written < content.length; ) {
    const at = position === null ? null : position + written;
    written += writeSync(fd, content, written, content.length - written, at);
  }
}

function joined(start: string, rest: string): string | Buffer {
  return isAscii(rest) ? start + rest : Buffer.concat([Buffer.from(start), Buffer.from(rest, 'latin1')]);
}

function toSystem(bytes: string): string | Buffer {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1');
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are all characters of ASCII
  return /^[\x00-\x7f]*$/.test(text);
}
