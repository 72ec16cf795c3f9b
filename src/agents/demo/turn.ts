import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Reporting } from './reporting.ts';

/**
 * A question was cancelled, not answered. The turn ends with it, and nothing is said or done for want of an answer: clients
 * that cancel a turn cancel its questions first, and the word of the turn's own end may still be on its way.
 */
export class TurnCancelled extends Error {}

/** One turn of the demo agent. */
export interface DemoTurn {
  readonly prompt: string;
  /** All that the prompt holds, for people: each block below a line that says what it is. */
  readonly blocks: readonly string[];
  readonly workspace: string;
  readonly sessionId: string;
  /** Whether the client shows forms. */
  readonly canAsk: boolean;
  /** Whether the session has no title yet. */
  readonly isUntitled: boolean;
  /** Aborted when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly client: AgentContext;
  /** Null: the session has no MCP server. */
  readonly reporting: Reporting | null;
  /** What is said to the next prompts that hold nothing of the user. */
  readonly later: string[];
  update(update: SessionUpdate): Promise<void>;
}

/** What the demo agent does things with; each reports itself to the client. */
export interface DemoTools {
  /** A message of its own, streamed in chunks. */
  say(turn: DemoTurn, text: string): Promise<void>;
  /** A tool call around some work; gives its output, or what went wrong. */
  tool(turn: DemoTurn, title: string, kind: 'read' | 'edit' | 'execute', work: () => Promise<string>): Promise<string>;
  writeInWorkspace(turn: DemoTurn, path: string, text: string): Promise<void>;
  listWorkspace(workspace: string): Promise<string>;
}
