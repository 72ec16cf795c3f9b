import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A secret value, or a control value that must be found, and the names of what may contain it. */
export interface Canary {
  readonly name: string;
  readonly value: string;
  /** The kinds of locations in which the value is expected. */
  readonly allowedIn?: readonly string[];
}

/** A location in which a search found a canary where it must not be. */
export interface Finding {
  readonly canary: string;
  readonly kind: string;
  readonly location: string;
}

/** Searches contents for canaries, in all their {@link encodingsOf}. */
export interface CanarySearch {
  /** Adds a canary to all later searches, unless one of its name was added. */
  add(canary: Canary): void;
  /** Searches one content. */
  look(kind: string, location: string, content: string | Uint8Array): void;
  /** Number of contents, by kind. */
  readonly counts: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
  /** The kinds in which a canary was found, expected or not. */
  kindsWith(canary: string): string[];
}

/** Long values are searched by parts of this length. */
const partLength = 48;

/** The parts of a value: the whole, or three parts of a long one. */
function partsOf(value: string): string[] {
  if (value.length <= 200) return [value];
  const lines = value.split('\n').filter((line) => line.length >= partLength && !line.startsWith('-----'));
  const parts = lines.length > 2 ? [lines[0], lines[lines.length >> 1], lines.at(-2)] : [value, value.slice(100)];
  return parts.map((part) => (part ?? '').slice(0, partLength));
}

/**
 * Returns the forms of a value that are searched, by name. Written apart from the service's masking, so that the two do not
 * share a mistake.
 */
export function encodingsOf(value: string): Map<string, string> {
  const forms = new Map<string, string>();
  for (const [n, part] of partsOf(value).entries()) {
    const bytes = Buffer.from(part);
    const put = (name: string, form: string) => void forms.set(n === 0 ? name : `${name} of part ${n}`, form);
    put('plain', part);
    put('JSON', JSON.stringify(part).slice(1, -1));
    put('URL', encodeURIComponent(part));
    put('hexadecimal', bytes.toString('hex'));
    put('upper-case hexadecimal', bytes.toString('hex').toUpperCase());
    for (const alphabet of ['base64', 'base64url'] as const)
      for (const before of [0, 1, 2]) {
        // Without the characters that also have bits of the bytes before and after.
        const encoded = Buffer.concat([Buffer.alloc(before), bytes])
          .toString(alphabet)
          .replace(/=+$/, '');
        const end = (before + bytes.length) % 3 === 0 ? undefined : -1;
        put(`${alphabet} after ${before}`, encoded.slice(before === 0 ? 0 : before + 1, end));
      }
  }
  return forms;
}

/** Creates a search without canaries. */
export function createCanarySearch(): CanarySearch {
  const canaries = new Map<string, Canary & { readonly forms: readonly Buffer[] }>();
  const counts = new Map<string, number>();
  const findings: Finding[] = [];
  const found = new Map<string, Set<string>>();
  return {
    counts,
    findings,
    add(canary) {
      if (canaries.has(canary.name)) return;
      if (canary.value.length < 16) throw new Error(`The canary ${canary.name} is too short.`);
      const forms = new Set(encodingsOf(canary.value).values());
      canaries.set(canary.name, { ...canary, forms: [...forms].map((form) => Buffer.from(form)) });
      found.set(canary.name, new Set());
    },
    look(kind, location, content) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const bytes =
        typeof content === 'string'
          ? Buffer.from(content)
          : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
      for (const { name, forms, allowedIn = [] } of canaries.values()) {
        if (!forms.some((form) => bytes.includes(form))) continue;
        found.get(name)?.add(kind);
        if (!allowedIn.includes(kind)) findings.push({ canary: name, kind, location });
      }
    },
    kindsWith: (canary) => [...(found.get(canary) ?? [])].sort(),
  };
}

const maxFileBytes = 256 * 1_024 * 1_024;

/**
 * Searches all files under a directory, without following links. Files that have not changed since `from` are not read:
 * a value that was made later cannot be in them. Returns the number of files, read or not.
 */
export function searchFiles(
  search: CanarySearch,
  kind: string,
  root: string,
  { from = 0, without = [] }: { readonly from?: number; readonly without?: readonly string[] } = {},
): number {
  let count = 0;
  const walk = (directory: string) => {
    for (const entry of entriesOf(join(root, directory))) {
      const path = join(directory, entry.name);
      if (without.includes(path)) continue;
      search.look(`name of a ${kind}`, path, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isSymbolicLink())
        search.look(
          kind,
          path,
          read(() => Buffer.from(readlinkSync(join(root, path)))),
        );
      else if (entry.isFile()) {
        count += 1;
        const file = join(root, path);
        const stats = statOf(file);
        if (stats === null || stats.ctimeMs < from) continue;
        if (stats.size > maxFileBytes) throw new Error(`${path} is too large to be searched.`);
        search.look(
          kind,
          path,
          read(() => readFileSync(file)),
        );
      }
    }
  };
  walk('/');
  return count;
}

/** Searches the environments and command lines of processes. */
export function searchProcesses(search: CanarySearch, pids: readonly number[], prefix = ''): void {
  for (const pid of pids) {
    search.look(
      `${prefix}environment`,
      `/proc/${pid}/environ`,
      read(() => readFileSync(`/proc/${pid}/environ`)),
    );
    search.look(
      `${prefix}command line`,
      `/proc/${pid}/cmdline`,
      read(() => readFileSync(`/proc/${pid}/cmdline`)),
    );
  }
}

/** Returns the ids of all processes of this machine. */
export const allProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

// A file or process may have ended since it was listed.
function read(from: () => Buffer): Buffer {
  try {
    return from();
  } catch {
    return Buffer.alloc(0);
  }
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function statOf(file: string) {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}
