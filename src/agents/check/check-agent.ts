import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCrash, type AgentProcess, type AgentProfile, type Agents } from '../agent.ts';
import type { AgentExchange } from '../agent-exchange.ts';
import type { ShownTool } from '../gateway/tool-reader.ts';
import { type AgentOffer, emptyOffer } from '../options/agent-option.ts';
import { unchosenModels } from '../profiles/model-choice.ts';
import { howToInstall, programOf } from '../profiles/programs.ts';
import type { Tool } from '../reporting/serve-tools.ts';
import type { Sandbox } from '../sandbox/driver.ts';
import { checkedRoute, keylessWarnings, sessionOffer } from './check-route.ts';
import { type McpProbe, openMcpProbe } from './mcp-probe.ts';
import { type AgentReport, describeOptions, describeSelf, type Outcome, unknownLocks } from './report.ts';
import { compareTools, missingTools } from './tool-check.ts';

/** Options of {@link checkAgent}. */
export interface CheckOptions {
  readonly profile: AgentProfile;
  /**
   * Creates the agents, and returns the sandbox driver of profiles that name none. The directory is for their files.
   * `close` is called after the check and before the directory is removed.
   */
  open(directory: string): Promise<{ agents: Agents; driver: AgentReport['sandbox']; close(): Promise<void> }>;
  /** The prompt of one turn, which costs as much as any turn; null: no turn. */
  readonly prompt: string | null;
  /** The tools that the service offers to a session's agent. */
  readonly tools: readonly Tool[];
  /** Called with the options that the agent offers, and its name and version, if its session could be opened. */
  onOffer?(offer: AgentOffer, version: string | null): void;
  /** Called with each step, for users: a few words. */
  onStep?(step: string): void;
}

/** The session of a check; it has a new data directory. */
const sessionId = '0'.repeat(32);

/**
 * Starts the agent in an empty directory as a session would, and reports its self-description and its working features.
 * A second process tries `resume` and `load`, as after a restart. Never rejects because of the agent's behaviour.
 */
export async function checkAgent(options: CheckOptions): Promise<AgentReport> {
  const root = await mkdtemp(join(tmpdir(), 'sy-check-'));
  try {
    const { agents, driver, close } = await options.open(root);
    const report = await check(options, agents).finally(close);
    return { ...report, sandbox: options.profile.sandbox?.driver ?? driver };
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function check(
  { profile, prompt, tools, onOffer, onStep }: CheckOptions,
  agents: Agents,
): Promise<Omit<AgentReport, 'sandbox'>> {
  const exchanges: AgentExchange[] = [];
  const messages: string[] = [];
  const shown: ShownTool[] = [];
  const onTools = (each: readonly ShownTool[]) => void shown.push(...each);
  const launchedAt = performance.now();
  let readyMs: number | null = null;
  let failure: string | null = null;
  let run: CheckRun | null = null;
  let probe: McpProbe | null = null;
  let agentSessionId: string | null = null;
  let mcp: Outcome = { state: profile.mcp ? 'not tried' : 'switched off' };
  try {
    onStep?.('Starting the agent');
    run = await launch(agents, profile, exchanges, messages, onTools);
    const { agent } = run;
    probe = await openMcpProbe(run.sandbox, tools);
    ({ agentSessionId } = await agent.open(null, [probe.server]));
    readyMs = performance.now() - launchedAt;
    onOffer?.(agent.offer(), agent.version);
    onStep?.(prompt === null ? 'Trying the tools of the service' : 'Waiting for an answer');
    const turn = prompt === null ? null : agent.prompt([{ type: 'text', text: prompt }]);
    turn?.catch(() => undefined);
    if (profile.mcp) mcp = await probe.outcome(turn);
    await turn;
  } catch (error) {
    failure = sentenceOf(error);
    if (error instanceof AgentCrash && error.reason === 'program') failure += howToInstall(programOf(profile));
  }
  const offer = run?.agent.offer() ?? emptyOffer;
  onStep?.('Stopping the agent');
  await run?.agent.stop();
  await probe?.close();
  await run?.sandbox.close();
  const self = describeSelf(exchanges);
  const tryResume = async (method: 'resume' | 'load'): Promise<Outcome> => {
    if (!self.offers.includes(method)) return { state: 'not offered' };
    if (agentSessionId === null) return { state: 'not tried' };
    onStep?.(method === 'resume' ? 'Resuming a session' : 'Loading a session');
    return resumeSession(agents, profile, agentSessionId, method);
  };
  // A call without tools creates a title or the like.
  const toolCheck = profile.mcp && shown.length > 0 ? compareTools(tools, shown) : null;
  return {
    id: profile.id,
    command: profile.command,
    failure,
    warnings: [
      ...unchosenModels([profile]),
      ...keylessWarnings(profile),
      ...(readyMs === null ? [] : unknownLocks(offer, profile)),
      ...missingTools(toolCheck),
    ],
    ...self,
    options: describeOptions(sessionOffer(offer, profile), profile),
    readyMs,
    mcp,
    tools: toolCheck,
    close: self.offers.includes('close') ? outcomeOf(exchanges, 'session/close') : { state: 'not offered' },
    resume: await tryResume('resume'),
    load: await tryResume('load'),
    answer: prompt === null ? null : messages.join('\n'),
  };
}

async function resumeSession(
  agents: Agents,
  profile: AgentProfile,
  agentSessionId: string,
  method: 'resume' | 'load',
): Promise<Outcome> {
  const exchanges: AgentExchange[] = [];
  let run: CheckRun | null = null;
  try {
    run = await launch(agents, { ...profile, resumeOrder: [method, 'new'] }, exchanges, []);
    await run.agent.open(agentSessionId);
  } catch (error) {
    if (outcomeOf(exchanges, `session/${method}`).state === 'not tried')
      return { state: 'failed', reason: sentenceOf(error) };
  } finally {
    await run?.agent.stop();
    await run?.sandbox.close();
  }
  return outcomeOf(exchanges, `session/${method}`);
}

interface CheckRun {
  readonly sandbox: Sandbox;
  readonly agent: AgentProcess;
}

async function launch(
  agents: Agents,
  profile: AgentProfile,
  exchanges: AgentExchange[],
  messages: string[],
  onTools?: (tools: readonly ShownTool[]) => void,
): Promise<CheckRun> {
  const sandbox = await agents.openSandbox({ profile, sessionId, isNew: false });
  const { launched, credential } = checkedRoute(profile);
  try {
    const agent = await agents.launch({
      sandbox,
      profile: launched,
      ...(credential && { credential }),
      env: {},
      onUpdate: async (update) => {
        if (update.type === 'message') messages.push(update.text);
      },
      onExchange: (exchange) => exchanges.push(exchange),
      ...(onTools && { onTools }),
    });
    return { sandbox, agent };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
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
