import { join } from 'node:path';
import type { McpServer } from '../agent.ts';
import { pipeCommand } from '../reporting/pipe.ts';
import { serveTools, type Tool, type ToolService } from '../reporting/serve-tools.ts';
import type { Outcome } from './report.ts';

/** How long after the session's start an agent may take to connect to an MCP server that it was given. */
const connectMs = 10_000;

/** An MCP server that only notes whether an agent came to it. */
export interface McpProbe {
  /** The server for an agent that sees the directory of the socket there. */
  serverFor(runtimeDir: string): McpServer;
  /** Whether it came: until the end of its turn or, without one, for a while. */
  outcome(turn: Promise<unknown> | null): Promise<Outcome>;
  close(): Promise<void>;
}

/** A probe whose socket is in that directory, with tools that do nothing. */
export async function openMcpProbe(runtimeDir: string, tools: readonly Tool[]): Promise<McpProbe> {
  const openedAt = performance.now();
  let markConnected: (tookMs: number) => void = () => undefined;
  const connected = new Promise<number>((resolve) => {
    markConnected = resolve;
  });
  const service: ToolService = {
    // Asked for when somebody connects.
    get tools() {
      markConnected(performance.now() - openedAt);
      return tools;
    },
    call: async () => ({ text: 'This is only a check: nothing was done.' }),
  };
  const server = await serveTools(join(runtimeDir, 'mcp.sock'), service);
  return {
    serverFor: (dir) => ({ name: 'switchyard', ...pipeCommand(join(dir, 'mcp.sock')), env: {} }),
    outcome: async (turn) => {
      const late = new AbortController();
      const timeout = new Promise<null>((resolve) => {
        const timer = setTimeout(resolve, connectMs, null);
        late.signal.addEventListener('abort', () => clearTimeout(timer));
      });
      const over =
        turn === null
          ? timeout
          : turn.then(
              () => null,
              () => null,
            );
      const tookMs = await Promise.race([connected, over]);
      late.abort();
      if (tookMs !== null) return { state: 'works', tookMs };
      // Some come to it only in a turn: without one nothing is known.
      return turn === null ? { state: 'not tried' } : { state: 'failed', reason: 'The agent did not connect to it.' };
    },
    close: () => server.close(),
  };
}
