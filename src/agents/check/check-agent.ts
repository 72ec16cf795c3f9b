import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCrash, type AgentExchange, type AgentProcess, type AgentProfile, type Agents } from '../agent.ts';
import type { ShownTool } from '../gateway/tool-reader.ts';
import { unchosenModels } from '../profiles/model-choice.ts';
import { howToInstall, programOf } from '../profiles/programs.ts';
import type { Tool } from '../reporting/serve-tools.ts';
import { type McpProbe, openMcpProbe } from './mcp-probe.ts';
import { type AgentReport, describeSelf, type Outcome } from './report.ts';
import { compareTools, missingTools } from './tool-arrival.ts';

/** What {@link checkAgent} needs. */
export interface CheckOptions {
  readonly profile: AgentProfile;
  /** Makes what starts agents, with the driver of profiles that name none; the directory is for files of its own. */
  open(directory: string): Promise<{ agents: Agents; driver: AgentReport['sandbox'] }>;
  /** One turn with these words, which costs what a turn costs; null: none. */
  readonly prompt: string | null;
  /** The tools that a session's agent has from the service. */
  readonly tools: readonly Tool[];
}

/** The directories of one check. */
interface Place {
  readonly workspaceDir: string;
  readonly homeDir: string;
  readonly runtimeDir: string;
}

/**
 * Starts the agent in an empty directory as a session would, and reports what it says of itself and what of it works.
 * `resume` and `load` are tried by a second process, as after a restart. Never rejects for what the agent does.
 */
export async function checkAgent(options: CheckOptions): Promise<AgentReport> {
  const root = await mkdtemp(join(tmpdir(), 'sy-check-'));
  const at = (name: string) => join(root, name);
  const place = { workspaceDir: at('ws'), homeDir: at('home'), runtimeDir: at('run') };
  try {
    for (const dir of Object.values(place)) await mkdir(dir, { mode: 0o700 });
    const { agents, driver } = await options.open(root);
    const report = await check(options, agents, place);
    return { ...report, sandbox: options.profile.sandbox?.driver ?? driver };
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function check(
  { profile, prompt, tools }: CheckOptions,
  agents: Agents,
  place: Place,
): Promise<Omit<AgentReport, 'sandbox'>> {
  const exchanges: AgentExchange[] = [];
  const said: string[] = [];
  const shown: ShownTool[] = [];
  const onTools = (each: readonly ShownTool[]) => void shown.push(...each);
  const launchedAt = performance.now();
  let readyMs: number | null = null;
  let failure: string | null = null;
  let agent: AgentProcess | null = null;
  let probe: McpProbe | null = null;
  let agentSessionId: string | null = null;
  let mcp: Outcome = { state: profile.mcp ? 'not tried' : 'switched off' };
  try {
    agent = await launch(agents, profile, place, exchanges, said, onTools);
    probe = await openMcpProbe(place.runtimeDir, tools);
    ({ agentSessionId } = await agent.open(null, [probe.serverFor(agent.paths.runtime)]));
    readyMs = performance.now() - launchedAt;
    const asked = prompt === null ? null : agent.prompt([{ type: 'text', text: prompt }]);
    asked?.catch(() => undefined);
    if (profile.mcp) mcp = await probe.outcome(asked);
    await asked;
  } catch (error) {
    failure = sentenceOf(error);
    if (error instanceof AgentCrash && error.reason === 'program') failure += howToInstall(programOf(profile));
  }
  await agent?.stop();
  await probe?.close();
  const self = describeSelf(exchanges);
  const again = async (rung: 'resume' | 'load'): Promise<Outcome> => {
    if (!self.offers.includes(rung)) return { state: 'not offered' };
    return agentSessionId === null ? { state: 'not tried' } : takeUp(agents, profile, place, agentSessionId, rung);
  };
  // A call without any tool is one for a title, or the like.
  const arrival = profile.mcp && shown.length > 0 ? compareTools(tools, shown) : null;
  return {
    id: profile.id,
    command: profile.command,
    failure,
    warnings: [...unchosenModels([profile]), ...missingTools(arrival)],
    ...self,
    readyMs,
    mcp,
    tools: arrival,
    close: self.offers.includes('close') ? outcomeOf(exchanges, 'session/close') : { state: 'not offered' },
    resume: await again('resume'),
    load: await again('load'),
    answer: prompt === null ? null : said.join('\n'),
  };
}

async function takeUp(
  agents: Agents,
  profile: AgentProfile,
  place: Place,
  agentSessionId: string,
  rung: 'resume' | 'load',
): Promise<Outcome> {
  const exchanges: AgentExchange[] = [];
  let agent: AgentProcess | null = null;
  try {
    agent = await launch(agents, { ...profile, resumeOrder: [rung, 'new'] }, place, exchanges, []);
    await agent.open(agentSessionId);
  } catch (error) {
    if (outcomeOf(exchanges, `session/${rung}`).state === 'not tried')
      return { state: 'failed', reason: sentenceOf(error) };
  } finally {
    await agent?.stop();
  }
  return outcomeOf(exchanges, `session/${rung}`);
}

function launch(
  agents: Agents,
  profile: AgentProfile,
  place: Place,
  exchanges: AgentExchange[],
  said: string[],
  onTools?: (tools: readonly ShownTool[]) => void,
): Promise<AgentProcess> {
  return agents.launch({
    ...place,
    profile,
    env: {},
    runId: `check-${process.pid}`,
    onUpdate: async (update) => {
      if (update.type === 'message') said.push(update.text);
    },
    onExchange: (exchange) => exchanges.push(exchange),
    ...(onTools && { onTools }),
  });
}

function outcomeOf(exchanges: readonly AgentExchange[], method: string): Outcome {
  const exchange = exchanges.find((each) => each.method === method);
  if (!exchange) return { state: 'not tried' };
  const { error, tookMs } = exchange;
  return error ? { state: 'failed', reason: sentenceOf(error) } : { state: 'works', tookMs };
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
