import type { ObjectRef, OutputRef } from '@pothos/core';
import type { z } from 'zod';
import {
  type FindMissing,
  missingForSession,
  missingForSnapshot,
  missingInOrganization,
  missingInScope,
} from '../../../domain/abilities/abilities.ts';
import { findAuditEntries } from '../../../domain/audit/audit-log.ts';
import { findAutomations, findRuns } from '../../../domain/automations/model/automations.ts';
import { definitionSchema } from '../../../domain/automations/model/definition.ts';
import type { ChangedKind } from '../../../domain/changes/change-source.ts';
import { findFollowUps } from '../../../domain/follow-ups/list-follow-ups.ts';
import { gitPermissionSchema } from '../../../domain/git-connections/change-git-permissions.ts';
import { gitConnectionSchema } from '../../../domain/git-connections/connection-input.ts';
import { findGitConnections } from '../../../domain/git-connections/git-connections.ts';
import { findGitPermissions } from '../../../domain/git-connections/git-permissions.ts';
import { findIdpGroups } from '../../../domain/identity/idp-groups/idp-groups.ts';
import { apiKeySchema } from '../../../domain/identity/keys/api-keys.ts';
import { findServiceKeys } from '../../../domain/identity/keys/find-service-keys.ts';
import { findApiKeys } from '../../../domain/identity/keys/key-record.ts';
import { organizationChangeSchema } from '../../../domain/identity/organizations/change-organization.ts';
import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import { findMembersByIds } from '../../../domain/identity/organizations/members.ts';
import { organizationSchema } from '../../../domain/identity/organizations/organizations.ts';
import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { roleSchema } from '../../../domain/identity/people/change-roles.ts';
import { userChangeSchema } from '../../../domain/identity/people/change-users.ts';
import { findServiceUsers, findUsers } from '../../../domain/identity/people/find-people.ts';
import { findRolesByIds } from '../../../domain/identity/people/list-roles.ts';
import { serviceUserSchema } from '../../../domain/identity/people/service-users.ts';
import { userSchema } from '../../../domain/identity/people/users.ts';
import { type IdKind, typeOfKind } from '../../../domain/ids.ts';
import { legalHoldSchema } from '../../../domain/legal-holds/change-legal-holds.ts';
import { findLegalHolds } from '../../../domain/legal-holds/legal-holds.ts';
import { folderSchema } from '../../../domain/library/knowledge/change-folders.ts';
import { changeNotes, noteSchema } from '../../../domain/library/knowledge/change-notes.ts';
import { findFolders } from '../../../domain/library/knowledge/folders.ts';
import { findNotes } from '../../../domain/library/knowledge/notes.ts';
import { changePlaybooks, playbookSchema } from '../../../domain/library/playbooks/change-playbooks.ts';
import { findPlaybooks } from '../../../domain/library/playbooks/playbooks.ts';
import { providerKeySchema } from '../../../domain/library/provider-keys/key-input.ts';
import { findProviderKeys } from '../../../domain/library/provider-keys/provider-keys.ts';
import { repositoryChangeSchema } from '../../../domain/library/repositories/change-repositories.ts';
import { findRepositories } from '../../../domain/library/repositories/repositories.ts';
import { secretChangeSchema } from '../../../domain/library/secrets/change-secrets.ts';
import { findSecrets } from '../../../domain/library/secrets/secrets.ts';
import { sessionSchema } from '../../../domain/sessions/create-session.ts';
import { sessionChangeSchema } from '../../../domain/sessions/update-session.ts';
import { snapshotSchema } from '../../../domain/snapshots/change-snapshots.ts';
import { findSnapshots } from '../../../domain/snapshots/snapshots.ts';
import { endpointSchema } from '../../../domain/webhooks/change-endpoints.ts';
import { findWebhookDeliveries } from '../../../domain/webhooks/deliveries.ts';
import { findWebhookEndpoints } from '../../../domain/webhooks/endpoints.ts';
import type { SchemaTypes } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import type { Find } from '../loaders.ts';
import { ApiKeyList } from './api-key-lists.ts';
import { ApiKey, CreateApiKeyPayload } from './api-keys.ts';
import { Attachment } from './attachments.ts';
import { AuditLogEntry } from './audit-log.ts';
import { CreateAutomationPayload } from './automation-mutations.ts';
import { AutomationRunType } from './automation-runs.ts';
import { Automation, AutomationList } from './automations.ts';
import { Checkpoint } from './checkpoints.ts';
import { Enterprise } from './enterprise-ref.ts';
import { FollowUpType } from './follow-ups.ts';
import { CreateGitConnectionPayload } from './git-connection-mutations.ts';
import { GitConnection, GitConnectionList } from './git-connections.ts';
import { CreateGitPermissionPayload } from './git-permission-mutations.ts';
import { GitPermission, GitPermissionList } from './git-permissions.ts';
import { IdpGroup } from './idp-groups.ts';
import { KnowledgeFolder, KnowledgeFolderList, KnowledgeNote, KnowledgeNoteList } from './knowledge.ts';
import { CreateKnowledgeFolderPayload } from './knowledge-folder-mutations.ts';
import { CreateKnowledgeNotePayload } from './knowledge-mutations.ts';
import { CreateLegalHoldPayload, LegalHold, LegalHoldList } from './legal-holds.ts';
import { CreateOrganizationPayload } from './organization-mutations.ts';
import { Organization } from './organization-ref.ts';
import { OrganizationList } from './organizations.ts';
import { Member, Role, ServiceUser, User } from './people.ts';
import { CreatePlaybookPayload } from './playbook-mutations.ts';
import { Playbook, PlaybookList } from './playbooks.ts';
import { ServiceKey } from './principals.ts';
import { CreateProviderKeyPayload } from './provider-key-mutations.ts';
import { ProviderKey, ProviderKeyList } from './provider-keys.ts';
import { Repository } from './repositories.ts';
import { CreateRolePayload, RoleList } from './roles.ts';
import { CreateSecretPayload } from './secret-mutations.ts';
import { Secret, SecretList } from './secrets.ts';
import { CreateServiceUserPayload, ServiceUserList } from './service-users.ts';
import { CreateSessionPayload } from './session-mutations.ts';
import { Session, SessionList } from './sessions.ts';
import { CreateSnapshotPayload } from './snapshot-mutations.ts';
import { Snapshot, SnapshotList } from './snapshots.ts';
import { CreateUserPayload, UserList } from './users.ts';
import { WebhookDelivery } from './webhook-deliveries.ts';
import { CreateWebhookEndpointPayload } from './webhook-mutations.ts';
import { WebhookEndpoint, WebhookEndpointList } from './webhooks.ts';

type Type<T = unknown> = ObjectRef<SchemaTypes, T>;

/** The registration of objects with ids: everything besides their type, lists and mutations. */
interface Resource {
  readonly type: Type;
  /** Loads an object by its unprefixed id, for `node`, `nodes` and the lookups; null if the viewer may see none. */
  readonly load: (context: GraphqlContext, id: string) => Promise<object | null>;
  /** Adds a field to `Query` that finds an object by its id: the noun in its description. */
  readonly lookup?: string;
  /** Adds the edge of the created object to the payload. `list`: the name of the list in its cursors. */
  readonly created?: { readonly payload: Type; readonly edge: OutputRef; readonly list: string };
  /** Adds `viewerCanManage`: its description, and the permission that the viewer lacks; null if it lacks none. */
  readonly manage?: Ability<never>;
  /** Lets `Subscription.changes` report the objects: the description of the type, with the permission. */
  readonly changes?: string;
  /** The schemas with the limits of the inputs CreateX and UpdateX. */
  readonly inputs?: { readonly create?: z.ZodType; readonly update?: z.ZodType };
}

interface Ability<T> {
  readonly description: string;
  readonly missing: FindMissing<T>;
}

/** Checks a registration against the type of its objects. */
const resource = <T, const R extends Omit<Resource, 'type'>>(
  type: Type<T>,
  registration: R & { readonly manage?: Ability<T> },
): R & Pick<Resource, 'type'> => ({ ...registration, type });

/** Loads the objects of the same tick together, by a function of the domain. */
const by =
  <T extends object>(find: Find<T>): Resource['load'] =>
  ({ loaders }, id) =>
    loaders.of(find).load(id);

const both = (schema: z.ZodType) => ({ create: schema, update: schema });

// Sessions still show deleted objects, but these cannot be looked up.
const unlessDeleted = <T extends { readonly deletedAt: Date | null }>(found: T | null) =>
  found?.deletedAt == null ? found : null;

/**
 * All objects that have ids, besides the entries of logs, by their kinds: one entry registers a resource for `node`, its lookup, the
 * edge in the payload of its creation, `viewerCanManage`, `Subscription.changes` and the limits of its inputs.
 */
const all = {
  session: resource(Session, {
    load: ({ loaders }, id) => loaders.sessions.load(id),
    created: { payload: CreateSessionPayload, edge: SessionList.edge, list: 'sessions.createdAt' },
    manage: {
      description:
        'Whether the viewer may send messages to the session and may suspend, resume, archive, tag, change and terminate the session. For the viewer’s own sessions, the permission to manage own sessions is enough.',
      missing: missingForSession,
    },
    changes: 'A session that is not unlisted. Needs VIEW_ORG_SESSIONS.',
    inputs: { create: sessionSchema, update: sessionChangeSchema },
  }),
  organization: resource(Organization, {
    load: by(findOrganizations),
    created: { payload: CreateOrganizationPayload, edge: OrganizationList.edge, list: 'organizations' },
    inputs: { create: organizationSchema, update: organizationChangeSchema },
  }),
  enterprise: resource(Enterprise, { load: by(findEnterprises) }),
  user: resource(User, {
    load: by(findUsers),
    created: { payload: CreateUserPayload, edge: UserList.edge, list: 'users' },
    inputs: { create: userSchema, update: userChangeSchema },
  }),
  serviceUser: resource(ServiceUser, {
    load: by(findServiceUsers),
    lookup: 'service user',
    created: { payload: CreateServiceUserPayload, edge: ServiceUserList.edge, list: 'serviceUsers' },
    changes:
      'A service user of the organization or of the enterprise. Needs MANAGE_ORG_SERVICE_USERS, or MANAGE_ACCOUNT_SERVICE_USERS for those of the enterprise.',
    inputs: both(serviceUserSchema),
  }),
  serviceKey: resource(ServiceKey, { load: by(findServiceKeys) }),
  member: resource(Member, {
    load: by(findMembersByIds),
    lookup: 'membership of an organization',
    changes: 'A membership of the organization. Needs VIEW_ORG_MEMBERSHIP.',
  }),
  role: resource(Role, {
    load: by(findRolesByIds),
    created: { payload: CreateRolePayload, edge: RoleList.edge, list: 'roles' },
    changes: 'A custom role of the enterprise. Needs VIEW_ACCOUNT_MEMBERSHIP.',
    inputs: both(roleSchema),
  }),
  idpGroup: resource(IdpGroup, { load: by(findIdpGroups), lookup: 'group of an identity provider' }),
  apiKey: resource(ApiKey, {
    load: by(findApiKeys),
    lookup: 'API key',
    created: { payload: CreateApiKeyPayload, edge: ApiKeyList.edge, list: 'keys' },
    inputs: { create: apiKeySchema },
  }),
  playbook: resource(Playbook, {
    load: async ({ loaders }, id) => unlessDeleted(await loaders.of(findPlaybooks).load(id)),
    created: { payload: CreatePlaybookPayload, edge: PlaybookList.edge, list: 'playbooks' },
    manage: {
      description: 'Whether the viewer may change and delete the playbook.',
      missing: missingInScope(changePlaybooks),
    },
    changes: 'A playbook of the organization or of the enterprise. Needs VIEW_ORG_SESSIONS.',
    inputs: both(playbookSchema),
  }),
  note: resource(KnowledgeNote, {
    load: by(findNotes),
    created: { payload: CreateKnowledgeNotePayload, edge: KnowledgeNoteList.edge, list: 'notes' },
    manage: { description: 'Whether the viewer may change and delete the note.', missing: missingInScope(changeNotes) },
    changes: 'A knowledge note of the organization or of the enterprise. Needs VIEW_ORG_SESSIONS.',
    inputs: both(noteSchema),
  }),
  folder: resource(KnowledgeFolder, {
    load: by(findFolders),
    created: { payload: CreateKnowledgeFolderPayload, edge: KnowledgeFolderList.edge, list: 'folders' },
    manage: {
      description: 'Whether the viewer may change, move and delete the folder.',
      missing: missingInScope(changeNotes),
    },
    changes: 'A knowledge folder of the organization or of the enterprise. Needs VIEW_ORG_SESSIONS.',
    inputs: both(folderSchema),
  }),
  secret: resource(Secret, {
    load: by(findSecrets),
    created: { payload: CreateSecretPayload, edge: SecretList.edge, list: 'secrets' },
    manage: {
      description: 'Whether the viewer may change and delete the secret.',
      missing: missingInOrganization('changeSecrets'),
    },
    changes: 'A secret of the organization, without its value. Needs USE_SESSIONS.',
    inputs: both(secretChangeSchema),
  }),
  providerKey: resource(ProviderKey, {
    load: by(findProviderKeys),
    lookup: 'provider key',
    created: { payload: CreateProviderKeyPayload, edge: ProviderKeyList.edge, list: 'providerKeys' },
    inputs: both(providerKeySchema(true)),
  }),
  gitConnection: resource(GitConnection, {
    load: by(findGitConnections),
    lookup: 'git connection',
    created: { payload: CreateGitConnectionPayload, edge: GitConnectionList.edge, list: 'gitConnections' },
    inputs: both(gitConnectionSchema),
  }),
  gitPermission: resource(GitPermission, {
    load: by(findGitPermissions),
    lookup: 'git permission',
    created: { payload: CreateGitPermissionPayload, edge: GitPermissionList.edge, list: 'gitPermissions' },
    inputs: { create: gitPermissionSchema },
  }),
  repository: resource(Repository, {
    load: by(findRepositories),
    lookup: 'repository',
    inputs: { update: repositoryChangeSchema },
  }),
  automation: resource(Automation, {
    load: async ({ loaders }, id) => unlessDeleted(await loaders.of(findAutomations).load(id)),
    created: { payload: CreateAutomationPayload, edge: AutomationList.edge, list: 'automations' },
    manage: {
      description:
        'Whether the viewer may change, enable, disable, run and delete the automation. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
      missing: missingInOrganization('changeAutomations'),
    },
    changes: 'An automation, which also changes when it runs. Needs VIEW_ORG_AUTOMATIONS.',
    inputs: both(definitionSchema),
  }),
  checkpoint: resource(Checkpoint, {
    load: ({ loaders }, id) => loaders.checkpoints.load(id),
    lookup: 'checkpoint of a session',
  }),
  followUp: resource(FollowUpType, { load: by(findFollowUps), lookup: 'follow-up of a pull request' }),
  snapshot: resource(Snapshot, {
    load: by(findSnapshots),
    created: { payload: CreateSnapshotPayload, edge: SnapshotList.edge, list: 'snapshots' },
    manage: {
      description:
        'Whether the viewer may change and delete the snapshot. For the viewer’s own snapshots, the permission to manage own sessions is enough.',
      missing: missingForSnapshot,
    },
    changes: 'A snapshot of the organization. Needs VIEW_ORG_SESSIONS.',
    inputs: both(snapshotSchema),
  }),
  automationRun: resource(AutomationRunType, {
    load: by(findRuns),
    lookup: 'run of an automation',
    changes: 'A run of an automation. Needs VIEW_ORG_AUTOMATIONS.',
  }),
  webhookEndpoint: resource(WebhookEndpoint, {
    load: by(findWebhookEndpoints),
    lookup: 'webhook endpoint',
    created: { payload: CreateWebhookEndpointPayload, edge: WebhookEndpointList.edge, list: 'webhookEndpoints' },
    manage: {
      description: 'Whether the viewer may change, test and delete the endpoint.',
      missing: missingInOrganization('manageWebhooks', 'viewSession'),
    },
    changes: 'An endpoint for webhooks. Needs MANAGE_ORG_AUTOMATIONS.',
    inputs: both(endpointSchema(true)),
  }),
  webhookDelivery: resource(WebhookDelivery, {
    load: by(findWebhookDeliveries),
    lookup: 'webhook delivery',
    changes: 'A delivery of a webhook. Needs MANAGE_ORG_AUTOMATIONS.',
  }),
  attachment: resource(Attachment, {
    load: ({ loaders }, id) => loaders.attachments.load(id),
    lookup: 'attachment',
  }),
  legalHold: resource(LegalHold, {
    load: by(findLegalHolds),
    lookup: 'legal hold',
    created: { payload: CreateLegalHoldPayload, edge: LegalHoldList.edge, list: 'legalHolds' },
    inputs: { create: legalHoldSchema },
  }),
  auditEntry: resource(AuditLogEntry, {
    load: by(findAuditEntries),
    lookup: 'entry of the audit log',
  }),
};

const resources: Readonly<Partial<Record<IdKind, Resource>>> &
  Readonly<Record<ChangedKind, Resource & { readonly changes: string }>> = all;

/** The resources with the names of their types in the schema. */
export const typedResources = (Object.entries(resources) as [IdKind, Resource][]).map(([kind, registration]) => ({
  kind,
  typeName: typeOfKind(kind),
  ...registration,
}));

/** The name of a member for a type: `apiKey` for `ApiKey`. */
export const lowerFirst = (name: string): string => `${name[0]?.toLowerCase()}${name.slice(1)}`;
