import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { findProgram } from '../sandbox/program-files.ts';
import { type AgentPackage, agentPackages } from './packages.ts';
import { findInstalled, versionSchema } from './program-directory.ts';
import { readJson } from './program-lock.ts';

/** A program of a ready agent on this host. */
export interface FoundProgram {
  readonly agentId: string;
  readonly path: string;
  /** Null: its package could not be found, or does not have a proper version. */
  readonly version: string | null;
  readonly source: 'AGENTS_DIRECTORY' | 'PATH';
}

/** The directories where programs are searched. */
export interface ProgramDirectories {
  /** AGENTS_DIR, which takes precedence. */
  readonly agentsDir: string;
  /** PATH. */
  readonly path: string;
}

/** Finds the programs of the ready agents, by agent. No program is started. */
export async function findPrograms(directories: ProgramDirectories): Promise<ReadonlyMap<string, FoundProgram>> {
  const found = await Promise.all(Object.values(agentPackages).map((each) => findOne(each, directories)));
  return new Map(found.flatMap((each) => (each === null ? [] : [[each.agentId, each]])));
}

async function findOne(wanted: AgentPackage, { agentsDir, path }: ProgramDirectories): Promise<FoundProgram | null> {
  const { agentId } = wanted;
  const installed = await findInstalled(agentsDir, agentId);
  if (installed !== null) return { agentId, ...installed, source: 'AGENTS_DIRECTORY' };
  const program = findProgram(wanted.program, path);
  if (program === null) return null;
  return { agentId, path: program, version: await versionOf(wanted, program), source: 'PATH' };
}

const manifestSchema = z.object({ name: z.string(), version: versionSchema.nullable().catch(null) });

// The version in the package.json of the npm package that contains the program; null: there is none.
async function versionOf({ name, packages }: AgentPackage, program: string): Promise<string | null> {
  let directory = await realpath(program).catch(() => '/');
  while (directory !== dirname(directory)) {
    directory = dirname(directory);
    const manifest = manifestSchema.safeParse(await readJson(join(directory, 'package.json')).catch(() => null)).data;
    if (manifest && [name, ...packages].includes(manifest.name)) return manifest.version;
  }
  return null;
}
