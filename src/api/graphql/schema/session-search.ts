import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { pageOf } from '../../../domain/pages.ts';
import { logCursor } from '../../../domain/sessions/list-log.ts';
import type { Excerpt, TextRange } from '../../../domain/sessions/search/excerpts.ts';
import { type FoundSession, maxMatches, searchSessions } from '../../../domain/sessions/search/search-sessions.ts';
import { type TranscriptMatch, transcriptMatchesOf } from '../../../domain/sessions/search/search-transcript.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { countable, toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { listTypes } from './add-list.ts';
import { SessionEvent } from './events.ts';
import { boundary, viewsSession } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
import { Session } from './sessions.ts';

/** The cost of a search, in items: it may read thousands of rows. */
const itemsOfSearch = 20;

const TextRangeType = builder.objectRef<TextRange>('TextRange').implement({
  description: 'Part of a text, by its position and its length.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Position of its first character, from 0, in UTF-16 code units.' }),
    length: t.exposeInt('length', { description: 'Its length in UTF-16 code units.' }),
  }),
});

const ExcerptType = builder.objectRef<Excerpt>('Excerpt').implement({
  description: 'Part of a text, as plain text on one line.',
  fields: (t) => ({
    text: t.exposeString('text', {
      description: 'At most 242 characters of the text, with an ellipsis where the text continues.',
    }),
    highlights: t.field({
      type: [TextRangeType],
      description: 'Parts of `text` that the search matched, in order.',
      resolve: ({ highlights }) => [...highlights],
    }),
  }),
});

const TranscriptMatchType = builder.objectRef<TranscriptMatch>('TranscriptMatch').implement({
  description: 'Message or completed tool call of a session that a search found.',
  fields: (t) => ({
    event: t.field({
      type: SessionEvent,
      description: 'Log entry that the search found.',
      resolve: ({ entry }) => entry,
    }),
    cursor: t.string({
      description: 'Cursor of the entry for `after` and `before` of the lists `events` and `messages` of its session.',
      resolve: ({ entry }) => logCursor(entry),
    }),
    excerpt: t.expose('excerpt', {
      type: ExcerptType,
      description: 'Part of the message, or of the title of the tool call, around the first match.',
    }),
  }),
});

const TranscriptMatchList = listTypes(TranscriptMatchType, 'TranscriptMatch');

const SessionSearchResult = builder.objectRef<FoundSession>('SessionSearchResult').implement({
  description: 'Session that a search found.',
  fields: (t) => ({
    session: t.expose('session', { type: Session, description: 'Session that the search found.' }),
    titleHighlights: t.field({
      type: [TextRangeType],
      description: 'Parts of the title of the session that the search matched, in order.',
      resolve: ({ titleHighlights }) => [...titleHighlights],
    }),
    matches: t.field({
      type: [TranscriptMatchType],
      description: `Newest entries that match, newest first, at most ${maxMatches}. Empty if only the title matches. \`Session.search\` lists all of them.`,
      resolve: ({ matches }) => [...matches],
    }),
  }),
});

const SessionSearchResultList = listTypes(SessionSearchResult, 'SessionSearchResult');

const queryArgument = (t: PothosSchemaTypes.FieldBuilder<SchemaTypes, unknown>['arg']) =>
  t.string({
    required: true,
    description:
      'Words that must all be found, at most 20. `or` separates alternatives, quotes keep words together, and a minus sign excludes a word. A word without quotes also finds words that begin with it.',
  });

builder.objectField(Session, 'search', (t) =>
  t.connection(
    {
      type: TranscriptMatchType,
      ...boundary(viewsSession, { items: itemsOfSearch }),
      description:
        'Messages and completed tool calls of the session that match a query, oldest first. Of each text, the first 20,000 characters are searched. An edited message matches by its current text; a withdrawn message does not match. The cursors are those of `events` and `messages`.',
      args: { query: queryArgument(t.arg as never) },
      resolve: async (session, { query, ...page }, context) => {
        const request = { query, ...pageOf(page) };
        const found = await context.loaders.transcriptMatches(session, request);
        return countable(context, transcriptMatchesOf(ofAnySession(context.domain, 'view'), session, query), found);
      },
    },
    TranscriptMatchList.connection,
  ),
);

builder.objectField(Organization, 'sessionSearch', (t) =>
  t.connection(
    {
      type: SessionSearchResult,
      ...boundary('viewSession', { items: itemsOfSearch }),
      description:
        'Sessions of the organization whose title, messages or completed tool calls match a query: the session that changed last comes first. All words must be in one text. If more than 2,000 texts match, only the 1,000 sessions that changed last are searched, the newest 1,000 texts of each, and at most 200 sessions are found; `totalCountIsExact` is false then.',
      args: {
        query: queryArgument(t.arg as never),
        filter: t.arg({
          type: SessionFilterInput,
          description: 'Filter for the sessions to search. All sessions except unlisted ones if omitted.',
        }),
      },
      resolve: async ({ id }, { query, filter, ...page }, { domain }) => {
        const request = { query, filter: parseSessionFilter(filter), ...pageOf(page) };
        const { page: found, count } = await searchSessions(domain, id, request, pageLimits);
        return toConnection(found, async () => count);
      },
    },
    SessionSearchResultList.connection,
  ),
);
