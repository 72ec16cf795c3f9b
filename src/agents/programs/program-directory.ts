import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isInside } from '../sandbox/program-files.ts';
import { readJson } from './program-lock.ts';

/** The file in an agent's directory that names the installed version. It is replaced by a rename. */
export const currentFile = 'current.json';

/** The version of a package. Packages are other people's, and versions are printed on terminals. */
export const versionSchema = z
  .string()
  .max(64)
  .regex(/^\d[0-9A-Za-z.+-]*$/);

/** An installed version: a directory below AGENTS_DIR/AGENT. */
const currentSchema = z.object({
  directory: z.string().regex(/^[0-9a-z][0-9a-z.-]{0,99}$/),
  version: versionSchema,
  /** The program's path in the directory. */
  program: z.string().min(1).max(500),
});

/** See {@link currentSchema}. */
export type CurrentVersion = z.output<typeof currentSchema>;

/** A program of AGENTS_DIR. */
export interface InstalledProgram {
  readonly version: string;
  /** The real path of the program's file. */
  readonly path: string;
}

/** The directory of an agent's versions. Pass only ids of ready agents. */
export const programDirectory = (agentsDir: string, agentId: string): string => join(agentsDir, agentId);

/** Reads which version of an agent is installed; null: none, or the file that names it is damaged. */
export async function readCurrent(agentsDir: string, agentId: string): Promise<CurrentVersion | null> {
  const path = join(programDirectory(agentsDir, agentId), currentFile);
  return currentSchema.safeParse(await readJson(path).catch(() => null)).data ?? null;
}

/** Finds the installed program of an agent. Null: there is none, or a link leads out of its version's directory. */
export async function findInstalled(agentsDir: string, agentId: string): Promise<InstalledProgram | null> {
  const current = await readCurrent(agentsDir, agentId);
  if (current === null) return null;
  const directory = join(programDirectory(agentsDir, agentId), current.directory);
  try {
    const [root, path] = await Promise.all([realpath(agentsDir), realpath(join(directory, current.program))]);
    return isInside(path, join(root, agentId, current.directory)) ? { version: current.version, path } : null;
  } catch {
    return null;
  }
}
