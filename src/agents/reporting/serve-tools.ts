import { createServer, type Socket } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '../agent.ts';
import type { Listening, Sandbox } from '../sandbox/driver.ts';
import { pipeCommand } from './pipe.ts';
import { createSlots, type Slots, SocketTransport } from './socket-transport.ts';

/** The result of a tool call; with `isError`, the agent should correct its call. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError?: boolean;
}

/** A tool that an agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: { readonly type: 'object' } & Readonly<Record<string, unknown>>;
}

/** The tools of one run, and the handler of their calls. */
export interface ToolService {
  readonly tools: readonly Tool[];
  /** Must not reject: an error is a result too. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}

/** Tools that an agent can reach. */
export interface ReachedTools {
  /** The MCP server for the agent to start. */
  serverNamed(name: string): McpServer;
  close(): Promise<void>;
}

/**
 * The maximum number of concurrent calls of one agent; more wait in its pipe, so that it cannot fill the worker's
 * memory.
 */
const maxConcurrentCalls = 16;
/** An agent needs one connection; more are for an agent that restarts its server while the old one ends. */
const maxConnections = 8;

/** The name under which a sandbox reaches {@link serveTools}. */
const serviceName = 'mcp';

/** Makes tools reachable in a sandbox. Rejects if that fails. */
export async function reachTools(sandbox: Sandbox, service: ToolService): Promise<ReachedTools> {
  const { address, listening } = await sandbox.reach({
    name: serviceName,
    protocol: 'stream',
    listen: (socketPath) => serveTools(socketPath, service),
  });
  return {
    serverNamed: (name) => ({ name, ...pipeCommand(sandbox.nodeProgram, address), env: {} }),
    close: () => listening.close(),
  };
}

/** Speaks MCP to every client of a unix socket. Rejects if the socket cannot be created. */
export async function serveTools(socketPath: string, service: ToolService): Promise<Listening> {
  const sockets = new Set<Socket>();
  const slots = createSlots(maxConcurrentCalls);
  const listener = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (sockets.size >= maxConnections) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    void speak(socket, service, slots);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(socketPath, () => resolve());
  });
  listener.on('error', () => undefined);
  return {
    port: null,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function speak(socket: Socket, { tools, call }: ToolService, slots: Slots): Promise<void> {
  const server = new Server({ name: 'switchyard', version: '0.1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map((tool) => ({ ...tool })) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { text, isError } = await call(params.name, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError: isError ?? false };
  });
  await server.connect(new SocketTransport(socket, slots)).catch(() => socket.destroy());
}
