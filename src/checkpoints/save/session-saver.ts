import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { deriveKeys } from '../checkpoint-keys.ts';
import {
  type CheckpointContent,
  type CheckpointDirectories,
  CheckpointError,
  type CheckpointKey,
  checkpointRoots,
  type LayerContent,
  type MissingPart,
  type SavedState,
  type SaveLimits,
  type SegmentSource,
} from '../driver.ts';
import type { Chunk, Layer } from '../manifest.ts';
import { DirectoryVisitor, fileName, type Location, locationBelow } from './directory-visitor.ts';
import { fitLimits } from './fit-limits.ts';
import { LayerSave, type ReadAgain } from './layer-save.ts';
import { loadState, type SessionState } from './load-state.ts';
import { readContents } from './read-contents.ts';
import { isReadEarly, isRepositoryTorn, RepositoryChanged } from './repository-changes.ts';
import { LayersMixed, scan } from './scan.ts';
import type { FoundChanges, PendingRead } from './scan-changes.ts';

/** A session whose directories a process saves. */
export interface SessionTarget {
  readonly directories: CheckpointDirectories;
  readonly spoolDir: string;
  readonly key: CheckpointKey;
  readonly from: CheckpointContent | null;
  readonly limits: SaveLimits;
  readonly segments: SegmentSource;
}

/** Options of {@link SessionSaver.save}. */
export interface SessionSaveOptions {
  readonly withIgnored: boolean;
  /** Returns a promise if other work should run before this one continues. It rejects if the save was stopped. */
  readonly pause: () => Promise<void> | null;
}

interface SaveAttempt extends Pick<SessionSaveOptions, 'pause'> {
  readonly attempt: number;
}

/** The most attempts to read a repository while git does not change it. */
const maxAttempts = 5;

/** The most parts that are named one by one. */
const maxMissing = 200;

/** Saves the directories of one session. All reading is synchronous, so it belongs into a process of its own. */
export class SessionSaver {
  readonly #target: SessionTarget;
  #from: CheckpointContent | null;
  #state: SessionState | null = null;
  #pending: { commit(): void; discard(): void } | null = null;

  constructor(target: SessionTarget) {
    this.#target = target;
    this.#from = target.from;
  }

  /** The entries that are in memory. */
  get entries(): number {
    const { files, ignored } = this.#state?.layers ?? {};
    return (files?.manifest.entries.size ?? 0) + (ignored?.manifest.entries.size ?? 0);
  }

  /** True if a save waits for `commit` or `abort`. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** Frees the memory. The next save reads the last state from its segments. */
  unload(): void {
    if (this.#pending === null) this.#state = null;
  }

  /** See `Saver.save`. */
  async save({ withIgnored, pause }: SessionSaveOptions): Promise<SavedState | null> {
    this.abort();
    const { key, segments } = this.#target;
    this.#state ??= await loadState({ key, from: this.#from, segments, pause });
    const visitor = new DirectoryVisitor({ ...this.#target.directories });
    try {
      let isMixed = withIgnored;
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#saveWith(visitor, isMixed, { pause, attempt });
        } catch (error) {
          if (error instanceof LayersMixed && !isMixed) isMixed = true;
          else if (!(error instanceof RepositoryChanged)) throw error;
        }
      }
    } finally {
      visitor.close();
    }
  }

  async #saveWith(visitor: DirectoryVisitor, withIgnored: boolean, { pause, attempt }: SaveAttempt) {
    const { limits, key, spoolDir } = this.#target;
    const state = this.#state as SessionState;
    const { layers } = state;
    const keys = deriveKeys(key);
    const scannedAtMs = Date.now();
    const found = await scan({ visitor, top: state.top, roots: checkpointRoots, withIgnored, limits, pause });
    const saveOf = (layer: Layer, other: Layer) =>
      new LayerSave({
        layer,
        state: layers[layer],
        keys,
        spoolDir,
        findElsewhere: (id) => layers[other].manifest.chunks.get(id),
      });
    const saves = { files: saveOf('files', 'ignored'), ignored: saveOf('ignored', 'files') };
    try {
      const store = (layer: Layer, content: Buffer) => saves[layer].store(content);
      const early = new Set<PendingRead>();
      do {
        const reads = found.changes.reads.filter((read) => isReadEarly(read) && !early.has(read));
        await readContents({ visitor, changes: found.changes, reads, store, pause });
        for (const read of reads) early.add(read);
      } while (await found.continue());
      const changes = fitLimits(found, limits);
      const reads = changes.reads.filter((read) => !early.has(read));
      await readContents({ visitor, changes, reads, store, pause });
      if (attempt < maxAttempts && isRepositoryTorn(changes, scannedAtMs)) throw new RepositoryChanged();
      const readAgain = createReadAgain(visitor, pause);
      const finish = (layer: Layer, removed: readonly string[]) =>
        saves[layer].finish({
          removed,
          entries: changes.entries[layer],
          totals: changes.totals[layer],
          missing: summarize(changes.missing[layer]),
          readAgain,
        });
      const files = await finish('files', changes.removed.files);
      const gone = [...changes.removed.ignored, ...(withIgnored ? [...state.orphans, ...changes.orphans] : [])];
      const ignored = withIgnored ? await finish('ignored', gone) : null;
      const content: CheckpointContent = {
        format: 1,
        files: files.content,
        ignored: ignored?.content ?? layers.ignored.content,
      };
      if (this.#isCurrent(content)) {
        // Nothing to store, but the status of files may be known better.
        applyChanges(state, changes, withIgnored);
        return null;
      }
      this.#pending = {
        commit: () => {
          saves.files.commit();
          saves.ignored.commit();
          applyChanges(state, changes, withIgnored);
          this.#from = content;
        },
        discard: () => {
          saves.files.discard();
          saves.ignored.discard();
        },
      };
      return savedState(content, [...files.segments, ...(ignored?.segments ?? [])]);
    } catch (error) {
      saves.files.discard();
      saves.ignored.discard();
      throw error;
    }
  }

  /** See `Saver.commit`. */
  commit(): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.commit();
  }

  /** See `Saver.abort`. */
  abort(): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.discard();
  }

  #isCurrent(content: CheckpointContent): boolean {
    const last = this.#from;
    return last !== null && isSameLayer(last.files, content.files) && isSameLayer(last.ignored, content.ignored);
  }
}

function applyChanges(state: SessionState, changes: FoundChanges, withIgnored: boolean): void {
  for (const apply of changes.apply) apply();
  if (withIgnored) state.orphans.clear();
  else for (const path of changes.orphans) state.orphans.add(path);
}

function isSameLayer(layer: LayerContent | null, other: LayerContent | null): boolean {
  if (layer === null || other === null) return layer === other;
  return (
    layer.manifest.at(-1) === other.manifest.at(-1) && JSON.stringify(layer.missing) === JSON.stringify(other.missing)
  );
}

function savedState(content: CheckpointContent, segments: SavedState['segments']): SavedState {
  const layers = [content.files, ...(content.ignored === null ? [] : [content.ignored])];
  return {
    content,
    segments,
    files: layers.reduce((sum, { files }) => sum + files, 0),
    bytes: layers.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: layers.flatMap(({ missing }) => missing),
  };
}

/** Names the first parts one by one, and the others by their root and reason. */
function summarize(missing: readonly MissingPart[]): MissingPart[] {
  const others = new Map<string, MissingPart>();
  for (const { path, reason, bytes, files } of missing.slice(maxMissing)) {
    const root = path.split('/', 1)[0] as string;
    const sum = others.get(`${root} ${reason}`) ?? { path: root, reason, bytes: 0, files: 0 };
    const total = sum.bytes === null || bytes === null ? null : sum.bytes + bytes;
    others.set(`${root} ${reason}`, { ...sum, bytes: total, files: sum.files + files });
  }
  return [...missing.slice(0, maxMissing), ...others.values()];
}

/** Returns a reader of chunks that are stored already. */
function createReadAgain(visitor: DirectoryVisitor, pause: SessionSaveOptions['pause']): ReadAgain {
  const locations = new Map<string, Location>(
    checkpointRoots.map((name) => [name, { parent: null, name, path: name, depth: 0 }] as const),
  );
  const locationOf = (path: string): Location => {
    const known = locations.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    if (slash < 0) throw new Error('A path has no root.');
    const location = locationBelow(locationOf(path.slice(0, slash)), path.slice(slash + 1));
    locations.set(path, location);
    return location;
  };
  return async (path, position, chunk) => {
    const wait = pause();
    if (wait !== null) await wait;
    const slash = path.lastIndexOf('/');
    try {
      visitor.enter(locationOf(path.slice(0, slash)));
      return readPart(path.slice(slash + 1), position, chunk);
    } catch (error) {
      if (error instanceof CheckpointError) throw error;
      return null;
    }
  };
}

function readPart(name: string, position: number, { length }: Chunk): Buffer | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(fileName(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) return null;
    const content = Buffer.allocUnsafe(length);
    return readSync(fd, content, 0, length, position) === length ? content : null;
  } finally {
    closeSync(fd);
  }
}
