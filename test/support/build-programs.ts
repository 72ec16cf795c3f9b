import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { build } from 'rolldown';
import { builtProgram, programInputs, programs, programsDir } from './programs.ts';

/** Builds the tests' own programs into {@link programsDir}, and lists the sources that the build read. */
export async function buildPrograms(): Promise<void> {
  // Built in another directory, then moved: agents of another run may be starting.
  const fresh = `${programsDir}.${process.pid}`;
  const { output } = await build({
    input: Object.fromEntries(programs.map((name) => [name, resolve(import.meta.dirname, `${name}.ts`)])),
    platform: 'node',
    output: { dir: fresh, entryFileNames: '[name].mjs' },
    logLevel: 'warn',
  });
  await mkdir(programsDir, { recursive: true });
  await Promise.all(programs.map((name) => rename(join(fresh, `${name}.mjs`), builtProgram(name))));
  await rm(fresh, { recursive: true, force: true });
  const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  const own = modules.filter((id) => isAbsolute(id) && !id.includes('node_modules')).map((id) => relative('.', id));
  await writeFile(programInputs, [...new Set(own), 'package-lock.json'].join('\n'));
}
