import { permissionFor } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { isLiveOrganization } from '../../identity/organizations/read-within.ts';
import { requireUsable } from '../../identity/organizations/use-organization.ts';
import type { Bind, Count } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { updatedAtKey } from '../../sort-keys.ts';
import { sortedPage } from '../../sorted-pages.ts';
import { logColumns } from '../log.ts';
import { readSessions } from '../read-sessions.ts';
import { type SessionRecord, sessionColumns } from '../session.ts';
import { filterConditions } from '../session-conditions.ts';
import { type CheckedFilter, checkFilter, type SessionFilter } from '../session-filter.ts';
import { findTerms, type TextRange } from './excerpts.ts';
import { parseSearchQuery, type SearchQuery } from './search-query.ts';
import { type SearchedEntry, searchedText, type TranscriptMatch, toMatch } from './search-transcript.ts';

/** A session that a search found. */
export interface FoundSession {
  readonly session: SessionRecord;
  /** The words of the title that match; empty if the title does not match. */
  readonly titleHighlights: readonly TextRange[];
  /** Its newest matching entries, newest first, at most {@link maxMatches}; empty if only the title matches. */
  readonly matches: readonly TranscriptMatch[];
}

/** A search in an organization. */
export interface SessionSearchRequest extends PageRequest {
  readonly query: string;
  readonly filter?: SessionFilter | undefined;
}

/** Number of matches that a found session comes with. */
export const maxMatches = 3;
/** Number of matching texts that the index is read for. If there are more, only the sessions that changed last are searched. */
const maxIndexed = 2_000;
/** Number of sessions that are searched then, how many of them are found at most, and the number of the newest texts of each that are searched. */
const maxSearched = 1_000;
const maxFound = 200;
const maxTextsEach = 1_000;

const list = { name: 'sessionSearch', row: 's', by: updatedAtKey };

/**
 * Searches the titles, messages and completed tool calls of an organization's sessions that match the filter. The session that changed
 * last comes first. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT, and the errors of `pageWindow`. Reads a limited number
 * of rows, however many match: `count` is not exact then.
 */
export async function searchSessions(
  context: Context,
  organizationId: string,
  request: SessionSearchRequest,
  limits: PageLimits,
): Promise<{ readonly page: Page<FoundSession>; readonly count: Count }> {
  const { viewer, store } = context;
  requireUsable(context, organizationId, permissionFor.viewSession);
  const query = parseSearchQuery(request.query);
  const filter = checkFilter(viewer, request.filter ?? {});
  return store.readList((reader) => search(reader, { viewer, organizationId, query, filter }, request, limits));
}

/** A checked search. */
interface Search {
  readonly viewer: Viewer;
  readonly organizationId: string;
  readonly query: SearchQuery;
  readonly filter: CheckedFilter;
}

async function search(store: Reader, checked: Search, request: PageRequest, limits: PageLimits) {
  const { organizationId, query } = checked;
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const page = sortedPage(list, request, limits, bind);
  const { ids, isComplete } = await findIds(store, checked);
  const where = [`s.id = any(${bind(ids)}::text[])`, `s.organization_id = ${bind(organizationId)}`, ...page.beyond];
  const sql = `select ${sessionColumns} from session s where ${where.join(' and ')} ${page.order} limit ${page.limit}`;
  const found = page.toPage(await readSessions<SessionRecord>({ store }, sql, values));
  const matches = await readMatches(store, organizationId, found.items, query);
  const items = found.items.map(
    (session, n): FoundSession => ({
      session,
      titleHighlights: findTerms(session.title, query.terms),
      matches: matches[n] ?? [],
    }),
  );
  return {
    page: { ...found, items, cursorOf: ({ session }: FoundSession) => found.cursorOf(session) },
    count: { total: ids.length, isExact: isComplete },
  };
}

/** Returns the ids of the sessions that a search finds; `isComplete`: these are all. */
async function findIds(
  store: Reader,
  { viewer, organizationId, query: { text }, filter }: Search,
): Promise<{ readonly ids: readonly string[]; readonly isComplete: boolean }> {
  const read = async <R extends object>(sqlOf: (where: string) => string) => {
    const values: unknown[] = [organizationId, text, viewer.enterpriseId];
    const where = filterConditions(filter, viewer.enterpriseId, (value) => `$${values.push(value)}`);
    const own = ['s.organization_id = $1', isLiveOrganization('$1', '$3')];
    return store.query<R>(sqlOf([...own, ...where].join(' and ')), values);
  };
  const [indexed] = await read<{ textCount: number; ids: string[] }>(byIndex);
  if (indexed && indexed.textCount <= maxIndexed) return { ids: indexed.ids, isComplete: true };
  const recent = await read<{ id: string }>(amongRecent);
  return { ids: recent.map(({ id }) => id), isComplete: false };
}

// The filter comes after the limit: otherwise a filter that no session matches would read every text that the index finds.
const byIndex = (where: string) => `
  select count(*)::int as "textCount", coalesce(array_agg(distinct s.id) filter (where s.id is not null), '{}') as ids
    from (select t.session_id from session_text t where t.words @@ session_words_query($1, $2) limit ${maxIndexed + 1}) t
    left join session s on s.id = t.session_id and ${where}`;

// A word of very many texts is in some of the sessions that changed last, and the index would return all of its texts.
const amongRecent = (where: string) => `
  select r.id from (select s.id, c.updated_at from session_change c join session s on s.id = c.session_id
     where c.organization_id = $1 and ${where} order by c.updated_at desc, c.session_id desc limit ${maxSearched}) r
   where exists (select 1 from (select t.words from session_text t where t.session_id = r.id
                  order by t.seq desc limit ${maxTextsEach}) t where t.words @@ session_words_query($1, $2))
   order by r.updated_at desc, r.id desc limit ${maxFound}`;

const newestMatches = `
  select owner.position::int as "ownerPosition", ${logColumns}, ${searchedText}
    from unnest($1::text[]) with ordinality owner (id, position)
   cross join lateral (
     select t.seq from session_text t
      where t.session_id = owner.id and t.seq > 0 and t.words @@ session_words_query($2, $3) order by t.seq desc limit ${maxMatches}) t
    join log_entry e on e.session_id = owner.id and e.seq = t.seq
    left join message_change c on c.session_id = e.session_id and c.seq = e.seq
   order by owner.position, e.seq desc`;

/** Reads the newest matches of each session, in the sessions' order. */
async function readMatches(
  store: Reader,
  organizationId: string,
  sessions: readonly SessionRecord[],
  { text, terms }: SearchQuery,
): Promise<TranscriptMatch[][]> {
  const found = sessions.map((): TranscriptMatch[] => []);
  if (sessions.length === 0) return found;
  const ids = sessions.map(({ id }) => id);
  const rows = await store.query<SearchedEntry & { ownerPosition: number }>(newestMatches, [ids, organizationId, text]);
  for (const { ownerPosition, ...row } of rows) found[ownerPosition - 1]?.push(toMatch(row, terms));
  return found;
}
