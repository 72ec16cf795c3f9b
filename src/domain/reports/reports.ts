import type { AgentPaths, AgentUpdate, McpServer } from '../../agents/agent.ts';
import type { Context } from '../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LaunchPlan } from '../runs/launch.ts';

/** What the run gives its reports. */
export interface ReportHooks {
  /** Blots out the session's secrets: on everything that is stored. */
  readonly mask: (text: string) => string;
  /** Whether the agent takes MCP servers. Without, it has no tools, and is read by its text alone. */
  readonly mcp: boolean;
}

/** What the agent has reported in this turn about how it ends. */
export interface TurnOutcome {
  /** It asked the user something, and waits for the next message. */
  readonly isWaiting: boolean;
  /** It said that its work is done. */
  readonly isFinished: boolean;
}

/** The socket of one run. */
export interface ServedReports {
  /** The MCP server for {@link AgentProcess.open}; `paths` as the agent sees them. */
  serverFor(paths: AgentPaths): McpServer;
  close(): Promise<void>;
}

/** What the agent of one run reports, beside what it does: its tools, and what is read from its words. */
export interface Reports {
  /** The names of the tools that the agent has; empty without MCP. */
  readonly tools: readonly string[];
  /** Answers on a socket in the run's directory; null without MCP. */
  serve(): Promise<ServedReports | null>;
  /**
   * Looks at what the agent did, after it was recorded: pull requests in the output of its tools. FencedError when the run
   * is lost.
   */
  observe(update: AgentUpdate): Promise<void>;
  /** What the turn's end makes of the session, beside its stop reason. */
  outcome(): TurnOutcome;
  /** Before each turn that the user's words begin; not before a {@link Reports.settle} prompt. */
  resetTurn(): void;
  /**
   * After a turn that ended with `end_turn` and asks nothing: the structured output that the session's schema wants, and
   * pull requests in the final message. Gives the words to prompt the agent with once more (at most three times a turn; what
   * it says to them is no message), after which this is called again with what it said; null: all is settled and written.
   * FencedError.
   */
  settle(finalMessage: string | null): Promise<string | null>;
}

/** The reports of a run that begins. */
export async function createReports(
  _context: Context,
  _run: ClaimedRun,
  _plan: Pick<LaunchPlan, 'organizationId' | 'workspaceDir' | 'runtimeDir'>,
  _hooks: ReportHooks,
): Promise<Reports> {
  return {
    tools: [],
    serve: () => Promise.resolve(null),
    observe: () => Promise.resolve(),
    outcome: () => ({ isWaiting: false, isFinished: false }),
    resetTurn: () => undefined,
    settle: () => Promise.resolve(null),
  };
}
