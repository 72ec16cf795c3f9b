import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type Chunk, type Entry, type Layer, sizeOf, toMtime } from '../manifest.ts';
import { maxChunkBytes } from '../segment-writer.ts';
import { type DirectoryVisitor, fileName } from './directory-visitor.ts';
import { identityOf } from './identity.ts';
import { type FoundChanges, leaveOut, type PendingRead, remove, type Slot, textOf } from './scan-changes.ts';
import { statusOf } from './scan-entries.ts';

/** The attempts to read a file that changes meanwhile. */
const attempts = 3;

/** Options of {@link readContents}. */
export interface ReadContentsOptions {
  readonly visitor: DirectoryVisitor;
  readonly changes: FoundChanges;
  /** The files of the changes to read. */
  readonly reads: readonly PendingRead[];
  /** Stores a part of a file, if it is new. Copies the content. */
  readonly store: (layer: Layer, content: Buffer) => Chunk;
  readonly pause: () => Promise<void> | null;
}

/** An open file of a group that is read together. */
interface Member {
  readonly name: string;
  readonly fd: number;
}

/** A content as it was at one moment, if it did not change meanwhile. */
interface Content {
  readonly name: string;
  readonly stats: Stats;
  readonly readAtMs: number;
  readonly chunks: readonly Chunk[];
}

// One for the process: nothing waits between reading a part and storing it.
const buffer = Buffer.allocUnsafeSlow(maxChunkBytes);

/**
 * The bytes by which all files together may be larger than the scan has found: their growth is in no limit, and a file may become one of
 * many TB without a byte on the disk. What exceeds it is not read, as if the file had changed meanwhile.
 */
const maxGrowthBytes = 2 ** 26;

/** The suffixes of the files with the pending changes of a SQLite database. */
const logSuffixes = ['-wal', '-journal'];
const sqliteMagic = 'SQLite format 3\0';
const walHeaderBytes = 32;

/**
 * Reads the files that may have changed, and adds their entries to the changes. A file that changes meanwhile is read again, and named as
 * changing at last. A SQLite database is read together with its log, so that both fit.
 */
export async function readContents(options: ReadContentsOptions): Promise<void> {
  const reader = new ContentReader(options);
  for (const read of options.reads) {
    await reader.read(read);
    const wait = options.pause();
    if (wait !== null) await wait;
  }
}

class ContentReader {
  readonly #options: ReadContentsOptions;
  /** The paths that were read with others. */
  readonly #done = new Set<string>();
  /** The sizes that the scan has found. */
  readonly #sizes: ReadonlyMap<string, number>;
  #growthLeft = maxGrowthBytes;

  constructor(options: ReadContentsOptions) {
    this.#options = options;
    this.#sizes = new Map(options.changes.reads.map(({ path, size }) => [path, size]));
  }

  async read(read: PendingRead): Promise<void> {
    if (read.isDropped || this.#done.has(read.path)) return;
    const { changes } = this.#options;
    const { slot, name, path, size, old } = read;
    try {
      for (let attempt = 1; !(await this.#tryRead(read, attempt === attempts)); attempt++);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EIO') {
        leaveOut({ ...slot, changes }, name, path, old, { reason: 'UNREADABLE', bytes: size, files: 1 });
        changes.totals[slot.layer].files--;
        changes.totals[slot.layer].bytes -= size;
      } else if (code !== undefined && vanished.has(code)) {
        // It was removed or replaced meanwhile: the next save reads the directory again.
        read.isGone = true;
        changes.apply.push(() => {
          slot.node.identity = null;
        });
      } else throw error;
    }
  }

  /** Reads a file with the others of its group. Returns false if one of them changed meanwhile, and this is not the last attempt. */
  async #tryRead({ slot, name, size }: PendingRead, isLast: boolean): Promise<boolean> {
    this.#options.visitor.enter(slot.location);
    const names = groupOf(name, size);
    const members: Member[] = [];
    try {
      for (const member of names) {
        const fd = openFile(member, member === name);
        if (fd !== null) members.push({ name: member, fd });
      }
      const { contents, isStable } = await this.#readMembers(slot, members);
      if (!isStable && !isLast) return false;
      const others = names.filter((one) => !members.some((member) => member.name === one));
      if (others.length > 0) this.#options.visitor.enter(slot.location);
      // A directory or a link with the name of a log belongs to no database: the scan has saved it.
      for (const one of others) if (statusOf(one)?.isFile() !== false) this.#forget(slot, one);
      for (const content of contents) this.#record(slot, content, !isStable);
      return true;
    } finally {
      for (const { fd } of members) closeSync(fd);
    }
  }

  /** Records that a file of a group does not exist any more. */
  #forget(slot: Slot, name: string): void {
    const path = `${slot.location.path}/${name}`;
    this.#done.add(path);
    remove({ ...slot, changes: this.#options.changes }, name, path, slot.node[slot.of].get(name) ?? undefined);
  }

  async #readMembers(slot: Slot, members: readonly Member[]): Promise<{ contents: Content[]; isStable: boolean }> {
    const contents: Content[] = [];
    const before = members.map(({ fd }) => fstatSync(fd));
    const walHeaders = members.map((member) => walHeaderOf(member));
    const readAtMs = Date.now();
    let isComplete = true;
    for (const [index, member] of members.entries()) {
      const stats = before[index] as Stats;
      const size = Math.min(stats.size, this.#sizeOf(slot, member.name) + this.#growthLeft);
      contents.push({ name: member.name, stats, readAtMs, chunks: await this.#readFile(slot.layer, member, size) });
      isComplete &&= size === stats.size;
    }
    const isStable =
      isComplete &&
      members.every((member, index) => isUnchanged(member, before[index] as Stats, walHeaders[index] ?? null)) &&
      (members.length === 1 || this.#hasSameMembers(slot, members));
    return { contents, isStable };
  }

  // A database whose log was replaced does not fit the log that was read.
  #hasSameMembers(slot: Slot, members: readonly Member[]): boolean {
    this.#options.visitor.enter(slot.location);
    return groupNames(databaseOf(members[0]?.name ?? '')).every((name) => {
      const member = members.find((one) => one.name === name);
      const stats = statusOf(name);
      return member === undefined ? stats?.isFile() !== true : stats?.ino === fstatSync(member.fd).ino;
    });
  }

  /** Returns the size of a file in the scan. One that is not read has not changed. */
  #sizeOf({ location, node, of }: Slot, name: string): number {
    const known = node[of].get(name);
    return this.#sizes.get(`${location.path}/${name}`) ?? (known?.kind === 'file' ? (known.identity?.size ?? 0) : 0);
  }

  async #readFile(layer: Layer, { fd }: Member, size: number): Promise<Chunk[]> {
    const chunks: Chunk[] = [];
    for (let position = 0; position < size; position += maxChunkBytes) {
      const length = readFully(fd, position, Math.min(maxChunkBytes, size - position));
      if (length > 0) chunks.push(this.#options.store(layer, buffer.subarray(0, length)));
      // It was cut meanwhile.
      if (length < Math.min(maxChunkBytes, size - position)) break;
      const wait = this.#options.pause();
      if (wait !== null) await wait;
    }
    return chunks;
  }

  #record(slot: Slot, { name, stats, readAtMs, chunks }: Content, isTorn: boolean): void {
    const { changes } = this.#options;
    const { node, of, layer, location } = slot;
    const path = `${location.path}/${name}`;
    this.#done.add(path);
    const known = node[of].get(name);
    const old = known?.kind === 'file' ? known.entry : null;
    const mode = stats.mode & 0o7777;
    const mtime = toMtime(stats.mtimeMs);
    const isKnown = old?.type === 'file' && old.mode === mode && old.mtime === mtime && isSameContent(old, chunks);
    const entry: Entry = isKnown ? old : { type: 'file', mode, mtime, chunks, target: '' };
    this.#growthLeft = Math.max(0, this.#growthLeft - Math.max(0, sizeOf(entry) - this.#sizeOf(slot, name)));
    if (!isKnown) changes.entries[layer].set(path, entry);
    if (isTorn) changes.missing[layer].push({ path: textOf(path), reason: 'CHANGING', bytes: stats.size, files: 1 });
    const identity = identityOf(stats, readAtMs);
    changes.apply.push(() => node[of].set(name, { kind: 'file', identity, entry, isTorn }));
  }
}

const vanished = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ESTALE', 'EAGAIN', 'ENODEV', 'EINVAL']);

/** Opens a file for reading. Never follows a link, and never waits for the other end of a pipe. Null: there is none. */
function openFile(name: string, isRequired: boolean): number | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = openSync(fileName(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isRequired || !(code === 'ENOENT' || code === 'ELOOP')) throw error;
    return null;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  if (isRequired) throw Object.assign(new Error('It is no file any more.'), { code: 'EISDIR' });
  return null;
}

/** Returns the names that are read together with a file in the current directory, the file itself included. */
function groupOf(name: string, size: number): string[] {
  const database = databaseOf(name);
  // A database has complete pages.
  if (database === name && (size === 0 || size % 512 !== 0)) return [name];
  return isDatabase(database) ? groupNames(database) : [name];
}

/** Returns the name of the database to which a log belongs by its name; other names are returned as they are. */
function databaseOf(name: string): string {
  const suffix = logSuffixes.find((one) => name.length > one.length && name.endsWith(one));
  return suffix === undefined ? name : name.slice(0, -suffix.length);
}

function groupNames(database: string): string[] {
  return [database, ...logSuffixes.map((suffix) => database + suffix)];
}

function isDatabase(name: string): boolean {
  const fd = openFileOrNull(name);
  if (fd === null) return false;
  try {
    const length = readFully(fd, 0, sqliteMagic.length);
    return buffer.toString('latin1', 0, length) === sqliteMagic;
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

function openFileOrNull(name: string): number | null {
  try {
    return openFile(name, false);
  } catch {
    return null;
  }
}

function walHeaderOf({ name, fd }: Member): string | null {
  if (!name.endsWith('-wal')) return null;
  return buffer.toString('latin1', 0, readFully(fd, 0, walHeaderBytes));
}

// The log of a database grows while it is used. Its end may be incomplete, which SQLite recognizes by checksums; what was read fits the
// database as long as the log did not begin again.
function isUnchanged(member: Member, before: Stats, walHeader: string | null): boolean {
  const after = fstatSync(member.fd);
  if (walHeader !== null && after.size >= before.size) return walHeaderOf(member) === walHeader;
  return after.size === before.size && after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs;
}

/** Reads a part into the buffer. Returns its length, which is smaller at the end of the file. */
function readFully(fd: number, position: number, length: number): number {
  let read = 0;
  while (read < length) {
    const count = readSync(fd, buffer, read, length - read, position + read);
    if (count === 0) break;
    read += count;
  }
  return read;
}

function isSameContent({ chunks }: Entry, others: readonly Chunk[]): boolean {
  return chunks.length === others.length && chunks.every(({ id }, index) => id === others[index]?.id);
}
