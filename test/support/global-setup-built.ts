import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { ensureBuilt } from './built.ts';
import { builtProgram, programs, programsDir } from './programs.ts';

/** Builds what the tests start as processes and threads of their own; once more when tests are run again. */
export async function setup(project: TestProject): Promise<void> {
  const buildAll = async () => {
    await ensureBuilt();
    await buildPrograms();
  };
  project.onTestsRerun(buildAll);
  await buildAll();
}

// Beside, then moved: agents of another run may be starting just now.
async function buildPrograms(): Promise<void> {
  const made = `${programsDir}.${process.pid}`;
  await build({
    input: Object.fromEntries(programs.map((name) => [name, resolve(import.meta.dirname, `${name}.ts`)])),
    platform: 'node',
    output: { dir: made, entryFileNames: '[name].mjs' },
    logLevel: 'warn',
  });
  await mkdir(programsDir, { recursive: true });
  await Promise.all(programs.map((name) => rename(join(made, `${name}.mjs`), builtProgram(name))));
  await rm(made, { recursive: true, force: true });
}
