import { type AuditAction, auditActions } from '../../domain/audit.ts';
import { type AuditEntryRecord, targetKindOf } from '../../domain/audit-entry.ts';
import { type AuditLogRequest, auditLogOf, listAuditLog } from '../../domain/audit-log.ts';
import { parseId, prefixedId } from '../../domain/ids.ts';
import { type PageRequest, pageOf } from '../../domain/pages.ts';
import type { ListOrder } from '../../domain/timed-pages.ts';
import { builder } from '../builder.ts';
import { countable } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { listArgs, orderInput, requireShortLists } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const AuditActionEnum = builder.enumType('AuditAction', {
  description: 'Acts that the audit log records.',
  values: Object.fromEntries(
    Object.entries(auditActions).map(([value, { meaning }]) => [
      value.toUpperCase(),
      { value: value as AuditAction, description: meaning },
    ]),
  ),
});

// An entry names the key of every caller: who acts by it is the user or the service user, if there is one.
const actorOf = ({ userId, serviceUserId, apiKeyId }: AuditEntryRecord) => {
  const isOfKey = userId === null && serviceUserId === null;
  return { userId, serviceUserId, serviceKeyId: isOfKey ? apiKeyId : null };
};

const isRecorded = (action: string): action is AuditAction => Object.hasOwn(auditActions, action);

const AuditLogEntry = builder.objectRef<AuditEntryRecord>('AuditLogEntry');
builder.node(AuditLogEntry, {
  description: 'What was done, by whom, from where. It never holds a secret’s value or a message’s text.',
  id: { resolve: (entry) => entry.id, description: 'The global ID.' },
  fields: (t) => ({
    auditLogId: t.string({
      description: 'The id as REST writes it.',
      resolve: (entry) => prefixedId('auditEntry', entry.id),
    }),
    action: t.field({
      type: AuditActionEnum,
      nullable: true,
      description: 'What was done; null: something that a newer version of the service recorded.',
      resolve: ({ action }) => (isRecorded(action) ? action : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was done.' }),
    actor: t.field({
      type: Principal,
      nullable: true,
      description:
        'The principal that did it; null: the viewer may not see that principal. `actorName` names it all the same.',
      resolve: (entry, _args, context) => loadPrincipal(context, actorOf(entry)),
    }),
    actorName: t.string({
      nullable: true,
      description: 'Who did it, by name or e-mail address, also when deleted since; null: the service itself.',
      resolve: ({ userName, userEmail, serviceUserName, apiKeyName }) =>
        userName ?? userEmail ?? serviceUserName ?? apiKeyName,
    }),
    apiKeyId: t.string({
      nullable: true,
      description: 'The key that it was done with, as REST writes its id.',
      resolve: ({ apiKeyId }) => (apiKeyId === null ? null : prefixedId('apiKey', apiKeyId)),
    }),
    address: t.exposeString('address', { nullable: true, description: 'The network address that it was done from.' }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'Where it was done; null: on the enterprise itself, or in an organization deleted since.',
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    organizationId: t.string({
      nullable: true,
      description:
        'The organization’s id as REST writes it, also of one deleted since; null: on the enterprise itself.',
      resolve: ({ organizationId }) => (organizationId === null ? null : prefixedId('organization', organizationId)),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session that it was about; null: none, or one that the viewer may not see.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
    targetId: t.string({
      nullable: true,
      description: 'What it was done to, as REST writes its id; null: nothing that has one.',
      resolve: (entry) => {
        const kind = targetKindOf(entry);
        return kind === null || entry.targetId === null ? entry.targetId : prefixedId(kind, entry.targetId);
      },
    }),
    data: t.field({ type: 'JSON', description: 'What else is known of it.', resolve: ({ data }) => data }),
  }),
});

const AuditLogFilterInput = builder.inputType('AuditLogFilter', {
  description: 'Narrows the audit log: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    actions: t.field({ type: [AuditActionEnum], description: 'Only entries of one of these actions.' }),
    actorId: t.id({
      description: 'Only what was done by this user, by this service user, by this service key or with this key.',
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Only what was done at this time or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only what was done before this time.' }),
  }),
});

const AuditLogOrderInput = orderInput(
  'AuditLog',
  'DESC: by time, newest first. ASC: oldest first, in the order in which entries became final, so that a reader that goes on from its last cursor misses none.',
);

interface Args extends PageRequest {
  readonly filter?: typeof AuditLogFilterInput.$inferInput | null | undefined;
  readonly orderBy?: ListOrder<'createdAt'> | null | undefined;
}

// An id that is none matches nothing, as any other id of something that does not exist.
const readActorId = (id: string) =>
  parseId('user', id) ?? parseId('serviceUser', id) ?? parseId('serviceKey', id) ?? parseId('apiKey', id) ?? '';

function toRequest(args: Args): AuditLogRequest {
  const { filter, orderBy } = args;
  requireShortLists(filter ?? {});
  return {
    ...pageOf(args),
    order: orderBy?.direction,
    filter: {
      actions: filter?.actions ?? undefined,
      actorId: filter?.actorId == null ? undefined : readActorId(filter.actorId),
      createdAfter: filter?.createdAfter ?? undefined,
      createdBefore: filter?.createdBefore ?? undefined,
    },
  };
}

const AuditLogEntryConnection = countedConnection(AuditLogEntry, 'AuditLogEntry', {
  page: 'A page of the audit log.',
  edge: 'An entry of the audit log in a list.',
});

builder.objectField(Organization, 'auditLog', (t) =>
  t.connection(
    {
      type: AuditLogEntry,
      ...boundary('viewAuditLog'),
      description: 'What was done in it, newest first unless ordered otherwise.',
      args: listArgs(t.arg, AuditLogFilterInput, AuditLogOrderInput),
      resolve: async ({ id }, args, context) => {
        const request = toRequest(args);
        const list = auditLogOf(context.domain, id, request.filter);
        return countable(context, list, await context.loaders.auditLogPage(id, request));
      },
    },
    AuditLogEntryConnection,
  ),
);

builder.objectField(Enterprise, 'auditLog', (t) =>
  t.connection(
    {
      type: AuditLogEntry,
      ...boundary('viewAuditLog'),
      description: 'What was done in it and in all its organizations, newest first unless ordered otherwise.',
      args: listArgs(t.arg, AuditLogFilterInput, AuditLogOrderInput),
      resolve: async (_enterprise, args, context) => {
        const request = toRequest(args);
        const list = auditLogOf(context.domain, null, request.filter);
        return countable(context, list, await listAuditLog(context.domain, request, pageLimits));
      },
    },
    AuditLogEntryConnection,
  ),
);
