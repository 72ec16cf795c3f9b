import type { AgentUpdate, LongOutput, QuestionOption } from '../../../agents/agent.ts';
import type { Store, Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { maxTitleLength } from '../../input.ts';
import { appendEntries, type NewEntry } from '../../sessions/log.ts';
import type { DraftSender } from '../drafts/draft-sender.ts';
import type { OutputFields, OutputRecorder } from '../tool-output/output-recorder.ts';
import type { ClaimedRun } from './claims.ts';
import { type Mask, maskDeep } from './masking.ts';
import { type QuestionEntries, recordQuestion } from './questions.ts';
import { recordTitle } from './turns.ts';

/** A question that an agent waits for: its id for the agent, and the id of its log entry. */
export interface OpenQuestion {
  readonly id: string;
  readonly entryId: string;
}

/** Writes an agent's updates to the log, masked, in order. */
export interface Recorder {
  record(update: AgentUpdate): Promise<void>;
  /** A prompt begins. `isHidden`: the agent's response to it is not a message, only a thought in the log. */
  begin(isHidden: boolean): void;
  /** The question whose answer the agent waits for, if any. */
  openQuestion(): OpenQuestion | null;
  closeQuestion(): void;
  /** The complete last message since {@link Recorder.begin}. */
  lastMessage(): string | null;
}

type Loggable = Exclude<AgentUpdate, { type: 'title' } | { type: 'question' }>;

// The log entry of each update (docs/agents.md#entries-in-the-log).
const entryOf: { [T in Loggable['type']]: (update: Extract<Loggable, { type: T }>) => NewEntry } = {
  message: ({ text, draftId }) => ({ kind: 'MESSAGE', messageType: 'agent_message', body: text, ...dataWith(draftId) }),
  thought: ({ text, draftId }) => ({ kind: 'THOUGHT', body: text, ...dataWith(draftId) }),
  notice: ({ text }) => ({ kind: 'NOTICE', body: text }),
  toolCall: ({ type: _type, ...data }) => ({ kind: 'TOOL_CALL', data }),
  plan: ({ type: _type, ...data }) => ({ kind: 'PLAN', data }),
  usage: ({ type: _type, providerKeyId: _keyId, ...data }) => ({ kind: 'USAGE', data }),
  permission: ({ type: _type, ...data }) => ({ kind: 'PERMISSION', data }),
};

const dataWith = (draftId: string | undefined) => (draftId === undefined ? {} : { data: { draftId } });

type QuestionUpdate = Extract<AgentUpdate, { type: 'question' }>;
type PermissionUpdate = Extract<AgentUpdate, { type: 'permission' }>;

/** Sends the rest of the update's draft; removes the id of one that nobody has watched. An id is not masked. */
function completeDraft(raw: AgentUpdate, { ...update }: AgentUpdate, drafts: DraftSender): AgentUpdate {
  if (!('draftId' in raw && 'draftId' in update) || raw.draftId === undefined) return update;
  const { draftId } = raw;
  const { draftId: _masked, ...rest } = update;
  if (raw.type === 'toolCall') {
    const wasSent = drafts.completeOutput(draftId, raw.status === 'completed' || raw.status === 'failed');
    return (wasSent ? { ...rest, draftId } : rest) as AgentUpdate;
  }
  const { text, wasSent } = drafts.completeBlock(draftId, raw.text, (update as typeof raw).text);
  return { ...rest, text, ...(wasSent && { draftId }) } as AgentUpdate;
}

// The meaning of an answer depends on ids, kinds and decisions: these are never masked.
function maskUpdate(raw: AgentUpdate, mask: Mask): AgentUpdate {
  const update = maskDeep(raw, mask);
  const named = (option: QuestionOption) => ({ ...option, name: mask(option.name) });
  if (raw.type === 'question') {
    const { text, toolCallId } = update as QuestionUpdate;
    return { ...raw, text, toolCallId, options: raw.options.map(named) };
  }
  if (raw.type !== 'permission') return update;
  const { toolCallId, title } = update as PermissionUpdate;
  return { ...raw, toolCallId, title, option: raw.option && named(raw.option) };
}

type ToolCallUpdate = Extract<AgentUpdate, { type: 'toolCall' }>;

/** Separates the long output of a tool call, which is masked and stored apart. */
function withoutLong(whole: AgentUpdate): { readonly raw: AgentUpdate; readonly long: LongOutput | null } {
  if (whole.type !== 'toolCall' || whole.long === undefined) return { raw: whole, long: null };
  const { long, ...raw } = whole;
  return { raw, long };
}

function sizeOf({ status, output }: ToolCallUpdate): OutputFields {
  const hasEnded = status === 'completed' || status === 'failed';
  return hasEnded && output !== null ? { outputBytes: Buffer.byteLength(output) } : {};
}

/** Options of {@link createRecorder}. */
export interface RecorderOptions {
  readonly organizationId: string;
  readonly mask: Mask;
  readonly drafts: DraftSender;
  readonly outputs: OutputRecorder;
  readonly onQuestion: () => void;
}

/**
 * Creates the recorder of one run. `onQuestion` is called once a question is in the log. Throws FencedError if the run
 * is lost.
 */
export function createRecorder(
  context: Context,
  run: ClaimedRun,
  { organizationId, mask, drafts, outputs, onQuestion }: RecorderOptions,
): Recorder {
  let question: OpenQuestion | null = null;
  let lastQuestion: OpenQuestion | null = null;
  let lastMessage: string | null = null;
  let isHidden = false;

  const ask = async ({ questionId, text, options, reason, toolCallId }: QuestionUpdate) => {
    const message = [text, ...options.map(({ id, name }) => `${id}. ${name}`)].join('\n');
    const entries: QuestionEntries = [
      { id: newId(), kind: 'QUESTION', body: text, data: { reason, options, toolCallId } },
      { kind: 'MESSAGE', messageType: 'agent_message', body: message },
    ];
    const statusDetail = reason === 'permission' ? 'waiting_for_approval' : 'waiting_for_user';
    question = { id: questionId, entryId: await recordQuestion(context, run, entries, statusDetail) };
    lastQuestion = question;
    onQuestion();
  };

  const loggedAs = (update: Loggable): Loggable => {
    if (isHidden && update.type === 'message') return { ...update, type: 'thought' };
    if (update.type !== 'permission') return update;
    // The log identifies a question by its entry; a question that was never shown to the user has none.
    return { ...update, questionId: lastQuestion?.id === update.questionId ? (lastQuestion?.entryId ?? null) : null };
  };

  return {
    async record(whole) {
      const { raw, long } = withoutLong(whole);
      const update = completeDraft(raw, maskUpdate(raw, mask), drafts);
      if (update.type === 'title') {
        await recordTitle(context, run, update.title.slice(0, maxTitleLength));
        context.notifier.notify(`session:${run.sessionId}`);
        context.notifier.notify(`organization:${organizationId}`);
        return;
      }
      if (update.type === 'question') return ask(update);
      if (update.type === 'message') lastMessage = (update.isMore ? (lastMessage ?? '') : '') + update.text;
      const logged = loggedAs(update);
      const entry = (entryOf[logged.type] as (update: Loggable) => NewEntry)(logged);
      const append = async (writer: Store | Transaction, fields: OutputFields = {}) => {
        const data = { ...entry.data, ...fields };
        const complete = Object.keys(data).length === 0 ? entry : { ...entry, data };
        const observeAppend = context.metrics.appendDuration.startTimer();
        await appendEntries(writer, run.sessionId, run.generation, [complete], context.now());
        observeAppend();
      };
      if (long !== null) await outputs.record(long, append);
      else await append(context.store, logged.type === 'toolCall' ? sizeOf(logged) : {});
      context.notifier.notify(`session:${run.sessionId}`);
      if (logged.type === 'message') context.notifier.notify(`organization:${organizationId}`);
    },
    begin(hidden) {
      isHidden = hidden;
      drafts.begin(hidden);
      lastMessage = null;
    },
    openQuestion: () => question,
    closeQuestion: () => {
      question = null;
    },
    lastMessage: () => lastMessage,
  };
}
