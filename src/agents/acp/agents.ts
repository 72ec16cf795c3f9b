import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { AgentCrash, type AgentLaunch, type AgentProcess, type AgentProfile, type Agents } from '../agent.ts';
import { createProcessSpool } from '../process-spool.ts';
import { AcpProcess } from './acp-process.ts';
import { type Child, type ChildOptions, spawnChild } from './child.ts';

/** What {@link createAgents} needs. */
export interface AgentsOptions {
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  /** The variables of this process that agents may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly workerId: string;
  /** Where the worker notes its agent processes. */
  readonly spoolDir: string;
  readonly log: { info(fields: object, message: string): void; debug(fields: object, message: string): void };
}

/** How long an agent may take for each step of its start (agents.md 5.1). */
const timeoutsMs = { initialize: 20_000, authenticate: 30_000 };
/** Tool output and diffs can be large. */
const mostMessageBytes = 100 * 1_024 * 1_024;

/** Agents that speak ACP over stdio. First kills what an earlier process of this worker left behind. */
export async function createAgents(options: AgentsOptions): Promise<Agents> {
  const spool = createProcessSpool(options.spoolDir, options.workerId);
  const killed = await spool.reap();
  if (killed.length > 0) options.log.info({ pids: killed }, 'Agent processes of an earlier run were killed.');
  return { launch: (launch) => launchAgent(launch, { baseEnv: options.baseEnv, workerId: options.workerId, spool }) };
}

async function launchAgent(launch: AgentLaunch, options: ChildOptions): Promise<AgentProcess> {
  const child = await spawnChild(launch, options);
  const process = new AcpProcess(launch, child);
  try {
    process.connect(connect(child, process));
    await process.request('initialize', timeoutsMs.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: 'switchyard', title: 'Switchyard', version: '0.1.0' },
      // No file system and no terminal: agents use their own tools in their workspace.
      clientCapabilities: { elicitation: { form: {} } },
    });
    if (launch.profile.authMethod !== null) {
      await process.request('authenticate', timeoutsMs.authenticate, { methodId: launch.profile.authMethod });
    }
    return process;
  } catch (error) {
    await process.stop();
    throw error instanceof AgentCrash
      ? error
      : new AgentCrash(`The agent could not be started: ${(error as Error).message}`);
  }
}

function connect(child: Child, process: AcpProcess): acp.ClientConnection {
  const { stdin, stdout } = child.streams;
  const stream = acp.ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>, {
    maxMessageBytes: mostMessageBytes,
  });
  return acp
    .client({ name: 'switchyard' })
    .onNotification('session/update', ({ params }) => process.onUpdate(params.update))
    .onRequest('session/request_permission', ({ params }) => process.questions.permission(params))
    .onRequest('elicitation/create', ({ params }) => process.questions.elicitation(params))
    .onRequest('*', ({ method }) => {
      throw acp.RequestError.methodNotFound(method);
    })
    .onNotification('*', () => undefined)
    .connect(stream);
}
