import type { FieldMap } from '@pothos/core';
import { shorten } from '../../../common/plain-text.ts';
import type { LogEntry, MessageEntry } from '../../../domain/sessions/log.ts';
import { optionsOf, type QuestionOption } from '../../../domain/sessions/questions.ts';
import { sessionEnds } from '../../../domain/sessions/status.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { listTypes } from './add-list.ts';
import { readerOf } from './define-enum.ts';
import {
  SessionEndReasonEnum,
  SessionEventKindEnum,
  SessionMessageTypeEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import {
  messageMode,
  permissionDecision,
  planEntryPriority,
  planEntryStatus,
  questionReason,
  sessionRequest,
  toolCallStatus,
  toolKind,
  turnPhase,
  turnStopReason,
} from './event-enums.ts';
import { eventTypeOf } from './event-types.ts';
import { followUpKind } from './follow-up-enums.ts';
import { restIdField } from './organization-ref.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { QuestionOptionType } from './question-options.ts';

/** The length of the preview of a message, in characters. */
const previewLength = 200;

/** An entry of a session's log. */
export const SessionEvent = builder.interfaceRef<LogEntry>('SessionEvent').implement({
  description: 'An entry in the log of a session. Entries never change, and their numbers have no gaps.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (entry) => eventTypeOf(entry),
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: 'Number of the entry within its session, starting at 1.' }),
    kind: t.field({
      type: SessionEventKindEnum,
      description: 'Kind of the entry, for example a message or a tool call.',
      resolve: (entry) => entry.kind,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the entry was written.' }),
  }),
});

/** The field of an entry that may have been a draft. */
export const draftIdField = <T extends LogEntry>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>) =>
  t.string({
    nullable: true,
    description: 'Id of the draft in `sessionLive` that the entry replaces; null if there was none.',
    resolve: (entry) => textOf(dataOf(entry).draftId),
  });

export const SessionMessage = builder.objectRef<MessageEntry>('SessionMessage');
builder.node(SessionMessage, {
  description: 'A message in a session, which is also an entry in the log of the session.',
  interfaces: [SessionEvent],
  id: { resolve: (entry) => entry.id, description: 'Global ID of the message, unique across all types.' },
  fields: (t) => ({
    eventId: restIdField(t, 'message', 'REST id of the message, as REST v1 and v3 return it (`event-…`).'),
    type: t.field({
      type: SessionMessageTypeEnum,
      description:
        'Type of the message: the initial prompt, a later message to the agent, or a message from the agent.',
      resolve: (entry) => entry.messageType,
    }),
    body: t.exposeString('body', { description: 'Full text of the message.' }),
    preview: t.string({
      description:
        'Beginning of `body`, for lists: at most 200 characters. If the text is longer, the last one is an ellipsis.',
      resolve: ({ body }) => shorten(body, previewLength),
    }),
    draftId: draftIdField(t),
    mode: t.field({
      type: messageMode.type,
      nullable: true,
      description:
        'Effect of the message on the turn in which it arrived, as its sender chose it; null if the agent profile decided.',
      resolve: (entry) => messageMode.read(dataOf(entry).mode),
    }),
    author: t.field({
      type: Principal,
      nullable: true,
      description:
        'Principal that wrote the message; null if the agent wrote it (`type` is AGENT_MESSAGE), or if the viewer may not see the principal.',
      resolve: (entry, _args, context) =>
        entry.messageType === 'agent_message' ? null : loadPrincipal(context, entry),
    }),
    followUpKind: t.field({
      type: followUpKind.type,
      nullable: true,
      description: 'Occasion of the follow-up that the message is; null if the message is no follow-up.',
      resolve: (entry) => followUpKind.read(followUpOf(entry).kind),
    }),
  }),
});

const readEnd = readerOf(sessionEnds);

/** The members of an entry that are specific to its kind. */
export const dataOf = (entry: LogEntry): Readonly<Record<string, unknown>> => entry.data ?? {};
/** The follow-up that a message is; empty for any other message. */
const followUpOf = (entry: LogEntry): Readonly<Record<string, unknown>> => {
  const { followUp } = dataOf(entry);
  return typeof followUp === 'object' && followUp !== null ? { ...followUp } : {};
};
/** Reads a stored string; null for any other value. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
/** Reads a stored number; null for any other value. */
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
// GraphQL's Int would raise an error for larger numbers, or for those stored before there were checks.
/** Reads a stored Int; null for any other value. */
export const intOf = (value: unknown): number | null =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31 ? (value as number) : null;
const listOf = <T>(value: unknown) => (Array.isArray(value) ? (value as T[]) : []);

/** Defines a type of entry: the common fields and its own. */
export function eventType(
  name: string,
  description: string,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, LogEntry>) => FieldMap,
) {
  return builder.node(builder.objectRef<LogEntry>(name), {
    description,
    interfaces: [SessionEvent],
    id: { resolve: (entry) => entry.id, description: 'Global ID of the log entry, unique across all types.' },
    fields,
  });
}

eventType('StatusEvent', 'A log entry with the new status of the session.', (t) => ({
  status: t.field({
    type: SessionStatusEnum,
    description: 'Status of the session from this entry on.',
    resolve: (entry) => dataOf(entry).status as never,
  }),
  statusDetail: t.field({
    type: SessionStatusDetailEnum,
    nullable: true,
    description: 'Detail of the new status, for example the reason for a suspension; null if there is none.',
    resolve: (entry) => (dataOf(entry).statusDetail ?? null) as never,
  }),
  request: t.field({
    type: sessionRequest.type,
    nullable: true,
    description: 'Change that was requested for the session and is not complete yet; null if there is none.',
    resolve: (entry) => sessionRequest.read(dataOf(entry).request),
  }),
  endReason: t.field({
    type: SessionEndReasonEnum,
    nullable: true,
    description: 'Reason for which the session ended; null if it has not ended.',
    resolve: (entry) => readEnd(dataOf(entry).endedBy),
  }),
  isArchived: t.boolean({
    description: 'Whether the session is archived.',
    resolve: (entry) => dataOf(entry).isArchived === true,
  }),
}));

eventType(
  'TurnEvent',
  'A log entry for the start or the end of a turn. A turn is a prompt to the agent and all work of the agent on that prompt.',
  (t) => ({
    turn: t.int({
      description: 'Number of the turn, starting at 1.',
      resolve: (entry) => numberOf(dataOf(entry).turn) ?? 0,
    }),
    phase: t.field({
      type: turnPhase.type,
      description: 'Phase of the turn that the entry marks: its start or its end.',
      resolve: (entry) => turnPhase.read(dataOf(entry).phase) ?? 'started',
    }),
    attempt: t.int({
      nullable: true,
      description:
        'Number of the attempt at the messages of the turn, starting at 1. After an interruption, for example a crash, the next attempt is a turn with a number of its own. Null if the entry marks the end of the turn.',
      resolve: (entry) => intOf(dataOf(entry).attempt),
    }),
    interruptedSeq: t.int({
      nullable: true,
      description:
        'Number of the entry with which the previous attempt started, if that attempt was interrupted. What the agent wrote between that entry and this one stays in the log, and the agent may repeat it. Null if no attempt was interrupted.',
      resolve: (entry) => intOf(dataOf(entry).interruptedSeq),
    }),
    stopReason: t.field({
      type: turnStopReason.type,
      nullable: true,
      description: 'Reason for which the turn ended; null if the entry marks the start of the turn.',
      resolve: (entry) => {
        const stored = textOf(dataOf(entry).stopReason);
        return stored === null ? null : (turnStopReason.read(stored) ?? 'other');
      },
    }),
    stoppedBy: t.field({
      type: Principal,
      nullable: true,
      description:
        'Principal that stopped the turn with `interruptSession`; null if nobody did, or if the viewer may not see the principal.',
      resolve: (entry, _args, context) => (dataOf(entry).isStopped === true ? loadPrincipal(context, entry) : null),
    }),
    rawStopReason: t.string({
      nullable: true,
      description:
        'Stop reason as it was reported, for example `end_turn` of the Agent Client Protocol; null if the entry marks the start of the turn.',
      resolve: (entry) => textOf(dataOf(entry).stopReason),
    }),
  }),
);

const PlanEntry = builder.objectRef<{ content: string; status: string; priority: string }>('PlanEntry').implement({
  description: 'A step of the plan of an agent.',
  fields: (t) => ({
    content: t.exposeString('content', { description: 'Description of the work in the step.' }),
    status: t.field({
      type: planEntryStatus.type,
      description: 'Status of the step, as the agent reports it.',
      resolve: ({ status }) => planEntryStatus.read(status) ?? 'other',
    }),
    priority: t.field({
      type: planEntryPriority.type,
      description: 'Priority of the step, as the agent reports it.',
      resolve: ({ priority }) => planEntryPriority.read(priority) ?? 'other',
    }),
  }),
});

eventType(
  'PlanEvent',
  'A log entry with the complete current plan of the agent. It replaces all earlier plans.',
  (t) => ({
    entries: t.field({
      type: [PlanEntry],
      description: 'Steps of the plan, in the order in which the agent lists them.',
      resolve: (entry) => listOf<{ content: string; status: string; priority: string }>(dataOf(entry).entries),
    }),
  }),
);

const ToolLocation = builder.objectRef<{ path: string; line: number | null }>('ToolLocation').implement({
  description: 'A location in a file that a tool call works on.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path of the file, as the agent reports it.' }),
    line: t.exposeInt('line', {
      nullable: true,
      description: 'Line number, starting at 1; null if the agent reports no line.',
    }),
  }),
});

const ToolDiff = builder.objectRef<{ path: string; oldText: string | null; newText: string }>('ToolDiff').implement({
  description: 'A change to a file by a tool call.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path of the file, as the agent reports it.' }),
    oldText: t.exposeString('oldText', {
      nullable: true,
      description: 'Text before the change, cut after at most 16,000 characters; null if the file is new.',
    }),
    newText: t.exposeString('newText', { description: 'Text after the change, cut after at most 16,000 characters.' }),
  }),
});

/** ToolCallEvent; the file on relations of events adds its `outputFile` field. */
export const ToolCallEvent = eventType(
  'ToolCallEvent',
  'A log entry with the state of a tool call. All entries of a call have its `toolCallId`, and the latest entry has the current state.',
  (t) => ({
    toolCallId: t.string({
      description: 'Id of the tool call, which all log entries of the call share.',
      resolve: (entry) => textOf(dataOf(entry).toolCallId) ?? '',
    }),
    title: t.string({
      description: 'Title of the tool call, which says what the tool does.',
      resolve: (entry) => textOf(dataOf(entry).title) ?? '',
    }),
    toolKind: t.field({
      type: toolKind.type,
      description: 'Kind of the tool. OTHER also stands for kinds that the Agent Client Protocol does not define.',
      resolve: (entry) => toolKind.read(dataOf(entry).toolKind) ?? 'other',
    }),
    rawToolKind: t.string({
      description: 'Kind of the tool as the agent names it, for example `execute`.',
      resolve: (entry) => textOf(dataOf(entry).toolKind) ?? 'other',
    }),
    // Not "status": one selection could not have both this and StatusEvent's.
    toolStatus: t.field({
      type: toolCallStatus.type,
      description: 'Status of the tool call at this entry.',
      resolve: (entry) => toolCallStatus.read(dataOf(entry).status) ?? 'pending',
    }),
    isCancelled: t.boolean({
      description: 'Whether the call was still open when its turn was cancelled.',
      resolve: (entry) => dataOf(entry).isCancelled === true,
    }),
    output: t.string({
      nullable: true,
      description:
        'Output of the tool call; null if there is none. Of a longer output the last 16,000 characters, after a line that says so.',
      resolve: (entry) => textOf(dataOf(entry).output),
    }),
    outputBytes: t.float({
      nullable: true,
      description:
        'Size of the whole output in bytes of UTF-8, an integer; null while the tool runs, and if there is no output. If the whole output is not stored, its size before secrets were masked.',
      resolve: (entry) => numberOf(dataOf(entry).outputBytes),
    }),
    draftId: draftIdField(t),
    locations: t.field({
      type: [ToolLocation],
      description: 'Places in files that the tool call works on.',
      resolve: (entry) => listOf<{ path: string; line: number | null }>(dataOf(entry).locations),
    }),
    diffs: t.field({
      type: [ToolDiff],
      description: 'Changes that the tool call made to files.',
      resolve: (entry) => listOf<{ path: string; oldText: string | null; newText: string }>(dataOf(entry).diffs),
    }),
  }),
);

export const QuestionEvent = eventType(
  'QuestionEvent',
  'A question from the agent to the user. The question is open while it is the `pendingQuestion` of the session. Answer it with `answerQuestion`.',
  (t) => ({
    questionId: restIdField(t, 'event', 'Id of the question, for the input of `answerQuestion`.'),
    body: t.string({ description: 'Text of the question to the user.', resolve: (entry) => entry.body ?? '' }),
    reason: t.field({
      type: questionReason.type,
      description: 'Reason for which the agent asks the question.',
      resolve: (entry) => questionReason.read(dataOf(entry).reason) ?? 'question',
    }),
    options: t.field({
      type: [QuestionOptionType],
      description: 'Answers that the agent offers. Maximum 200. Empty if the agent offers none.',
      resolve: (entry) => [...optionsOf(entry)],
    }),
    relatedToolCallId: t.string({
      nullable: true,
      description:
        'Id of the tool call that the question is about; null if the agent named none. After an interruption of the turn, the call that asks again may have another id.',
      resolve: (entry) => textOf(dataOf(entry).toolCallId),
    }),
  }),
);

export const PermissionEvent = eventType(
  'PermissionEvent',
  'A permission that the agent requested, with the decision.',
  (t) => ({
    toolCallId: t.string({
      description: 'Id of the tool call that needed the permission.',
      resolve: (entry) => textOf(dataOf(entry).toolCallId) ?? '',
    }),
    title: t.string({
      description: 'Title of the action that needed the permission.',
      resolve: (entry) => textOf(dataOf(entry).title) ?? '',
    }),
    decision: t.field({
      type: permissionDecision.type,
      description: 'Decision on the requested permission.',
      resolve: (entry) => permissionDecision.read(dataOf(entry).decision) ?? 'cancelled',
    }),
    option: t.field({
      type: QuestionOptionType,
      nullable: true,
      description:
        'Option of the question that was chosen; null if none was chosen, or if the agent profile made the decision.',
      resolve: (entry) => (dataOf(entry).option ?? null) as QuestionOption | null,
    }),
  }),
);

/** The types of lists of SessionMessage. */
export const SessionMessageList = listTypes(SessionMessage, 'SessionMessage', {
  page: 'A page of the messages of a session, oldest first.',
  edge: 'A message in the log of a session, with its cursor.',
});

/** The types of lists of SessionEvent. */
export const SessionEventList = listTypes(SessionEvent, 'SessionEvent', {
  page: 'A page of the log of a session, oldest entry first.',
  edge: 'An entry in the log of a session, with its cursor.',
});
