import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { McpServer, McpServerStdio } from '@agentclientprotocol/sdk';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** The tools of the session's MCP server, which is started with the first call. */
export interface Reporting {
  /** The names of the tools. */
  list(): Promise<string[]>;
  /** Calls a tool and returns its result; rejects with the result if it is an error. */
  call(name: string, args: Record<string, unknown>): Promise<string>;
  /** Makes this number of calls of 100 kB each on a separate connection, and reads no response. */
  flood(calls: number, signal: AbortSignal): Promise<void>;
}

/** Null: the session has no server over stdio. */
export function createReporting(servers: readonly McpServer[]): Reporting | null {
  const server = servers.find((each): each is McpServerStdio => 'command' in each);
  if (!server) return null;
  let connected: Promise<Client> | null = null;
  const client = () => (connected ??= connect(server));
  return {
    async list() {
      const { tools } = await (await client()).listTools();
      return tools.map((tool) => tool.name);
    },
    async call(name, args) {
      const result = (await (await client()).callTool({ name, arguments: args })) as CallToolResult;
      const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      if (result.isError) throw new Error(text);
      return text;
    },
    flood: (calls, signal) => flood(server, calls, signal),
  };
}

async function flood(server: McpServerStdio, calls: number, signal: AbortSignal): Promise<void> {
  const child = spawn(server.command, server.args, { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    const put = async (message: object) => {
      if (!child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`))
        await once(child.stdin, 'drain', { signal });
    };
    const clientInfo = { name: 'switchyard-demo', version: '0.1.0' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    await put({ id: 0, method: 'initialize', params });
    await put({ method: 'notifications/initialized' });
    for (let id = 1; id <= calls; id++) {
      signal.throwIfAborted();
      const args = { name: 'read_knowledge', arguments: { id: 'x'.repeat(100_000) } };
      await put({ id, method: 'tools/call', params: args });
    }
  } finally {
    child.kill('SIGKILL');
  }
}

async function connect(server: McpServerStdio): Promise<Client> {
  // Loaded on demand: most prompts need neither, and an agent should answer at once.
  const [{ Client: McpClient }, { StdioClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/stdio.js'),
  ]);
  const { command, args, env } = server;
  const client = new McpClient({ name: 'switchyard-demo', version: '0.1.0' });
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  await client.connect(new StdioClientTransport({ command, args, env: variables, stderr: 'ignore' }));
  return client;
}
