import { GraphQLError } from 'graphql';
import { DomainError } from '../../domain/errors.ts';
import { parseId } from '../../domain/ids.ts';
import type { NestedList } from '../../domain/nested-pages.ts';
import { findOrganization, type OrganizationRecord } from '../../domain/organizations/use-organization.ts';
import type { Page, PageRequest } from '../../domain/pages.ts';
import type { LogListRequest } from '../../domain/sessions/list-log.ts';
import { type SessionOrder, sessionsOf } from '../../domain/sessions/list-sessions.ts';
import type { LogEntry } from '../../domain/sessions/log.ts';
import { findOrganizationWithSessions } from '../../domain/sessions/organization-with-sessions.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import type { GraphqlContext } from '../context.ts';
import { type AskedField, beneath, readingAhead } from '../execution/read-ahead.ts';
import type { Run } from '../execution/run.ts';
import { pageLimits } from '../loaders.ts';
import { parseSessionFilter } from './session-filter.ts';

/** A page that was read together with what it belongs to. */
interface PageAhead<T> {
  readonly listKey: string;
  readonly request: PageRequest;
  readonly page: Page<T>;
}

// By the very records of one operation: what another one has read is another record.
const sessionsAhead = new WeakMap<OrganizationRecord, PageAhead<SessionRecord>>();
const logsAhead = new WeakMap<SessionRecord, PageAhead<LogEntry>>();

/** The page of an organization's sessions, where it was read with the organization. */
export const findSessionsAhead = (
  organization: OrganizationRecord,
  { key }: NestedList<SessionRecord>,
  request: PageRequest,
): Page<SessionRecord> | null => pageIn(sessionsAhead.get(organization), key, request);

/** The page of a session's log, where it was read with the session. */
export const findLogAhead = (session: SessionRecord, request: LogListRequest): Page<LogEntry> | null =>
  pageIn(logsAhead.get(session), keyOfLog(request), request);

const keyOfLog = ({ messagesOnly, kinds }: LogListRequest): string => (messagesOnly ? 'messages' : `${kinds?.join()}`);

function pageIn<T>(ahead: PageAhead<T> | undefined, listKey: string, asked: PageRequest): Page<T> | null {
  if (!ahead || ahead.listKey !== listKey) return null;
  const { first, after, last, before } = ahead.request;
  const isAsked =
    first === asked.first && after === asked.after && last === asked.last && before === asked.before;
  return isAsked ? ahead.page : null;
}

/**
 * `Query.organization`, for an operation that asks for a page of its sessions: they come in the same statement, and with them
 * a page of their messages, where that is asked for without a cursor.
 */
export const organizationWithSessions = readingAhead((organization) => {
  const [sessions, another] = beneath(organization, 'sessions');
  if (!sessions || another) return null;
  const [messages = null] = [
    ...beneath(sessions, 'edges', 'node', 'messages'),
    ...beneath(sessions, 'nodes', 'messages'),
  ];
  return async (_root: never, { id }: { readonly id: string }, context: GraphqlContext, run: Run) => {
    try {
      return await readBoth(context, id, run, sessions, messages);
    } catch (error) {
      // It is for the field that it came from to refuse what it was asked.
      if (error instanceof DomainError || error instanceof GraphQLError) return findOrganization(context.domain, id);
      throw error;
    }
  };
});

/** The arguments of `Organization.sessions`. */
type SessionArgs = PageRequest & {
  readonly filter?: Parameters<typeof parseSessionFilter>[0];
  readonly orderBy?: SessionOrder | null;
};

async function readBoth(
  { domain }: GraphqlContext,
  id: string,
  run: Run,
  sessions: AskedField,
  messages: AskedField | null,
): Promise<OrganizationRecord | null> {
  const bare = parseId('organization', id);
  if (bare === null) return null;
  const { filter, orderBy, ...page } = sessions.argsIn(run) as SessionArgs;
  const list = sessionsOf(domain, bare, parseSessionFilter(filter), orderBy ?? undefined);
  const log = messages && ({ ...messages.argsIn(run), messagesOnly: true } as LogListRequest);
  const hasCursor = log?.after != null || log?.before != null;
  const found = await findOrganizationWithSessions(domain, bare, { list, page, log: hasCursor ? null : log }, pageLimits);
  if (!found) return null;
  sessionsAhead.set(found.organization, { listKey: list.key, request: page, page: found.sessions });
  for (const session of log ? found.sessions.items : []) {
    const entries = found.logs.get(session.id);
    if (entries) logsAhead.set(session, { listKey: keyOfLog(log as LogListRequest), request: log as LogListRequest, page: entries });
  }
  return found.organization;
}
