import type { ProfileRegistry } from '../agents/profile-registry.ts';
import { describeOwnKey } from '../agents/profiles/route-launch.ts';
import { commandLine } from '../common/command-line.ts';
import type { Config } from '../config/config.ts';

/** Describes the default agent for the operator: its program, where its key comes from, and how to change it. */
export function describeAgents(
  agents: ProfileRegistry,
  { readVariable, canInstallAgents }: Pick<Config, 'readVariable' | 'canInstallAgents'>,
): string {
  const { defaultId, profiles, programs } = agents;
  if (defaultId !== 'demo' || agents.isDefaultChosen) {
    const key = keyPhrase(agents, readVariable);
    return `Sessions run on ${nameOf(agents, defaultId)}${key}. To change that, set "default" in AGENTS_CONFIG (docs/agents.md).`;
  }
  const found = [...programs.keys()].filter((id) => profiles.has(id));
  const [first] = found;
  if (first !== undefined) {
    const names = found.map((id) => nameOf(agents, id)).join(', ');
    return `Sessions run on the demo agent, which has no model: there is no key for ${names}. ${howToGiveKey(agents, first)}`;
  }
  const install = canInstallAgents
    ? `For a real agent, run "${commandLine('agents', 'install opencode')}" (or claude, codex, gemini, qwen, cline).`
    : 'For a real agent, install its program (docs/agents.md): AGENTS_INSTALL is off.';
  return `Sessions run on the demo agent, which has no model. ${install} ${howToGiveKey(agents, null)}`;
}

function nameOf({ profiles, programs, versionOf }: ProfileRegistry, id: string): string {
  const version = versionOf(id);
  const program = programs.get(id);
  // The path in AGENTS_DIR is long and says nothing new.
  const path = program?.source === 'PATH' ? ` (${program.path})` : '';
  return `${profiles.get(id)?.name ?? id}${version === null ? '' : ` ${version}`}${path}`;
}

function keyPhrase(
  { profiles, defaultId, keySourceOf }: ProfileRegistry,
  readVariable: Config['readVariable'],
): string {
  const source = keySourceOf(defaultId);
  if (source === 'NOT_NEEDED') return '';
  if (source === 'ENTERPRISE') return ', with a stored key of the enterprise';
  if (source === 'NONE') return ', which has no key yet';
  const profile = profiles.get(defaultId);
  return profile === undefined ? '' : `, with the ${describeOwnKey(profile, readVariable)}`;
}

function howToGiveKey({ profiles }: ProfileRegistry, id: string | null): string {
  const variables = id === null ? undefined : profiles.get(id)?.provider?.variables;
  const names = variables?.slice(0, 3).join(' or ') ?? 'OPENAI_API_KEY, ANTHROPIC_API_KEY or another of docs/agents.md';
  return `Give it a key in the console (Settings, Model keys), or set ${names} and restart.`;
}
