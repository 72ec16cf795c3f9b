import { type AuditEntryRecord, targetKindOf } from '../../../domain/audit/audit-entry.ts';
import { type AuditLogRequest, auditLogOf, listAuditLog } from '../../../domain/audit/audit-log.ts';
import { type AuditAction, auditActions } from '../../../domain/audit/record-audit.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import { type PageRequest, pageOf } from '../../../domain/pages.ts';
import type { ListOrder } from '../../../domain/sorted-pages.ts';
import { builder } from '../builder.ts';
import { countable } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { listTypes } from './add-list.ts';
import { defineEnum, meaningsOf } from './define-enum.ts';
import { Enterprise } from './enterprise-ref.ts';
import { listArgs, orderInput, requireShortLists } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization, organizationField, restIdField } from './organization-ref.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const AuditActionEnum = defineEnum('AuditAction', 'Actions that the audit log records.', meaningsOf(auditActions));

// An entry holds the key of every caller; the actor is the user or the service user, if there is one.
const actorOf = ({ userId, serviceUserId, apiKeyId }: AuditEntryRecord) => {
  const isOfKey = userId === null && serviceUserId === null;
  return { userId, serviceUserId, serviceKeyId: isOfKey ? apiKeyId : null };
};

const isRecorded = (action: string): action is AuditAction => Object.hasOwn(auditActions, action);

export const AuditLogEntry = builder.objectRef<AuditEntryRecord>('AuditLogEntry');
builder.node(AuditLogEntry, {
  description:
    'A record of an action: which principal performed it, when, from which address and on which resource. An entry never contains the value of a secret or the text of a message.',
  id: { resolve: (entry) => entry.id, description: 'Global ID of the audit log entry.' },
  fields: (t) => ({
    auditLogId: restIdField(t, 'auditEntry', 'REST id of the audit log entry, which begins with `audit_log-`.'),
    action: t.field({
      type: AuditActionEnum,
      nullable: true,
      description:
        'Action that was performed. Null if a newer version of the service recorded an action that this version does not know.',
      resolve: ({ action }) => (isRecorded(action) ? action : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the action was performed.' }),
    actor: t.field({
      type: Principal,
      nullable: true,
      description:
        'Principal that performed the action. Null if the viewer may not see the principal; `actorName` is given even then.',
      resolve: (entry, _args, context) => loadPrincipal(context, actorOf(entry)),
    }),
    actorName: t.string({
      nullable: true,
      description:
        'Name or email address of the principal that performed the action, even if the principal has been deleted. Null if the service itself performed the action.',
      resolve: ({ userName, userEmail, serviceUserName, apiKeyName }) =>
        userName ?? userEmail ?? serviceUserName ?? apiKeyName,
    }),
    apiKeyId: t.string({
      nullable: true,
      description: 'REST id of the API key that was used, which begins with `key-`. Null if no key was used.',
      resolve: ({ apiKeyId }) => (apiKeyId === null ? null : prefixedId('apiKey', apiKeyId)),
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Network address from which the action was performed. Null if no address was recorded.',
    }),
    organization: organizationField(
      t,
      'Organization in which the action was performed. Null if the action was performed on the enterprise itself or the organization has been deleted.',
    ),
    organizationId: t.string({
      nullable: true,
      description:
        'REST id of the organization in which the action was performed, even if the organization has been deleted. Null if the action was performed on the enterprise itself.',
      resolve: ({ organizationId }) => (organizationId === null ? null : prefixedId('organization', organizationId)),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description:
        'Session that the action concerned. Null if the action concerned no session or the viewer may not see the session.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
    targetId: t.string({
      nullable: true,
      description: 'REST id of the resource that the action changed. Null if there is no resource with an id.',
      resolve: (entry) => {
        const kind = targetKindOf(entry);
        return kind === null || entry.targetId === null ? entry.targetId : prefixedId(kind, entry.targetId);
      },
    }),
    data: t.field({
      type: 'JSON',
      description: 'Further details of the action as a JSON object. The members depend on the action.',
      resolve: ({ data }) => data,
    }),
  }),
});

const AuditLogFilterInput = builder.inputType('AuditLogFilter', {
  description:
    'Conditions for entries of the audit log. An entry must meet every condition that is given, and match one value of each list.',
  fields: (t) => ({
    actions: t.field({ type: [AuditActionEnum], description: 'Only entries with one of these actions.' }),
    actorId: t.id({
      description:
        'Only actions performed by this user, service user or service key, or with this API key. Global ID or REST id.',
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Only actions performed at or after this time.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only actions performed before this time.' }),
  }),
});

const AuditLogOrderInput = orderInput(
  'AuditLog',
  '`DESC` orders by time, newest first. `ASC` orders by the time at which entries became final, oldest first, so that a client that continues from its last cursor misses no entries.',
);

interface Args extends PageRequest {
  readonly filter?: typeof AuditLogFilterInput.$inferInput | null | undefined;
  readonly orderBy?: ListOrder<'createdAt'> | null | undefined;
}

// An invalid id matches nothing, like the id of anything that does not exist.
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

const AuditLogEntryList = listTypes(AuditLogEntry, 'AuditLogEntry');

builder.objectField(Organization, 'auditLog', (t) =>
  t.connection(
    {
      type: AuditLogEntry,
      ...boundary('viewAuditLog'),
      description: 'Audit log entries of the organization. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, AuditLogFilterInput, AuditLogOrderInput),
      resolve: async ({ id }, args, context) => {
        const request = toRequest(args);
        const list = auditLogOf(context.domain, id, request.filter);
        return countable(context, list, await context.loaders.auditLogPage(id, request));
      },
    },
    AuditLogEntryList.connection,
  ),
);

builder.objectField(Enterprise, 'auditLog', (t) =>
  t.connection(
    {
      type: AuditLogEntry,
      ...boundary('viewAuditLog'),
      description:
        'Audit log entries of the enterprise and all of its organizations. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, AuditLogFilterInput, AuditLogOrderInput),
      resolve: async (_enterprise, args, context) => {
        const request = toRequest(args);
        const list = auditLogOf(context.domain, null, request.filter);
        return countable(context, list, await listAuditLog(context.domain, request, pageLimits));
      },
    },
    AuditLogEntryList.connection,
  ),
);
