import type { FieldMap } from '@pothos/core';
import { prefixedId } from '../../domain/ids.ts';
import type { LogEntry, MessageEntry } from '../../domain/sessions/log.ts';
import { optionsOf, type QuestionOption } from '../../domain/sessions/questions.ts';
import { sessionEnds } from '../../domain/sessions/status.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import {
  SessionEndReasonEnum,
  SessionEventKindEnum,
  SessionMessageTypeEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import {
  permissionDecision,
  planEntryPriority,
  planEntryStatus,
  questionReason,
  readerOf,
  sessionRequest,
  toolCallStatus,
  toolKind,
  turnPhase,
  turnStopReason,
  usageSource,
} from './event-enums.ts';
import { eventTypeOf } from './event-types.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { QuestionOptionType } from './question-options.ts';

/** SessionEvent of the contract: an entry of a session's log. */
export const SessionEvent = builder.interfaceRef<LogEntry>('SessionEvent').implement({
  description: 'An entry of a session’s log. Entries are never changed; their numbers have no gaps.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (entry) => eventTypeOf(entry),
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: 'Its number within the session, from 1.' }),
    kind: t.field({ type: SessionEventKindEnum, description: 'What it is about.', resolve: (entry) => entry.kind }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written.' }),
  }),
});

/** SessionMessage of the contract. */
export const SessionMessage = builder.objectRef<MessageEntry>('SessionMessage');
builder.node(SessionMessage, {
  description: 'A message of a session: the log entry of a message type.',
  interfaces: [SessionEvent],
  id: { resolve: (entry) => entry.id, description: 'The global ID.' },
  fields: (t) => ({
    eventId: t.string({
      description: 'The id that v1 and v3 show too.',
      resolve: (entry) => prefixedId('message', entry.id),
    }),
    type: t.field({ type: SessionMessageTypeEnum, description: 'Who said it.', resolve: (entry) => entry.messageType }),
    body: t.exposeString('body', { description: 'The words.' }),
    author: t.field({
      type: Principal,
      nullable: true,
      description:
        'The principal that wrote it; null: the agent wrote it (`type` is AGENT_MESSAGE), or the viewer may not see the principal.',
      resolve: (entry, _args, context) =>
        entry.messageType === 'agent_message' ? null : loadPrincipal(context, entry),
    }),
  }),
});

const readEnd = readerOf(sessionEnds);

/** The members of an entry that its kind has. */
export const dataOf = (entry: LogEntry): Readonly<Record<string, unknown>> => entry.data ?? {};
/** The text that a stored value is, else null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
/** The number that a stored value is, else null. */
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
// What is larger than GraphQL's Int, or was stored when anything was, would be an error of the field.
/** The Int that a stored value is, else null. */
export const intOf = (value: unknown): number | null =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31 ? (value as number) : null;
const listOf = <T>(value: unknown) => (Array.isArray(value) ? (value as T[]) : []);

/** A type of entry: what every entry has, and its own fields. */
export function eventType(
  name: string,
  description: string,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, LogEntry>) => FieldMap,
) {
  return builder.node(builder.objectRef<LogEntry>(name), {
    description,
    interfaces: [SessionEvent],
    id: { resolve: (entry) => entry.id, description: 'The global ID.' },
    fields,
  });
}

eventType('StatusEvent', 'The session’s status from here on.', (t) => ({
  status: t.field({
    type: SessionStatusEnum,
    description: 'Where the session is.',
    resolve: (entry) => dataOf(entry).status as never,
  }),
  statusDetail: t.field({
    type: SessionStatusDetailEnum,
    nullable: true,
    description: 'Why.',
    resolve: (entry) => (dataOf(entry).statusDetail ?? null) as never,
  }),
  request: t.field({
    type: sessionRequest.type,
    nullable: true,
    description: 'The change that was asked of the session and is not done yet; null: none.',
    resolve: (entry) => sessionRequest.read(dataOf(entry).request),
  }),
  endReason: t.field({
    type: SessionEndReasonEnum,
    nullable: true,
    description: 'The reason for which the session ended; null where it has not ended.',
    resolve: (entry) => readEnd(dataOf(entry).endedBy),
  }),
  isArchived: t.boolean({
    description: 'Whether it is archived.',
    resolve: (entry) => dataOf(entry).isArchived === true,
  }),
}));

eventType(
  'TurnEvent',
  'The beginning or the end of a turn: one prompt to the agent and all that it did for it.',
  (t) => ({
    turn: t.int({
      description: 'The number of the turn, from 1.',
      resolve: (entry) => numberOf(dataOf(entry).turn) ?? 0,
    }),
    phase: t.field({
      type: turnPhase.type,
      description: 'The part of the turn that the entry marks: its beginning or its end.',
      resolve: (entry) => turnPhase.read(dataOf(entry).phase) ?? 'started',
    }),
    stopReason: t.field({
      type: turnStopReason.type,
      nullable: true,
      description: 'The reason for which the turn ended; null: the entry marks its beginning.',
      resolve: (entry) => {
        const stored = textOf(dataOf(entry).stopReason);
        return stored === null ? null : (turnStopReason.read(stored) ?? 'other');
      },
    }),
    rawStopReason: t.string({
      nullable: true,
      description: 'The stop reason in the word of the Agent Client Protocol, as "end_turn"; null as for `stopReason`.',
      resolve: (entry) => textOf(dataOf(entry).stopReason),
    }),
  }),
);

const PlanEntry = builder.objectRef<{ content: string; status: string; priority: string }>('PlanEntry').implement({
  description: 'A step of a plan.',
  fields: (t) => ({
    content: t.exposeString('content', { description: 'What is to be done.' }),
    status: t.field({
      type: planEntryStatus.type,
      description: 'The state of the step, as the agent says it.',
      resolve: ({ status }) => planEntryStatus.read(status) ?? 'other',
    }),
    priority: t.field({
      type: planEntryPriority.type,
      description: 'The priority of the step, as the agent says it.',
      resolve: ({ priority }) => planEntryPriority.read(priority) ?? 'other',
    }),
  }),
});

eventType('PlanEvent', 'The agent’s plan as it stands; it replaces earlier ones.', (t) => ({
  entries: t.field({
    type: [PlanEntry],
    description: 'Its steps.',
    resolve: (entry) => listOf<{ content: string; status: string; priority: string }>(dataOf(entry).entries),
  }),
}));

const ToolLocation = builder.objectRef<{ path: string; line: number | null }>('ToolLocation').implement({
  description: 'A place that a tool works at.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'The file.' }),
    line: t.exposeInt('line', { nullable: true, description: 'The line, from 1.' }),
  }),
});

const ToolDiff = builder.objectRef<{ path: string; oldText: string | null; newText: string }>('ToolDiff').implement({
  description: 'A change to a file.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'The file.' }),
    oldText: t.exposeString('oldText', { nullable: true, description: 'What was there; null: a new file.' }),
    newText: t.exposeString('newText', { description: 'What is there.' }),
  }),
});

eventType('ToolCallEvent', 'A tool call as it stands; entries of the same toolCallId follow one another.', (t) => ({
  toolCallId: t.string({
    description: 'The same for all entries of one call.',
    resolve: (entry) => textOf(dataOf(entry).toolCallId) ?? '',
  }),
  title: t.string({ description: 'What it does.', resolve: (entry) => textOf(dataOf(entry).title) ?? '' }),
  toolKind: t.field({
    type: toolKind.type,
    description: 'The kind of the tool; OTHER also for a word that the protocol does not have.',
    resolve: (entry) => toolKind.read(dataOf(entry).toolKind) ?? 'other',
  }),
  rawToolKind: t.string({
    description: 'The kind of the tool in the word of the agent, as "execute".',
    resolve: (entry) => textOf(dataOf(entry).toolKind) ?? 'other',
  }),
  // Not "status": beside StatusEvent's, one selection could not have both.
  toolStatus: t.field({
    type: toolCallStatus.type,
    description: 'The state of the call at this entry.',
    resolve: (entry) => toolCallStatus.read(dataOf(entry).status) ?? 'pending',
  }),
  output: t.string({
    nullable: true,
    description: 'What it gave, cut at 16 kB.',
    resolve: (entry) => textOf(dataOf(entry).output),
  }),
  locations: t.field({
    type: [ToolLocation],
    description: 'Where it works.',
    resolve: (entry) => listOf<{ path: string; line: number | null }>(dataOf(entry).locations),
  }),
  diffs: t.field({
    type: [ToolDiff],
    description: 'What it changed.',
    resolve: (entry) => listOf<{ path: string; oldText: string | null; newText: string }>(dataOf(entry).diffs),
  }),
}));

/** QuestionEvent of the contract. */
export const QuestionEvent = eventType(
  'QuestionEvent',
  'A question of the agent to the user. It is open while it is the session’s `pendingQuestion`; `answerQuestion` answers it.',
  (t) => ({
    questionId: t.string({
      description: 'The id of the question, for `answerQuestion`.',
      resolve: (entry) => prefixedId('event', entry.id),
    }),
    body: t.string({ description: 'The words of the question.', resolve: (entry) => entry.body ?? '' }),
    reason: t.field({
      type: questionReason.type,
      description: 'The reason for which the agent asks.',
      resolve: (entry) => questionReason.read(dataOf(entry).reason) ?? 'question',
    }),
    options: t.field({
      type: [QuestionOptionType],
      description: 'The answers that the agent offers, at most 200; empty when it offers none.',
      resolve: (entry) => [...optionsOf(entry)],
    }),
  }),
);

/** PermissionEvent of the contract. */
export const PermissionEvent = eventType(
  'PermissionEvent',
  'A permission that the agent asked for, and what it got.',
  (t) => ({
    toolCallId: t.string({
      description: 'The call that needed it.',
      resolve: (entry) => textOf(dataOf(entry).toolCallId) ?? '',
    }),
    title: t.string({ description: 'What it was for.', resolve: (entry) => textOf(dataOf(entry).title) ?? '' }),
    decision: t.field({
      type: permissionDecision.type,
      description: 'The decision that the agent got.',
      resolve: (entry) => permissionDecision.read(dataOf(entry).decision) ?? 'cancelled',
    }),
    option: t.field({
      type: QuestionOptionType,
      nullable: true,
      description: 'The option of the question that was chosen; null when none was, or the agent’s profile decided.',
      resolve: (entry) => (dataOf(entry).option ?? null) as QuestionOption | null,
    }),
  }),
);

const countOf = (value: unknown) => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null);

const TokenCounts = builder.objectRef<Readonly<Record<string, unknown>>>('TokenCounts').implement({
  description: 'Numbers of tokens: whole, and perhaps larger than an Int; null where nobody says.',
  fields: (t) => ({
    input: t.float({
      nullable: true,
      description: 'Tokens read.',
      resolve: ({ inputTokens }) => countOf(inputTokens),
    }),
    cached: t.float({
      nullable: true,
      description: 'Of the tokens read, those from the provider’s cache.',
      resolve: ({ cachedTokens }) => countOf(cachedTokens),
    }),
    output: t.float({
      nullable: true,
      description: 'Tokens written.',
      resolve: ({ outputTokens }) => countOf(outputTokens),
    }),
    total: t.float({
      nullable: true,
      description: 'Tokens in all.',
      resolve: ({ totalTokens }) => countOf(totalTokens),
    }),
  }),
});

const tokensInstead = 'Use UsageEvent.tokens. Removed after 2027-06-30.';

eventType('UsageEvent', 'What a part of the work used; null where nobody says.', (t) => ({
  source: t.field({
    type: usageSource.type,
    nullable: true,
    description:
      'The source that counted it. Several sources may tell of the same work: consumption counts the first that there is of GATEWAY, RESPONSE, QUOTA and UPDATE.',
    resolve: (entry) => usageSource.read(dataOf(entry).source),
  }),
  inputTokens: t.int({
    nullable: true,
    description: 'Tokens read; null also where `tokens` has more than an Int can say.',
    deprecationReason: tokensInstead,
    resolve: (entry) => intOf(dataOf(entry).inputTokens),
  }),
  outputTokens: t.int({
    nullable: true,
    description: 'Tokens written; null also where `tokens` has more than an Int can say.',
    deprecationReason: tokensInstead,
    resolve: (entry) => intOf(dataOf(entry).outputTokens),
  }),
  totalTokens: t.int({
    nullable: true,
    description: 'Tokens in all; null also where `tokens` has more than an Int can say.',
    deprecationReason: tokensInstead,
    resolve: (entry) => intOf(dataOf(entry).totalTokens),
  }),
  tokens: t.field({
    type: TokenCounts,
    description: 'All that is said of tokens, however many they are.',
    resolve: (entry) => dataOf(entry),
  }),
  costUsd: t.float({
    nullable: true,
    description: 'Cost in US dollars. What an agent says is the sum since its session began.',
    resolve: (entry) => numberOf(dataOf(entry).costUsd),
  }),
  contextUsed: t.int({
    nullable: true,
    description: 'Tokens in the context.',
    resolve: (entry) => intOf(dataOf(entry).contextUsed),
  }),
  contextSize: t.int({
    nullable: true,
    description: 'Tokens that fit.',
    resolve: (entry) => intOf(dataOf(entry).contextSize),
  }),
}));

/** SessionMessageConnection and SessionMessageEdge of the contract. */
export const { connection: SessionMessageConnection, edge: SessionMessageEdge } = countedConnectionAndEdge(
  SessionMessage,
  'SessionMessage',
  { page: 'A page of messages, oldest first.', edge: 'A message in a session’s log.' },
);

/** SessionEventConnection and SessionEventEdge of the contract. */
export const { connection: SessionEventConnection, edge: SessionEventEdge } = countedConnectionAndEdge(
  SessionEvent,
  'SessionEvent',
  { page: 'A page of a session’s log, oldest first.', edge: 'An entry in a session’s log.' },
);
