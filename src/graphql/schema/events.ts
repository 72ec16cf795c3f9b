import type { FieldMap } from '@pothos/core';
import { prefixedId } from '../../domain/ids.ts';
import type { LogEntry, MessageEntry } from '../../domain/sessions/log.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import {
  SessionEndReasonEnum,
  SessionEventKindEnum,
  SessionMessageTypeEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import { eventTypeOf } from './event-types.ts';
import { loadPrincipal, Principal } from './principals.ts';

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

const data = (entry: LogEntry) => entry.data ?? {};
const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);
// What is larger than GraphQL's Int, or was stored when anything was, would be an error of the field.
const intOf = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31 ? (value as number) : null;
const listOf = <T>(value: unknown) => (Array.isArray(value) ? (value as T[]) : []);

/** A type of entry: what every entry has, and its own fields. */
function eventType(
  name: string,
  description: string,
  fields: (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, LogEntry>) => FieldMap,
): void {
  builder.node(builder.objectRef<LogEntry>(name), {
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
    resolve: (entry) => data(entry).status as never,
  }),
  statusDetail: t.field({
    type: SessionStatusDetailEnum,
    nullable: true,
    description: 'Why.',
    resolve: (entry) => (data(entry).statusDetail ?? null) as never,
  }),
  request: t.string({
    nullable: true,
    description: 'What was asked of the session and is not done yet: suspend or resume.',
    resolve: (entry) => textOf(data(entry).request),
  }),
  endReason: t.field({
    type: SessionEndReasonEnum,
    nullable: true,
    description: 'The reason for which the session ended; null where it has not ended.',
    resolve: (entry) => (data(entry).endedBy ?? null) as never,
  }),
  isArchived: t.boolean({
    description: 'Whether it is archived.',
    resolve: (entry) => data(entry).isArchived === true,
  }),
}));

eventType(
  'TurnEvent',
  'The beginning or the end of a turn: one prompt to the agent and all that it did for it.',
  (t) => ({
    turn: t.int({
      description: 'The number of the turn, from 1.',
      resolve: (entry) => numberOf(data(entry).turn) ?? 0,
    }),
    phase: t.string({
      description: '"started" or "stopped".',
      resolve: (entry) => textOf(data(entry).phase) ?? 'started',
    }),
    stopReason: t.string({
      nullable: true,
      description:
        'Why it stopped, in ACP’s words, or "suspended": a user suspended the session, which ended the turn.',
      resolve: (entry) => textOf(data(entry).stopReason),
    }),
  }),
);

const PlanEntry = builder.objectRef<{ content: string; status: string; priority: string }>('PlanEntry').implement({
  description: 'A step of a plan.',
  fields: (t) => ({
    content: t.exposeString('content', { description: 'What is to be done.' }),
    status: t.exposeString('status', { description: '"pending", "in_progress" or "completed".' }),
    priority: t.exposeString('priority', { description: '"high", "medium" or "low".' }),
  }),
});

eventType('PlanEvent', 'The agent’s plan as it stands; it replaces earlier ones.', (t) => ({
  entries: t.field({
    type: [PlanEntry],
    description: 'Its steps.',
    resolve: (entry) => listOf<{ content: string; status: string; priority: string }>(data(entry).entries),
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
    resolve: (entry) => textOf(data(entry).toolCallId) ?? '',
  }),
  title: t.string({ description: 'What it does.', resolve: (entry) => textOf(data(entry).title) ?? '' }),
  toolKind: t.string({
    description: 'ACP’s kind: read, edit, execute …',
    resolve: (entry) => textOf(data(entry).toolKind) ?? 'other',
  }),
  // Not "status": beside StatusEvent's, one selection could not have both.
  toolStatus: t.string({
    description: '"pending", "in_progress", "completed" or "failed".',
    resolve: (entry) => textOf(data(entry).status) ?? 'pending',
  }),
  output: t.string({
    nullable: true,
    description: 'What it gave, cut at 16 kB.',
    resolve: (entry) => textOf(data(entry).output),
  }),
  locations: t.field({
    type: [ToolLocation],
    description: 'Where it works.',
    resolve: (entry) => listOf<{ path: string; line: number | null }>(data(entry).locations),
  }),
  diffs: t.field({
    type: [ToolDiff],
    description: 'What it changed.',
    resolve: (entry) => listOf<{ path: string; oldText: string | null; newText: string }>(data(entry).diffs),
  }),
}));

const QuestionOption = builder.objectRef<{ id: string; name: string }>('QuestionOption').implement({
  description: 'An answer that is offered.',
  fields: (t) => ({
    // Not "id": clients that keep things by their id would take it for a global one.
    optionId: t.exposeString('id', { description: 'Its id within the question.' }),
    name: t.exposeString('name', { description: 'The words.' }),
  }),
});

eventType('QuestionEvent', 'A question to the user. The next message answers it.', (t) => ({
  questionId: t.string({ description: 'Its own id.', resolve: (entry) => textOf(data(entry).questionId) ?? '' }),
  body: t.string({ description: 'The question.', resolve: (entry) => entry.body ?? '' }),
  reason: t.string({
    description: '"question", or "permission" when a tool waits for it.',
    resolve: (entry) => textOf(data(entry).reason) ?? 'question',
  }),
  options: t.field({
    type: [QuestionOption],
    description: 'Answers that are offered.',
    resolve: (entry) => listOf<{ id: string; name: string }>(data(entry).options),
  }),
}));

eventType('PermissionEvent', 'A permission that the agent asked for, and what it got.', (t) => ({
  toolCallId: t.string({
    description: 'The call that needed it.',
    resolve: (entry) => textOf(data(entry).toolCallId) ?? '',
  }),
  title: t.string({ description: 'What it was for.', resolve: (entry) => textOf(data(entry).title) ?? '' }),
  decision: t.string({
    description: '"allowed", "denied" or "cancelled".',
    resolve: (entry) => textOf(data(entry).decision) ?? 'cancelled',
  }),
}));

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

eventType('UsageEvent', 'What a part of the work used; null where nobody says.', (t) => ({
  source: t.string({
    nullable: true,
    description:
      'Who counted it: `gateway`, one call of a model; `response` and `quota`, the agent at the end of a turn; `update`, the agent while it works. The same work may be told by several: consumption counts the first of these that there is.',
    resolve: (entry) => textOf(data(entry).source),
  }),
  inputTokens: t.int({
    nullable: true,
    description: 'Tokens read; null also where `tokens` has more than an Int can say.',
    resolve: (entry) => intOf(data(entry).inputTokens),
  }),
  outputTokens: t.int({
    nullable: true,
    description: 'Tokens written; null also where `tokens` has more than an Int can say.',
    resolve: (entry) => intOf(data(entry).outputTokens),
  }),
  totalTokens: t.int({
    nullable: true,
    description: 'Tokens in all; null also where `tokens` has more than an Int can say.',
    resolve: (entry) => intOf(data(entry).totalTokens),
  }),
  tokens: t.field({
    type: TokenCounts,
    description: 'All that is said of tokens, however many they are.',
    resolve: (entry) => data(entry),
  }),
  costUsd: t.float({
    nullable: true,
    description: 'Cost in US dollars. What an agent says is the sum since its session began.',
    resolve: (entry) => numberOf(data(entry).costUsd),
  }),
  contextUsed: t.int({
    nullable: true,
    description: 'Tokens in the context.',
    resolve: (entry) => intOf(data(entry).contextUsed),
  }),
  contextSize: t.int({
    nullable: true,
    description: 'Tokens that fit.',
    resolve: (entry) => intOf(data(entry).contextSize),
  }),
}));

// Kinds that are told by words, and by whatever else came with them.
const worded = {
  ThoughtEvent: 'What the agent thought aloud.',
  NoticeEvent: 'Something that the service or the agent noted.',
  LimitEvent: 'A limit that was reached.',
  PullRequestEvent: 'A pull request that was made or changed.',
  StructuredOutputEvent: 'A structured output that was set.',
  AttachmentEvent: 'A file that was attached.',
  ErrorEvent: 'An error that stopped the session.',
} as const;

for (const [name, description] of Object.entries(worded)) {
  eventType(name, description, (t) => ({
    body: t.string({ description: 'The words; empty where there are none.', resolve: (entry) => entry.body ?? '' }),
    data: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What else came with it.',
      resolve: (entry) => entry.data,
    }),
  }));
}

/** SessionMessageEdge of the contract. */
export const SessionMessageEdge = builder.edgeObject({
  type: SessionMessage,
  name: 'SessionMessageEdge',
  description: 'A message in a session’s log.',
});
/** SessionMessageConnection of the contract. */
export const SessionMessageConnection = builder.connectionObject(
  { type: SessionMessage, name: 'SessionMessageConnection', description: 'A page of messages, oldest first.' },
  SessionMessageEdge,
);
/** SessionEventEdge of the contract. */
export const SessionEventEdge = builder.edgeObject({
  type: SessionEvent,
  name: 'SessionEventEdge',
  description: 'An entry in a session’s log.',
});
/** SessionEventConnection of the contract. */
export const SessionEventConnection = builder.connectionObject(
  { type: SessionEvent, name: 'SessionEventConnection', description: 'A page of a session’s log, oldest first.' },
  SessionEventEdge,
);
