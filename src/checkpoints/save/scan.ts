import type { Stats } from 'node:fs';
import type { SaveLimits } from '../driver.ts';
import { isRecord } from '../manifest.ts';
import { cacheContainer, isCache } from './caches.ts';
import { type DirectoryVisitor, type Location, locationBelow } from './directory-visitor.ts';
import { identityOf, isSame } from './identity.ts';
import { type IgnoreRules, isIgnored, rulesIn } from './ignore-rules.ts';
import { isGitDirectory, isGitRemnant, lateNamesOf, latePasses } from './repository-changes.ts';
import { createDirectoryNode, type DirectoryNode, type TreeNode } from './saved-tree.ts';
import {
  type FoundChanges,
  forgetIgnored,
  type LargeFile,
  type LateName,
  leaveOut,
  newChanges,
  remove,
  type Slot,
  type Task,
  textOf,
  type Unit,
} from './scan-changes.ts';
import { directoryEntry, namesOf, readNames, statusOf, visitLink } from './scan-entries.ts';

/** The deepest directory that is saved, and the longest path of one: others are named as too large. */
const deepest = { depth: 500, pathBytes: 4_096 };

/** The bytes of a path that count as one entry: manifests and their readers have whole paths in memory. */
const pathBytesOfEntry = 512;

/** The shared memory of a SQLite database consists of parts of this size. */
const sharedMemoryBytes = 32_768;

/** Ignored files of this size are left out one by one if there is not enough space, as directories are. */
const largeFileBytes = 2 ** 20;

/** Options of {@link scan}. */
export interface ScanOptions {
  readonly visitor: DirectoryVisitor;
  /** The last saved state: its children are the roots. The scan does not change it. */
  readonly top: DirectoryNode;
  readonly roots: readonly string[];
  readonly withIgnored: boolean;
  readonly limits: SaveLimits;
  /** Lets other work run if it is time for that. */
  readonly pause: () => Promise<void> | null;
}

/** The outcome of a scan. */
export interface Scan {
  readonly changes: FoundChanges;
  /** Ignored directories and large files, with their own changes. */
  readonly units: readonly Unit[];
  /** Large files of the layer `files`. */
  readonly large: readonly LargeFile[];
  /** Visits the names of repositories that must be visited after others were read, pass by pass. False: there is no further pass. */
  continue(): Promise<boolean>;
}

/** Git ignores a file that is saved in the layer `files`, so both layers must be saved together. */
export class LayersMixed extends Error {}

/**
 * Reads the status of all files, of the layer `files` or of both layers, and compares it with the last saved state. Reads no content of
 * files. Rejects with {@link LayersMixed} if `withIgnored` is needed.
 */
export async function scan(options: ScanOptions): Promise<Scan> {
  const scanner = new Scanner(options);
  await scanner.run();
  return scanner;
}

class Scanner implements Scan {
  readonly changes = newChanges();
  readonly units: Unit[] = [];
  readonly large: LargeFile[] = [];
  readonly #options: ScanOptions;
  readonly #tasks: Task[] = [];
  readonly #late: LateName[] = [];
  #pass = -1;
  #entriesLeft: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#entriesLeft = options.limits.maxEntries;
  }

  async run(): Promise<void> {
    const { top, roots } = this.#options;
    const location = { parent: null, name: '', path: '', depth: -1 };
    const slot: Slot = {
      location,
      node: top,
      of: 'children',
      layer: 'files',
      changes: this.changes,
      unit: null,
      isGit: false,
    };
    for (const name of [...roots].reverse()) {
      const old = top.children.get(name);
      const isKnown = old?.kind === 'directory';
      this.#tasks.push({
        slot,
        location: { parent: null, name, path: name, depth: 0 },
        old: isKnown ? old : null,
        rules: null,
      });
    }
    await this.#runTasks();
    // Containers add units meanwhile.
    for (let index = 0; index < this.units.length; index++) {
      this.#visitUnit(this.units[index] as Unit);
      await this.#runTasks();
    }
  }

  async continue(): Promise<boolean> {
    const pass = ++this.#pass;
    if (pass === latePasses) return false;
    for (const { slot, name } of this.#late.filter((late) => late.pass === pass)) {
      const old = slot.node.children.get(name);
      if (this.#tryEnter(slot.location)) this.#visit(slot, name, old, null, undefined);
      else remove(slot, name, `${slot.location.path}/${name}`, old);
      const wait = this.#options.pause();
      if (wait !== null) await wait;
    }
    await this.#runTasks();
    return true;
  }

  async #runTasks(): Promise<void> {
    for (let task = this.#tasks.pop(); task !== undefined; task = this.#tasks.pop()) {
      if (task.slot.unit?.isCut) continue;
      await this.#readDirectory(task);
      const wait = this.#options.pause();
      if (wait !== null) await wait;
    }
  }

  #visitUnit(unit: Unit): void {
    const { slot, name, path, old } = unit;
    try {
      this.#options.visitor.enter(slot.location);
    } catch {
      remove({ ...slot, changes: unit.changes }, name, path, old);
      return;
    }
    this.#visit({ ...slot, layer: 'ignored', changes: unit.changes, unit }, name, old, null, undefined);
  }

  async #readDirectory(task: Task): Promise<void> {
    const { slot, location, old } = task;
    const { changes, layer } = slot;
    let stats: Stats;
    let names: string[] | null = null;
    let others = 0;
    const openedAtMs = Date.now();
    try {
      stats = this.#options.visitor.enter(location);
      if (old === null || !isSame(old.identity, stats)) {
        ({ names, others } = readNames(stats, Math.max(0, this.#entriesLeft)));
      }
    } catch (error) {
      this.#cannotOpen(task, error);
      return;
    }
    const node = old ?? createDirectoryNode();
    const rules =
      layer === 'files' ? rulesIn(this.#options.visitor, task, names === null ? node.children : new Set(names)) : null;
    const entry = directoryEntry(stats, old?.entry ?? null);
    if (entry !== old?.entry) changes.entries[layer].set(location.path, entry);
    if (old === null) changes.apply.push(() => slot.node[slot.of].set(location.name, node));
    if (names !== null || entry !== old?.entry || rules !== node.rules) {
      // A directory of which names are left out is read again each time, to name them.
      const identity = others > 0 ? null : identityOf(stats, openedAtMs);
      changes.apply.push(() => Object.assign(node, { identity, entry, rules }));
    }
    if (others > 0 && slot.unit !== null) slot.unit.isCut = true;
    else if (others > 0) {
      changes.missing[layer].push({ path: textOf(location.path), reason: 'TOO_LARGE', bytes: null, files: others });
    }
    const known = names === null ? node.children : new Set(names);
    const isRepository = isGitDirectory(known);
    const inner: Slot = { ...slot, location, node, of: 'children', isGit: slot.isGit || isRepository };
    const isLate = this.#defer(inner, isRepository);
    const visitAll = async (found: Iterable<string>) => {
      for (const name of found) {
        if (isLate(name)) continue;
        this.#visitName(inner, name, rules);
        // There may be very many names, and each may be compared with many patterns.
        const wait = this.#options.pause();
        if (wait === null) continue;
        await wait;
        this.#options.visitor.enter(location);
      }
    };
    if (names !== null) this.#removeOthers(inner, new Set(names), isLate);
    // All in one loop: another save may change the current directory during each wait, even between two loops.
    await visitAll(names ?? [...node.children.keys(), ...node.ignored.keys()]);
  }

  /** Leaves names of a repository in the layer `files` to later passes, even names that do not exist yet. Returns a test for them. */
  #defer(inner: Slot, isRepository: boolean): (name: string) => boolean {
    const { location, layer, isGit } = inner;
    const directory = isRepository ? 'repository' : isGit && location.name === 'objects' ? 'objects' : null;
    const late = directory === null || layer === 'ignored' ? [] : lateNamesOf(directory);
    for (const [name, pass] of late) this.#late.push({ slot: inner, name, pass });
    return (name) => late.some(([one]) => one === name);
  }

  #removeOthers(inner: Slot, names: ReadonlySet<string>, isLate: (name: string) => boolean): void {
    const { node, location, changes } = inner;
    for (const [name, child] of node.children) {
      if (!names.has(name) && !isLate(name)) remove(inner, name, `${location.path}/${name}`, child);
    }
    for (const [name, child] of node.ignored) {
      if (!names.has(name)) forgetIgnored(changes, node, name, `${location.path}/${name}`, child);
    }
  }

  /** Visits a name of a directory of the layer `files` or `ignored`. */
  #visitName(inner: Slot, name: string, rules: IgnoreRules | null): void {
    const { node, layer, location } = inner;
    const old = node.children.get(name);
    if (layer === 'ignored') {
      this.#visit(inner, name, old, null, undefined);
      return;
    }
    const wasIgnored = node.ignored.get(name);
    let stats: Stats | undefined;
    let isHidden = false;
    if (location.path.startsWith('home')) isHidden = isCache(`${location.path}/${name}`);
    else if (rules !== null && name !== '.git') {
      if (rules === node.rules && (old !== undefined || wasIgnored !== undefined)) isHidden = wasIgnored !== undefined;
      else {
        stats = statusOf(name);
        isHidden = stats !== undefined && isIgnored(rules, namesOf(location, name), stats.isDirectory());
      }
    }
    if (isHidden) {
      this.#visitIgnored(inner, name, old, wasIgnored, stats);
      return;
    }
    if (wasIgnored !== undefined) {
      forgetIgnored(inner.changes, node, name, `${location.path}/${name}`, wasIgnored);
    }
    // The patterns say nothing about git's own files.
    this.#visit(inner, name, old, name === '.git' ? null : rules, stats);
  }

  #visitIgnored(
    inner: Slot,
    name: string,
    old: TreeNode | undefined,
    wasIgnored: TreeNode | null | undefined,
    known: Stats | undefined,
  ): void {
    const { node, location, changes } = inner;
    const { withIgnored } = this.#options;
    const path = `${location.path}/${name}`;
    if (old !== undefined && old.kind !== 'absent' && !withIgnored) throw new LayersMixed();
    remove(inner, name, path, old);
    if (!withIgnored) {
      if (wasIgnored === undefined) changes.apply.push(() => node.ignored.set(name, null));
      return;
    }
    const slot: Slot = { ...inner, of: 'ignored', layer: 'ignored' };
    const stats = known ?? statusOf(name);
    if (stats === undefined) forgetIgnored(changes, node, name, path, wasIgnored ?? null);
    else if (stats.isDirectory() || stats.size >= largeFileBytes) {
      this.units.push({ slot, name, path, old: wasIgnored ?? undefined, changes: newChanges(), isCut: false });
    } else this.#visit(slot, name, wasIgnored ?? undefined, null, stats);
  }

  /** Compares a name in the current directory with the last saved state. */
  #visit(
    slot: Slot,
    name: string,
    old: TreeNode | undefined,
    rules: IgnoreRules | null,
    known: Stats | undefined,
  ): void {
    const { location, unit } = slot;
    const path = `${location.path}/${name}`;
    this.#entriesLeft -= 1 + Math.floor(path.length / pathBytesOfEntry);
    const isFull = this.#entriesLeft < 0;
    if (isFull && unit !== null) {
      unit.isCut = true;
      return;
    }
    // Opening a known directory is enough to see whether it is still one.
    if (known === undefined && old?.kind === 'directory' && !isFull) {
      this.#visitDirectory(slot, name, path, old, rules);
      return;
    }
    const stats = known ?? statusOf(name);
    if (stats === undefined) remove(slot, name, path, old);
    else if (isFull) {
      leaveOut(slot, name, path, old, { reason: 'TOO_LARGE', bytes: stats.isFile() ? stats.size : null, files: 1 });
    } else if (stats.isDirectory()) this.#visitDirectory(slot, name, path, old, rules);
    else if (stats.isFile()) this.#visitFile(slot, name, path, old, stats);
    else if (stats.isSymbolicLink()) visitLink(slot, name, path, old, stats);
    else leaveOut(slot, name, path, old, { reason: stats.isSocket() ? null : 'SPECIAL', bytes: null, files: 1 });
  }

  #visitDirectory(slot: Slot, name: string, path: string, old: TreeNode | undefined, rules: IgnoreRules | null): void {
    const { location, unit } = slot;
    const known = old?.kind === 'directory' ? old : null;
    if (location.depth >= deepest.depth || path.length > deepest.pathBytes) {
      leaveOut(slot, name, path, old, { reason: 'TOO_LARGE', bytes: null, files: 1 });
      return;
    }
    if (known === null) remove(slot, name, path, old);
    if (unit?.path === cacheContainer && location.path === cacheContainer) {
      const changes = newChanges();
      const own: Slot = { ...slot, changes, unit: null };
      this.units.push({ slot: own, name, path, old: known ?? undefined, changes, isCut: false });
      return;
    }
    this.#tasks.push({ slot, location: locationBelow(location, name), old: known, rules });
  }

  #visitFile(slot: Slot, name: string, path: string, old: TreeNode | undefined, stats: Stats): void {
    const { changes, layer } = slot;
    const { size } = stats;
    if (old?.kind === 'directory') remove(slot, name, path, old);
    // SQLite creates the shared memory of a database again from the log, and no process of git runs in a restored workspace.
    const isSharedMemory =
      name.endsWith('-shm') && size % sharedMemoryBytes === 0 && statusOf(name.replace(/shm$/, 'wal')) !== undefined;
    if (isSharedMemory || (slot.isGit && isGitRemnant(path, name))) {
      leaveOut(slot, name, path, old, { reason: null, bytes: null, files: 1 });
      return;
    }
    const total = changes.totals[layer];
    total.files++;
    total.bytes += size;
    const isUnchanged = old?.kind === 'file' && !old.isTorn && isSame(old.identity, stats);
    const kept = old?.kind === 'directory' ? undefined : old;
    const read = isUnchanged ? null : { slot, name, path, size, old: kept, isDropped: false, isGone: false };
    if (read !== null) changes.reads.push(read);
    if (layer === 'files' && size >= largeFileBytes && !isRecord(path))
      this.large.push({ slot, name, path, size, old: kept, read });
  }

  #cannotOpen(task: Task, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    const { slot, location, old, rules } = task;
    const known = old ?? undefined;
    // A checkpoint without files would replace the last good one.
    if (location.parent === null) throw error;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EIO' || code === 'ESTALE') {
      leaveOut(slot, location.name, location.path, known, { reason: 'UNREADABLE', bytes: null, files: 1 });
      return;
    }
    if (code === 'ENOENT') {
      remove(slot, location.name, location.path, known);
      return;
    }
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    // It is no directory any more.
    const wasEntered = this.#tryEnter(location.parent);
    const stats = wasEntered ? statusOf(location.name) : undefined;
    if (stats === undefined || stats.isDirectory()) remove(slot, location.name, location.path, known);
    else this.#visit(slot, location.name, known, rules, stats);
  }

  #tryEnter(location: Location): boolean {
    try {
      this.#options.visitor.enter(location);
      return true;
    } catch {
      return false;
    }
  }
}
