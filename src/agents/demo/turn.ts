import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Reporting } from './reporting.ts';

/**
 * A question was cancelled, not answered. The turn ends, and nothing is reported about the missing answer: clients
 * cancel the questions of a turn first, and the cancel of the turn itself may still be on its way.
 */
export class TurnCancelled extends Error {}

/** One turn of the demo agent. */
export interface DemoTurn {
  readonly prompt: string;
  /** The complete prompt in readable form: each block below a line that names its type. */
  readonly blocks: readonly string[];
  readonly workspace: string;
  readonly sessionId: string;
  /** True if the client can show forms. */
  readonly canAsk: boolean;
  /** True if the session has no title yet. */
  readonly isUntitled: boolean;
  /** Aborted when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly client: AgentContext;
  /** Null: the session has no MCP server. */
  readonly reporting: Reporting | null;
  /** The replies to the next prompts that contain nothing from the user. */
  readonly later: string[];
  update(update: SessionUpdate): Promise<void>;
}

/** The demo agent's actions; each reports itself to the client. */
export interface DemoTools {
  /** Streams a separate message in chunks. */
  say(turn: DemoTurn, text: string): Promise<void>;
  /** Reports a tool call around some work; returns its output or the error. */
  tool(turn: DemoTurn, title: string, kind: 'read' | 'edit' | 'execute', work: () => Promise<string>): Promise<string>;
  writeInWorkspace(turn: DemoTurn, path: string, text: string): Promise<void>;
  listWorkspace(workspace: string): Promise<string>;
}
