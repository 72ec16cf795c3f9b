// npm run agents, switchyard agents: lists the agents of this host, or checks what one of them can do.
import { parseArgs } from 'node:util';
import type { AgentProfile } from '../agents/agent.ts';
import { printReport } from '../agents/check/print-report.ts';
import { isLocked } from '../agents/options/locks.ts';
import { openProfileRegistry, type ProfileRegistry } from '../agents/profile-registry.ts';
import { locateProgram, programOf } from '../agents/profiles/programs.ts';
import { readyIds } from '../agents/profiles/ready.ts';
import { describeOwnKey } from '../agents/profiles/route-launch.ts';
import { readyProfile } from '../agents/profiles.ts';
import { agentPackages } from '../agents/programs/packages.ts';
import { checkProfile } from '../assembly/check-profile.ts';
import { maskReport } from '../assembly/shorten-report.ts';
import { commandLine, commandPrefix } from '../common/command-line.ts';
import { type Config, readConfig } from '../config/config.ts';
import { maskOffer } from '../domain/execution/runs/mask-offer.ts';
import { createMask, type Mask } from '../domain/execution/runs/masking.ts';
import { profileSecrets } from '../domain/execution/runs/run-secrets.ts';
import { type Observation, recordObservation } from '../domain/sessions/options/observations.ts';
import { changePrograms, isProgramCommand } from './agent-programs.ts';
import { openDatabaseForCommand } from './command-store.ts';

const prefix = commandPrefix('agents');

const usage = `Usage:
  ${prefix} list                                     the agents, and whether their programs are there
  ${prefix} install NAME                             install the program of a ready agent from npm
  ${prefix} update [NAME]                            install the version that this release is tested with
  ${prefix} remove NAME                              remove a program that was installed so
  ${prefix} check PROFILE [--prompt TEXT] [--json]   start one and say what it can do
  ${prefix} check PROFILE --save                     the same, and store the options that it offers

NAME is one of ${Object.keys(agentPackages).join(', ')}.
PROFILE is an agent of AGENTS_CONFIG or a ready one (${readyIds.join(', ')}).
Without --prompt, a check sends nothing to the model and costs nothing.`;

async function list(config: Config, agents: ProfileRegistry): Promise<void> {
  const { profiles, defaultId, programs } = agents;
  for (const profile of profiles.values()) {
    const found = await locateProgram(profile, config.agentBaseEnv.PATH ?? '');
    const location = found ?? `not found: ${programOf(profile)}`;
    const lockedOptions = profile.lockedOptions ?? (isLocked(profile, { id: 'mode' }) ? ['mode'] : []);
    const notes = [
      ...(found === programs.get(profile.id)?.path ? [`version ${agents.versionOf(profile.id) ?? 'unknown'}`] : []),
      ...keyNote(config, agents, profile),
      ...(lockedOptions.length === 0 ? [] : [`locked options: ${lockedOptions.join(', ')}`]),
    ];
    const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
    process.stdout.write(`${profile.id === defaultId ? '*' : ' '} ${profile.id.padEnd(16)} ${location}${note}\n`);
  }
  process.stdout.write('\n* is the default.\n');
  const others = readyIds.filter((id) => !profiles.has(id));
  if (others.length > 0) process.stdout.write(`${aboutOthers(agents)}: ${others.join(', ')}\n`);
}

// Stored keys are not read: the service may have the database.
function keyNote({ readVariable }: Config, { keySourceOf }: ProfileRegistry, profile: AgentProfile): string[] {
  const source = keySourceOf(profile.id);
  if (source === 'NOT_NEEDED') return [];
  if (source === 'NONE') return ['no key in the environment'];
  return [describeOwnKey(profile, readVariable)];
}

function aboutOthers({ isListed }: ProfileRegistry): string {
  return isListed
    ? 'Ready ones that AGENTS_CONFIG may name'
    : `Ready ones that are not installed (${commandLine('agents', 'install NAME')})`;
}

async function findProfile(config: Config, { profiles }: ProfileRegistry, id: string): Promise<AgentProfile> {
  const profile = profiles.get(id);
  if (profile) return profile;
  if (readyIds.includes(id)) return readyProfile(id, config.readVariable);
  const ids = [...new Set([...profiles.keys(), ...readyIds])];
  throw new Error(`There is no agent "${id}". There are: ${ids.join(', ')}.`);
}

interface CheckFlags {
  readonly prompt: string | null;
  readonly isJson: boolean;
  readonly isSaved: boolean;
}

async function check(config: Config, profile: AgentProfile, { prompt, isJson, isSaved }: CheckFlags): Promise<void> {
  let observed: Pick<Observation, 'offer' | 'version'> | null = null;
  const mask = createMask(profileSecrets(profile));
  const unmasked = await checkProfile(config, profile, {
    prompt,
    onOffer(offer, version) {
      observed = { offer, version };
    },
  });
  // The output is for bug reports, and a hostile or careless agent may repeat its key.
  const report = maskReport(unmasked, mask);
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : printReport(report));
  if (report.failure !== null) process.exitCode = 1;
  if (isSaved && observed !== null) await save(config, profile, observed, mask);
}

/** Stores the options of an agent for all organizations. */
async function save(
  config: Config,
  profile: AgentProfile,
  { offer, version }: Pick<Observation, 'offer' | 'version'>,
  mask: Mask,
): Promise<void> {
  const store = await openDatabaseForCommand(config);
  try {
    const services = { store, now: () => new Date() };
    const observation = { organizationId: null, profileId: profile.id, version: version && mask(version) };
    await recordObservation(services, { ...observation, offer: maskOffer(offer, mask), isDefault: true });
  } finally {
    await store.close();
  }
}

async function run(args: readonly string[]): Promise<void> {
  const options = {
    prompt: { type: 'string' },
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const [command, id, ...more] = positionals;
  const config = readConfig();
  const isCheckOption = Object.keys(values).length > 0;
  if (isProgramCommand(command) && more.length === 0 && !isCheckOption && (id !== undefined || command === 'update')) {
    return changePrograms(config, command, id ?? null);
  }
  const profiles = await openProfileRegistry({ ...config, path: config.agentBaseEnv.PATH ?? '' });
  if (command === 'list' && id === undefined) return list(config, profiles);
  if (command !== 'check' || id === undefined || more.length > 0) throw new Error(usage);
  const { prompt = null, json: isJson = false, save: isSaved = false } = values;
  return check(config, await findProfile(config, profiles, id), { prompt, isJson, isSaved });
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
