import DataLoader from 'dataloader';
import type { AuditEntryRecord } from '../domain/audit-entry.ts';
import { type AuditLogRequest, findAuditEntries, listAuditLogs } from '../domain/audit-log.ts';
import type { Context } from '../domain/context.ts';
import { type ApiKeyRecord, findApiKeys } from '../domain/keys/key-record.ts';
import { listServiceUserKeys } from '../domain/keys/list-api-keys.ts';
import { type LegacyCallRecord, listLegacyCallsOfOrganizations } from '../domain/legacy-calls/list-legacy-calls.ts';
import { type Count, countNested, listNested, type NestedList } from '../domain/nested-pages.ts';
import { findEnterprises } from '../domain/organizations/enterprises.ts';
import { findMembersByIds } from '../domain/organizations/members.ts';
import { findOrganizations } from '../domain/organizations/use-organization.ts';
import type { Page, PageLimits, PageRequest } from '../domain/pages.ts';
import { findServiceUserAuthors, findServiceUsers, findUserAuthors, findUsers } from '../domain/people/find-people.ts';
import {
  type ListedRoleAssignment,
  listRoleAssignments,
  type RoleHolderKind,
} from '../domain/people/list-role-assignments.ts';
import { findRolesByIds } from '../domain/people/list-roles.ts';
import { ofAnySession } from '../domain/sessions/enterprise-scope.ts';
import { findSessions } from '../domain/sessions/find-session.ts';
import { findLogEntries, type LogListRequest, listLogs } from '../domain/sessions/list-log.ts';
import type { LogEntry } from '../domain/sessions/log.ts';
import type { SessionRecord } from '../domain/sessions/session.ts';
import { createResourceLoaders } from './resource-loaders.ts';
import { createUsageLoaders } from './usage-loaders.ts';

/** The most that GraphQL gives in one page, and what it gives when not asked (contract.graphql). */
export const pageLimits: PageLimits = { max: 100, default: 20 };

function byId<T>(find: (ids: readonly string[]) => Promise<readonly (T | null)[]>): DataLoader<string, T | null> {
  return new DataLoader((ids: readonly string[]) => find(ids));
}

/** A page's arguments and the list's key: what is alike in both is read in one statement. */
function createNestedLoaders(context: Context) {
  const pages = new Map<string, DataLoader<NestedList<NestedItem>, Page<NestedItem>, string>>();
  const counts = new Map<string, DataLoader<NestedList<unknown>, Count, string>>();
  const cacheKeyFn = ({ ownerId }: NestedList<unknown>) => ownerId;
  return {
    /** A page of one owner's list. */
    nestedPage<T extends NestedItem>(
      list: NestedList<T>,
      { first, after, last, before }: PageRequest,
    ): Promise<Page<T>> {
      const request = { first, after, last, before };
      const key = JSON.stringify([list.key, request]);
      const loader =
        pages.get(key) ??
        new DataLoader((lists: readonly NestedList<NestedItem>[]) => listNested(context, lists, request, pageLimits), {
          cacheKeyFn,
        });
      pages.set(key, loader);
      return loader.load(list) as Promise<unknown> as Promise<Page<T>>;
    },
    /** How long one owner's list is. */
    nestedCount(list: NestedList<unknown>): Promise<Count> {
      const loader =
        counts.get(list.key) ??
        new DataLoader((lists: readonly NestedList<unknown>[]) => countNested(context, lists), { cacheKeyFn });
      counts.set(list.key, loader);
      return loader.load(list);
    },
  };
}

type NestedItem = { readonly id: string; readonly createdAt: Date };

const toError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

/** One statement for all ids, or all sessions' pages, that are asked for in the same tick. */
export function createLoaders(context: Context) {
  const logPages = new Map<string, DataLoader<SessionRecord, Page<LogEntry>, string>>();
  const auditPages = new Map<string, DataLoader<string, Page<AuditEntryRecord>>>();
  const keyPages = new Map<string, DataLoader<string, Page<ApiKeyRecord>>>();
  const legacyCallPages = new Map<string, DataLoader<string, Page<LegacyCallRecord>>>();
  const rolePages = new Map<string, DataLoader<string, Page<ListedRoleAssignment>>>();
  const ofSessions = ofAnySession(context, 'view');
  return {
    ...createNestedLoaders(context),
    ...createResourceLoaders(context),
    sessions: byId((ids) => findSessions(ofSessions, ids)),
    /** The organizations of sessions that the viewer sees: it may know these, also when it may not use them. */
    sessionOrganizations: byId((ids) => findOrganizations(ofSessions, ids)),
    organizations: byId((ids) => findOrganizations(context, ids)),
    enterprises: byId((ids) => findEnterprises(context, ids)),
    users: byId((ids) => findUsers(context, ids)),
    userAuthors: byId((ids) => findUserAuthors(context, ids)),
    serviceUsers: byId((ids) => findServiceUsers(context, ids)),
    serviceUserAuthors: byId((ids) => findServiceUserAuthors(context, ids)),
    roles: byId((ids) => findRolesByIds(context, ids)),
    apiKeys: byId((ids) => findApiKeys(context, ids)),
    members: byId((ids) => findMembersByIds(context, ids)),
    logEntries: byId((ids) => findLogEntries(ofSessions, ids)),
    auditEntries: byId((ids) => findAuditEntries(context, ids)),
    ...createUsageLoaders(context, pageLimits),
    /** A page of an organization's audit log; those with the same arguments are read together. */
    auditLogPage(organizationId: string, request: AuditLogRequest): Promise<Page<AuditEntryRecord>> {
      const key = JSON.stringify(request);
      const loader =
        auditPages.get(key) ??
        new DataLoader((ids: readonly string[]) => listAuditLogs(context, ids, request, pageLimits));
      auditPages.set(key, loader);
      return loader.load(organizationId);
    },
    /** A page of a user's or service user's role assignments; those with the same arguments are read together. */
    rolePage(kind: RoleHolderKind, id: string, request: PageRequest): Promise<Page<ListedRoleAssignment>> {
      const key = JSON.stringify([kind, request]);
      const loader =
        rolePages.get(key) ??
        new DataLoader((ids: readonly string[]) => listRoleAssignments(context, kind, ids, request, pageLimits));
      rolePages.set(key, loader);
      return loader.load(id);
    },
    /** A page of a service user's keys; those with the same arguments are read together. */
    keyPage(serviceUserId: string, status: string, request: PageRequest): Promise<Page<ApiKeyRecord>> {
      const key = JSON.stringify([status, request]);
      const loader =
        keyPages.get(key) ??
        new DataLoader((ids: readonly string[]) => listServiceUserKeys(context, ids, status, request, pageLimits));
      keyPages.set(key, loader);
      return loader.load(serviceUserId);
    },
    /** A page of the calls of legacy routes in an organization; those with the same arguments are read together. */
    legacyCallPage(organizationId: string, request: PageRequest): Promise<Page<LegacyCallRecord>> {
      const key = JSON.stringify(request);
      const loader =
        legacyCallPages.get(key) ??
        new DataLoader((ids: readonly string[]) => listLegacyCallsOfOrganizations(context, ids, request, pageLimits));
      legacyCallPages.set(key, loader);
      return loader.load(organizationId);
    },
    /** A page of a session's log; those with the same arguments are read together. */
    logPage(session: SessionRecord, request: LogListRequest): Promise<Page<LogEntry>> {
      const key = JSON.stringify(request);
      let loader = logPages.get(key);
      if (!loader) {
        const read = (sessions: readonly SessionRecord[]) => listLogs(ofSessions, sessions, request, pageLimits);
        // A cursor is of one session: it is refused for each other alone, before anything is read.
        const readEach = (sessions: readonly SessionRecord[]) =>
          Promise.all(sessions.map((each) => read([each]).then(([page]) => page as Page<LogEntry>, toError)));
        const hasCursor = request.after != null || request.before != null;
        loader = new DataLoader(hasCursor ? readEach : read, { cacheKeyFn: ({ id }) => id });
        logPages.set(key, loader);
      }
      return loader.load(session);
    },
  };
}

/** See {@link createLoaders}. */
export type Loaders = ReturnType<typeof createLoaders>;
