import type { JsonValues } from '../../store/json-rows.ts';
import { queryList } from '../../store/reader.ts';
import type { Context } from '../context.ts';
import { organizationInJson } from '../identity/organizations/organization-json.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { type Bind, type NestedList, readPage } from '../nested-pages.ts';
import { type Page, type PageLimits, type PageRequest, pageWindow } from '../pages.ts';
import { type LogListRequest, rangeOf, toLogPage } from './list-log.ts';
import type { LogEntry } from './log.ts';
import { type EntriesInJson, rangeAsJson, toEntries } from './read-logs.ts';
import type { SessionRecord } from './session.ts';
import { sessionInJson } from './session-json.ts';

/** The data to read together with an organization. */
export interface SessionsToo {
  /**
   * Its sessions, as `sessionsOf` returns them: the caller that created the list may read the sessions and their logs.
   */
  readonly list: NestedList<SessionRecord>;
  readonly page: PageRequest;
  /** The page of each session's log, without cursors, because a cursor belongs to one session. Null: none. */
  readonly log: LogListRequest | null;
}

/** An organization with a page of its sessions, and a page of the log of each by session id, if requested. */
export interface OrganizationWithSessions {
  readonly organization: OrganizationRecord;
  /** Null: the values are too long to be read together. */
  readonly sessions: Page<SessionRecord> | null;
  readonly logs: ReadonlyMap<string, Page<LogEntry>>;
}

/** Longer JSON values are not read at once: a string of 512 MB ends the process. */
const maxBytes = 16 * 1024 * 1024;

interface Row {
  readonly organization: JsonValues<OrganizationRecord>;
  /** Null: too long. */
  readonly sessions: readonly SessionAndLog[] | null;
}

interface SessionAndLog {
  readonly session: JsonValues<SessionRecord>;
  readonly log: EntriesInJson;
}

/**
 * Returns the organization of an unprefixed id in the viewer's enterprise, with its sessions and their logs, in one
 * statement. Null: there is none. The caller checks that the viewer may use the organization. Throws the errors of
 * `pageWindow`.
 */
export async function findOrganizationWithSessions(
  { store, viewer }: Context,
  id: string,
  { list, page: request, log }: SessionsToo,
  limits: PageLimits,
): Promise<OrganizationWithSessions | null> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const { page, sql } = readPage(list, 'session s', request, limits, bind);
  const window = log === null ? null : pageWindow<number>(log, limits, () => null);
  // Not for the extra row that only shows whether more sessions follow.
  const entries =
    log &&
    window &&
    `case when s.position <= ${bind(page.window.limit)} then ${rangeAsJson('s.id', rangeOf(window, log), bind)} end`;
  const statement = `select ${organizationInJson.sql('o')} as organization,
            case when coalesce(size.bytes, 0) <= ${maxBytes} then coalesce(read.sessions, '[]') end as sessions
       from organization o cross join lateral (select o.id) owner cross join lateral (
         select json_agg(json_build_object('session', ${sessionInJson.sql('s')}, 'log', ${entries ?? 'null'}) order by s.position) as sessions from (
           select s.*, row_number() over () as position from (${sql}) s) s
       ) read cross join lateral (select octet_length(read.sessions::text) as bytes offset 0) size
      where o.id = ${bind(id)} and o.enterprise_id = ${bind(viewer.enterpriseId)} and o.deleted_at is null`;
  // Logs are read from the primary.
  const rows = await (window === null ? queryList<Row>(store, statement, values) : store.query<Row>(statement, values));
  const [row] = rows;
  if (!row) return null;
  const organization = organizationInJson.read(row.organization);
  const logs = new Map<string, Page<LogEntry>>();
  if (row.sessions === null) return { organization, sessions: null, logs };
  const found = row.sessions.map(({ session }) => sessionInJson.read(session));
  if (window) {
    for (const [n, { id }] of found.slice(0, page.window.limit).entries()) {
      logs.set(id, toLogPage(toEntries(id, row.sessions[n]?.log ?? null), window));
    }
  }
  return { organization, sessions: page.toPage(found), logs };
}
