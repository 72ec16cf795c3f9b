import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseUrl } from '../../common/parse-url.ts';

/** Files of the host that a program needs, and symbolic links to them. */
export interface NeededFiles {
  readonly directories: readonly string[];
  readonly links: readonly { readonly at: string; readonly to: string }[];
}

/** Returns true if a path is a directory or inside it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Finds a program's file in PATH as shells do; null if there is no executable. */
export function findProgram(name: string, path: string): string | null {
  if (name.includes('/')) return name;
  const candidates = path.split(':').map((directory) => join(directory || '.', name));
  return candidates.find((candidate) => isRunnable(candidate)) ?? null;
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The files that a command needs to work in a sandbox: every file named by an absolute path or a file URL, with its
 * surroundings according to {@link homeOf}.
 */
export function filesOfCommand(command: readonly string[]): NeededFiles {
  const directories = new Set<string>();
  const links: { at: string; to: string }[] = [];
  for (const word of command) {
    const path = pathIn(word);
    if (path === null) continue;
    const real = realpathSync(path);
    directories.add(homeOf(real));
    if (real !== path && !isInside(path, homeOf(real))) links.push({ at: path, to: real });
  }
  return { directories: [...directories], links };
}

function pathIn(word: string): string | null {
  const url = word.startsWith('file://') ? parseUrl(word) : null;
  const path = url === null ? word : fileURLToPath(url);
  try {
    return isAbsolute(path) && statSync(path).isFile() ? path : null;
  } catch {
    return null;
  }
}

// Only what a program surely needs: the directory around it may be a home directory.
function homeOf(real: string): string {
  const parts = real.split(sep);
  const packages = parts.indexOf('node_modules');
  if (packages > 0) return parts.slice(0, packages + 1).join(sep);
  const above = dirname(dirname(real));
  const isPython = existsSync(join(above, 'pyvenv.cfg'));
  // Node's own bin directory, with npx in it.
  const isNode = basename(dirname(real)) === 'bin' && existsSync(join(above, 'lib', 'node_modules', 'npm'));
  return isPython || (isNode && above !== sep) ? above : real;
}
