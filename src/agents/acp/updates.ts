import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AgentUpdate, ToolDiff } from '../agent.ts';

/** The most that is kept of a tool's output, and of each side of a diff. */
const mostOutputCharacters = 16_000;
/** The most that is kept of a title, a path or a step of a plan, and of how many of them. */
const mostNameCharacters = 2_000;
const mostItems = 200;
/** A longer block is cut into several: an agent that never ends one must not fill the memory. */
const mostBlockCharacters = 200_000;
/** The most that is kept of all diffs of one tool call together. */
const mostDiffCharacters = 320_000;
/** The most tool calls of a turn that are remembered: those that ended are forgotten first. */
const mostTools = 1_000;
/** How a tool call that runs goes on is told so often, and always when it ends. */
export const progressMs = 1_000;

type ToolCall = Extract<AgentUpdate, { type: 'toolCall' }>;
type Usage = Extract<AgentUpdate, { type: 'usage' }>;

/** Turns ACP's stream into whole updates. */
export interface UpdateJoiner {
  /** What this notification completes: none, one, or a block that it ends and itself. */
  take(update: SessionUpdate): AgentUpdate[];
  /** The block that something outside the stream completes, and how tool calls stand that were told of just before. */
  flush(): AgentUpdate[];
  /** Whether a tool call has gone on since it was given. */
  isProgressHeld(): boolean;
  /** How those tool calls stand now, and the block before them. */
  progress(): AgentUpdate[];
  /** What the open block has so far, up to where `safeLength` says that it may be cut; the rest follows as `isMore`. */
  pause(safeLength: (text: string) => number): AgentUpdate[];
  /** The block that the end of the turn completes. Forgets the turn's tool calls. */
  endTurn(): AgentUpdate[];
  /** Whether there is something that {@link UpdateJoiner.pause} may give. */
  isBlockOpen(): boolean;
  /** Whether a tool call of this turn is in progress. */
  isToolRunning(): boolean;
}

/**
 * Joins chunks into blocks: a block ends when the message's id or its kind changes, a tool call or a plan comes, or the
 * turn ends. Tool calls are given whole, with what earlier notifications said, when they begin, change their status or end,
 * and between that once a second: agents send all output again with each line of it. What it does not know it skips.
 * No text that it gives holds what cannot be stored or sent: NUL, and halves of surrogate pairs.
 */
export function createUpdateJoiner(now: () => number = () => performance.now()): UpdateJoiner {
  let block: Block | null = null;
  const tools = new Map<string, ToolCall>();
  const terminals = new Map<string, string>();
  const givenAt = new Map<string, number>();
  const held = new Set<string>();

  const endBlock = (): AgentUpdate[] => {
    const done = block;
    block = null;
    return done ? given(done, done.text) : [];
  };
  const flush = (): AgentUpdate[] => {
    const late = [...held].flatMap((id) => tools.get(id) ?? []);
    for (const id of held) givenAt.set(id, now());
    held.clear();
    return [...endBlock(), ...late];
  };
  const chunk = (
    type: 'message' | 'thought',
    update: { messageId?: string | null; content: unknown },
  ): AgentUpdate[] => {
    const id = update.messageId ?? null;
    return piecesOf(textOf(update.content)).flatMap((text) => {
      const isMore = block?.type === type && block.id === id;
      if (block && isMore && block.text.length < mostBlockCharacters) {
        block.text += text;
        return [];
      }
      const ended = endBlock();
      block = { type, id, text, isMore };
      return ended;
    });
  };
  const forget = (id: string) => {
    for (const kept of [tools, terminals, givenAt, held]) kept.delete(id);
  };
  const tool = (update: ToolUpdate): AgentUpdate[] => {
    const before = tools.get(update.toolCallId);
    const printed = `${terminals.get(update.toolCallId) ?? ''}${printedIn(update)}`.slice(0, mostBlockCharacters);
    terminals.set(update.toolCallId, printed);
    const next = mergeTool(before, update, printed);
    if (before && JSON.stringify(before) === JSON.stringify(next)) return [];
    tools.set(update.toolCallId, next);
    if (tools.size > mostTools) forget(leastNeeded(tools));
    const isProgress = before?.status === next.status && !hasEnded(next);
    if (isProgress && now() - (givenAt.get(update.toolCallId) ?? 0) < progressMs) {
      held.add(update.toolCallId);
      return [];
    }
    held.delete(update.toolCallId);
    givenAt.set(update.toolCallId, now());
    return [...endBlock(), next];
  };

  return {
    flush,
    pause(safeLength) {
      if (!block) return [];
      const text = block.text.slice(0, safeLength(block.text)).replace(/[\uD800-\uDBFF]$/, '');
      const updates = given(block, text);
      if (updates.length > 0) block = { ...block, text: block.text.slice(text.length), isMore: true };
      return updates;
    },
    isProgressHeld: () => held.size > 0,
    progress: () => (held.size > 0 ? flush() : []),
    endTurn() {
      const last = flush();
      for (const kept of [tools, terminals, givenAt]) kept.clear();
      return last;
    },
    isBlockOpen: () => block !== null && block.text !== '',
    isToolRunning: () => [...tools.values()].some((tool) => tool.status === 'in_progress'),
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
  /** What came before of it was given already. */
  readonly isMore: boolean;
}

// Not between the halves of a surrogate pair.
function piecesOf(text: string): string[] {
  if (text.length <= mostBlockCharacters) return [text];
  const pieces: string[] = [];
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + mostBlockCharacters;
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    pieces.push(text.slice(from, to));
  }
  return pieces;
}

function hasEnded({ status }: ToolCall): boolean {
  return status === 'completed' || status === 'failed';
}

function leastNeeded(tools: ReadonlyMap<string, ToolCall>): string {
  for (const [id, tool] of tools) if (hasEnded(tool)) return id;
  return tools.keys().next().value as string;
}

function given({ type, isMore }: Block, text: string): AgentUpdate[] {
  if (text.trim() === '') return [];
  return [isMore ? { type, text: storable(text), isMore } : { type, text: storable(text) }];
}

interface ToolContent {
  type: string;
  content?: unknown;
  path?: string;
  oldText?: string | null;
  newText?: string;
}

interface ToolUpdate {
  toolCallId: string;
  title?: string | null;
  kind?: string | null;
  status?: ToolCall['status'] | null;
  content?: readonly ToolContent[] | null;
  locations?: readonly { path: string; line?: number | null }[] | null;
  _meta?: Record<string, { data?: unknown } | undefined> | null;
}

// Codex tells bit by bit what a command prints, beside the protocol: it is kept until the command's end.
function printedIn({ _meta }: ToolUpdate): string {
  const data = _meta?.terminal_output_delta?.data ?? _meta?.terminal_output?.data;
  return typeof data === 'string' ? data : '';
}

function mergeTool(before: ToolCall | undefined, update: ToolUpdate, printed: string): ToolCall {
  const content = update.content?.slice(0, mostItems);
  let left = mostDiffCharacters;
  const diffs = content?.flatMap((item) => {
    if (item.type !== 'diff') return [];
    const diff = diffOf(item, Math.floor(Math.max(left, 0) / 2));
    left -= (diff.oldText?.length ?? 0) + diff.newText.length;
    return [diff];
  });
  const said = content?.flatMap((item) => (item.type === 'content' ? [textOf(item.content)] : [])).join('\n');
  const status = statusOf(before, update);
  const output = said || (status === 'completed' || status === 'failed' ? printed : '');
  return {
    type: 'toolCall',
    toolCallId: brief(update.toolCallId),
    title: brief(update.title ?? before?.title ?? update.toolCallId),
    toolKind: brief(update.kind ?? before?.toolKind ?? 'other'),
    status,
    locations:
      update.locations?.slice(0, mostItems).map(({ path, line }) => ({ path: brief(path), line: lineOf(line) })) ??
      before?.locations ??
      [],
    output: output ? truncate(output) : (before?.output ?? null),
    diffs: diffs && diffs.length > 0 ? diffs : (before?.diffs ?? []),
  };
}

// A call that runs is not pending again, although opencode's question for a permission says so of it.
function statusOf(before: ToolCall | undefined, { status }: ToolUpdate): ToolCall['status'] {
  return status === 'pending' || !status ? (before?.status ?? 'pending') : status;
}

function diffOf({ path, oldText, newText }: ToolContent, left: number): ToolDiff {
  const most = Math.min(mostOutputCharacters, left);
  const old = oldText == null ? null : truncate(oldText, most);
  return { path: brief(path ?? ''), oldText: old, newText: truncate(newText ?? '', most) };
}

/** Text of an agent that is not a message, no longer than it is of use. */
export function truncate(text: string, most: number = mostOutputCharacters): string {
  if (text.length <= most) return storable(text);
  return storable(`${text.slice(0, most)}\n… (${text.length - most} more characters are not kept)`);
}

/** A name of something. */
export function brief(text: string): string {
  return storable(text.length <= mostNameCharacters ? text : `${text.slice(0, mostNameCharacters - 1)}…`);
}

// What GraphQL's Int can say; a line beyond that is none.
function lineOf(line: number | null | undefined): number | null {
  return line != null && Number.isInteger(line) && line >= 0 && line < 2 ** 31 ? line : null;
}

/** Text without NUL and halves of surrogate pairs, which neither PostgreSQL nor UTF-8 can hold. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

function planOf(update: SessionUpdate): AgentUpdate {
  const { entries } = update as unknown as { entries: { content: string; status: string; priority: string }[] };
  return {
    type: 'plan',
    entries: entries.slice(0, mostItems).map(({ content, status, priority }) => ({
      content: brief(content),
      status: brief(status),
      priority: brief(priority),
    })),
  };
}

function textOf(content: unknown): string {
  const { type, text, uri } = (content ?? {}) as { type?: string; text?: unknown; uri?: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  return type === 'resource_link' && typeof uri === 'string' ? `[${uri}]` : '';
}

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/**
 * Usage from wherever agents put it: `usage_update`, `PromptResponse.usage`, `_meta.quota.token_count` (agents.md 5.7).
 * The last two are not in the stable types, but come through.
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

/** Whether an agent said anything about tokens or cost. */
export function hasUsage(usage: Usage): boolean {
  const { type: _type, source: _source, ...amounts } = usage;
  return Object.values(amounts).some((amount) => amount !== null);
}
