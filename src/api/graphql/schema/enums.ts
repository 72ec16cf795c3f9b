import { enterprisePermissions, organizationPermissions, type Permission } from '../../../auth/permissions.ts';
import type { ApiKeyKind } from '../../../auth/viewer.ts';
import type { QueueReason } from '../../../domain/execution/runs/queue-reasons.ts';
import type { KeyStatus } from '../../../domain/identity/keys/list-api-keys.ts';
import type { AccessType } from '../../../domain/identity/organizations/scope.ts';
import type { SecretType } from '../../../domain/library/secrets/secrets.ts';
import type { AttachmentRecord } from '../../../domain/sessions/attachments/attachments.ts';
import type { SessionSize } from '../../../domain/sessions/insights.ts';
import { type EventKind, eventKinds, type MessageType } from '../../../domain/sessions/log.ts';
import { type SessionOrigin, sessionOrigins } from '../../../domain/sessions/session.ts';
import { type SessionSortField, sessionSorts } from '../../../domain/sessions/session-orders.ts';
import {
  type SessionEnd,
  type SessionStatus,
  type SessionStatusDetail,
  sessionStatusDetails,
} from '../../../domain/sessions/status.ts';
import { builder } from '../builder.ts';
import { enumName } from '../enum-name.ts';
import { type RequestErrorCode, requestErrorCodes } from '../error-codes.ts';
import { userErrorCodes } from '../errors.ts';

type Values<T extends string> = Record<string, { value: T; description: string }>;

/** Enum values whose names are the domain's words in upper snake case. */
export const valuesOf = <T extends string>(names: readonly T[], describe: (name: T) => string): Values<T> =>
  Object.fromEntries(names.map((value) => [enumName(value), { value, description: describe(value) }]));

const statusMeaning: Record<SessionStatus, string> = {
  new: 'The session was created and waits for a worker.',
  claimed: 'A worker has claimed the session and is starting its agent.',
  running: 'The agent is working or waits for the user; the status detail says which.',
  exit: 'The session has ended: it finished, was terminated or expired. A message resumes a session that finished.',
  error: 'The agent failed and is not retried. A message resumes the session and tries again.',
  suspended:
    'The session is suspended and its agent is stopped; the status detail has the reason. A message resumes the session.',
  resuming: 'The session is being resumed after it was suspended, finished or failed.',
};

export const SessionStatusEnum = builder.enumType('SessionStatus', {
  description: 'The status of a session in its lifecycle.',
  values: valuesOf(Object.keys(statusMeaning) as SessionStatus[], (status) => statusMeaning[status]),
});

const detailMeaning: Record<SessionStatusDetail, string> = {
  working: 'The session is running and its agent is working.',
  'waiting_for_user': 'The session is running and its agent waits for a message from the user.',
  'waiting_for_approval': 'The session is running and a tool of its agent waits for a permission from the user.',
  finished: 'The session has exited because its agent finished the work.',
  inactivity: 'The session was suspended because it waited for the user for too long.',
  'user_request': 'The session was suspended at the request of a user.',
  'usage_limit_exceeded': 'The session was suspended because it reached its own limit of ACUs.',
  'out_of_credits':
    'No credits are left. The service does not set this value, which exists for compatibility with REST v3.',
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
};

export const SessionStatusDetailEnum = builder.enumType('SessionStatusDetail', {
  description: 'More detail on the status of a session, for example the reason for which it was suspended.',
  values: valuesOf(sessionStatusDetails, (detail) => detailMeaning[detail]),
});

/** The reason why a session waits in the queue. */
export const SessionQueueReasonEnum = builder.enumType('SessionQueueReason', {
  description: 'The reason for which a session waits in the queue.',
  values: {
    NO_WORKER: { value: 'no_worker', description: 'No worker has had capacity for the session yet.' },
    ORGANIZATION_LIMIT: {
      value: 'organization_limit',
      description: 'The organization already has its maximum number of running sessions.',
    },
    USER_LIMIT: {
      value: 'user_limit',
      description: 'The user or service user already has the maximum number of running sessions in the organization.',
    },
  } as const satisfies Record<Uppercase<QueueReason>, { value: QueueReason; description: string }>,
});

/** The reason why a session ended. */
export const SessionEndReasonEnum = builder.enumType('SessionEndReason', {
  description: 'The reason for which a session ended.',
  values: {
    FINISHED: { value: 'finished', description: 'The agent finished its work. A message resumes the session.' },
    TERMINATED: { value: 'terminated', description: 'The session was terminated and cannot be resumed.' },
    EXPIRED: {
      value: 'expired',
      description:
        'The session was suspended, or waited for the user, for so long that it expired. It cannot be resumed.',
    },
  } as const satisfies Record<Uppercase<SessionEnd>, { value: SessionEnd; description: string }>,
});

const messageMeaning: Record<string, { value: MessageType; description: string }> = {
  INITIAL_USER_MESSAGE: {
    value: 'initial_user_message',
    description: 'The prompt with which the session was started.',
  },
  USER_MESSAGE: { value: 'user_message', description: 'A message to the agent after the initial prompt.' },
  AGENT_MESSAGE: { value: 'agent_message', description: 'A message from the agent to the user.' },
};

export const SessionMessageTypeEnum = builder.enumType('SessionMessageType', {
  description: 'The type of a message: the initial prompt, a later message to the agent, or a message from the agent.',
  values: messageMeaning,
});

const kindMeaning: Record<EventKind, string> = {
  MESSAGE: 'A message from a user or from the agent.',
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
  PULL_REQUEST: 'A pull request was created, or its state changed.',
  STRUCTURED_OUTPUT: 'The agent set the structured output of the session.',
  ATTACHMENT: 'The agent attached a file for the user.',
  ERROR: 'The session stopped with an error.',
};

export const SessionEventKindEnum = builder.enumType('SessionEventKind', {
  description: 'The kind of an entry in the log of a session.',
  values: valuesOf(eventKinds, (kind) => kindMeaning[kind]),
});

const originMeaning: Record<SessionOrigin, string> = {
  api: 'The session was started through the REST or GraphQL API.',
  webapp: 'The session was started in the web console.',
  automation: 'The session was started by an automation.',
  cli: 'The session was started on the command line.',
  other: 'The session was started by other means.',
};

export const SessionOriginEnum = builder.enumType('SessionOrigin', {
  description: 'The client or feature that started a session.',
  values: valuesOf(sessionOrigins, (origin) => originMeaning[origin]),
});

export const SessionOrderFieldEnum = builder.enumType('SessionOrderField', {
  description: 'The field by which a list of sessions is ordered.',
  values: valuesOf(
    Object.keys(sessionSorts) as SessionSortField[],
    (field) => `Orders sessions by ${sessionSorts[field].meaning}.`,
  ),
});

export const OrderDirectionEnum = builder.enumType('OrderDirection', {
  description: 'The direction in which a list is ordered.',
  values: {
    ASC: { value: 'asc', description: 'Ascending: the smallest or oldest value comes first.' },
    DESC: { value: 'desc', description: 'Descending: the largest or newest value comes first.' },
  } as const,
});

export const PrincipalTypeEnum = builder.enumType('PrincipalType', {
  description: 'The type of a principal, which is anything that acts in the service.',
  values: {
    USER: { description: 'A human user, who acts with an API key of that user.' },
    SERVICE_USER: { description: 'A service user, which is a principal that is not human.' },
    SERVICE_KEY: { description: 'A service key, which is an API key that is a principal of its own.' },
    SYSTEM: { description: 'The service itself, for example in an automation.' },
  } as const,
});

/** Filters a list by the status of its keys. */
export const ApiKeyStatusEnum = builder.enumType('ApiKeyStatus', {
  description: 'The status of API keys, as a filter for lists of keys.',
  values: {
    ACTIVE: { value: 'active', description: 'The key is neither revoked nor expired.' },
    EXPIRED: { value: 'expired', description: 'The key has expired and was not revoked.' },
    REVOKED: { value: 'revoked', description: 'The key was revoked, whether or not it had expired.' },
    ALL: { value: 'all', description: 'Keys of any status: active, expired or revoked.' },
  } as const satisfies Record<Uppercase<KeyStatus>, { value: KeyStatus; description: string }>,
});

export const ApiKeyKindEnum = builder.enumType('ApiKeyKind', {
  description:
    'The kind of an API key, which decides the principal of the key, the REST versions that accept it and the prefix of its token.',
  values: {
    PERSONAL: {
      value: 'PERSONAL',
      description:
        'A key of a user in a single organization, for GraphQL and REST v1 and v2. The token begins with `apk_user_`.',
    },
    SERVICE: {
      value: 'SERVICE',
      description:
        'A key of an organization, or of the enterprise, that acts for itself, for GraphQL and REST v1 and v2. The token begins with `apk_`.',
    },
    PERSONAL_ACCESS_TOKEN: {
      value: 'PERSONAL_ACCESS_TOKEN',
      description: 'A token of a user, for GraphQL and REST v3. The token begins with `cog_`.',
    },
    SERVICE_USER: {
      value: 'SERVICE_USER',
      description: 'A token of a service user, for GraphQL and REST v3. The token begins with `cog_`.',
    },
  } as const satisfies Record<ApiKeyKind, object>,
});

const permissionMeaning: Record<Permission, string> = {
  ReadAccountMeta: 'On the enterprise: view the enterprise and all its organizations.',
  ManageEnterpriseSettings:
    'On the enterprise: manage its settings, such as the IP access list and the tags of organizations, revoke all keys, and view the audit log.',
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
  ManageOrgSecrets: 'In an organization: create, update and delete secrets.',
  ManageOrgKnowledge: 'In an organization: create, update and delete knowledge notes and folders.',
  ManageOrgPlaybooks: 'In an organization: create, update and delete playbooks.',
  ManageOrgSchedules: 'In an organization: manage schedules.',
  ViewOrgAutomations: 'In an organization: view automations and their runs.',
  ManageOrgAutomations: 'In an organization: manage automations and, with VIEW_ORG_SESSIONS, webhook endpoints.',
  UsePersonalAutomations: 'In an organization: have automations run as the user who created them.',
  ManageOrgServiceUsers: 'In an organization: manage its service users and API keys.',
  ViewOrgMembership: 'In an organization: view its members.',
};

export const PermissionEnum = builder.enumType('Permission', {
  description: 'A permission that a role can grant, on the enterprise or in an organization.',
  values: valuesOf([...enterprisePermissions, ...organizationPermissions], (name) => permissionMeaning[name]),
});

export const RoleScopeEnum = builder.enumType('RoleScope', {
  description: 'The scope in which a role can be assigned.',
  values: {
    ENTERPRISE: {
      value: 'enterprise',
      description:
        'The role can be assigned on the enterprise. Its organization permissions then apply in every organization.',
    },
    ORGANIZATION: { value: 'organization', description: 'The role can be assigned in an organization.' },
  } as const,
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

export const SecretTypeEnum = builder.enumType('SecretType', {
  description: 'The type of a secret, for example an environment variable.',
  values: {
    COOKIE: { value: 'cookie', description: 'The secret is a cookie of a website.' },
    KEY_VALUE: {
      value: 'key-value',
      description:
        'The secret is an environment variable of the agent. The key of the secret is the name of the variable.',
    },
    TOTP: { value: 'totp', description: 'The secret is the seed of time-based one-time passwords.' },
  } as const satisfies Record<string, { value: SecretType; description: string }>,
});

/** The uploader of a file. */
export const AttachmentSourceEnum = builder.enumType('AttachmentSource', {
  description: 'The source of a file: a user or the agent.',
  values: {
    USER: { value: 'user', description: 'The file was uploaded for the agent.' },
    AGENT: { value: 'agent', description: 'The file was created by the agent.' },
  } as const satisfies Record<string, { value: AttachmentRecord['source']; description: string }>,
});

/** The resource usage class of a session. */
export const SessionSizeEnum = builder.enumType('SessionSize', {
  description: 'The size of a session, by the number of ACUs that it consumed.',
  values: {
    XS: { value: 'xs', description: 'The session consumed less than 1 ACU.' },
    S: { value: 's', description: 'The session consumed at least 1 ACU and less than 3.' },
    M: { value: 'm', description: 'The session consumed at least 3 ACUs and less than 6.' },
    L: { value: 'l', description: 'The session consumed at least 6 ACUs and less than 12.' },
    XL: { value: 'xl', description: 'The session consumed 12 ACUs or more.' },
  } as const satisfies Record<string, { value: SessionSize; description: string }>,
});

const codeMeaning: Record<(typeof userErrorCodes)[number], string> = {
  INVALID_INPUT: 'A value in the input breaks a rule.',
  UNKNOWN_REFERENCE: 'An id in the input refers to nothing that the caller may use.',
  NOT_UNIQUE: 'A name that must be unique is already in use.',
  INVALID_STATE: 'The resource is in a state that does not allow the change.',
  LIMIT_EXCEEDED: 'The change would exceed a limit.',
  CONFLICT: 'The version of the resource is not `expectedVersion`: the resource was changed after it was read.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was already used with a different input.',
};

export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'The code of a problem with the input of a mutation. Every other failure is in `errors`, with a RequestErrorCode in `extensions.code`.',
  values: valuesOf(userErrorCodes, (code) => codeMeaning[code]),
});

builder.enumType('RequestErrorCode', {
  description:
    'All values of `extensions.code` for the `errors` of a response. No field has this type. Clients should handle an unknown code like INTERNAL_SERVER_ERROR.',
  values: valuesOf(Object.keys(requestErrorCodes) as RequestErrorCode[], (code) => requestErrorCodes[code]),
});
