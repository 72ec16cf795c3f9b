import type { AgentUpdate, DraftSink, ToolDiff } from '../agent.ts';
import { brief, maxOutputCharacters, truncate } from './text-limits.ts';
import {
  extended,
  isLong,
  lastCharacters,
  maxRetainedCharacters,
  noOutput,
  outputOf,
  type ToolOutput,
  toLongOutput,
  withoutStart,
} from './tool-output.ts';

/** The maximum number of items in a list, such as contents or locations. */
const maxItems = 200;
/** The maximum length of all diffs of one tool call together. */
const maxDiffCharacters = 320_000;
/** The maximum number of tool calls stored per turn; those that ended are removed first. */
const maxCalls = 1_000;
/** The maximum number of tool calls whose names outlive their turn; the least recently used are removed first. */
const maxNames = 2_000;
/** The minimum interval between progress reports of a running tool call. Its end is always reported. */
export const progressMs = 1_000;

/** The current state of a tool call. */
export type ToolCall = Extract<AgentUpdate, { type: 'toolCall' }>;

/** A `tool_call` or `tool_call_update` of ACP. */
export interface ToolUpdate {
  toolCallId: string;
  title?: string | null;
  /** The tool's programmatic name. */
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
  /** Returns the call's state if it must be reported now; null if it has not changed or is deferred. */
  take(update: ToolUpdate): ToolCall | null;
  /** True if a call has progressed since its last report. */
  hasDeferredProgress(): boolean;
  /** Returns the calls that have progressed since their last report. */
  takeDeferred(): ToolCall[];
  /**
   * Returns running calls with unreported output, or with more than was reported, and drops the turn's calls except for
   * their names.
   */
  endTurn(): ToolCall[];
  isAnyRunning(): boolean;
  /** The time at which the oldest command that has not ended was first reported; null if there is none. */
  commandSince(): number | null;
  /** The title of a call of this turn or an earlier one; null if unknown. */
  titleOf(toolCallId: string): string | null;
}

interface Call {
  call: ToolCall;
  /** Null: it has had no output while it was running. */
  draftId: string | null;
  /** The output of its terminal. */
  printed: ToolOutput;
  /** The output that was reported. */
  shown: ToolOutput;
  /** True if its output is its raw output, which a later one replaces. */
  isRaw: boolean;
  readonly firstAt: number;
  reportedAt: number;
  isDeferred: boolean;
}

/** The data of a call that outlives its turn. The title is null if the agent sent none. */
interface Name extends Pick<ToolCall, 'toolKind' | 'status'> {
  readonly title: string | null;
}

/**
 * Joins notifications about tool calls, each of which may omit what an earlier one contained. Names outlive a turn,
 * because agents report calls after it. Progress is reported once a second: agents resend all output with each new
 * line. `drafts` gets the output of a running call with each notification.
 */
export function createToolCalls(now: () => number, drafts: DraftSink | null): ToolCalls {
  const calls = new Map<string, Call>();
  const names = new Map<string, Name>();

  // The characters that are retained of all outputs.
  let retained = 0;
  const remember = (id: string, call: ToolCall) => {
    names.delete(id);
    names.set(id, { title: titled(call), toolKind: call.toolKind, status: call.status });
    if (names.size > maxNames) names.delete(names.keys().next().value as string);
  };
  const remove = (id: string) => {
    const call = calls.get(id);
    if (call === undefined) return;
    retained -= sizeOf(call);
    calls.delete(id);
  };
  const keep = (id: string, each: Call) => {
    const before = calls.get(id);
    // Its output is reported now: it is not needed any more.
    if (hasEnded(each.call)) {
      each.shown = withoutStart(each.shown);
      each.printed = withoutStart(each.printed);
    }
    retained += sizeOf(each) - (before === undefined ? 0 : sizeOf(before));
    calls.set(id, each);
    if (calls.size > maxCalls) remove(evictionCandidate(calls));
  };
  const takeDeferred = () =>
    [...calls.values()].flatMap((each) => {
      if (!each.isDeferred) return [];
      each.isDeferred = false;
      each.reportedAt = now();
      return [reported(each)];
    });

  return {
    take(update) {
      const id = update.toolCallId;
      const before = calls.get(id);
      const room = maxRetainedCharacters - retained + (before === undefined ? 0 : sizeOf(before));
      const printed = extended(before?.printed ?? noOutput, printedIn(update), room);
      // A notification with a name starts another call, possibly with the id of an earlier one: some agents restart
      // their numbering in each turn.
      const name = update.title ? undefined : names.get(id);
      const { call, isRaw, shown, text } = merge({ before, update, printed, name, room });
      const draftId = before?.draftId ?? (text === '' || hasEnded(call) ? null : (drafts?.newId() ?? null));
      if (draftId !== null && text !== '')
        drafts?.grow({ draftId, kind: 'tool_output', toolCallId: call.toolCallId, text });
      remember(id, call);
      const isSame = before !== undefined && isSameState(before, { call, shown });
      const isProgress = before?.call.status === call.status && !hasEnded(call);
      const isEarly = isProgress && now() - before.reportedAt < progressMs;
      const isDeferred = isSame ? before.isDeferred : isEarly;
      const reportedAt = isSame || isEarly ? before.reportedAt : now();
      const result = isSame || isEarly ? null : reported({ call, draftId, shown });
      const firstAt = before?.firstAt ?? now();
      keep(id, { call, draftId, printed, shown, isRaw, firstAt, reportedAt, isDeferred });
      return result;
    },
    hasDeferredProgress: () => [...calls.values()].some(({ isDeferred }) => isDeferred),
    takeDeferred,
    endTurn() {
      const deferred = takeDeferred();
      const unreported = [...calls.values()].flatMap((each) => {
        const { call, printed } = each;
        if (hasEnded(call)) return [];
        if (call.output !== null || printed.characters === 0) return isLong(each.shown) ? [reported(each, true)] : [];
        return [reported({ ...each, shown: printed, call: { ...call, output: lastCharacters(printed) } }, true)];
      });
      calls.clear();
      retained = 0;
      return [
        ...deferred.filter(({ toolCallId }) => !unreported.some((each) => each.toolCallId === toolCallId)),
        ...unreported,
      ];
    },
    titleOf: (id) => names.get(id)?.title ?? null,
    isAnyRunning: () => [...calls.values()].some(({ call }) => call.status === 'in_progress'),
    commandSince: () =>
      [...calls.values()].find(({ call }) => call.toolKind === 'execute' && !hasEnded(call))?.firstAt ?? null,
  };
}

/** The call's update for the log. `isComplete`: no more output follows. */
function reported(
  { call, draftId, shown }: Pick<Call, 'call' | 'draftId' | 'shown'>,
  isComplete: boolean = hasEnded(call),
): ToolCall {
  return {
    ...call,
    ...(draftId !== null && { draftId }),
    ...(isLong(shown) && { long: toLongOutput(shown, isComplete) }),
  };
}

// The last characters of an output may stay the same while it grows.
function isSameState(before: Call, { call, shown }: Pick<Call, 'call' | 'shown'>): boolean {
  return before.shown.characters === shown.characters && JSON.stringify(before.call) === JSON.stringify(call);
}

function sizeOf({ printed, shown }: Call): number {
  return printed.start.length + (shown === printed ? 0 : shown.start.length);
}

function hasEnded({ status }: Pick<ToolCall, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

function evictionCandidate(calls: ReadonlyMap<string, Call>): string {
  for (const [id, { call }] of calls) if (hasEnded(call)) return id;
  return calls.keys().next().value as string;
}

// Codex sends the output of a command in pieces, outside the protocol; they are kept until the command ends.
function printedIn({ _meta }: ToolUpdate): string {
  const data = _meta?.terminal_output_delta?.data ?? _meta?.terminal_output?.data;
  return typeof data === 'string' ? data : '';
}

/** A notification, with what earlier ones contained. */
interface Merged {
  readonly before: Call | undefined;
  readonly update: ToolUpdate;
  readonly printed: ToolOutput;
  readonly name: Name | undefined;
  /** The number of characters of its output that may be retained. */
  readonly room: number;
}

// `text`: the output for a draft; empty if there is none, or too much.
function merge({ before, update, printed, name, room }: Merged): Pick<Call, 'call' | 'isRaw' | 'shown'> & {
  readonly text: string;
} {
  const earlier = before?.call;
  const content = update.content?.slice(0, maxItems);
  const diffs = content && diffsOf(content);
  const status = statusOf(earlier?.status, name?.status, update);
  const contentText = content?.flatMap((item) => (item.type === 'content' ? [textOf(item.content)] : [])).join('\n');
  const isNews = printed !== (before?.printed ?? noOutput) || (earlier !== undefined && !hasEnded(earlier));
  const hasPrinted = !contentText && hasEnded({ status }) && printed.characters > 0 && isNews;
  // Cline sends the output of its tools only there; other agents repeat it in their content, formatted for people.
  const hasNone = earlier?.output == null && (earlier?.diffs.length ?? 0) === 0;
  const canBeRaw = !contentText && !hasPrinted && !content?.length && (hasNone || before?.isRaw === true);
  const raw = canBeRaw ? rawTextOf(update.rawOutput) : '';
  const replaced = contentText || raw;
  const shown = replaced ? shownAs(before, replaced, room) : hasPrinted ? printed : (before?.shown ?? noOutput);
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
    output: shown === before?.shown || shown === noOutput ? (earlier?.output ?? null) : lastCharacters(shown),
    diffs: diffs && diffs.length > 0 ? diffs : (earlier?.diffs ?? []),
  };
  const isRaw = !contentText && !hasPrinted && (raw !== '' || before?.isRaw === true);
  return { call, isRaw, shown, text: contentText || printed.start || raw };
}

// Agents repeat the output of a call that has ended, which is not retained any more.
function shownAs(before: Call | undefined, text: string, room: number): ToolOutput {
  const shown = outputOf(text, room);
  const isRepeated =
    before !== undefined &&
    hasEnded(before.call) &&
    before.shown.characters === shown.characters &&
    before.call.output === lastCharacters(shown);
  return isRepeated ? before.shown : shown;
}

/** The title of a call that the agent never named. Gemini CLI does this for a call that fails before it starts. */
const untitled = 'Tool call';

function titled(call: Pick<ToolCall, 'title'> | undefined): string | null {
  return call === undefined || call.title === untitled ? null : call.title;
}

// A running call does not become pending again, although opencode's permission request says so.
function statusOf(
  before: ToolCall['status'] | undefined,
  remembered: ToolCall['status'] | undefined,
  { status }: ToolUpdate,
): ToolCall['status'] {
  if (!status) return before ?? remembered ?? 'pending';
  return status === 'pending' ? (before ?? 'pending') : status;
}

function rawTextOf(raw: unknown): string {
  if (raw == null) return '';
  if (typeof raw === 'string') return raw;
  const json = JSON.stringify(raw, null, 2);
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

// Limits a line to GraphQL's Int; a larger number counts as none.
function lineOf(line: number | null | undefined): number | null {
  return line != null && Number.isInteger(line) && line >= 0 && line < 2 ** 31 ? line : null;
}

/** The text of an ACP content block; empty if it has none. */
export function textOf(content: unknown): string {
  const { type, text, uri } = (content ?? {}) as { type?: string; text?: unknown; uri?: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  return type === 'resource_link' && typeof uri === 'string' ? `[${uri}]` : '';
}
