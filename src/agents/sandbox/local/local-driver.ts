import { mkdir, mkdtemp } from 'node:fs/promises';
import { posix } from 'node:path';
import { removeTree } from '../../../store/delete-tree.ts';
import type { DriverDescription, Sandbox, SandboxDriver, SandboxRequest } from '../driver.ts';
import type { AgentPaths, SandboxSettings } from '../settings.ts';
import { writeFileAt } from './local-files.ts';
import type { LocalMachine } from './local-machine.ts';
import { startLocalProcess } from './local-process.ts';
import { runtimePrefix } from './process-spool.ts';
import {
  firstForwardedPort,
  type PortForward,
  type SandboxCommand,
  socketNameOf,
  type WrapRequest,
} from './sandbox-command.ts';
import { homeIn, sessionIn, workspaceIn } from './session-directories.ts';

/** The parts in which drivers of this machine differ. */
export interface LocalDriverParts extends DriverDescription {
  /** Converts a command to the process of the host that runs it in the sandbox. */
  wrap(request: WrapRequest): SandboxCommand;
  /** The directories as the agent sees them. */
  pathsOf(directories: AgentPaths, settings: SandboxSettings | null): AgentPaths;
}

/** Creates a driver that runs agents as child processes of this one. */
export function createLocalDriver(machine: LocalMachine, parts: LocalDriverParts): SandboxDriver {
  const { name, strictness, hostProgram, runsHostPrograms } = parts;
  return {
    name,
    strictness,
    hostProgram,
    runsHostPrograms,
    workspaces: machine.workspaces,
    async open(request) {
      const { sessionId, isNew } = request;
      if (isNew) await machine.workspaces.discard(sessionId);
      const root = sessionIn(machine.dataDir, sessionId);
      const [workspace, home] = [workspaceIn(root), homeIn(root)];
      for (const path of [workspace, home]) await mkdir(path, { recursive: true, mode: 0o700 });
      const runtime = await mkdtemp(runtimePrefix(machine.workerId));
      return createLocalSandbox(machine, parts, request, { workspace, home, runtime });
    },
  };
}

function createLocalSandbox(
  machine: LocalMachine,
  { wrap, pathsOf, strictness }: LocalDriverParts,
  { sessionId, settings }: SandboxRequest,
  directories: AgentPaths,
): Sandbox {
  const paths = pathsOf(directories, settings);
  const hasNetwork = strictness(settings).network === 'host';
  const forwards: PortForward[] = [];
  return {
    paths,
    nodeProgram: process.execPath,
    files: machine.workspaces.files(sessionId),
    writeRunFile: (name, content) => writeFileAt(directories.runtime, name, content, 0o644),
    async reach(service) {
      const socketName = socketNameOf(service.name);
      const socketPath = posix.join(directories.runtime, socketName);
      if (service.protocol === 'stream') {
        return { address: posix.join(paths.runtime, socketName), listening: await service.listen(socketPath) };
      }
      const listening = await service.listen(hasNetwork ? null : socketPath);
      return { address: `http://127.0.0.1:${listening.port ?? forward(forwards, socketName)}`, listening };
    },
    async start(launch) {
      const env = { ...machine.baseEnv, ...launch.env };
      const command = wrap({ command: launch.command, env, settings, sessionId, directories, forwards });
      return startLocalProcess(machine, {
        command,
        env: { ...env, ...command.env, HOME: paths.home },
        directories,
        runId: sessionId,
      });
    },
    close: () => removeTree(directories.runtime),
  };
}

function forward(forwards: PortForward[], socketName: string): number {
  const port = firstForwardedPort + forwards.length;
  forwards.push({ port, socketName });
  return port;
}
