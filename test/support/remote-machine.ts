import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Sandbox, SandboxProcess } from '../../src/agents/sandbox/driver.ts';
import { hostCommand, hostDescription } from '../../src/agents/sandbox/host-command.ts';
import { createLocalDriver } from '../../src/agents/sandbox/local/local-driver.ts';
import { openLocalMachine } from '../../src/agents/sandbox/local/local-machine.ts';
import { headerOf, type RemoteRequest } from './remote-protocol.ts';

// A machine of remote-driver.ts, in a separate program: it runs agents in a directory of its own, which nobody else knows,
// and speaks one request for each connection. It prints its port, and ends with its stdin.

const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-elsewhere-'));
const quiet = { info: () => undefined, warn: () => undefined };
const baseEnv = { PATH: process.env.PATH ?? '' };
const machine = await openLocalMachine({ dataDir, workerId: `elsewhere-${process.pid}`, baseEnv, log: quiet });
const driver = createLocalDriver(machine, {
  ...hostDescription,
  wrap: hostCommand,
  confineGit: null,
  pathsOf: (paths) => paths,
});
const { workspaces } = driver;

let ids = 0;
const sandboxes = new Map<number, Sandbox>();
const processes = new Map<number, SandboxProcess>();
/** Connections of agents that wait for the driver to take them. */
const incoming = new Map<number, Socket>();

function find<T>(all: ReadonlyMap<number, T>, id: number): T {
  const found = all.get(id);
  if (found === undefined) throw new Error(`There is nothing with the number ${id}.`);
  return found;
}

function keep<T>(all: Map<number, T>, item: T): number {
  ids += 1;
  all.set(ids, item);
  return ids;
}

/** Reads all items. */
export async function collect(names: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const name of names) all.push(name);
  return all;
}

/** Requests with one answer. */
async function call(request: RemoteRequest, socket: Socket): Promise<unknown> {
  const files = () => workspaces.files(request.sessionId ?? '');
  const { directory = [], name = '', path = '', text = '' } = request;
  switch (request.op) {
    case 'open': {
      const sandbox = await driver.open({
        sessionId: request.sessionId ?? '',
        settings: null,
        isNew: request.isNew ?? false,
      });
      return { id: keep(sandboxes, sandbox), paths: sandbox.paths, nodeProgram: sandbox.nodeProgram };
    }
    case 'close':
      return find(sandboxes, request.id ?? 0).close();
    case 'writeRunFile':
      return find(sandboxes, request.id ?? 0).writeRunFile(name, text);
    case 'start': {
      const { command = [], env = {} } = request;
      return { id: keep(processes, await find(sandboxes, request.id ?? 0).start({ command, env })) };
    }
    case 'exited':
      return find(processes, request.id ?? 0).exited;
    case 'kill':
      return find(processes, request.id ?? 0).kill();
    case 'stop':
      return find(processes, request.id ?? 0).stop(request.graces ?? { stdinMs: 0, termMs: 0 });
    case 'list':
      return files().list(directory, request.limits ?? { maxDepth: 1, maxNames: 1 });
    case 'stat':
      return files().stat(path);
    case 'createDirectory':
      return files().inDirectory(directory, async () => undefined);
    case 'names':
      return files().inDirectory(directory, (inner) => collect(inner.names()));
    case 'hasFile':
      return files().inDirectory(directory, (inner) => inner.hasFile(name));
    case 'write':
      return files().inDirectory(directory, (inner) => inner.write(name, socket, request.mode));
    case 'remove':
      return files().inDirectory(directory, (inner) => inner.remove(name));
    case 'empty':
      return files().empty(directory, request.beforeMs ?? 0);
    case 'readRecord':
      return files().readRecord(name);
    case 'writeRecord':
      return files().writeRecord(name, text);
    case 'readLocalRecord':
      return files().readLocalRecord(name);
    case 'writeLocalRecord':
      return files().writeLocalRecord(name, text);
    case 'ids':
      return collect(workspaces.ids());
    case 'has':
      return workspaces.has(request.sessionId ?? '');
    case 'sizeOf':
      return workspaces.sizeOf(request.sessionId ?? '');
    case 'isUntouchedSince':
      return workspaces.isUntouchedSince(request.sessionId ?? '', new Date(request.beforeMs ?? 0));
    case 'discard':
      return workspaces.discard(request.sessionId ?? '');
    case 'deleteDiscarded':
      return workspaces.deleteDiscarded(() => false);
    case 'readOwner':
      return workspaces.readOwner();
    case 'recordOwner':
      return workspaces.recordOwner(text);
    default:
      throw new Error(`There is no request ${request.op}.`);
  }
}

/** Requests whose connection becomes a stream; false: it is another request. */
async function stream(request: RemoteRequest, socket: Socket): Promise<boolean> {
  const id = request.id ?? 0;
  if (request.op === 'stdio') {
    const { stdin, stdout } = find(processes, id);
    socket.pipe(stdin);
    stdout.pipe(socket);
  } else if (request.op === 'stderr') {
    find(processes, id).stderr.pipe(socket);
  } else if (request.op === 'accept') {
    const agent = find(incoming, id);
    agent.pipe(socket).pipe(agent);
  } else if (request.op === 'read') {
    const content = await workspaces.files(request.sessionId ?? '').read(request.path ?? '');
    socket.write(`${JSON.stringify({ result: content !== null })}\n`);
    if (content === null) socket.end();
    else await pipeline(content, socket);
  } else if (request.op === 'reach') {
    await reach(request, socket);
  } else return false;
  return true;
}

// The socket stays open while the service is reachable, and reports each connection of an agent.
async function reach({ id, name = '', protocol = 'http' }: RemoteRequest, socket: Socket): Promise<void> {
  const open = new Set<Socket>();
  const listen = async (socketPath: string | null) => {
    const server = createServer({ allowHalfOpen: true }, (agent) => {
      open.add(agent);
      agent.on('error', () => agent.destroy());
      agent.on('close', () => open.delete(agent));
      socket.write(`${JSON.stringify({ connection: keep(incoming, agent) })}\n`);
    });
    await new Promise<void>((resolve) =>
      socketPath === null ? server.listen(0, '127.0.0.1', resolve) : server.listen(socketPath, resolve),
    );
    socket.on('close', () => {
      server.close();
      for (const agent of open) agent.destroy();
    });
    const address = server.address() as AddressInfo | string;
    return { port: typeof address === 'string' ? null : address.port, close: async () => void server.close() };
  };
  const { address } = await find(sandboxes, id ?? 0).reach({ name, protocol, listen });
  socket.write(`${JSON.stringify({ result: address })}\n`);
}

async function serve(socket: Socket): Promise<void> {
  const request = JSON.parse(await headerOf(socket)) as RemoteRequest;
  try {
    if (await stream(request, socket)) return;
    const result = await call(request, socket);
    socket.end(`${JSON.stringify({ result: result ?? null })}\n`);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    socket.end(`${JSON.stringify({ error: { message, code } })}\n`);
  }
}

const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  void serve(socket).catch(() => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

process.stdin.resume().on('end', async () => {
  await Promise.all([...processes.values()].map((each) => each.stop({ stdinMs: 0, termMs: 0 })));
  await Promise.all([...sandboxes.values()].map((each) => each.close()));
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});
