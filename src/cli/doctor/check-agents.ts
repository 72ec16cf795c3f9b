import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProfileRegistry } from '../../agents/profile-registry.ts';
import { howToInstall, locateProgram, programOf } from '../../agents/profiles/programs.ts';
import { missingProtections } from '../../agents/sandbox/hardening.ts';
import { openBwrap } from '../../agents/sandbox/open-bwrap.ts';
import { commandLine } from '../../common/command-line.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { type Finding, failure, messageOf, ok, warning } from './finding.ts';

/** Checks that bubblewrap works here, as SANDBOX requires it. */
export async function checkSandbox({ sandbox, dataDir, agentBaseEnv }: Config): Promise<Finding> {
  const fix = 'Install bubblewrap, and allow user namespaces (docs/agents.md#sandbox).';
  if (sandbox === 'none') {
    return warning('sandbox', 'SANDBOX is none: agents have the rights of the service.', 'Set SANDBOX=auto or bwrap.');
  }
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-doctor-'));
  try {
    const { hardening } = await openBwrap({ directory, path: agentBaseEnv.PATH ?? '', hidden: [dataDir] });
    const missing = missingProtections(hardening);
    if (missing.length === 0) return ok('sandbox', 'Bubblewrap works.');
    return warning('sandbox', `Bubblewrap works, without these protections: ${missing.join(', ')}.`, fix);
  } catch (error) {
    const text = `Bubblewrap does not work: ${messageOf(error)}`;
    if (sandbox === 'bwrap') return failure('sandbox', text, fix);
    return warning('sandbox', `${text} Agents run without a sandbox.`, fix);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Checks AGENTS_CONFIG, and that the programs of the agents are there. */
export async function checkAgents(config: Config): Promise<Finding[]> {
  const path = config.agentBaseEnv.PATH ?? '';
  try {
    const { profiles, defaultId } = await openProfileRegistry({ ...config, path });
    return await Promise.all(
      [...profiles.values()].map(async (profile) => {
        const name = `${profile.id}${profile.id === defaultId ? ' (the default)' : ''}`;
        const program = programOf(profile);
        const found = await locateProgram(profile, path);
        if (found !== null || program === null) return ok('agents', `${name}: ${found ?? 'runs on another machine'}.`);
        const text = `${name}: there is no program "${program}".`;
        const fix =
          howToInstall(program).trim() || `Install it, or run "${commandLine('agents', 'list')}" to see all agents.`;
        return profile.id === defaultId ? failure('agents', text, fix) : warning('agents', text, fix);
      }),
    );
  } catch (error) {
    const fix = 'Correct the file that AGENTS_CONFIG names (docs/agents.md).';
    const isVariable = error instanceof ConfigError;
    return [failure('agents', messageOf(error), isVariable ? 'Correct this variable (docs/operations.md).' : fix)];
  }
}
