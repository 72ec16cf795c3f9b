import type { AgentUpdate, ToolDiff } from '../agent.ts';
import { brief, maxOutputCharacters, truncate } from './text-limits.ts';

/** The most items that are kept of a list: contents, places. */
const maxItems = 200;
/** The most that is kept of all diffs of one tool call together. */
const maxDiffCharacters = 320_000;
/** The most that is kept of what a terminal prints. */
const maxPrintedCharacters = 200_000;
/** The most tool calls of a turn that are remembered: those that ended are forgotten first. */
const maxCalls = 1_000;
/** The most tool calls whose names are remembered beyond their turn: the longest unused are forgotten first. */
const maxNames = 2_000;
/** How a tool call that runs goes on is told so often, and always when it ends. */
export const progressMs = 1_000;

/** A tool call as it stands. */
export type ToolCall = Extract<AgentUpdate, { type: 'toolCall' }>;

/** A `tool_call` or `tool_call_update` of ACP. */
export interface ToolUpdate {
  toolCallId: string;
  title?: string | null;
  /** The tool's name for programs. */
  name?: string | null;
  kind?: string | null;
  status?: ToolCall['status'] | null;
  content?: readonly ToolContent[] | null;
  locations?: readonly { path: string; line?: number | null }[] | null;
  rawOutput?: unknown;
  _meta?: Record<string, { data?: unknown } | undefined> | null;
}

interface ToolContent {
  type: string;
  content?: unknown;
  path?: string;
  oldText?: string | null;
  newText?: string;
}

/** The tool calls of an agent's session, joined from its notifications. */
export interface ToolCalls {
  /** Gives the call as it stands if it is to be told now; null: it has not changed, or is held back. */
  take(update: ToolUpdate): ToolCall | null;
  /** True if a call has gone on since it was given. */
  hasDeferredProgress(): boolean;
  /** Gives the calls that have gone on since they were given. */
  takeDeferred(): ToolCall[];
  /** Gives what calls that still run have printed and not told, and forgets the turn's calls except for their names. */
  endTurn(): ToolCall[];
  isAnyRunning(): boolean;
  /** The title of a call of this turn or an earlier one; null: it is not known. */
  titleOf(toolCallId: string): string | null;
}

interface Call {
  call: ToolCall;
  /** The output of its terminal. */
  printed: string;
  /** True if its output is its raw output, which a later one replaces. */
  isRaw: boolean;
  reportedAt: number;
  isDeferred: boolean;
}

/** The facts that are kept of a call after its turn. The title is null if the agent sent none. */
interface Name extends Pick<ToolCall, 'toolKind' | 'status'> {
  readonly title: string | null;
}

/**
 * Joins notifications about tool calls, each of which may leave out what an earlier one said. Names outlive a turn, since agents
 * tell of calls after it. Progress is given once a second: agents send all output again with each line of it.
 */
export function createToolCalls(now: () => number): ToolCalls {
  const calls = new Map<string, Call>();
  const names = new Map<string, Name>();

  const remember = (id: string, call: ToolCall) => {
    names.delete(id);
    names.set(id, { title: titled(call), toolKind: call.toolKind, status: call.status });
    if (names.size > maxNames) names.delete(names.keys().next().value as string);
  };
  const takeDeferred = () =>
    [...calls.values()].flatMap((each) => {
      if (!each.isDeferred) return [];
      each.isDeferred = false;
      each.reportedAt = now();
      return [each.call];
    });

  return {
    take(update) {
      const id = update.toolCallId;
      const before = calls.get(id);
      const printed = `${before?.printed ?? ''}${printedIn(update)}`.slice(0, maxPrintedCharacters);
      // One that is named is another call, maybe with the id of an earlier one: some agents count again in each turn.
      const name = update.title ? undefined : names.get(id);
      const { call, isRaw } = merge(before, update, printed, name);
      remember(id, call);
      const isSame = before !== undefined && JSON.stringify(before.call) === JSON.stringify(call);
      const isProgress = before?.call.status === call.status && !hasEnded(call);
      const isEarly = isProgress && now() - before.reportedAt < progressMs;
      const isDeferred = isSame ? before.isDeferred : isEarly;
      const reportedAt = isSame || isEarly ? before.reportedAt : now();
      calls.set(id, { call, printed, isRaw, reportedAt, isDeferred });
      if (calls.size > maxCalls) calls.delete(evictionCandidate(calls));
      return isSame || isEarly ? null : call;
    },
    hasDeferredProgress: () => [...calls.values()].some(({ isDeferred }) => isDeferred),
    takeDeferred,
    endTurn() {
      const deferred = takeDeferred();
      const unreported = [...calls.values()].flatMap(({ call, printed }) =>
        hasEnded(call) || call.output !== null || printed === '' ? [] : [{ ...call, output: truncate(printed) }],
      );
      calls.clear();
      return [
        ...deferred.filter(({ toolCallId }) => !unreported.some((each) => each.toolCallId === toolCallId)),
        ...unreported,
      ];
    },
    titleOf: (id) => names.get(id)?.title ?? null,
    isAnyRunning: () => [...calls.values()].some(({ call }) => call.status === 'in_progress'),
  };
}

function hasEnded({ status }: ToolCall): boolean {
  return status === 'completed' || status === 'failed';
}

function evictionCandidate(calls: ReadonlyMap<string, Call>): string {
  for (const [id, { call }] of calls) if (hasEnded(call)) return id;
  return calls.keys().next().value as string;
}

// Codex tells bit by bit what a command prints, beside the protocol: it is kept until the command's end.
function printedIn({ _meta }: ToolUpdate): string {
  const data = _meta?.terminal_output_delta?.data ?? _meta?.terminal_output?.data;
  return typeof data === 'string' ? data : '';
}

function merge(
  before: Call | undefined,
  update: ToolUpdate,
  printed: string,
  name: Name | undefined,
): Pick<Call, 'call' | 'isRaw'> {
  const earlier = before?.call;
  const content = update.content?.slice(0, maxItems);
  const diffs = content && diffsOf(content);
  const status = statusOf(earlier?.status, name?.status, update);
  const contentText = content?.flatMap((item) => (item.type === 'content' ? [textOf(item.content)] : [])).join('\n');
  const text = contentText || (status === 'completed' || status === 'failed' ? printed : '');
  // Cline tells what its tools gave there alone; others tell the same in their content, written for people.
  const hasNone = earlier?.output == null && (earlier?.diffs.length ?? 0) === 0;
  const canBeRaw = text === '' && !content?.length && (hasNone || before?.isRaw === true);
  const raw = canBeRaw ? rawTextOf(update.rawOutput) : '';
  const call: ToolCall = {
    type: 'toolCall',
    toolCallId: brief(update.toolCallId),
    title: brief(update.title || titled(earlier) || name?.title || update.name || untitled),
    toolKind: brief(update.kind ?? earlier?.toolKind ?? name?.toolKind ?? 'other'),
    status,
    locations:
      update.locations?.slice(0, maxItems).map(({ path, line }) => ({ path: brief(path), line: lineOf(line) })) ??
      earlier?.locations ??
      [],
    output: text || raw ? truncate(text || raw) : (earlier?.output ?? null),
    diffs: diffs && diffs.length > 0 ? diffs : (earlier?.diffs ?? []),
  };
  return { call, isRaw: text === '' && (raw !== '' || before?.isRaw === true) };
}

/** The title of a call that the agent never named, as Gemini CLI does for one that fails before it begins. */
const untitled = 'Tool call';

function titled(call: Pick<ToolCall, 'title'> | undefined): string | null {
  return call === undefined || call.title === untitled ? null : call.title;
}

// A call that runs is not pending again, although opencode's question for a permission says so of it.
function statusOf(
  before: ToolCall['status'] | undefined,
  remembered: ToolCall['status'] | undefined,
  { status }: ToolUpdate,
): ToolCall['status'] {
  if (!status) return before ?? remembered ?? 'pending';
  return status === 'pending' ? (before ?? 'pending') : status;
}

// Strings are cut before they are written as JSON, which would copy all of them.
function rawTextOf(raw: unknown): string {
  if (raw == null) return '';
  if (typeof raw === 'string') return raw;
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, maxOutputCharacters) : value);
  const json = JSON.stringify(raw, cut, 2);
  return json === '{}' || json === '[]' ? '' : json;
}

function diffsOf(content: readonly ToolContent[]): ToolDiff[] {
  let left = maxDiffCharacters;
  return content.flatMap((item) => {
    if (item.type !== 'diff') return [];
    const diff = diffOf(item, Math.floor(Math.max(left, 0) / 2));
    left -= (diff.oldText?.length ?? 0) + diff.newText.length;
    return [diff];
  });
}

function diffOf({ path, oldText, newText }: ToolContent, left: number): ToolDiff {
  const max = Math.min(maxOutputCharacters, left);
  const old = oldText == null ? null : truncate(oldText, max);
  return { path: brief(path ?? ''), oldText: old, newText: truncate(newText ?? '', max) };
}

// What GraphQL's Int can say; a line beyond that is none.
function lineOf(line: number | null | undefined): number | null {
  return line != null && Number.isInteger(line) && line >= 0 && line < 2 ** 31 ? line : null;
}

/** The text of a content block of ACP; empty for what has none. */
export function textOf(content: unknown): string {
  const { type, text, uri } = (content ?? {}) as { type?: string; text?: unknown; uri?: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  return type === 'resource_link' && typeof uri === 'string' ? `[${uri}]` : '';
}
