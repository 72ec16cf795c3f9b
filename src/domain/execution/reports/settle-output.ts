import type { Context } from '../../context.ts';
import { appendEntries } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import { checkOutput } from '../structured-output/check-output.ts';
import { readOutputs } from '../structured-output/read-output.ts';
import { storeOutput } from './store-output.ts';

/** The most times that an agent is asked again in a turn (docs/agents.md#what-an-agent-reports). */
const maxAsks = 3;

/** What is known of a run's structured output. */
export interface OutputState {
  /** Null: none is wanted, whatever the agent gives is taken. */
  readonly schema: unknown;
  /** The session has one that fits. */
  isThere: boolean;
  /** The agent gave one with its tool in this turn. */
  isFromTool: boolean;
  /** Asked again in this turn. */
  asks: number;
  /** The schema itself cannot be used: to ask again would be in vain. */
  isSchemaInvalid: boolean;
  /** What was wrong with the last one that was given in this turn, by the tool or in words. */
  lastProblems: readonly string[];
}

/** What {@link settleOutput} needs of the run. */
export interface OutputContext {
  readonly context: Context;
  readonly run: ClaimedRun;
  readonly mask: Mask;
  /** Whether the agent has the tool for it. */
  readonly hasTool: boolean;
}

/**
 * At the end of a turn: the structured output that the schema wants, from the tool, else from the final message. Gives the
 * words that the agent is to be asked with once more; null: it is there, or there will be none, which a message then says.
 * FencedError.
 */
export async function settleOutput(
  { context, run, mask, hasTool }: OutputContext,
  state: OutputState,
  finalMessage: string | null,
): Promise<string | null> {
  if (state.schema === null || state.isFromTool) return null;
  let problems: readonly string[] = ['there is none'];
  for (const output of readOutputs(finalMessage ?? '')) {
    const validation = await checkOutput(state.schema, output);
    if (validation.problems.length === 0) {
      await storeOutput(context, run, output, mask);
      state.isThere = true;
      return null;
    }
    problems = briefProblems(validation.problems, mask);
    state.lastProblems = problems;
    state.isSchemaInvalid ||= validation.isSchemaInvalid;
  }
  if (state.isThere) return null;
  if (!state.isSchemaInvalid && state.asks < maxAsks) {
    state.asks++;
    return retryPrompt(problems, hasTool);
  }
  const finalProblems = state.lastProblems.length > 0 ? state.lastProblems : problems;
  const body = `The agent gave no structured output that fits its schema: ${finalProblems.join('; ')}.`;
  const entry = { kind: 'MESSAGE', messageType: 'agent_message', body: mask(body) } as const;
  await appendEntries(context.store, run.sessionId, run.generation, [entry], context.now());
  context.notifier.notify(`session:${run.sessionId}`);
  return null;
}

/** The most of each problem that is told. */
const maxProblemCharacters = 300;

/** Problems to be told. Blotted out before they are cut: half a secret would not be known for one. */
export function briefProblems(problems: readonly string[], mask: Mask): string[] {
  return problems.map((problem) => mask(problem).slice(0, maxProblemCharacters));
}

function retryPrompt(problems: readonly string[], hasTool: boolean): string {
  const byTool = hasTool ? 'Call the tool set_structured_output with it, or reply' : 'Reply';
  return `Your structured output is missing or does not fit its schema: ${problems.join('; ')}. ${byTool} with only one JSON value in a \`\`\`json block, and do nothing else.`;
}
