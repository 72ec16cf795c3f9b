import type { Context } from '../../context.ts';
import { appendEntries } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import { checkOutput } from '../structured-output/check-output.ts';
import { readOutputs } from '../structured-output/read-output.ts';
import { storeOutput } from './store-output.ts';

/** Maximum number of further prompts for the structured output in a turn (docs/agents.md#what-an-agent-reports). */
const maxAsks = 3;

/** The state of a run's structured output. */
export interface OutputState {
  /** Null: none is required, and any output of the agent is accepted. */
  readonly schema: unknown;
  /** True if the session has a valid one. */
  isThere: boolean;
  /** True if the agent sent one with its tool in this turn. */
  isFromTool: boolean;
  /** Number of further prompts in this turn. */
  asks: number;
  /** True if the schema itself cannot be used: further prompts would be useless. */
  isSchemaInvalid: boolean;
  /** The problems of the last one in this turn, from the tool or from the text. */
  lastProblems: readonly string[];
}

/** The data of the run that {@link settleOutput} needs. */
export interface OutputContext {
  readonly context: Context;
  readonly run: ClaimedRun;
  readonly mask: Mask;
  /** True if the agent has the tool for it. */
  readonly hasTool: boolean;
}

/**
 * Determines, at the end of a turn, the structured output that the schema requires, from the tool or else from the
 * final message. Returns a further prompt for the agent; null: it is stored, or a message states that there is none.
 * Throws FencedError.
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

/** Maximum length of each problem in a prompt. */
const maxProblemCharacters = 300;

/** Shortens problems for a prompt. Masks them first: a part of a secret would not be recognized. */
export function briefProblems(problems: readonly string[], mask: Mask): string[] {
  return problems.map((problem) => mask(problem).slice(0, maxProblemCharacters));
}

function retryPrompt(problems: readonly string[], hasTool: boolean): string {
  const byTool = hasTool ? 'Call the tool set_structured_output with it, or reply' : 'Reply';
  return `Your structured output is missing or does not fit its schema: ${problems.join('; ')}. ${byTool} with only one JSON value in a \`\`\`json block, and do nothing else.`;
}
