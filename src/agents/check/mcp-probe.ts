import type { McpServer } from '../agent.ts';
import { reachTools, type Tool, type ToolService } from '../reporting/serve-tools.ts';
import type { Sandbox } from '../sandbox/driver.ts';
import type { Outcome } from './report.ts';

/** The time, after the session's start, in which an agent must connect to its MCP server. */
const connectMs = 10_000;

/** An MCP server that only records if an agent connects to it. */
export interface McpProbe {
  /** The server's settings for the agent. */
  readonly server: McpServer;
  /** The result: waits until the end of the turn or, without a turn, for a while. */
  outcome(turn: Promise<unknown> | null): Promise<Outcome>;
  close(): Promise<void>;
}

/** Creates a probe for the agent in a sandbox, with tools that do nothing. */
export async function openMcpProbe(sandbox: Sandbox, tools: readonly Tool[]): Promise<McpProbe> {
  const openedAt = performance.now();
  let markConnected: (tookMs: number) => void = () => undefined;
  const connected = new Promise<number>((resolve) => {
    markConnected = resolve;
  });
  const service: ToolService = {
    // Read on each connection.
    get tools() {
      markConnected(performance.now() - openedAt);
      return tools;
    },
    call: async () => ({ text: 'This is only a check: nothing was done.' }),
  };
  const reached = await reachTools(sandbox, service);
  return {
    server: reached.serverNamed('switchyard'),
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
      // Some agents connect only during a turn, so nothing is known without one.
      return turn === null
        ? { state: 'not tried' }
        : { state: 'failed', reason: 'The agent did not connect to it in this turn.' };
    },
    close: () => reached.close(),
  };
}
