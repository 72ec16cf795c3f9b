import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseUrl } from '../../parse-url.ts';

/** Files of the host that a program needs, and links that lead to them. */
export interface NeededFiles {
  readonly directories: readonly string[];
  readonly links: readonly { readonly at: string; readonly to: string }[];
}

/** Whether a path is a directory's own, or in it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The file that a program's name means, by PATH as shells do; null: there is none that may be run. */
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
 * What has to be there for the words of a command to mean the same in a sandbox: every file that is named by an absolute
 * path or a file URL, with what belongs to it, as {@link homeOf} finds it.
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

// Not more than a program is sure to need: what lies beside it may be somebody's home.
function homeOf(real: string): string {
  const parts = real.split(sep);
  const packages = parts.indexOf('node_modules');
  if (packages > 0) return parts.slice(0, packages + 1).join(sep);
  const above = dirname(dirname(real));
  const isPython = existsSync(join(above, 'pyvenv.cfg'));
  // Node's own, with npx beside it.
  const isNode = basename(dirname(real)) === 'bin' && existsSync(join(above, 'lib', 'node_modules', 'npm'));
  return isPython || (isNode && above !== sep) ? above : real;
}
