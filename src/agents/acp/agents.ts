import * as acp from '@agentclientprotocol/sdk';
import type { AgentLaunch, AgentProcess, Agents } from '../agent.ts';
import { createProcessSpool } from '../process-spool.ts';
import { type Sandbox, withoutSandbox } from '../sandbox/sandbox.ts';
import { AcpProcess, type StartTimeouts } from './acp-process.ts';
import { type Child, type ChildOptions, spawnChild } from './child.ts';
import { createMessageStream } from './messages.ts';
import type { FailedMethods } from './open-session.ts';

/** Options of {@link createAgents}. */
export interface AgentsOptions {
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly workerId: string;
  /** The directory where the worker records its agent processes. */
  readonly spoolDir: string;
  /** If missing, agents run without a sandbox unless a profile has its own. */
  readonly sandbox?: Sandbox;
  /** Replaces the defaults: 30 s to authenticate, 60 s to open a session. */
  readonly timeouts?: Partial<StartTimeouts>;
  readonly log: Record<'info' | 'debug' | 'warn', (fields: object, message: string) => void>;
}

const defaultTimeouts: StartTimeouts = { authenticateMs: 30_000, openMs: 60_000 };

const clientInfo = { name: 'switchyard', title: 'Switchyard', version: '0.1.0' };
// No file system and no terminal: agents use their own tools in their workspace.
const clientCapabilities = { elicitation: { form: {} }, session: { notices: {} } };

/** Creates agents that speak ACP over stdio. Kills processes that an earlier run of this worker left behind. */
export async function createAgents(options: AgentsOptions): Promise<Agents> {
  const { baseEnv, workerId, log } = options;
  const spool = createProcessSpool(options.spoolDir, workerId, {
    baseEnv,
    onLeft: (path, code) => log.warn({ path, code }, 'A file or process of an earlier run could not be removed.'),
  });
  const killed = await spool.reap();
  if (killed.length > 0) log.info({ pids: killed }, 'Agent processes of an earlier run were killed.');
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const failedMethods: FailedMethods = new Set();
  const { sandbox = withoutSandbox } = options;
  return { launch: (launch) => launchAgent(launch, { baseEnv, workerId, spool, sandbox }, timeouts, failedMethods) };
}

async function launchAgent(
  input: AgentLaunch,
  options: ChildOptions,
  timeouts: StartTimeouts,
  failedMethods: FailedMethods,
): Promise<AgentProcess> {
  // The agent's updates and the gateway's usage come from two sources, and are delivered one after the other.
  let delivered: Promise<void> = Promise.resolve();
  const launch: AgentLaunch = {
    ...input,
    onUpdate(update) {
      delivered = delivered.then(() => input.onUpdate(update)).catch(() => undefined);
      return delivered;
    },
  };
  const child = await spawnChild(launch, options, (usage) => launch.onUpdate(usage));
  const process = new AcpProcess(launch, child, timeouts, failedMethods);
  try {
    await process.start(connect(child, process), clientInfo, clientCapabilities);
    return process;
  } catch (error) {
    await process.stop();
    throw error;
  }
}

function connect(child: Child, process: AcpProcess): acp.ClientConnection {
  return acp
    .client({ name: clientInfo.name })
    .onNotification('session/update', ({ params }) => process.onUpdate(params))
    .onRequest('session/request_permission', ({ params }) => process.permission(params))
    .onRequest('elicitation/create', ({ params }) => process.questions.elicitation(params))
    .onRequest('*', ({ method }) => {
      throw acp.RequestError.methodNotFound(method);
    })
    .onNotification('*', () => undefined)
    .connect(
      createMessageStream(child.streams.stdin, child.streams.stdout, {
        room: () => process.room(),
        onWork: (isWorking) => process.reading(isWorking),
        onLimitExceeded: (sentence) => child.killWithReason(sentence),
      }),
    );
}
