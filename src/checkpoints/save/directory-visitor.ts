import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { chdir, cwd } from 'node:process';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A directory below one of the roots. */
export interface Location {
  /** Null: a root. */
  readonly parent: Location | null;
  /** One character for each byte. */
  readonly name: string;
  /** As in a manifest: `workspace/…`. */
  readonly path: string;
  /** 0: a root. */
  readonly depth: number;
}

/** Returns a location below another one. */
export function locationBelow(parent: Location, name: string): Location {
  return { parent, name, path: `${parent.path}/${name}`, depth: parent.depth + 1 };
}

/** Converts a name with one character for each byte to an argument for the file system. */
export function fileName(name: string): string | Buffer {
  return /^[\0-\x7f]*$/.test(name) ? name : Buffer.from(name, 'latin1');
}

interface OpenDirectory {
  readonly location: Location;
  readonly fd: number;
  /** Of the time when it was opened. */
  readonly stats: Stats;
  /** For systems that do not expose open files by number: one character for each byte. */
  readonly fallbackPath: string;
}

// The current directory belongs to the process, so all visitors share it. -1: none of theirs.
let currentFd = -1;
const initialDirectory = cwd();

/**
 * Opens directories below the roots one after another, and makes one of them the current directory, in which names need no path: that is
 * the fastest way to read a status, and no part of a path can be replaced by a link. It keeps a directory and its parents open. Only for a
 * process that has no other use for its current directory.
 */
export class DirectoryVisitor {
  readonly #roots: Readonly<Record<string, string>>;
  readonly #open: OpenDirectory[] = [];

  /** `roots` has the absolute path of each root by its name. */
  constructor(roots: Readonly<Record<string, string>>) {
    this.#roots = roots;
  }

  /**
   * Makes a directory the current one. Returns its status of the time when it was opened. Follows no link. Throws the system's error, such as
   * ENOENT, ENOTDIR (also for a link), EACCES.
   */
  enter(location: Location): Stats {
    const opened = this.#openAt(location);
    setCurrent(opened);
    return opened.stats;
  }

  /** Closes all directories. */
  close(): void {
    while (this.#open.length > 0) this.#closeLast();
    chdir(initialDirectory);
    currentFd = -1;
  }

  #openAt(location: Location): OpenDirectory {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (last.location === location) return last;
      if (last.location === location.parent) break;
      if (last.location.depth < location.depth && location.parent !== null) {
        this.#openAt(location.parent);
        break;
      }
      this.#closeLast();
    }
    if (this.#open.length === 0 && location.parent !== null) this.#openAt(location.parent);
    const parent = this.#open.at(-1);
    if (parent !== undefined) setCurrent(parent);
    const root = this.#roots[location.name];
    if (parent === undefined && root === undefined) throw new Error('A location has no root.');
    const path = parent === undefined ? (root as string) : fileName(location.name);
    const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    const fallbackPath =
      parent === undefined ? Buffer.from(root as string).toString('latin1') : `${parent.fallbackPath}/${location.name}`;
    const opened = { location, fd, stats: fstatSync(fd), fallbackPath };
    this.#open.push(opened);
    return opened;
  }

  #closeLast(): void {
    const last = this.#open.pop();
    if (last === undefined) return;
    if (last.fd === currentFd) currentFd = -1;
    closeSync(last.fd);
  }
}

function setCurrent({ fd, stats, fallbackPath }: OpenDirectory): void {
  if (fd === currentFd) return;
  currentFd = -1;
  if (process.platform === 'linux') chdir(`/proc/self/fd/${fd}`);
  else {
    chdir(Buffer.from(fallbackPath, 'latin1').toString());
    const here = lstatSync('.');
    if (here.ino !== stats.ino || here.dev !== stats.dev) {
      throw Object.assign(new Error('The directory was replaced.'), { code: 'ENOTDIR' });
    }
  }
  currentFd = fd;
}
