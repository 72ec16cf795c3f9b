import type { AgentUpdate, McpServer } from '../../../agents/agent.ts';
import { reachTools, type ToolAnswer } from '../../../agents/reporting/serve-tools.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { readReview } from '../../session-reviews/reviews.ts';
import { FencedError } from '../../sessions/log.ts';
import { listSessionNotes } from '../prompts/knowledge.ts';
import { readSessionFacts } from '../prompts/session-facts.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import type { Mask } from '../runs/masking.ts';
import { recordPullRequestsIn } from './pull-requests.ts';
import { type OutputState, settleOutput } from './settle-output.ts';
import { type ToolContext, toolCalls } from './tool-calls.ts';
import { type ToolName, toolList } from './tool-list.ts';

/** The run's functions for its reports. */
export interface ReportHooks {
  /** Masks the session's secrets in everything that is stored. */
  readonly mask: Mask;
  /** True if the agent supports MCP servers. Otherwise it has no tools, and only its text is read. */
  readonly mcp: boolean;
  /** See AgentProfile. */
  readonly askTool: 'ask_user' | 'ask_the_user';
}

/** The agent's reports in this turn on how the turn ends. */
export interface TurnOutcome {
  /** True if it asked the user a question, and waits for the next message. */
  readonly isWaiting: boolean;
  /** The id of the entry of its last question; null: none. */
  readonly questionId: string | null;
  /** True if it reported that its work is done. */
  readonly isFinished: boolean;
}

/** The tools of one run, which its agent can reach. */
export interface ServedReports {
  /** The MCP server for {@link AgentProcess.open}. */
  readonly server: McpServer;
  close(): Promise<void>;
}

/** The reports of one run's agent, besides its actions: its tools, and the text that is searched. */
export interface Reports {
  /** The names of the agent's tools; empty without MCP. */
  readonly tools: readonly string[];
  /** Makes the tools reachable in the sandbox; null without MCP. */
  serve(): Promise<ServedReports | null>;
  /**
   * Inspects a recorded update: pull requests in the output of the agent's tools. Throws FencedError if the run is
   * lost.
   */
  observe(update: AgentUpdate): Promise<void>;
  /** The effect of the turn's end on the session, besides its stop reason. */
  outcome(): TurnOutcome;
  /** Called before each turn that a user's message begins, but not before a {@link Reports.settle} prompt. */
  resetTurn(): void;
  /**
   * Called after a turn that ended with `end_turn` without a question. Handles the structured output that the session's
   * schema requires, and pull requests in the final message. Returns a further prompt for the agent (at most three
   * times per turn; the agent's response is not a message), after which this is called again with the response; null:
   * everything is written. Throws FencedError.
   */
  settle(finalMessage: string | null): Promise<string | null>;
}

type Plan = Pick<LaunchPlan, 'organizationId' | 'totpKeys'> & { readonly sandbox: Sandbox };

/** The server's name for agents; most put it before the tools' names. */
const serverName = 'session';
/** Maximum number of calls in one turn: a model in a loop must not fill the log. */
const maxCalls = 1_000;

/** Creates the reports of a run. */
export async function createReports(
  context: Context,
  run: ClaimedRun,
  plan: Plan,
  { mask, mcp, askTool }: ReportHooks,
): Promise<Reports> {
  const facts = await readSessionFacts(context, run.sessionId);
  const schema = facts.structuredOutputSchema;
  const hasKnowledge = mcp && (await listSessionNotes(context, facts)).length > 0;
  const hasPullRequests = mcp && (await hasForge(context, run.sessionId));
  const isReview = (await readReview(context.store, run.sessionId)) !== null;
  const listed = { schema, totpKeys: plan.totpKeys, hasKnowledge, hasPullRequests, isReview, askTool };
  const tools = mcp ? toolList(listed) : [];
  const output: OutputState = {
    schema,
    isThere: await hasOutput(context, run.sessionId),
    isFromTool: false,
    asks: 0,
    isSchemaInvalid: false,
    lastProblems: [],
  };
  const turn: ToolContext['turn'] = { isWaiting: false, questionId: null, isFinished: false };
  const started = new Map<string, number>();
  let calls = 0;
  const toolContext: ToolContext = {
    context,
    run,
    plan,
    mask,
    output,
    turn,
    started,
  };

  const answer = async (name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> => {
    if (!tools.some((tool) => tool.name === name)) return refusal(`There is no tool ${JSON.stringify(name)}.`);
    if (++calls > maxCalls) return refusal('There were too many calls in this turn. End it.');
    try {
      const result = await toolCalls[name === askTool ? 'ask_user' : (name as ToolName)](toolContext, args);
      return typeof result === 'string' ? { text: result } : result;
    } catch (error) {
      if (error instanceof DomainError) return refusal(error.message);
      if (error instanceof FencedError) return refusal('The session has ended or was taken over. Stop.');
      context.log.error({ err: error, sessionId: run.sessionId, tool: name }, 'A reporting tool failed.');
      return refusal('Something went wrong inside of the service. Nothing was done.');
    }
  };
  // One after another, so that the log has an agent's reports in order.
  let last: Promise<unknown> = Promise.resolve();
  const call: typeof answer = (name, args) => {
    const answered = last.then(() => answer(name, args));
    last = answered;
    return answered;
  };

  return {
    tools: tools.map((tool) => tool.name),
    async serve() {
      if (!mcp) return null;
      const reached = await reachTools(plan.sandbox, { tools, call });
      return { server: reached.serverNamed(serverName), close: () => reached.close() };
    },
    async observe(update) {
      // A pull request that a review finds is not the session's own.
      if (isReview || update.type !== 'toolCall' || update.status !== 'completed' || update.output === null) return;
      await recordPullRequestsIn(context, run, mask(update.output, true));
    },
    outcome: () => ({ ...turn }),
    resetTurn() {
      calls = 0;
      started.clear();
      Object.assign(turn, { isWaiting: false, questionId: null, isFinished: false });
      Object.assign(output, { isFromTool: false, asks: 0, lastProblems: [] });
    },
    async settle(finalMessage) {
      // Calls from before the end of the turn belong to it.
      await last;
      if (finalMessage !== null && !isReview) await recordPullRequestsIn(context, run, finalMessage);
      return settleOutput({ context, run, mask, hasTool: mcp }, output, finalMessage);
    },
  };
}

function refusal(text: string): ToolAnswer {
  return { text, isError: true };
}

async function hasOutput(context: Context, sessionId: string): Promise<boolean> {
  const rows = await context.store.query(
    'select 1 from session s where s.id = $1 and s.structured_output is not null',
    [sessionId],
  );
  return rows.length > 0;
}

// A server with git alone has no pull requests.
async function hasForge(context: Context, sessionId: string): Promise<boolean> {
  const rows = await context.store.query(
    `select 1 from session_repository r join git_connection c on c.id = r.git_connection_id
      where r.session_id = $1 and c.provider_type <> 'git_https' limit 1`,
    [sessionId],
  );
  return rows.length > 0;
}
