import type { DraftKind } from '../../../domain/sessions/live/draft-message.ts';
import { DraftChunk } from '../../../domain/sessions/live/live-draft.ts';
import { builder } from '../builder.ts';
import { defineEnum } from './define-enum.ts';
import { SessionEventList } from './events.ts';

const DraftKindEnum = defineEnum<DraftKind>('DraftKind', 'The kind of the text that a draft becomes.', {
  message: 'A message to the user, which becomes a `SessionMessage`.',
  thought: 'A thought, which becomes a `ThoughtEvent`.',
  'tool_output': 'The output of a running tool call, which becomes part of a `ToolCallEvent`.',
});

const Draft = builder.objectRef<DraftChunk>('Draft').implement({
  description:
    'A part of a text that the agent has not completed. A client keeps the text of each draft by its `draftId`: it removes everything from `offset` on, and adds `text` there.',
  fields: (t) => ({
    // Not "id": a part is no object that clients cache by its id.
    draftId: t.exposeString('draftId', {
      description:
        'Id of the draft, which all its parts share. The log entry that replaces the draft has it as `draftId`.',
    }),
    kind: t.field({
      type: DraftKindEnum,
      description: 'Kind of the text that the draft becomes.',
      resolve: ({ kind }) => kind,
    }),
    toolCallId: t.exposeString('toolCallId', {
      nullable: true,
      description: 'Id of the tool call whose output the draft is; null for a message or a thought.',
    }),
    offset: t.exposeInt('offset', {
      description:
        'Position of `text` in the draft, in UTF-16 code units, as JavaScript counts them. Before the end of the text that the client has, if the text was replaced.',
    }),
    text: t.exposeString('text', { description: 'Text of this part, without secrets. May be empty.' }),
    isDone: t.exposeBoolean('isDone', {
      description:
        'Whether this is the last part. The log entry follows, unless `offset` is 0 and `text` is empty: then the draft was discarded.',
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description:
        'Whether text between the end of the text that the client has and `offset` is not sent, because the draft is long.',
    }),
  }),
});

export const SessionLiveItem = builder.unionType('SessionLiveItem', {
  description: 'An item of `sessionLive`: an entry in the log of the session with its cursor, or a part of a draft.',
  types: [SessionEventList.edge, Draft],
  resolveType: (item) => (item instanceof DraftChunk ? 'Draft' : 'SessionEventEdge'),
});
