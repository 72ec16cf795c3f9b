import { transcriptRows as texts } from '../texts/session-transcript.ts';
import { nameOf } from '../ui/actor.ts';
import { localTimes } from '../ui/local-times.ts';
import { type Entry, type EntryOf, isOver } from './entry.ts';
import { HeldMessages } from './held-messages.ts';
import { type InterruptedAttempt, markInterrupted } from './interrupted-rows.ts';
import type { Draft } from './open-drafts.ts';
import { repeatsQuestion } from './question-text.ts';
import { isSameStep, repeatsFailure } from './repository-rows.ts';
import { markReverted } from './reverted-rows.ts';

/** A row of the transcript: one entry, or several entries combined. */
export type Row = RowContent & {
  /** True if a rewind reverted the row. */
  readonly isReverted?: true;
  /** The number of the entry with which the next attempt at the turn started, if the row's attempt was interrupted. */
  readonly interruptedAt?: number;
};

type RowContent =
  | {
      readonly key: string;
      readonly type: 'message';
      /** Null while the agent is writing it. */
      readonly entry: EntryOf<'SessionMessage'> | null;
      /** Null once it is in the log. */
      readonly draft: Draft | null;
    }
  | {
      readonly key: string;
      readonly type: 'tool';
      readonly entry: EntryOf<'ToolCallEvent'>;
      readonly startedAt: string;
      /** The number of its first entry in the log. */
      readonly seq: number;
      /** The output while the tool runs; null before and after. */
      readonly draft: Draft | null;
      /** The decision on a permission without which the call does not run; null: none. */
      readonly decision: 'DENIED' | 'CANCELLED' | null;
    }
  | {
      readonly key: string;
      readonly type: 'thought';
      readonly text: string;
      /** True while the agent is writing it. */
      readonly isOpen: boolean;
      /** The number and the time of its first entry; null for a draft. */
      readonly mark: { readonly seq: number; readonly at: string } | null;
    }
  | {
      readonly key: string;
      readonly type: 'question';
      readonly entry: EntryOf<'QuestionEvent'>;
      /**
       * `passed`: something other than an answer followed, so the question may no longer be open. `replied`: a message
       * followed instead of the choice of an option.
       */
      readonly state: 'last' | 'answered' | 'passed' | 'replied';
    }
  /** The latest step of a repository's clone. */
  | { readonly key: string; readonly type: 'repository'; readonly entry: EntryOf<'RepositoryEvent'> }
  | { readonly key: string; readonly type: 'push'; readonly entry: EntryOf<'PushEvent'> }
  | { readonly key: string; readonly type: 'pullRequest'; readonly entry: EntryOf<'PullRequestEvent'> }
  | {
      readonly key: string;
      readonly type: 'line';
      readonly tone: Tone;
      readonly text: string;
      /** End of the text that the agent wrote to its standard error before it failed. */
      readonly output?: string;
      readonly at: string;
      readonly seq: number;
    };

type MessageRow = Extract<Row, { type: 'message' }> & { readonly entry: EntryOf<'SessionMessage'> };

/** The style of a transcript row. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad';

type Line = { readonly tone: Tone; readonly text: string; readonly output?: string } | null;

const stopped: Readonly<Record<string, string>> = texts.stopped;

const failed: Line = { tone: 'bad', text: texts.failed };
const suspended: Line = { tone: 'warn', text: texts.suspended };

const statusLines: Readonly<Record<string, Line>> = {
  SUSPENDED: suspended,
  RESUMING: { tone: 'plain', text: texts.resuming },
  ERROR: failed,
};

const lines: { readonly [T in Entry['__typename']]?: (entry: EntryOf<T>, before: Status) => Line } = {
  NoticeEvent: ({ body, isWarning, agentOutput }) => ({
    ...{ tone: isWarning ? 'warn' : 'plain', text: localTimes(body) },
    ...(agentOutput && { output: agentOutput }),
  }),
  LimitEvent: ({ body }) => ({ tone: 'warn', text: localTimes(body) }),
  ErrorEvent: ({ body, agentOutput }) => ({
    ...{ tone: 'bad', text: localTimes(body) },
    ...(agentOutput && { output: agentOutput }),
  }),
  PermissionEvent: ({ title, decision, question }) => {
    // Nobody was asked.
    const allowed = question === null ? 'allowedByProfile' : 'allowed';
    const name = decision === 'ALLOWED' ? allowed : decision === 'DENIED' ? 'denied' : 'cancelled';
    return { tone: decision === 'ALLOWED' ? 'good' : 'warn', text: texts[name]({ title }) };
  },
  RewindEvent: ({ body }) => ({ tone: 'warn', text: localTimes(body) }),
  AttachmentEvent: ({ name }) => ({ tone: 'plain', text: texts.file({ name }) }),
  StructuredOutputEvent: () => ({ tone: 'plain', text: texts.outputSet }),
  TurnEvent: ({ phase, stopReason, stoppedBy }) => {
    const name = nameOf(stoppedBy);
    if (phase === 'STOPPED' && name !== null) return { tone: 'warn', text: texts.stoppedBy({ name }) };
    const text = phase === 'STOPPED' && stopReason ? stopped[stopReason] : undefined;
    return text ? { tone: 'warn', text } : null;
  },
  StatusEvent: (entry, before) => {
    if (entry.isArchived !== before.isArchived) {
      return { tone: 'plain', text: entry.isArchived ? texts.archived : texts.unarchived };
    }
    if (entry.status === before.status && entry.endReason === before.endReason) return null;
    if (entry.status === 'EXIT') {
      if (entry.endReason === 'TERMINATED') return { tone: 'warn', text: texts.terminated };
      if (entry.endReason === 'EXPIRED') return { tone: 'warn', text: texts.expired };
      return { tone: 'good', text: texts.finished };
    }
    return statusLines[entry.status] ?? null;
  },
};

interface Status {
  readonly status: string | null;
  readonly endReason: string | null | undefined;
  readonly isArchived: boolean;
}

/**
 * Converts part of a log to rows. The entries of one tool call become one row at its start with its latest state;
 * consecutive thoughts become one row. A row that was a draft keeps its key. Messages that wait for the agent are left out.
 */
export function transcriptRows(entries: readonly Entry[]): readonly Row[] {
  const rows: Row[] = [];
  const tools = new Map<string, number>();
  let question: number | null = null;
  /** The error or the limit that has stopped the session since its last turn began. */
  let cause: string | null = null;
  let status: Status = { status: null, endReason: null, isArchived: false };
  const held = new HeldMessages<MessageRow>(entries);
  const rewinds: EntryOf<'RewindEvent'>[] = [];
  const attempts: InterruptedAttempt[] = [];
  /** The keys of rows that a later one replaces. */
  const replaced = new Set<string>();
  const addedAt: number[] = [];
  let lastSeq = 0;
  let lastOutput: string | null = null;
  for (const entry of entries) {
    const key = entry.id;
    while (addedAt.length < rows.length) addedAt.push(lastSeq);
    lastSeq = entry.seq;
    if (entry.__typename === 'RewindEvent') rewinds.push(entry);
    if (entry.__typename === 'TurnEvent' && entry.interruptedSeq != null) {
      attempts.push({ from: entry.interruptedSeq, to: entry.seq });
      // The agent may use the ids of its calls again.
      tools.clear();
    }
    if (entry.__typename === 'ToolCallEvent') {
      const at = tools.get(entry.toolCallId);
      const before = at === undefined ? undefined : rows[at];
      // Some agents restart their numbering in each turn, or after a denial: a repeated start is another call.
      const isOpen = before?.type === 'tool' && !isOver(before.entry) && before.decision === null;
      const isSame = before?.type === 'tool' && (isOver(entry) || isOpen);
      if (at !== undefined && isSame) rows[at] = { ...before, entry };
      else {
        tools.set(entry.toolCallId, rows.length);
        rows.push({
          key,
          type: 'tool',
          entry,
          startedAt: entry.createdAt,
          seq: entry.seq,
          draft: null,
          decision: null,
        });
      }
      continue;
    }
    if (entry.__typename === 'RepositoryEvent') {
      const at = rows.findLastIndex((row) => row.type === 'repository' && row.entry.repository === entry.repository);
      const before = rows[at];
      if (before?.type === 'repository' && isSameStep(before.entry, entry)) rows[at] = { ...before, entry };
      else rows.push({ key, type: 'repository', entry });
      continue;
    }
    if (entry.__typename === 'PushEvent') {
      rows.push({ key, type: 'push', entry });
      continue;
    }
    if (entry.__typename === 'PullRequestEvent') {
      rows.push({ key, type: 'pullRequest', entry });
      continue;
    }
    if (entry.__typename === 'SessionMessage') {
      if (entry.type !== 'AGENT_MESSAGE') question = close(rows, question, entry);
      else if (isRepeatedQuestion(rows.at(-1), entry.body)) continue;
      // Each error and each limit is also sent as a message, for the same clients.
      else if (cause !== null && repeatsCause(entry.body, cause)) continue;
      const row = { key: entry.draftId ?? key, type: 'message', entry, draft: null } as const;
      if (!held.take(row)) rows.push(row);
      continue;
    }
    if (entry.__typename === 'MessageChangedEvent') {
      changeMessage(held.rows, entry);
      changeMessage(rows, entry);
      rows.push(...held.release(entry));
      continue;
    }
    if (entry.__typename === 'ThoughtEvent') {
      const last = rows.at(-1);
      if (last?.type === 'thought') rows[rows.length - 1] = { ...last, text: `${last.text}\n\n${entry.body}` };
      else {
        const mark = { seq: entry.seq, at: entry.createdAt };
        rows.push({ key: entry.draftId ?? key, type: 'thought', text: entry.body, isOpen: false, mark });
      }
      continue;
    }
    if (entry.__typename === 'QuestionEvent') {
      close(rows, question);
      question = rows.length;
      rows.push({ key, type: 'question', entry, state: 'last' });
      continue;
    }
    if (entry.__typename === 'PermissionEvent') {
      decide(rows, entry, tools.get(entry.toolCallId));
      const answered = findAnswered(rows, entry);
      if (answered !== null) {
        for (const row of answered.rows) replaced.add(row.key);
        rows.push({ key, type: 'line', ...answered.line, at: entry.createdAt, seq: entry.seq });
        continue;
      }
    }
    const toLine = lines[entry.__typename] as ((entry: Entry, before: Status) => Line) | undefined;
    const line = toLine?.(entry, status);
    if (entry.__typename === 'ErrorEvent' || entry.__typename === 'LimitEvent') cause = entry.body;
    else if (entry.__typename === 'TurnEvent' && entry.phase === 'STARTED') cause = null;
    // The cause says that the session failed or was suspended.
    const isRepeated =
      (cause !== null && (line === failed || line === suspended) && isCause(rows.at(-1), cause)) ||
      (entry.__typename === 'ErrorEvent' && repeatsFailure(rows.at(-1), entry));
    if (line && !isRepeated) {
      const { output, ...rest } = line;
      // An agent that fails again writes the same.
      const isNew = output !== undefined && output !== lastOutput;
      lastOutput = output ?? lastOutput;
      rows.push({ key, type: 'line', ...rest, ...(isNew && { output }), at: entry.createdAt, seq: entry.seq });
    }
    if (entry.__typename === 'StatusEvent') status = entry;
    if (closesQuestion(entry)) question = close(rows, question);
    rows.push(...held.release(entry));
  }
  while (addedAt.length < rows.length) addedAt.push(lastSeq);
  rows.push(...held.rest());
  const marked = markInterrupted(rows, addedAt, attempts);
  return markReverted(marked, addedAt, rewinds).filter(({ key }) => !replaced.has(key));
}

/** Applies an edit or the withdrawal of a message to its row. */
function changeMessage(rows: Row[], { message, change, editedBody }: EntryOf<'MessageChangedEvent'>): void {
  const at = rows.findLastIndex((row) => row.type === 'message' && row.entry?.id === message?.id);
  const row = rows[at];
  if (message == null || row?.type !== 'message' || row.entry === null) return;
  const delivery = change === 'WITHDRAWN' ? 'WITHDRAWN' : row.entry.delivery;
  rows[at] = { ...row, entry: { ...row.entry, delivery, editedBody: editedBody ?? row.entry.editedBody } };
}

/** Adds the open drafts to the rows of a log: at its end, and to the tool calls whose output they are. */
export function withDrafts(logRows: readonly Row[], drafts: readonly Draft[]): readonly Row[] {
  if (drafts.length === 0) return logRows;
  const rows = [...logRows];
  for (const draft of drafts) {
    const { draftId: key, kind, toolCallId, text } = draft;
    const last = rows.at(-1);
    if (kind === 'TOOL_OUTPUT') {
      const at = rows.findLastIndex((row) => row.type === 'tool' && row.entry.toolCallId === toolCallId);
      const row = rows[at];
      if (row?.type === 'tool' && !isOver(row.entry)) rows[at] = { ...row, draft };
    } else if (text.trim() === '') continue;
    else if (kind === 'MESSAGE') rows.push({ key, type: 'message', entry: null, draft });
    else if (last?.type === 'thought') {
      rows[rows.length - 1] = { ...last, text: `${last.text}\n\n${text}`, isOpen: true };
    } else rows.push({ key, type: 'thought', text, isOpen: true, mark: null });
  }
  return rows;
}

/** Returns true for the agent's message that repeats the error or the limit that has stopped the session. */
export const repeatsCause = (message: string, cause: string): boolean =>
  cause !== '' && (message === cause || message.startsWith(`The session stopped with an error: ${cause}`));

const isRepeatedQuestion = (row: Row | undefined, body: string) =>
  row?.type === 'question' && repeatsQuestion(row.entry, body);

const isCause = (row: Row | undefined, text: string) =>
  (row?.type === 'line' && row.text === localTimes(text)) ||
  (row?.type === 'repository' && row.entry.repositoryState === 'FAILED');

// A turn that ends normally may have ended with a question.
function closesQuestion(entry: Entry): boolean {
  if (entry.__typename === 'RewindEvent') return true;
  if (entry.__typename === 'TurnEvent') return entry.phase === 'STOPPED' && entry.stopReason !== 'END_TURN';
  return entry.__typename === 'StatusEvent' && (entry.status === 'EXIT' || entry.status === 'ERROR');
}

function close(rows: Row[], question: number | null, by: EntryOf<'SessionMessage'> | null = null): null {
  const row = question === null ? undefined : rows[question];
  if (question === null || row?.type !== 'question') return null;
  const isAnswered = by?.answer?.questionId === row.entry.questionId;
  const isReply = by !== null && row.entry.reason === 'PERMISSION';
  rows[question] = { ...row, state: isAnswered ? 'answered' : isReply ? 'replied' : 'passed' };
  return null;
}

/** Applies a decision to the question that requested it and to the tool call, which no longer waits. */
function decide(rows: Row[], { decision, toolCallId, question }: EntryOf<'PermissionEvent'>, tool: number | undefined) {
  const requester = rows.findLastIndex(
    (row) => row.type === 'question' && row.entry.questionId === question?.questionId,
  );
  const row = rows[requester];
  if (row?.type === 'question' && decision !== 'CANCELLED') rows[requester] = { ...row, state: 'answered' };
  const call = tool === undefined ? undefined : rows[tool];
  if (tool === undefined || call?.type !== 'tool' || call.entry.toolCallId !== toolCallId) return;
  if (decision === 'DENIED' || decision === 'CANCELLED') rows[tool] = { ...call, decision };
}

/** The request and the answer of a permission that a person has given or denied, and the line that replaces them; null: there are none. */
function findAnswered(rows: readonly Row[], { title, decision, question }: EntryOf<'PermissionEvent'>) {
  if (question == null || decision === 'CANCELLED') return null;
  const isRequest = (row: Row) => row.type === 'question' && row.entry.questionId === question.questionId;
  const isAnswer = (row: Row) => row.type === 'message' && row.entry?.answer?.questionId === question.questionId;
  const [request, answer] = [rows.findLast(isRequest), rows.findLast(isAnswer)];
  const name = answer?.type === 'message' ? nameOf(answer.entry?.author) : null;
  if (request === undefined || answer?.type !== 'message' || name === null) return null;
  const isAllowed = decision === 'ALLOWED';
  const text = texts[isAllowed ? 'allowedBy' : 'deniedBy']({ name, title, answer: answer.entry?.body ?? '' });
  return { rows: [request, answer], line: { tone: isAllowed ? 'good' : 'warn', text } as const };
}

/** The agent's latest plan; null if this part of the log has none. */
export function lastPlan(entries: readonly Entry[]): EntryOf<'PlanEvent'>['entries'] | null {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.__typename === 'PlanEvent') return entry.entries;
  }
  return null;
}
