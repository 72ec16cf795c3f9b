import type { AgentUpdate } from '../../../agents/agent.ts';
import type { SpanStart, StartSpan, TraceSpan } from '../../../common/trace-span.ts';
import type { Context } from '../../context.ts';

/** A turn that begins. */
interface TracedTurn {
  readonly sessionId: string;
  readonly turn: number;
  /** The id of the agent's profile. */
  readonly agent: string;
}

type ToolCall = Extract<AgentUpdate, { type: 'toolCall' }>;

/** The kinds of ACP look like this. An agent may report any text. */
const kindForm = /^[a-z_]{1,30}$/;

/** The maximum number of open tool calls with a span: an agent may begin any number. */
const maxTools = 100;

/**
 * Records the turns of a run as traces, by OpenTelemetry's conventions for generative AI: a span for each turn, and below it one for
 * each tool call and model call. Titles, inputs and outputs are not recorded: they may contain secrets.
 */
export class TurnTrace {
  readonly #context: Pick<Context, 'tracing'>;
  #turn: TraceSpan | null = null;
  readonly #tools = new Map<string, TraceSpan>();

  constructor(context: Pick<Context, 'tracing'>) {
    this.#context = context;
  }

  begin({ sessionId, turn, agent }: TracedTurn): void {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agent,
      'gen_ai.conversation.id': sessionId,
      'switchyard.turn': turn,
    };
    this.#turn = this.#context.tracing.start(`invoke_agent ${agent}`, { attributes });
  }

  /** Starts a span below the turn, for example for a model call. Null: no turn is recorded. */
  readonly start: StartSpan = (name: string, options?: SpanStart) => this.#turn?.start(name, options) ?? null;

  toolCall({ toolCallId, toolKind, status }: ToolCall): void {
    let span = this.#tools.get(toolCallId) ?? null;
    if (span === null && this.#tools.size < maxTools) {
      const name = kindForm.test(toolKind) ? toolKind : 'other';
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
      span = this.start(`execute_tool ${name}`, { attributes });
      if (span !== null) this.#tools.set(toolCallId, span);
    }
    if (status !== 'completed' && status !== 'failed') return;
    span?.end(status === 'failed' ? 'failed' : undefined);
    this.#tools.delete(toolCallId);
  }

  /** Ends the turn, with the tool calls that are open. `stopReason`: null if the turn failed. */
  end(stopReason: string | null): void {
    for (const span of this.#tools.values()) span.end('cancelled');
    this.#tools.clear();
    if (stopReason !== null) this.#turn?.set({ 'gen_ai.response.finish_reasons': stopReason });
    this.#turn?.end(stopReason === null ? 'failed' : undefined);
    this.#turn = null;
  }
}
