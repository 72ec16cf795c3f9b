import { GraphQLError } from 'graphql';
import { DomainError } from '../../../common/errors.ts';
import { findOrganization, type OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { parseId } from '../../../domain/ids.ts';
import type { NestedList } from '../../../domain/nested-pages.ts';
import { type Page, type PageRequest, pageOf } from '../../../domain/pages.ts';
import { type LogListRequest, logRequest } from '../../../domain/sessions/list-log.ts';
import { sessionsOf } from '../../../domain/sessions/list-sessions.ts';
import type { LogEntry } from '../../../domain/sessions/log.ts';
import { findOrganizationWithSessions } from '../../../domain/sessions/organization-with-sessions.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import type { GraphqlContext } from '../context.ts';
import { beneath, type RequestedField, type Run, readingAhead } from '../execution/index.ts';
import { pageLimits } from '../loaders.ts';
import { parseSessionFilter, type SessionListArgs } from './session-filter.ts';

/** A page that was read together with its owner. */
interface PageAhead<T> {
  readonly listKey: string;
  readonly request: PageRequest;
  readonly page: Page<T>;
}

// Stored on the record that was read with it: other operations read other records. A WeakMap would do, but its entries
// survive every collection except the full ones.
const ahead = Symbol('read ahead');

interface WithAhead<T> {
  [ahead]?: PageAhead<T>;
}

/** The page of an organization's sessions, if it was read together with the organization. */
export function findSessionsAhead(
  organization: OrganizationRecord & WithAhead<SessionRecord>,
  { key }: NestedList<SessionRecord>,
  request: PageRequest,
): Page<SessionRecord> | null {
  return pageIn(organization[ahead], key, request);
}

/** The page of a session's log, if it was read together with the session. */
export function findLogAhead(session: SessionRecord & WithAhead<LogEntry>, request: LogListRequest) {
  return pageIn(session[ahead], keyOfLog(request), request);
}

const keyOfLog = ({ messagesOnly, kinds }: LogListRequest): string => (messagesOnly ? 'messages' : `${kinds?.join()}`);

function pageIn<T>(read: PageAhead<T> | undefined, listKey: string, request: PageRequest): Page<T> | null {
  if (!read || read.listKey !== listKey) return null;
  const { first, after, last, before } = read.request;
  const isSameRequest =
    first === request.first && after === request.after && last === request.last && before === request.before;
  return isSameRequest ? read.page : null;
}

/**
 * Resolves `Query.organization` for an operation that requests a page of its sessions: they are read in the same
 * statement, together with a page of their messages if one is requested without a cursor.
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
      // The field that owns the arguments reports their errors.
      if (error instanceof DomainError || error instanceof GraphQLError) return findOrganization(context.domain, id);
      throw error;
    }
  };
});

/** The arguments of `Organization.sessions`. */
type SessionArgs = PageRequest & SessionListArgs;

async function readBoth(
  { domain }: GraphqlContext,
  id: string,
  run: Run,
  sessions: RequestedField,
  messages: RequestedField | null,
): Promise<OrganizationRecord | null> {
  const unprefixedId = parseId('organization', id);
  if (unprefixedId === null) return null;
  const args = sessions.argsIn(run) as SessionArgs;
  const { filter, orderBy } = args;
  const page = pageOf(args);
  const list = sessionsOf(domain, unprefixedId, parseSessionFilter(filter), orderBy ?? undefined);
  const log = messages && logRequest(messages.argsIn(run), { messagesOnly: true });
  const hasCursor = log?.after != null || log?.before != null;
  const found = await findOrganizationWithSessions(
    domain,
    unprefixedId,
    { list, page, log: hasCursor ? null : log },
    pageLimits,
  );
  if (!found?.sessions) return found?.organization ?? null;
  put(found.organization, { listKey: list.key, request: page, page: found.sessions });
  if (log === null) return found.organization;
  for (const session of found.sessions.items) {
    const entries = found.logs.get(session.id);
    if (entries) put(session, { listKey: keyOfLog(log), request: log, page: entries });
  }
  return found.organization;
}

function put<T>(record: object, read: PageAhead<T>): void {
  (record as WithAhead<T>)[ahead] = read;
}
