import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import { builtProgram, programs, programsDir } from './programs.ts';

/** Builds the tests' own programs into {@link programsDir}. */
export async function buildPrograms(): Promise<void> {
  // Built in another directory, then moved: agents of another run may be starting.
  const fresh = `${programsDir}.${process.pid}`;
  await build({
    input: Object.fromEntries(programs.map((name) => [name, resolve(import.meta.dirname, `${name}.ts`)])),
    platform: 'node',
    output: { dir: fresh, entryFileNames: '[name].mjs' },
    logLevel: 'warn',
  });
  await mkdir(programsDir, { recursive: true });
  await Promise.all(programs.map((name) => rename(join(fresh, `${name}.mjs`), builtProgram(name))));
  await rm(fresh, { recursive: true, force: true });
}
