import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { type CountedList, sessionOwners } from '../../nested-pages.ts';
import { type Page, type PageLimits, type PageRequest, pageWindow, toPage } from '../../pages.ts';
import { logCursor, readLogCursor } from '../list-log.ts';
import { type LogEntry, logColumns } from '../log.ts';
import type { SessionRecord } from '../session.ts';
import { type Excerpt, excerptOf, searchedLength } from './excerpts.ts';
import { parseSearchQuery, type SearchTerm } from './search-query.ts';

/** A log entry that a search found, with a part of its text. */
export interface TranscriptMatch {
  readonly entry: LogEntry;
  readonly excerpt: Excerpt;
}

/** The column `searched` of a log entry `e` and a `message_change` c: the text that search knows. */
export const searchedText = `left(coalesce(c.body, e.body, e.data->>'title', ''), ${searchedLength}) as searched`;

/** A log entry with the column `searched`. */
export type SearchedEntry = LogEntry & { readonly searched: string };

/** Creates a match from the row of an entry. */
export function toMatch({ searched, ...entry }: SearchedEntry, terms: readonly SearchTerm[]): TranscriptMatch {
  return { entry, excerpt: excerptOf(searched, terms) };
}

// The query of each session is made once, and not for each entry ("offset 0").
const statement = (beyond: string, direction: 'asc' | 'desc') => `
  select owner.position::int as "ownerPosition", ${logColumns}, ${searchedText}
    from unnest($1::text[]) with ordinality owner (id, position) join session s on s.id = owner.id
   cross join lateral (select session_words_query(s.organization_id, $2) as words offset 0) q
   cross join lateral (
     select t.seq from session_text t where t.session_id = owner.id and t.words @@ q.words and ${beyond}
      order by t.seq ${direction} limit $5::int) t
    join log_entry e on e.session_id = owner.id and e.seq = t.seq
    left join message_change c on c.session_id = e.session_id and c.seq = e.seq
   order by owner.position, e.seq ${direction}`;

/**
 * Searches the log of each of these sessions: a page of the matching messages and completed tool calls of each, oldest first, in
 * the sessions' order and in one statement. An edited message matches by its current text, and a withdrawn one does not match. The cursors are those
 * of the log. Throws FORBIDDEN without the permission to view one of them, INVALID_INPUT for the query, and the errors of {@link pageWindow}.
 */
export async function searchTranscripts(
  { viewer, store }: Context,
  sessions: readonly Pick<SessionRecord, 'id' | 'organizationId'>[],
  query: string,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<TranscriptMatch>[]> {
  for (const { organizationId } of sessions) requirePermission(viewer, permissionFor.viewSession, organizationId);
  const { text, terms } = parseSearchQuery(query);
  const windows = sessions.map(({ id }) => pageWindow(request, limits, (cursor) => readLogCursor(id, cursor)));
  const [window] = windows;
  if (!window) return [];
  const { after, before, backward, limit } = window;
  const beyond = 't.seq > $3::int and t.seq < $4::int';
  const rows = await store.query<SearchedEntry & { ownerPosition: number }>(
    statement(beyond, backward ? 'desc' : 'asc'),
    [sessions.map(({ id }) => id), text, after ?? 0, before ?? 2_147_483_647, limit + 1],
  );
  const found = sessions.map((): TranscriptMatch[] => []);
  for (const { ownerPosition, ...row } of rows) found[ownerPosition - 1]?.push(toMatch(row, terms));
  return found.map((matches) => toPage(matches, window, ({ entry }) => logCursor(entry)));
}

/** Returns what {@link searchTranscripts} finds in a session as a list to count. Throws its errors. */
export function transcriptMatchesOf(
  { viewer }: Context,
  { id, organizationId }: Pick<SessionRecord, 'id' | 'organizationId'>,
  query: string,
): CountedList {
  requirePermission(viewer, permissionFor.viewSession, organizationId);
  const { text } = parseSearchQuery(query);
  return {
    key: `search ${JSON.stringify([organizationId, text])}`,
    ownerId: id,
    row: 't',
    table: 'session_text',
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      't.session_id = owner.id',
      't.seq > 0',
      `t.words @@ session_words_query(${bind(organizationId)}, ${bind(text)})`,
    ],
  };
}
