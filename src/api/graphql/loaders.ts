import DataLoader from 'dataloader';
import type { AuditEntryRecord } from '../../domain/audit/audit-entry.ts';
import { type AuditLogRequest, listAuditLogs } from '../../domain/audit/audit-log.ts';
import type { Context } from '../../domain/context.ts';
import { countWaitingSessions, readQueuePositions } from '../../domain/execution/runs/queue-positions.ts';
import { readQueueReasons } from '../../domain/execution/runs/queue-reasons.ts';
import { readWorkspaceStates } from '../../domain/execution/workspaces/request-deletion.ts';
import { findServiceKeyAuthors } from '../../domain/identity/keys/find-service-keys.ts';
import { ofAnySession } from '../../domain/identity/organizations/enterprise-scope.ts';
import { findOrganizations } from '../../domain/identity/organizations/use-organization.ts';
import { findServiceUserAuthors, findUserAuthors, findUsersByEmail } from '../../domain/identity/people/find-people.ts';
import { findRolesByName } from '../../domain/identity/people/list-roles.ts';
import type { RoleRecord } from '../../domain/identity/people/roles.ts';
import { findFolderPaths } from '../../domain/library/knowledge/folder-paths.ts';
import { type Count, type CountedList, countNested, listNested, type NestedList } from '../../domain/nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../domain/pages.ts';
import { findAttachments } from '../../domain/sessions/attachments/attachments.ts';
import { findCheckpoints, findCurrentCheckpoints } from '../../domain/sessions/checkpoints/checkpoints.ts';
import { findSessions } from '../../domain/sessions/find-session.ts';
import { readInsights, type SessionInsights } from '../../domain/sessions/insights.ts';
import { findLogEntries, type LogListRequest, listLogs } from '../../domain/sessions/list-log.ts';
import type { MessageEntry } from '../../domain/sessions/log.ts';
import { readMessageStates, readQueuedMessages } from '../../domain/sessions/message-states.ts';
import { readStoredOptions } from '../../domain/sessions/options/stored-options.ts';
import { readPersonalStates } from '../../domain/sessions/personal-state.ts';
import { searchTranscripts } from '../../domain/sessions/search/search-transcript.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import {
  type LegacyCallRecord,
  listLegacyCallsOfOrganizations,
} from '../../domain/usage/legacy-calls/list-legacy-calls.ts';
import { lazily } from './lazily.ts';
import { createUsageLoaders } from './usage-loaders.ts';

/** The maximum and the default size of a page in GraphQL (docs/graphql-conventions.md#lists). */
export const pageLimits: PageLimits = { max: 100, default: 20 };

/** A function of the domain that finds objects by unprefixed ids, in their order; null for an id that the viewer may not see. */
export type Find<T> = (context: Context, ids: readonly string[]) => Promise<readonly (T | null)[]>;

/** {@link Find} by keys other than ids. */
export type FindByKey<K, T> = (context: Context, keys: readonly K[]) => Promise<(T | null)[]>;

function byId<T>(find: (ids: readonly string[]) => Promise<readonly (T | null)[]>): DataLoader<string, T | null> {
  return new DataLoader((ids: readonly string[]) => find(ids));
}

/** A loader whose keys are objects: keys with equal members are one key. */
const byKey = <K extends object, T>(find: (keys: readonly K[]) => Promise<(T | null)[]>) =>
  new DataLoader<K, T | null, string>(find, { cacheKeyFn: (key) => JSON.stringify(key) });

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

const usages = new WeakMap<From, ReturnType<typeof createUsageLoaders>>();

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

// Pages of lists in logs with the same arguments are read together.
function pagesInLogs<R extends PageRequest, T>(
  read: (context: Context, sessions: readonly SessionRecord[], request: R) => Promise<Page<T>[]>,
) {
  return ({ ofSessions }: From) => {
    const pages = new Map<string, DataLoader<SessionRecord, Page<T>, string>>();
    return (session: SessionRecord, request: R): Promise<Page<T>> => {
      const key = JSON.stringify(request);
      let loader = pages.get(key);
      if (!loader) {
        const readAll = (sessions: readonly SessionRecord[]) => read(ofSessions, sessions, request);
        // A cursor belongs to one session. It is refused for each other session before anything is read.
        const readEach = (sessions: readonly SessionRecord[]) =>
          Promise.all(sessions.map((each) => readAll([each]).then(([page]) => page as Page<T>, toError)));
        const hasCursor = request.after != null || request.before != null;
        loader = new DataLoader(hasCursor ? readEach : readAll, { cacheKeyFn: ({ id }) => id });
        pages.set(key, loader);
      }
      return loader.load(session);
    };
  };
}

// One loader for each function.
function loadersByFind({ context }: From) {
  const loaders = new Map<unknown, unknown>();
  return <T>(find: Find<T>): DataLoader<string, T | null> => {
    const loader = (loaders.get(find) as DataLoader<string, T | null> | undefined) ?? byId((ids) => find(context, ids));
    loaders.set(find, loader);
    return loader;
  };
}

function loadersByKeyFind({ context }: From) {
  const loaders = new Map<unknown, unknown>();
  return <K extends object, T>(find: FindByKey<K, T>): DataLoader<K, T | null, string> => {
    const loader =
      (loaders.get(find) as DataLoader<K, T | null, string> | undefined) ?? byKey((keys) => find(context, keys));
    loaders.set(find, loader);
    return loader;
  };
}

const makeLoaders = lazily<From>()({
  /** Returns the loader of a function of the domain. */
  of: loadersByFind,
  /** Returns the loader of a function of the domain whose keys are objects. */
  ofKeys: loadersByKeyFind,
  /** Loads a page of one owner's list. */
  nestedPage: nestedPages,
  /** Counts one owner's list. */
  nestedCount: nestedCounts,
  /** By ids of folders that were already loaded for the viewer. */
  folderPaths: ({ context }: From) =>
    byId(async (ids) => {
      const paths = await findFolderPaths(
        context,
        ids.map((folderId) => ({ folderId })),
      );
      return ids.map((id) => paths.get(id) ?? null);
    }),
  checkpoints: ({ ofSessions }: From) => byId((ids) => findCheckpoints(ofSessions, ids)),
  /** By ids of sessions. */
  currentCheckpoints: ({ ofSessions }: From) => byId((ids) => findCurrentCheckpoints(ofSessions, ids)),
  attachments: ({ ofSessions }: From) => byId((ids) => findAttachments(ofSessions, ids)),
  /** For sessions that the viewer may see. */
  insights: ({ context }: From) =>
    new DataLoader<Pick<SessionRecord, 'id' | 'acusConsumed'>, SessionInsights, string>(
      (sessions) => readInsights(context, sessions),
      { cacheKeyFn: ({ id }) => id },
    ),
  /** By ids of sessions that the viewer may see. */
  workspaceStates: ({ context }: From) => new DataLoader((ids: readonly string[]) => readWorkspaceStates(context, ids)),
  /** By ids of sessions that the viewer may see. */
  storedOptions: ({ context }: From) =>
    new DataLoader((ids: readonly string[]) => readStoredOptions(context.store, ids)),
  /** By ids of messages that the viewer has read. */
  messageStates: ({ context }: From) => byId((ids) => readMessageStates(context, ids)),
  queuedMessages: ({ ofSessions }: From) =>
    new DataLoader<Pick<SessionRecord, 'id' | 'organizationId'>, MessageEntry[], string>(
      (sessions) => readQueuedMessages(ofSessions, sessions),
      { cacheKeyFn: ({ id }) => id },
    ),
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
  /** For sessions that the viewer may see. */
  personalStates: ({ context }: From) => new DataLoader((ids: readonly string[]) => readPersonalStates(context, ids)),
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
  userAuthors: ({ context }: From) => byId((ids) => findUserAuthors(context, ids)),
  serviceUserAuthors: ({ context }: From) => byId((ids) => findServiceUserAuthors(context, ids)),
  serviceKeyAuthors: ({ context }: From) => byId((ids) => findServiceKeyAuthors(context, ids)),
  usersByEmail: ({ context }: From) => byId((emails) => findUsersByEmail(context, emails)),
  rolesByName: ({ context }: From) =>
    byKey((keys: readonly Pick<RoleRecord, 'scope' | 'name'>[]) => findRolesByName(context, keys)),
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
  logPage: pagesInLogs((context, sessions, request: LogListRequest) =>
    listLogs(context, sessions, request, pageLimits),
  ),
  /** Loads a page of what a search finds in a session's log. */
  transcriptMatches: pagesInLogs((context, sessions, { query, ...request }: PageRequest & { readonly query: string }) =>
    searchTranscripts(context, sessions, query, request, pageLimits),
  ),
});

/** Creates loaders that run one statement for all ids, or for all sessions' pages, requested in the same tick. */
export function createLoaders(context: Context): Loaders {
  return makeLoaders({ context, ofSessions: ofAnySession(context, 'view') });
}

/** See {@link createLoaders}. */
export type Loaders = ReturnType<typeof makeLoaders>;
