import * as acp from '@agentclientprotocol/sdk';
import type { AgentLaunch, AgentProcess, Agents } from '../agent.ts';
import type { SandboxDrivers } from '../sandbox/drivers.ts';
import { AcpProcess } from './acp-process.ts';
import { type Child, cannotStart, startChild } from './child.ts';
import { createMessageStream } from './messages.ts';
import type { FailedMethods, StartTimeouts } from './open-session.ts';
import type { PauseTimes } from './pauses.ts';

/** Options of {@link createAgents}. */
export interface AgentsOptions {
  readonly drivers: SandboxDrivers;
  /** Replaces the defaults: 30 s to authenticate and to set an option, 60 s to open a session, pauses of 30 s, ten minutes of continuous output. */
  readonly timeouts?: Partial<StartTimeouts & PauseTimes>;
}

const defaultTimeouts: StartTimeouts & PauseTimes = {
  authenticateMs: 30_000,
  openMs: 60_000,
  optionMs: 30_000,
  quietMs: 30_000,
  longMs: 600_000,
};

const clientInfo = { name: 'switchyard', title: 'Switchyard', version: '0.1.0' };
// No file system and no terminal: agents use their own tools in their workspace.
const clientCapabilities = { elicitation: { form: {} }, session: { notices: {}, configOptions: { boolean: {} } } };

/** Creates agents that speak ACP over stdio, in the sandboxes of these drivers. */
export function createAgents(options: AgentsOptions): Agents {
  const { drivers } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const failedMethods: FailedMethods = new Set();
  // Other errors are problems of the service, and not for users.
  const explain = (profileId: string, error: unknown) =>
    (error as NodeJS.ErrnoException).code === 'ENOSANDBOX' ? cannotStart(profileId, error) : error;
  return {
    workspaces: drivers.workspaces,
    driverOf({ id, sandbox }) {
      try {
        return drivers.driverFor(sandbox);
      } catch (error) {
        throw explain(id, error);
      }
    },
    async openSandbox({ profile, sessionId, isNew }) {
      const settings = profile.sandbox;
      try {
        return await drivers.driverFor(settings).open({ sessionId, settings, isNew });
      } catch (error) {
        throw explain(profile.id, error);
      }
    },
    launch: (launch) => launchAgent(launch, timeouts, failedMethods),
  };
}

async function launchAgent(
  input: AgentLaunch,
  timeouts: StartTimeouts & PauseTimes,
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
  const child = await startChild(launch, (usage) => launch.onUpdate(usage));
  const process = new AcpProcess(launch, child, timeouts, failedMethods);
  // The worker has no process to stop yet.
  const abort = () => child.kill();
  launch.revoked?.addEventListener('abort', abort);
  if (launch.revoked?.aborted) abort();
  try {
    await process.start(connect(child, process), clientInfo, clientCapabilities);
    return process;
  } catch (error) {
    await process.stop();
    throw error;
  } finally {
    launch.revoked?.removeEventListener('abort', abort);
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
      createMessageStream(child.stdin, child.stdout, {
        room: () => process.room(),
        onWork: (isWorking) => process.reading(isWorking),
        onLimitExceeded: (sentence) => child.killWithReason(sentence),
      }),
    );
}
