import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { AgentProfile } from '../agent.ts';

/** Where a program is; null when there is none that may be run. One without a slash is looked for in `path`, as in PATH. */
export async function findProgram(program: string, path: string): Promise<string | null> {
  const places = program.includes('/') ? [program] : path.split(delimiter).map((place) => join(place || '.', program));
  for (const place of places) {
    const isProgram = await access(place, constants.X_OK).then(
      async () => (await stat(place)).isFile(),
      () => false,
    );
    if (isProgram) return place;
  }
  return null;
}

/** The program on this host that starts an agent: its own, or the one that puts it into its sandbox. */
export function programOf({ command, sandbox }: AgentProfile): string {
  return (sandbox?.driver === 'command' ? sandbox.command[0] : command[0]) ?? '';
}

/** A sentence for each profile whose program is not there. It is no error: the program may come while the service runs. */
export async function missingPrograms(profiles: Iterable<AgentProfile>, path: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const profile of profiles) {
    const program = programOf(profile);
    if ((await findProgram(program, path)) !== null) continue;
    const place = program.includes('/') ? 'does not exist or may not be run' : 'is not in PATH';
    sentences.push(`The agent "${profile.id}" cannot work here: its program "${program}" ${place}.`);
  }
  return sentences;
}
