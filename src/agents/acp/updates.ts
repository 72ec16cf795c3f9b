import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { storable } from '../../common/plain-text.ts';
import type { AgentUpdate, DraftSink } from '../agent.ts';
import { brief, truncate } from './text-limits.ts';
import { createToolCalls, type ToolUpdate, textOf } from './tool-calls.ts';

/** The maximum number of steps of a plan. */
const maxItems = 200;
/** A longer block is split: an agent that never ends one must not fill the memory. */
const maxBlockCharacters = 200_000;

type Usage = Extract<AgentUpdate, { type: 'usage' }>;

/** Converts ACP's stream into complete updates. */
export interface UpdateAssembler {
  /** The updates that this notification completes: none, one, or the block that it ends and itself. */
  take(update: SessionUpdate): AgentUpdate[];
  /**
   * Completes the block because of something outside the stream, and returns the state of tool calls that were reported
   * just before.
   */
  flush(): AgentUpdate[];
  /** Returns true if a tool call has progressed since its last report. */
  hasDeferredProgress(): boolean;
  /** Returns the current state of those tool calls, and the block before them. */
  progress(): AgentUpdate[];
  /**
   * Returns the text of the open block so far, up to the position where `safeLength` allows a cut; the rest follows
   * with `isMore`.
   */
  pause(safeLength: (text: string, draftId: string | null) => number): AgentUpdate[];
  /** Completes the block at the end of the turn. Drops the turn's tool calls except for their names. */
  endTurn(): AgentUpdate[];
  /** Returns true if {@link UpdateAssembler.pause} may have something to return. */
  isBlockOpen(): boolean;
  /** Returns true if a tool call of this turn is in progress. */
  isToolRunning(): boolean;
  /** The time at which the oldest command that has not ended was first reported, by the clock; null if there is none. */
  commandSince(): number | null;
  /** The title of a tool call of this turn or an earlier one; null if unknown. */
  titleOf(toolCallId: string): string | null;
}

/**
 * Joins chunks into blocks. A block ends when the message's id or its kind changes, when a tool call or a plan arrives,
 * or when the turn ends. Tool calls are reported complete, with data of earlier notifications, when they start, change
 * their status or end, and in between once a second: agents resend all output with each new line. Unknown notifications
 * are ignored. No returned text contains characters that cannot be stored or sent: NUL and unpaired surrogates. The text of an open
 * block and the output of a running tool are also reported to `drafts`, with each chunk.
 */
export function createUpdateAssembler(
  now: () => number = () => performance.now(),
  drafts: DraftSink | null = null,
): UpdateAssembler {
  let block: Block | null = null;
  const tools = createToolCalls(now, drafts);
  const newDraftId = () => drafts?.newId() ?? null;
  const reportGrowth = ({ type, draftId, text }: Block) => {
    if (drafts !== null && draftId !== null) drafts.grow({ draftId, kind: type, toolCallId: null, text });
  };

  const endBlock = (): AgentUpdate[] => {
    const done = block;
    block = null;
    return done ? toUpdates(done, done.text) : [];
  };
  const flush = (): AgentUpdate[] => {
    const late = tools.takeDeferred();
    return [...endBlock(), ...late];
  };
  const chunk = (
    type: 'message' | 'thought',
    update: { messageId?: string | null; content: unknown },
  ): AgentUpdate[] => {
    const id = update.messageId ?? null;
    return splitText(textOf(update.content)).flatMap((text) => {
      const isMore = block?.type === type && block.id === id;
      if (block && isMore && block.text.length < maxBlockCharacters) {
        block.text += text;
        reportGrowth(block);
        return [];
      }
      const ended = endBlock();
      block = { type, id, text, isMore, draftId: newDraftId() };
      reportGrowth(block);
      return ended;
    });
  };
  const tool = (update: ToolUpdate): AgentUpdate[] => {
    const next = tools.take(update);
    return next === null ? [] : [...endBlock(), next];
  };

  return {
    flush,
    pause(safeLength) {
      if (!block) return [];
      const text = block.text.slice(0, safeLength(block.text, block.draftId)).replace(/[\uD800-\uDBFF]$/, '');
      const updates = toUpdates(block, text);
      if (updates.length === 0) return [];
      reportGrowth({ ...block, text });
      block = { ...block, text: block.text.slice(text.length), isMore: true, draftId: newDraftId() };
      reportGrowth(block);
      return updates;
    },
    hasDeferredProgress: () => tools.hasDeferredProgress(),
    progress: () => (tools.hasDeferredProgress() ? flush() : []),
    endTurn: () => [...endBlock(), ...tools.endTurn()],
    isBlockOpen: () => block !== null && block.text !== '',
    isToolRunning: () => tools.isAnyRunning(),
    commandSince: () => tools.commandSince(),
    titleOf: (toolCallId) => tools.titleOf(toolCallId),
    take(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          return chunk('message', update as never);
        case 'agent_thought_chunk':
          return chunk('thought', update as never);
        case 'tool_call':
        case 'tool_call_update':
          return tool(update as unknown as ToolUpdate);
        case 'plan':
          return [...endBlock(), planOf(update)];
        case 'session_info_update': {
          const { title } = update as { title?: string | null };
          return typeof title === 'string' && title.trim() !== ''
            ? [{ type: 'title', title: brief(title.trim()) }]
            : [];
        }
        case 'notice': {
          const { title, description } = update as { title: string; description?: string | null };
          return [{ type: 'notice', text: truncate(description ? `${title}\n${description}` : title) }];
        }
        case 'usage_update':
          return [readUsage(update)].filter(hasUsage);
        default:
          return [];
      }
    },
  };
}

interface Block {
  readonly type: 'message' | 'thought';
  readonly id: string | null;
  text: string;
  /** True if the start of the block has already been reported. */
  readonly isMore: boolean;
  readonly draftId: string | null;
}

// Never splits a surrogate pair.
function splitText(text: string): string[] {
  if (text.length <= maxBlockCharacters) return [text];
  const parts: string[] = [];
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + maxBlockCharacters;
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    parts.push(text.slice(from, to));
  }
  return parts;
}

function toUpdates({ type, isMore, draftId }: Block, text: string): AgentUpdate[] {
  if (text.trim() === '') return [];
  return [{ type, text: storable(text), ...(isMore && { isMore }), ...(draftId !== null && { draftId }) }];
}

function planOf(update: SessionUpdate): AgentUpdate {
  const { entries } = update as unknown as { entries: { content: string; status: string; priority: string }[] };
  return {
    type: 'plan',
    entries: entries.slice(0, maxItems).map(({ content, status, priority }) => ({
      content: brief(content),
      status: brief(status),
      priority: brief(priority),
    })),
  };
}

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/**
 * Reads usage from `usage_update`, or from `usage` and `_meta.quota.token_count` of the answer to a prompt
 * (docs/agents.md#differences-in-acp). The types of the SDK lack the last two, but it passes them on.
 */
export function readUsage(raw: unknown): Usage {
  const { used, size, cost, usage, _meta } = raw as Record<string, Record<string, unknown> | undefined>;
  const quota = (_meta?.quota as Record<string, unknown> | undefined)?.token_count as
    | Record<string, unknown>
    | undefined;
  const tokens = usage ?? quota ?? {};
  return {
    type: 'usage',
    source: usage ? 'response' : quota ? 'quota' : 'update',
    llmCalls: null,
    inputTokens: number(tokens.inputTokens ?? tokens.input_tokens),
    outputTokens: number(tokens.outputTokens ?? tokens.output_tokens),
    cachedTokens: number(tokens.cachedReadTokens ?? tokens.cachedInputTokens ?? tokens.cached_tokens),
    totalTokens: number(tokens.totalTokens ?? tokens.total_tokens),
    costUsd: cost?.currency === undefined || cost.currency === 'USD' ? number(cost?.amount) : null,
    contextUsed: number(used),
    contextSize: number(size),
  };
}

/** Returns true if an agent reported tokens or cost. */
export function hasUsage(usage: Usage): boolean {
  const { type: _type, source: _source, ...amounts } = usage;
  return Object.values(amounts).some((amount) => amount !== null);
}

/** Marks the failure of a tool call after its turn was stopped. */
export function asCancelled(update: AgentUpdate): AgentUpdate {
  return update.type === 'toolCall' && update.status === 'failed' ? { ...update, isCancelled: true } : update;
}
