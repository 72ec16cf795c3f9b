import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { checkedGit } from './checked-git.ts';
import { createLocks } from './locks.ts';
import { type Mirror, mirrorAt } from './mirror.ts';
import { isThere, listMirrors, namesIn, removeLeftovers } from './mirror-files.ts';
import { defaultLimits, type MirrorLimits } from './mirror-limits.ts';
import { createSpares, type Spares } from './spares.ts';
import { type SweepOptions, type SweepReport, sweepMirrors } from './sweep-mirrors.ts';

/** A repository as mirrors identify it. */
export interface MirrorKey {
  /** Mirrors of different owners (enterprises) share nothing. */
  readonly ownerId: string;
  readonly host: string;
  readonly path: string;
}

/** The mirrors of a directory, which belongs to this process alone. */
export interface Mirrors {
  readonly directory: string;
  readonly limits: MirrorLimits;
  /** The PATH in which git is searched. */
  readonly path: string;
  /** Clones for the next sessions. */
  readonly spares: Spares;
  /** Variables that mark the git of this process, so that the next one finds it if it is left. */
  readonly marks: Readonly<Record<string, string>>;
  /** Finds or creates the mirror of a repository. */
  open(key: MirrorKey): Promise<Mirror>;
  /**
   * Runs work in the background, unless work with this name has begun within five minutes. {@link Mirrors.close} ends
   * it. Errors are ignored: later work does the same. Resolves when the work has ended, or at once.
   */
  inBackground(name: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown>;
  /** See {@link sweepMirrors}. A mirror is kept while `isBorrowing` is true for one of its borrowers. */
  sweep(now: number, isBorrowing: SweepOptions['isBorrowing']): Promise<SweepReport>;
  /** Maintains each mirror; see {@link Mirror.maintain}. Goes on with the others if one fails. */
  maintain(signal: AbortSignal): Promise<void>;
  /** Removes the clones that an earlier process left. Call it before the first clone. */
  removeLeftClones(): Promise<void>;
  /** Ends the work in the background, and removes spare clones. Never rejects. */
  close(): Promise<void>;
}

/** The time after which work in the background is repeated. */
const againMs = 5 * 60_000;

/** Opens the mirrors in a directory, which is created with the first of them. Only one process may use it. */
export function openMirrors(
  directory: string,
  path: string,
  overrides: Partial<MirrorLimits> = {},
  marks: Mirrors['marks'] = {},
): Mirrors {
  const limits = { ...defaultLimits, ...overrides };
  const locks = createLocks();
  const closing = new AbortController();
  const background = new Set<Promise<unknown>>();
  const begun = new Map<string, number>();
  const refsVersions = new Map<string, number>();
  const maintained = new Set<string>();
  const spares = createSpares({ directory: clonesIn(directory), path, env: marks, limits });
  const mirrorIn = (found: string) =>
    mirrorAt({
      directory: found,
      clones: clonesIn(directory),
      path,
      marks,
      limits,
      lock: locks.run,
      refsVersions,
      maintained,
    });
  /** The mirrors that this process has used. */
  const used = new Set<string>();
  const create = async (target: string, { host, path: name }: MirrorKey) => {
    const made = join(dirname(target), `.new-${randomBytes(8).toString('hex')}`);
    await mkdir(made, { recursive: true, mode: 0o700 });
    await checkedGit(['init', '-q', '--bare', '.'], { cwd: made, path, env: marks, signal: closing.signal });
    await mkdir(join(made, 'borrowers'), { mode: 0o700 });
    await writeFile(join(made, 'description'), `${host}/${name}\n`);
    // A complete mirror appears at once, or none.
    await rename(made, target);
  };
  const inBackground: Mirrors['inBackground'] = (name, work) => {
    const now = performance.now();
    for (const [each, at] of begun) if (now - at > againMs) begun.delete(each);
    if (closing.signal.aborted || begun.has(name)) return Promise.resolve();
    begun.set(name, now);
    const running: Promise<unknown> = work(closing.signal).catch(() => undefined);
    background.add(running);
    return running.then(() => background.delete(running));
  };
  return {
    directory,
    limits,
    path,
    spares,
    marks,
    async open(key) {
      const found = pathOf(directory, key);
      await locks.run(found, async () => {
        if (!(await isThere(found))) await create(found, key);
        else if (!used.has(found) && !maintained.has(found)) await removeLeftovers(found, Number.POSITIVE_INFINITY);
        used.add(found);
        const now = new Date();
        await utimes(join(found, 'description'), now, now);
      });
      return mirrorIn(found);
    },
    inBackground,
    async removeLeftClones() {
      const names = await namesIn(clonesIn(directory));
      void inBackground('left clones', async () => {
        // The sweep deletes later what cannot be removed now.
        for (const name of names) await removeTree(join(clonesIn(directory), name)).catch(() => undefined);
      });
    },
    sweep: (now, isBorrowing) => sweepMirrors({ directory, limits, now, isBorrowing, lock: locks.run }),
    async maintain(signal) {
      for (const found of await listMirrors(directory)) {
        if (signal.aborted) return;
        const mirror = mirrorIn(found);
        await mirror.maintain(signal).catch(() => undefined);
      }
    },
    async close() {
      closing.abort();
      await Promise.all([...background, spares.close()]);
    },
  };
}

/** Returns the directory of clones that no session has yet. */
export function clonesIn(directory: string): string {
  return join(directory, '.clones');
}

function pathOf(directory: string, { ownerId, host, path }: MirrorKey): string {
  if (!/^[\w-]{1,100}$/.test(ownerId)) throw new Error('The owner of a mirror has no valid id.');
  // Forges ignore case.
  const name = createHash('sha256').update(`${host}/${path}`.toLowerCase()).digest('hex').slice(0, 40);
  return join(directory, ownerId, `${name}.git`);
}
