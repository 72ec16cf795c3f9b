import DataLoader from 'dataloader';
import type { AuditEntryRecord } from '../../domain/audit/audit-entry.ts';
import { type AuditLogRequest, listAuditLogs } from '../../domain/audit/audit-log.ts';
import type { Context } from '../../domain/context.ts';
import { countWaitingSessions, readQueuePositions } from '../../domain/execution/runs/queue-positions.ts';
import { readQueueReasons } from '../../domain/execution/runs/queue-reasons.ts';
import { findServiceKeyAuthors, findServiceKeys } from '../../domain/identity/keys/find-service-keys.ts';
import { findApiKeys } from '../../domain/identity/keys/key-record.ts';
import { ofAnySession } from '../../domain/identity/organizations/enterprise-scope.ts';
import { findEnterprises } from '../../domain/identity/organizations/enterprises.ts';
import { findOrganizations } from '../../domain/identity/organizations/use-organization.ts';
import {
  findServiceUserAuthors,
  findServiceUsers,
  findUserAuthors,
  findUsers,
  findUsersByEmail,
} from '../../domain/identity/people/find-people.ts';
import { findRolesByIds, findRolesByName } from '../../domain/identity/people/list-roles.ts';
import type { RoleRecord } from '../../domain/identity/people/roles.ts';
import { type Count, type CountedList, countNested, listNested, type NestedList } from '../../domain/nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../domain/pages.ts';
import { findSessions } from '../../domain/sessions/find-session.ts';
import { findLogEntries, type LogListRequest, listLogs } from '../../domain/sessions/list-log.ts';
import type { LogEntry } from '../../domain/sessions/log.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import {
  type LegacyCallRecord,
  listLegacyCallsOfOrganizations,
} from '../../domain/usage/legacy-calls/list-legacy-calls.ts';
import { lazily } from './lazily.ts';
import { byKey, createResourceLoaders } from './resource-loaders.ts';
import { createUsageLoaders } from './usage-loaders.ts';

/** The maximum and the default size of a page in GraphQL (docs/graphql-conventions.md#lists). */
export const pageLimits: PageLimits = { max: 100, default: 20 };

/** A function of the domain that finds objects by unprefixed ids, in their order; null for an id that the viewer may not see. */
export type Find<T> = (context: Context, ids: readonly string[]) => Promise<readonly (T | null)[]>;

function byId<T>(find: (ids: readonly string[]) => Promise<readonly (T | null)[]>): DataLoader<string, T | null> {
  return new DataLoader((ids: readonly string[]) => find(ids));
}

const cacheKeyFn = ({ ownerId }: Pick<CountedList, 'ownerId'>) => ownerId;

// Pages with the same arguments and list are read in one statement.
function nestedPages({ context }: From) {
  const pages = new Map<string, DataLoader<NestedList<NestedItem>, Page<NestedItem>, string>>();
  return <T extends NestedItem>(list: NestedList<T>, { first, after, last, before }: PageRequest): Promise<Page<T>> => {
    const request = { first, after, last, before };
    const key = JSON.stringify([list.key, request]);
    const loader =
      pages.get(key) ??
      new DataLoader((lists: readonly NestedList<NestedItem>[]) => listNested(context, lists, request, pageLimits), {
        cacheKeyFn,
      });
    pages.set(key, loader);
    return loader.load(list) as Promise<unknown> as Promise<Page<T>>;
  };
}

function nestedCounts({ context }: From) {
  const counts = new Map<string, DataLoader<CountedList, Count, string>>();
  return (list: CountedList): Promise<Count> => {
    const loader =
      counts.get(list.key) ??
      new DataLoader((lists: readonly CountedList[]) => countNested(context, lists), { cacheKeyFn });
    counts.set(list.key, loader);
    return loader.load(list);
  };
}

type NestedItem = { readonly id: string; readonly createdAt: Date };

const toError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

/** The context of the loaders, and the loader groups that are in use. */
interface From {
  readonly context: Context;
  /** The context for sessions and their content. */
  readonly ofSessions: Context;
}

const resources = new WeakMap<From, ReturnType<typeof createResourceLoaders>>();
const usages = new WeakMap<From, ReturnType<typeof createUsageLoaders>>();

const resource =
  <K extends keyof ReturnType<typeof createResourceLoaders>>(name: K) =>
  (from: From): ReturnType<typeof createResourceLoaders>[K] => {
    const group = resources.get(from) ?? createResourceLoaders(from.context);
    resources.set(from, group);
    return group[name];
  };
const usage =
  <K extends keyof ReturnType<typeof createUsageLoaders>>(name: K) =>
  (from: From): ReturnType<typeof createUsageLoaders>[K] => {
    const group = usages.get(from) ?? createUsageLoaders(from.context, pageLimits);
    usages.set(from, group);
    return group[name];
  };

// Reads pages with the same arguments together.
function pagesBy<R, I extends unknown[]>(
  keyOf: (...request: I) => string,
  read: (from: From, ids: readonly string[], ...request: I) => Promise<readonly Page<R>[]>,
) {
  return (from: From) => {
    const pages = new Map<string, DataLoader<string, Page<R>>>();
    return (id: string, ...request: I): Promise<Page<R>> => {
      const key = keyOf(...request);
      const loader = pages.get(key) ?? new DataLoader((ids: readonly string[]) => read(from, ids, ...request));
      pages.set(key, loader);
      return loader.load(id);
    };
  };
}

function logPages({ ofSessions }: From) {
  const pages = new Map<string, DataLoader<SessionRecord, Page<LogEntry>, string>>();
  return (session: SessionRecord, request: LogListRequest): Promise<Page<LogEntry>> => {
    const key = JSON.stringify(request);
    let loader = pages.get(key);
    if (!loader) {
      const read = (sessions: readonly SessionRecord[]) => listLogs(ofSessions, sessions, request, pageLimits);
      // A cursor belongs to one session. It is refused for each other session before anything is read.
      const readEach = (sessions: readonly SessionRecord[]) =>
        Promise.all(sessions.map((each) => read([each]).then(([page]) => page as Page<LogEntry>, toError)));
      const hasCursor = request.after != null || request.before != null;
      loader = new DataLoader(hasCursor ? readEach : read, { cacheKeyFn: ({ id }) => id });
      pages.set(key, loader);
    }
    return loader.load(session);
  };
}

// One loader for each function.
function loadersByFind({ context }: From) {
  const loaders = new Map<Find<never>, DataLoader<string, never>>();
  return <T>(find: Find<T>): DataLoader<string, T | null> => {
    const loader = loaders.get(find as Find<never>) ?? byId((ids) => find(context, ids));
    loaders.set(find as Find<never>, loader as DataLoader<string, never>);
    return loader;
  };
}

const makeLoaders = lazily<From>()({
  /** Returns the loader of a function of the domain. */
  of: loadersByFind,
  /** Loads a page of one owner's list. */
  nestedPage: nestedPages,
  /** Counts one owner's list. */
  nestedCount: nestedCounts,
  folders: resource('folders'),
  folderPaths: resource('folderPaths'),
  notesByMacro: resource('notesByMacro'),
  foldersByPath: resource('foldersByPath'),
  playbooksByMacro: resource('playbooksByMacro'),
  secretsByKey: resource('secretsByKey'),
  automations: resource('automations'),
  playbooks: resource('playbooks'),
  webhookEndpoints: resource('webhookEndpoints'),
  attachments: resource('attachments'),
  insights: resource('insights'),
  workspaceStates: resource('workspaceStates'),
  sessions: ({ ofSessions }: From) => byId((ids) => findSessions(ofSessions, ids)),
  /** For sessions that the viewer may see. */
  queueReasons: ({ context }: From) =>
    byId(async (ids) => {
      const reasons = await readQueueReasons(context, ids);
      return ids.map((id) => reasons.get(id) ?? null);
    }),
  /** For sessions that the viewer may see. */
  queuePositions: ({ context }: From) =>
    byId(async (ids) => {
      const positions = await readQueuePositions(context, ids);
      return ids.map((id) => positions.get(id) ?? null);
    }),
  /** For organizations whose sessions the viewer may see. */
  waitingCounts: ({ context }: From) =>
    byId(async (ids) => {
      const counts = await countWaitingSessions(context, ids);
      return ids.map((id) => counts.get(id) ?? 0);
    }),
  /**
   * The organizations of sessions that the viewer may see. The viewer may know these organizations even if it may not
   * use them.
   */
  sessionOrganizations: ({ ofSessions }: From) => byId((ids) => findOrganizations(ofSessions, ids)),
  organizations: ({ context }: From) => byId((ids) => findOrganizations(context, ids)),
  enterprises: ({ context }: From) => byId((ids) => findEnterprises(context, ids)),
  users: ({ context }: From) => byId((ids) => findUsers(context, ids)),
  userAuthors: ({ context }: From) => byId((ids) => findUserAuthors(context, ids)),
  serviceUsers: ({ context }: From) => byId((ids) => findServiceUsers(context, ids)),
  serviceUserAuthors: ({ context }: From) => byId((ids) => findServiceUserAuthors(context, ids)),
  serviceKeys: ({ context }: From) => byId((ids) => findServiceKeys(context, ids)),
  serviceKeyAuthors: ({ context }: From) => byId((ids) => findServiceKeyAuthors(context, ids)),
  usersByEmail: ({ context }: From) => byId((emails) => findUsersByEmail(context, emails)),
  rolesByName: ({ context }: From) =>
    byKey((keys: readonly Pick<RoleRecord, 'scope' | 'name'>[]) => findRolesByName(context, keys)),
  roles: ({ context }: From) => byId((ids) => findRolesByIds(context, ids)),
  apiKeys: ({ context }: From) => byId((ids) => findApiKeys(context, ids)),
  logEntries: ({ ofSessions }: From) => byId((ids) => findLogEntries(ofSessions, ids)),
  tagRules: usage('tagRules'),
  consumptionSums: usage('consumptionSums'),
  consumptionShares: usage('consumptionShares'),
  consumptionShareCount: usage('consumptionShareCount'),
  sessionMetrics: usage('sessionMetrics'),
  activeUserCount: usage('activeUserCount'),
  activeUserWindows: usage('activeUserWindows'),
  /** Loads a page of an organization's audit log. */
  auditLogPage: pagesBy(
    (request: AuditLogRequest) => JSON.stringify(request),
    ({ context }, ids, request): Promise<Page<AuditEntryRecord>[]> => listAuditLogs(context, ids, request, pageLimits),
  ),
  /** Loads a page of an organization's calls of legacy routes. */
  legacyCallPage: pagesBy(
    (request: PageRequest) => JSON.stringify(request),
    ({ context }, ids, request): Promise<Page<LegacyCallRecord>[]> =>
      listLegacyCallsOfOrganizations(context, ids, request, pageLimits),
  ),
  /** Loads a page of a session's log. */
  logPage: logPages,
});

/** Creates loaders that run one statement for all ids, or for all sessions' pages, requested in the same tick. */
export function createLoaders(context: Context): Loaders {
  return makeLoaders({ context, ofSessions: ofAnySession(context, 'view') });
}

/** See {@link createLoaders}. */
export type Loaders = ReturnType<typeof makeLoaders>;
