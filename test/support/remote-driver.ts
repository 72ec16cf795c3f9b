import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type {
  Listening,
  ProcessExit,
  ProcessLaunch,
  ReachedService,
  Sandbox,
  SandboxDriver,
  SandboxProcess,
  Service,
} from '../../src/agents/sandbox/driver.ts';
import { hostDescription } from '../../src/agents/sandbox/host-command.ts';
import type { AgentPaths } from '../../src/agents/sandbox/settings.ts';
import type { SafeDirectory, WorkspaceFiles, Workspaces } from '../../src/agents/sandbox/workspaces.ts';
import { builtProgram } from './programs.ts';
import { headerOf, type RemoteRequest } from './remote-protocol.ts';

/** A driver that runs agents on a "machine": a separate program that shares only a network connection with this one. */
export interface RemoteDriver extends SandboxDriver {
  /** The machine, for tests that lose it. */
  readonly machine: ChildProcess;
  /** Ends the machine and all of its agents. */
  stop(): Promise<void>;
}

/** Starts a machine, and returns its driver. */
export async function openRemoteDriver(): Promise<RemoteDriver> {
  const machine = spawn(process.execPath, [builtProgram('remote-machine')], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const port = Number(await headerOf(machine.stdout));
  const wire = createWire(port);
  const workspaces = remoteWorkspaces(wire, port);
  return {
    name: 'elsewhere',
    // Agents of one machine are not isolated from each other.
    strictness: hostDescription.strictness,
    hostProgram: () => null,
    runsHostPrograms: false,
    workspaces,
    machine,
    async open({ sessionId, isNew }) {
      await workspaces.discarded(sessionId);
      const opened = await wire.call<OpenedSandbox>({ op: 'open', sessionId, isNew });
      return remoteSandbox(wire, opened, remoteFiles(wire, sessionId));
    },
    async stop() {
      if (machine.exitCode !== null || machine.signalCode !== null) return;
      machine.stdin.end();
      await once(machine, 'exit');
    },
  };
}

interface OpenedSandbox {
  readonly id: number;
  readonly paths: AgentPaths;
  readonly nodeProgram: string;
}

/** The connection to a machine. */
interface Wire {
  /** Sends a request, and the content if there is one; returns the result. Rejects with the machine's error. */
  call<T = undefined>(request: RemoteRequest, content?: Readable): Promise<T>;
  /** Sends a request whose connection becomes a stream. */
  open(request: RemoteRequest): Socket;
}

function createWire(port: number): Wire {
  const open = (request: RemoteRequest) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => socket.destroy());
    socket.write(`${JSON.stringify(request)}\n`);
    return socket;
  };
  return {
    open,
    async call<T>(request: RemoteRequest, content?: Readable) {
      const socket = open(request);
      // The answer explains a request whose content was not read.
      if (content === undefined) socket.end();
      else void pipeline(content, socket).catch(() => undefined);
      const answer = await headerOf(socket);
      socket.destroy();
      return resultOf(answer) as T;
    },
  };
}

function resultOf(answer: string): unknown {
  const { result, error } = JSON.parse(answer);
  if (error) throw Object.assign(new Error(error.message), { code: error.code });
  return result;
}

function remoteSandbox(wire: Wire, { id, paths, nodeProgram }: OpenedSandbox, files: WorkspaceFiles): Sandbox {
  return {
    paths,
    nodeProgram,
    files,
    writeRunFile: (name, text) => wire.call({ op: 'writeRunFile', id, name, text }),
    reach: (service) => reach(wire, id, service),
    start: (launch) => start(wire, id, launch),
    close: () => wire.call({ op: 'close', id }),
  };
}

async function start(wire: Wire, sandboxId: number, { command, env }: ProcessLaunch): Promise<SandboxProcess> {
  const { id } = await wire.call<{ id: number }>({ op: 'start', id: sandboxId, command, env });
  const stdio = wire.open({ op: 'stdio', id });
  const stderr = wire.open({ op: 'stderr', id }).end();
  const lost: ProcessExit = { code: null, signal: null, reason: 'the connection to its machine was lost' };
  const exited = wire.call<ProcessExit>({ op: 'exited', id }).catch(() => lost);
  return {
    stdin: stdio,
    stdout: stdio,
    stderr,
    exited,
    kill: () => void wire.call({ op: 'kill', id }).catch(() => undefined),
    async stop(graces) {
      await wire.call({ op: 'stop', id, graces }).catch(() => undefined);
      for (const socket of [stdio, stderr]) socket.destroy();
    },
  };
}

// The service listens here; the machine reports each connection of the agent, which is then connected to it.
async function reach<T extends Listening>(wire: Wire, id: number, service: Service<T>): Promise<ReachedService<T>> {
  const { name, protocol } = service;
  const directory = mkdtempSync(join(tmpdir(), 'sy-reach-'));
  const socketPath = join(directory, 's');
  const listening = await (service.protocol === 'http' ? service.listen(null) : service.listen(socketPath));
  const local = listening.port === null ? { path: socketPath } : { port: listening.port, host: '127.0.0.1' };
  const control = wire.open({ op: 'reach', id, name, protocol });
  const address = resultOf(await headerOf(control)) as string;
  const forward = async () => {
    for (;;) {
      const { connection } = JSON.parse(await headerOf(control));
      const agent = wire.open({ op: 'accept', id: connection });
      const inner = connect({ ...local, allowHalfOpen: true });
      inner.on('error', () => agent.destroy());
      inner.on('close', () => agent.destroy());
      agent.on('close', () => inner.destroy());
      agent.pipe(inner).pipe(agent);
    }
  };
  const ended = forward().catch(() => undefined);
  const close = async () => {
    control.destroy();
    await ended;
    await listening.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { address, listening: { ...listening, close } };
}

function remoteFiles(wire: Wire, sessionId: string): WorkspaceFiles {
  return {
    list: (directory, limits) => wire.call({ op: 'list', sessionId, directory, limits }),
    stat: (path) => wire.call({ op: 'stat', sessionId, path }),
    async read(path) {
      const socket = wire.open({ op: 'read', sessionId, path }).end();
      if (resultOf(await headerOf(socket)) === true) return socket;
      socket.destroy();
      return null;
    },
    async inDirectory(directory, work) {
      await wire.call({ op: 'createDirectory', sessionId, directory });
      return work(remoteDirectory(wire, sessionId, directory));
    },
    empty: (directory, beforeMs) =>
      wire.call({ op: 'empty', sessionId, directory, beforeMs: Math.min(beforeMs, Number.MAX_SAFE_INTEGER) }),
    readRecord: (name) => wire.call({ op: 'readRecord', sessionId, name }),
    writeRecord: (name, text) => wire.call({ op: 'writeRecord', sessionId, name, text }),
    readLocalRecord: (name) => wire.call({ op: 'readLocalRecord', sessionId, name }),
    writeLocalRecord: (name, text) => wire.call({ op: 'writeLocalRecord', sessionId, name, text }),
  };
}

function remoteDirectory(wire: Wire, sessionId: string, directory: readonly string[]): SafeDirectory {
  return {
    async *names() {
      yield* await wire.call<string[]>({ op: 'names', sessionId, directory });
    },
    hasFile: (name) => wire.call({ op: 'hasFile', sessionId, directory, name }),
    write: (name, content, mode) =>
      wire.call(
        { op: 'write', sessionId, directory, name, mode },
        typeof content === 'string' ? Readable.from([Buffer.from(content)]) : content,
      ),
    remove: (name) => wire.call({ op: 'remove', sessionId, directory, name }),
  };
}

/** Each request has its own connection, so the order of a discard and a later start is kept here. */
interface OrderedWorkspaces extends Workspaces {
  /** Resolves when no discard of the session is in progress. */
  discarded(sessionId: string): Promise<unknown>;
}

function remoteWorkspaces(wire: Wire, port: number): OrderedWorkspaces {
  const discards = new Map<string, Promise<boolean>>();
  return {
    location: `127.0.0.1:${port}`,
    async *ids() {
      yield* await wire.call<string[]>({ op: 'ids' });
    },
    has: (sessionId) => wire.call({ op: 'has', sessionId }),
    files: (sessionId) => remoteFiles(wire, sessionId),
    sizeOf: (sessionId) => wire.call({ op: 'sizeOf', sessionId }),
    isUntouchedSince: (sessionId, time) => wire.call({ op: 'isUntouchedSince', sessionId, beforeMs: time.getTime() }),
    discarded: async (sessionId) => discards.get(sessionId)?.catch(() => undefined),
    discard(sessionId) {
      const discard = wire.call<boolean>({ op: 'discard', sessionId }).finally(() => discards.delete(sessionId));
      discards.set(sessionId, discard);
      return discard;
    },
    deleteDiscarded: () => wire.call({ op: 'deleteDiscarded' }),
    readOwner: () => wire.call({ op: 'readOwner' }),
    recordOwner: (text) => wire.call({ op: 'recordOwner', text }),
  };
}
