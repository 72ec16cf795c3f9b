import type { AgentPaths, PromptBlock } from '../../agents/agent.ts';
import type { Context } from '../context.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import type { InboxMessage } from '../runs/turns.ts';

/** What a turn is made of. */
export interface TurnInput {
  readonly sessionId: string;
  readonly plan: LaunchPlan;
  /** The user's, in order; at least one. */
  readonly messages: readonly InboxMessage[];
  /** Whether the agent's own session is new and knows nothing yet: then it is told all that it works by. */
  readonly isFirst: boolean;
  /** The directories as the agent sees them. */
  readonly paths: AgentPaths;
  /** The names of the reporting tools that the agent has; empty: none. */
  readonly tools: readonly string[];
}

/**
 * What the agent is given for a turn (agents.md 5.4), and the files that it speaks of, which are put in the workspace
 * first. What is not the user's own is a preface; the user's words come last, as they are.
 */
export async function assembleTurn(_context: Context, { messages }: TurnInput): Promise<PromptBlock[]> {
  return messages.map(({ body }) => ({ type: 'text', text: body }));
}
