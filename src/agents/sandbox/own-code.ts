import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** True if the service runs from its sources (tests, development). */
const isFromSources = import.meta.url.endsWith('.ts');

/** The directory of the service's package. */
export const ownRoot = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/** The parts of {@link ownRoot} that an agent may need: its own programs (demo agent, pipe, shim) and their imports. */
export const ownParts = (
  isFromSources ? ['src', 'node_modules', 'package.json', 'tsconfig.json'] : ['dist', 'node_modules', 'package.json']
).map((name) => join(ownRoot, name));

/** The command of a program in this folder. */
export function ownProgram(name: string): string[] {
  const path = fileURLToPath(new URL(`${name}${isFromSources ? '.ts' : '.js'}`, import.meta.url));
  return [process.execPath, ...(isFromSources ? ['--import', import.meta.resolve('tsx')] : []), path];
}

/** The cache of the source loader, for a user by id; null: there is no loader. */
export function loaderCache(uid: number): { source: string; target: string } | null {
  return isFromSources ? { source: join(tmpdir(), `tsx-${process.getuid?.()}`), target: `/tmp/tsx-${uid}` } : null;
}
