import type { Permission } from '../../../auth/permissions.ts';
import type { ApiKeyKind } from '../../../auth/viewer.ts';
import type { QueueReason } from '../../../domain/execution/runs/queue-reasons.ts';
import type { KeyStatus } from '../../../domain/identity/keys/list-api-keys.ts';
import type { AccessType } from '../../../domain/identity/organizations/scope.ts';
import type { SecretType } from '../../../domain/library/secrets/secrets.ts';
import type { AttachmentRecord } from '../../../domain/sessions/attachments/attachments.ts';
import type { SessionSize } from '../../../domain/sessions/insights.ts';
import type { EventKind, MessageType } from '../../../domain/sessions/log.ts';
import type { SessionOrigin } from '../../../domain/sessions/session.ts';
import type { SessionGroup } from '../../../domain/sessions/session-groups.ts';
import { sessionSorts } from '../../../domain/sessions/session-orders.ts';
import type { SessionEnd, SessionStatus, SessionStatusDetail } from '../../../domain/sessions/status.ts';
import { builder } from '../builder.ts';
import { requestErrorCodes } from '../error-codes.ts';
import type { userErrorCodes } from '../errors.ts';
import { defineEnum, meaningsOf } from './define-enum.ts';

export const SessionStatusEnum = defineEnum<SessionStatus>(
  'SessionStatus',
  'The status of a session in its lifecycle.',
  {
    new: 'The session was created and waits for a worker.',
    claimed: 'A worker has claimed the session and is starting its agent.',
    running: 'The agent is working or waits for the user; the status detail says which.',
    exit: 'The session has ended: it finished, was terminated or expired. A message resumes a session that finished.',
    error: 'The agent failed and is not retried. A message resumes the session and tries again.',
    suspended:
      'The session is suspended and its agent is stopped; the status detail has the reason. A message resumes the session.',
    resuming: 'The session is being resumed after it was suspended, finished or failed.',
  },
);

export const SessionGroupEnum = defineEnum<SessionGroup>('SessionGroup', 'Group of a session in an inbox.', {
  'needs_you':
    'The session waits for a person: it asks a question or for a permission, it failed, a limit of ACUs or of a budget suspended it, or it stopped and has an open pull request.',
  working:
    'The agent works, the session waits in the queue, or it continues by itself at the time when a limit of its provider is reset.',
  done: 'The session finished, was suspended by a user or for inactivity, or is over or archived, and no person has to act.',
});

export const SessionStatusDetailEnum = defineEnum<SessionStatusDetail>(
  'SessionStatusDetail',
  'More detail on the status of a session, for example the reason for which it was suspended.',
  {
    working: 'The session is running and its agent is working.',
    'waiting_for_user': 'The session is running and its agent waits for a message from the user.',
    'waiting_for_approval': 'The session is running and a tool of its agent waits for a permission from the user.',
    'waiting_for_quota':
      'The session is running and waits until a limit of the provider of its model is reset. It continues by itself.',
    finished: 'The session has exited because its agent finished the work.',
    inactivity: 'The session was suspended because it waited for the user for too long.',
    'user_request': 'The session was suspended at the request of a user.',
    'usage_limit_exceeded': 'The session was suspended because it reached its own limit of ACUs.',
    'out_of_credits': 'The session was suspended because the provider key that it uses reached its monthly budget.',
    'out_of_quota': 'The session was suspended because the enterprise reached its limit of ACUs for the cycle.',
    'no_quota_allocation': 'The session was suspended because its organization has a limit of 0 ACUs for each cycle.',
    'payment_declined':
      'A payment was declined. The service does not set this value, which exists for compatibility with REST v3.',
    'org_usage_limit_exceeded':
      'The session was suspended because its organization reached its limit of ACUs for the cycle.',
    'user_usage_limit_exceeded':
      'The user reached a limit. The service does not set this value, which exists for compatibility with REST v3.',
    'total_session_limit_exceeded':
      'The session was suspended because it reached the limit of ACUs that its organization sets for each session.',
    error: 'An error occurred. The service does not set this value, which exists for compatibility with REST v3.',
  },
);

/** The reason why a session waits in the queue. */
export const SessionQueueReasonEnum = defineEnum<QueueReason>(
  'SessionQueueReason',
  'The reason for which a session waits in the queue.',
  {
    'no_worker': 'No worker has had capacity for the session yet.',
    'organization_limit': 'The organization already has its maximum number of running sessions.',
    'user_limit': 'The user or service user already has the maximum number of running sessions in the organization.',
  },
);

/** The reason why a session ended. */
export const SessionEndReasonEnum = defineEnum<SessionEnd>(
  'SessionEndReason',
  'The reason for which a session ended.',
  {
    finished: 'The agent finished its work. A message resumes the session.',
    terminated: 'The session was terminated and cannot be resumed.',
    expired: 'The session was suspended, or waited for the user, for so long that it expired. It cannot be resumed.',
  },
);

export const SessionMessageTypeEnum = defineEnum<MessageType>(
  'SessionMessageType',
  'The type of a message: the initial prompt, a later message to the agent, or a message from the agent.',
  {
    'initial_user_message': 'The prompt with which the session was started.',
    'user_message': 'A message to the agent after the initial prompt.',
    'agent_message': 'A message from the agent to the user.',
  },
);

export const SessionEventKindEnum = defineEnum<EventKind>(
  'SessionEventKind',
  'The kind of an entry in the log of a session.',
  {
    MESSAGE: 'A message from a user or from the agent.',
    MESSAGE_CHANGED: 'A user edited or withdrew a message before the agent received it.',
    STATUS: 'The status of the session changed.',
    TURN: 'The agent began or ended a turn.',
    THOUGHT: 'A thought that the agent reported while it worked.',
    PLAN: 'The current plan of the agent.',
    TOOL_CALL: 'The current state of a tool call of the agent.',
    QUESTION: 'A question from the agent to the user.',
    PERMISSION: 'A decision on a permission that the agent requested.',
    NOTICE: 'A note from the service or from the agent.',
    USAGE: 'A report of the tokens that were used and of their cost.',
    LIMIT: 'A limit was reached, for which the session was suspended.',
    REPOSITORY: 'A step of the preparation of a repository of the session.',
    PUSH: 'The agent pushed commits to a branch of a repository, or such a push was refused.',
    PULL_REQUEST: 'A pull request was created, or its state changed.',
    STRUCTURED_OUTPUT: 'The agent set the structured output of the session.',
    ATTACHMENT: 'The agent attached a file for the user.',
    REWIND: 'A user reverted the files and the agent of the session to a checkpoint.',
    ERROR: 'The session stopped with an error.',
  },
);

export const SessionOriginEnum = defineEnum<SessionOrigin>(
  'SessionOrigin',
  'The client or feature that started a session.',
  {
    api: 'The session was started through the REST or GraphQL API.',
    webapp: 'The session was started in the web console.',
    automation: 'The session was started by an automation.',
    cli: 'The session was started on the command line.',
    other: 'The session was started by other means.',
  },
);

export const SessionOrderFieldEnum = defineEnum(
  'SessionOrderField',
  'The field by which a list of sessions is ordered.',
  meaningsOf(sessionSorts, (meaning) => `Orders sessions by ${meaning}.`),
);

export const OrderDirectionEnum = defineEnum('OrderDirection', 'The direction in which a list is ordered.', {
  asc: 'Ascending: the smallest or oldest value comes first.',
  desc: 'Descending: the largest or newest value comes first.',
});

export const PrincipalTypeEnum = defineEnum(
  'PrincipalType',
  'The type of a principal, which is anything that acts in the service.',
  {
    'USER': 'A human user, who acts with an API key of that user.',
    'SERVICE_USER': 'A service user, which is a principal that is not human.',
    'SERVICE_KEY': 'A service key, which is an API key that is a principal of its own.',
    'SYSTEM': 'The service itself, for example in an automation.',
  },
);

/** Filters a list by the status of its keys. */
export const ApiKeyStatusEnum = defineEnum<KeyStatus>(
  'ApiKeyStatus',
  'The status of API keys, as a filter for lists of keys.',
  {
    active: 'The key is neither revoked nor expired.',
    expired: 'The key has expired and was not revoked.',
    revoked: 'The key was revoked, whether or not it had expired.',
    all: 'Keys of any status: active, expired or revoked.',
  },
);

export const ApiKeyKindEnum = defineEnum<ApiKeyKind>(
  'ApiKeyKind',
  'The kind of an API key, which decides the principal of the key, the REST versions that accept it and the prefix of its token.',
  {
    'PERSONAL':
      'A key of a user in a single organization, for GraphQL and REST v1 and v2. The token begins with `apk_user_`.',
    'SERVICE':
      'A key of an organization, or of the enterprise, that acts for itself, for GraphQL and REST v1 and v2. The token begins with `apk_`.',
    'PERSONAL_ACCESS_TOKEN': 'A token of a user, for GraphQL and REST v3. The token begins with `cog_`.',
    'SERVICE_USER': 'A token of a service user, for GraphQL and REST v3. The token begins with `cog_`.',
  },
);

export const PermissionEnum = defineEnum<Permission>(
  'Permission',
  'A permission that a role can grant, on the enterprise or in an organization.',
  {
    ReadAccountMeta: 'On the enterprise: view the enterprise and all its organizations.',
    ManageEnterpriseSettings:
      'On the enterprise: manage its settings, such as the IP access list, the provider keys of the enterprise and the tags of organizations, revoke all keys, and view the audit log.',
    ManageOrganizations: 'On the enterprise: create, update and delete organizations.',
    ManageAccountMembership: 'On the enterprise: manage users, their API keys, custom roles and the roles of users.',
    ViewAccountMembership: 'On the enterprise: view all users and roles.',
    ManageAccountServiceUsers: 'On the enterprise: manage all service users, their roles and keys, and service keys.',
    ManageBilling: 'On the enterprise: manage the limits of ACUs.',
    ViewAccountConsumption: 'On the enterprise: view the consumption of ACUs of all organizations.',
    ViewAccountMetrics: 'On the enterprise: view the metrics of all organizations, and the queue of sessions.',
    ViewAccountSessions: 'On the enterprise: view the sessions of all organizations.',
    ManageAccountSessions: 'On the enterprise: manage the sessions of all organizations.',
    ManageAccountPlaybooks: 'On the enterprise: manage the playbooks of the enterprise and of all organizations.',
    ManageAccountKnowledge: 'On the enterprise: manage the knowledge of the enterprise and of all organizations.',
    UseSessions:
      'In an organization: start sessions, upload and view attachments, and list secrets without their values.',
    ViewOrgSessions: 'In an organization: view sessions, their consumption and metrics, knowledge and playbooks.',
    ManageOrgSessions: 'In an organization: change and terminate all sessions, and send messages to them.',
    ImpersonateOrgSessions: 'In an organization: create sessions, send messages and run automations as another user.',
    ManageOrgSecrets: 'In an organization: create, update and delete secrets and provider keys.',
    ManageOrgKnowledge: 'In an organization: create, update and delete knowledge notes and folders.',
    ManageOrgPlaybooks: 'In an organization: create, update and delete playbooks.',
    ManageOrgSchedules: 'In an organization: manage schedules.',
    ViewOrgAutomations: 'In an organization: view automations and their runs.',
    ManageOrgAutomations: 'In an organization: manage automations and, with VIEW_ORG_SESSIONS, webhook endpoints.',
    UsePersonalAutomations: 'In an organization: have automations run as the user who created them.',
    ManageOrgServiceUsers: 'In an organization: manage its service users and API keys.',
    ViewOrgMembership: 'In an organization: view its members.',
  },
);

export const RoleScopeEnum = defineEnum('RoleScope', 'The scope in which a role can be assigned.', {
  enterprise:
    'The role can be assigned on the enterprise. Its organization permissions then apply in every organization.',
  organization: 'The role can be assigned in an organization.',
});

/** The owner kind of notes and playbooks. */
export const AccessTypeEnum = builder.enumType('AccessType', {
  description: 'The owner of a knowledge note or a playbook.',
  values: {
    ENTERPRISE: {
      value: 'enterprise',
      description: 'The enterprise itself owns the resource, and every organization can use it.',
    },
    ORGANIZATION: { value: 'org', description: 'An organization owns the resource.' },
  } as const satisfies Record<string, { value: AccessType; description: string }>,
});

export const SecretTypeEnum = defineEnum<SecretType>(
  'SecretType',
  'The type of a secret, for example an environment variable.',
  {
    cookie: 'The secret is a cookie of a website.',
    'key-value':
      'The secret is an environment variable of the agent. The key of the secret is the name of the variable.',
    totp: 'The secret is the seed of time-based one-time passwords.',
  },
);

/** The uploader of a file. */
export const AttachmentSourceEnum = defineEnum<AttachmentRecord['source']>(
  'AttachmentSource',
  'The source of a file: a user, the agent, a tool, or the changes of a repository.',
  {
    user: 'The file was uploaded for the agent.',
    agent: 'The file was created by the agent.',
    tool: 'The file is the output of a tool call. It is the `outputFile` of the tool call, and in no list of attachments.',
    changes: 'The file has changes of a repository. It belongs to `Session.changes`, and is in no list of attachments.',
  },
);

/** The resource usage class of a session. */
export const SessionSizeEnum = defineEnum<SessionSize>(
  'SessionSize',
  'The size of a session, by the number of ACUs that it consumed.',
  {
    xs: 'The session consumed less than 1 ACU.',
    s: 'The session consumed at least 1 ACU and less than 3.',
    m: 'The session consumed at least 3 ACUs and less than 6.',
    l: 'The session consumed at least 6 ACUs and less than 12.',
    xl: 'The session consumed 12 ACUs or more.',
  },
);

export const ErrorCodeEnum = defineEnum<(typeof userErrorCodes)[number]>(
  'ErrorCode',
  'The code of a problem with the input of a mutation. Every other failure is in `errors`, with a RequestErrorCode in `extensions.code`.',
  {
    INVALID_INPUT: 'A value in the input breaks a rule.',
    UNKNOWN_REFERENCE: 'An id in the input refers to nothing that the caller may use.',
    NOT_UNIQUE: 'A name that must be unique is already in use.',
    INVALID_STATE: 'The resource is in a state that does not allow the change.',
    LIMIT_EXCEEDED: 'The change would exceed a limit.',
    CONFLICT: 'The version of the resource is not `expectedVersion`: the resource was changed after it was read.',
    IDEMPOTENCY_CONFLICT: 'The idempotency key was already used with a different input.',
  },
);

defineEnum(
  'RequestErrorCode',
  'All values of `extensions.code` for the `errors` of a response. No field has this type. Clients should handle an unknown code like INTERNAL_SERVER_ERROR.',
  requestErrorCodes,
);
