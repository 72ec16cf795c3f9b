import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether the service runs from its sources (tests, development). */
const isFromSources = import.meta.url.endsWith('.ts');

/** The directory of the service's package. */
export const ownRoot = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/** What of {@link ownRoot} an agent may need: its own programs (demo agent, pipe, shim) and what they import. */
export const ownParts = (
  isFromSources ? ['src', 'node_modules', 'package.json', 'tsconfig.json'] : ['dist', 'node_modules', 'package.json']
).map((name) => join(ownRoot, name));

/** A program of this folder, as a command. */
export function ownProgram(name: string): string[] {
  const path = fileURLToPath(new URL(`${name}${isFromSources ? '.ts' : '.js'}`, import.meta.url));
  return [process.execPath, ...(isFromSources ? ['--import', import.meta.resolve('tsx')] : []), path];
}

/** Where the loader of sources keeps what it made of them, for users by their id; null: there is no loader. */
export function loaderCache(uid: number): { source: string; target: string } | null {
  return isFromSources ? { source: join(tmpdir(), `tsx-${process.getuid?.()}`), target: `/tmp/tsx-${uid}` } : null;
}
