import { enterprisePermissions, organizationPermissions, type Permission } from '../../auth/permissions.ts';
import type { ApiKeyKind } from '../../auth/viewer.ts';
import type { AttachmentRecord } from '../../domain/attachments/attachments.ts';
import type { KeyStatus } from '../../domain/keys/list-api-keys.ts';
import type { AccessType } from '../../domain/organizations/place.ts';
import type { QueueReason } from '../../domain/runs/queue-reasons.ts';
import type { SecretType } from '../../domain/secrets/secrets.ts';
import type { SessionSize } from '../../domain/sessions/insights.ts';
import { type EventKind, eventKinds, type MessageType } from '../../domain/sessions/log.ts';
import { type SessionOrigin, sessionOrigins } from '../../domain/sessions/session.ts';
import {
  type SessionEnd,
  type SessionStatus,
  type SessionStatusDetail,
  sessionStatusDetails,
} from '../../domain/sessions/status.ts';
import { builder } from '../builder.ts';
import { enumName } from '../enum-name.ts';
import { type RequestErrorCode, requestErrorCodes } from '../error-codes.ts';
import { userErrorCodes } from '../errors.ts';

type Values<T extends string> = Record<string, { value: T; description: string }>;

/** Values of an enum whose names are those of the words inside, in upper snake case. */
export const valuesOf = <T extends string>(names: readonly T[], describe: (name: T) => string): Values<T> =>
  Object.fromEntries(names.map((value) => [enumName(value), { value, description: describe(value) }]));

const statusMeaning: Record<SessionStatus, string> = {
  new: 'Made, and waiting for a worker.',
  claimed: 'A worker has taken it and starts its agent.',
  running: 'Its agent works, or waits for the user; the detail says which.',
  exit: 'Over: finished, terminated or expired. A message takes up one that finished.',
  error: 'Its agent failed for good. A message tries again.',
  suspended: 'Put aside; the detail says why. A message takes it up.',
  resuming: 'Being taken up again.',
};

/** SessionStatus of the contract. */
export const SessionStatusEnum = builder.enumType('SessionStatus', {
  description: 'Where a session is.',
  values: valuesOf(Object.keys(statusMeaning) as SessionStatus[], (status) => statusMeaning[status]),
});

const detailMeaning: Partial<Record<SessionStatusDetail, string>> = {
  working: 'The agent works.',
  'waiting_for_user': 'The agent waits for a message.',
  'waiting_for_approval': 'The agent waits for a permission.',
  finished: 'The agent has done what it was asked.',
  inactivity: 'Nothing happened for long.',
  'user_request': 'A user asked for it.',
};

/** SessionStatusDetail of the contract. */
export const SessionStatusDetailEnum = builder.enumType('SessionStatusDetail', {
  description: 'Why a session is where it is.',
  values: valuesOf(
    sessionStatusDetails,
    (detail) => detailMeaning[detail] ?? `Stopped: ${detail.replaceAll('_', ' ')}.`,
  ),
});

/** Why a session waits in the queue. */
export const SessionQueueReasonEnum = builder.enumType('SessionQueueReason', {
  description: 'Why a session waits in the queue.',
  values: {
    NO_WORKER: { value: 'no_worker', description: 'No worker has had room for it yet.' },
    ORGANIZATION_LIMIT: {
      value: 'organization_limit',
      description: 'Its organization has as many running sessions as it may have.',
    },
    USER_LIMIT: {
      value: 'user_limit',
      description: 'Its user, or service user, has as many running sessions in the organization as it may have.',
    },
  } as const satisfies Record<Uppercase<QueueReason>, { value: QueueReason; description: string }>,
});

/** How a session that is over came to its end. */
export const SessionEndReasonEnum = builder.enumType('SessionEndReason', {
  description: 'The reason for which a session ended.',
  values: {
    FINISHED: { value: 'finished', description: 'Its agent was done. A message takes it up again.' },
    TERMINATED: { value: 'terminated', description: 'Somebody ended it for good.' },
    EXPIRED: { value: 'expired', description: 'It slept for so long that it was ended for good.' },
  } as const satisfies Record<Uppercase<SessionEnd>, { value: SessionEnd; description: string }>,
});

const messageMeaning: Record<string, { value: MessageType; description: string }> = {
  INITIAL_USER_MESSAGE: { value: 'initial_user_message', description: 'The prompt that the session began with.' },
  USER_MESSAGE: { value: 'user_message', description: 'A later message of a user.' },
  AGENT_MESSAGE: { value: 'agent_message', description: 'What the agent said.' },
};

/** SessionMessageType of the contract. */
export const SessionMessageTypeEnum = builder.enumType('SessionMessageType', {
  description: 'Who said a message, and when.',
  values: messageMeaning,
});

const kindMeaning: Record<EventKind, string> = {
  MESSAGE: 'A message of a user or of the agent.',
  STATUS: 'The session changed its status.',
  TURN: 'The agent began or ended a turn.',
  THOUGHT: 'What the agent thought aloud.',
  PLAN: 'The agent’s plan, as it stands.',
  TOOL_CALL: 'A tool of the agent, as it stands.',
  QUESTION: 'The agent asked the user something.',
  PERMISSION: 'A permission was given or refused.',
  NOTICE: 'Something that the service or the agent noted.',
  USAGE: 'Tokens and cost so far.',
  LIMIT: 'A limit was reached.',
  PULL_REQUEST: 'A pull request was made or changed.',
  STRUCTURED_OUTPUT: 'The structured output was set.',
  ATTACHMENT: 'A file was attached.',
  ERROR: 'The session stopped with an error.',
};

/** SessionEventKind of the contract. */
export const SessionEventKindEnum = builder.enumType('SessionEventKind', {
  description: 'What an entry of a session’s log is about.',
  values: valuesOf(eventKinds, (kind) => kindMeaning[kind]),
});

const originMeaning: Record<SessionOrigin, string> = {
  api: 'By REST or GraphQL.',
  webapp: 'In the console.',
  automation: 'By an automation.',
  cli: 'On the command line.',
  other: 'Somewhere else.',
};

/** SessionOrigin of the contract. */
export const SessionOriginEnum = builder.enumType('SessionOrigin', {
  description: 'Where a session was started.',
  values: valuesOf(sessionOrigins, (origin) => originMeaning[origin]),
});

/** SessionOrderField of the contract. */
export const SessionOrderFieldEnum = builder.enumType('SessionOrderField', {
  description: 'What a list of sessions is ordered by.',
  values: {
    CREATED_AT: { value: 'createdAt', description: 'When it was started.' },
    UPDATED_AT: { value: 'updatedAt', description: 'When its status or its messages last changed.' },
  } as const,
});

/** OrderDirection of the contract. */
export const OrderDirectionEnum = builder.enumType('OrderDirection', {
  description: 'Which end of a list comes first.',
  values: {
    ASC: { value: 'asc', description: 'The smallest, or oldest.' },
    DESC: { value: 'desc', description: 'The largest, or newest.' },
  } as const,
});

/** PrincipalType of the contract. */
export const PrincipalTypeEnum = builder.enumType('PrincipalType', {
  description: 'What kind of caller this is.',
  values: {
    USER: { description: 'A human, by a key of its own.' },
    SERVICE_USER: { description: 'A service user.' },
    SERVICE_KEY: { description: 'A service key, which acts for itself.' },
    SYSTEM: { description: 'The service itself.' },
  } as const,
});

/** Which keys of a list. */
export const ApiKeyStatusEnum = builder.enumType('ApiKeyStatus', {
  description: 'Whether a key can still be used.',
  values: {
    ACTIVE: { value: 'active', description: 'It can be used.' },
    EXPIRED: { value: 'expired', description: 'Its time is over.' },
    REVOKED: { value: 'revoked', description: 'It was revoked.' },
    ALL: { value: 'all', description: 'Any of these.' },
  } as const satisfies Record<Uppercase<KeyStatus>, { value: KeyStatus; description: string }>,
});

/** ApiKeyKind of the contract. */
export const ApiKeyKindEnum = builder.enumType('ApiKeyKind', {
  description: 'What a key is for, and what its token begins with.',
  values: {
    PERSONAL: { value: 'PERSONAL', description: 'A user’s key for v1 and v2 (apk_user_), in one organization.' },
    SERVICE: { value: 'SERVICE', description: 'A key of an organization itself for v1 and v2 (apk_).' },
    PERSONAL_ACCESS_TOKEN: { value: 'PERSONAL_ACCESS_TOKEN', description: 'A user’s token for v3 (cog_).' },
    SERVICE_USER: { value: 'SERVICE_USER', description: 'A service user’s token for v3 (cog_).' },
  } as const satisfies Record<ApiKeyKind, object>,
});

/** Permission of the contract. */
export const PermissionEnum = builder.enumType('Permission', {
  description: 'What a role may hold.',
  values: Object.fromEntries(
    [...enterprisePermissions, ...organizationPermissions].map((value) => [
      enumName(value),
      {
        value,
        description: `${(enterprisePermissions as readonly string[]).includes(value) ? 'On the enterprise' : 'In an organization'}: ${value.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()}.`,
      },
    ]),
  ) as Values<Permission>,
});

/** RoleScope of the contract. */
export const RoleScopeEnum = builder.enumType('RoleScope', {
  description: 'Where a role can be given.',
  values: {
    ENTERPRISE: {
      value: 'enterprise',
      description: 'On the enterprise; its organization permissions hold everywhere.',
    },
    ORGANIZATION: { value: 'organization', description: 'In an organization.' },
  } as const,
});

/** Whose notes or playbooks are meant. */
export const AccessTypeEnum = builder.enumType('AccessType', {
  description: 'Whom a note or a playbook belongs to.',
  values: {
    ENTERPRISE: { value: 'enterprise', description: 'The enterprise itself: every organization may use it.' },
    ORGANIZATION: { value: 'org', description: 'An organization.' },
  } as const satisfies Record<string, { value: AccessType; description: string }>,
});

/** SecretType of the contract. */
export const SecretTypeEnum = builder.enumType('SecretType', {
  description: 'What a secret is for.',
  values: {
    COOKIE: { value: 'cookie', description: 'A cookie of a website.' },
    KEY_VALUE: { value: 'key-value', description: 'An environment variable of the agent, named by its key.' },
    TOTP: { value: 'totp', description: 'The seed of one-time passwords.' },
  } as const satisfies Record<string, { value: SecretType; description: string }>,
});

/** Who brought a file. */
export const AttachmentSourceEnum = builder.enumType('AttachmentSource', {
  description: 'Where a file came from.',
  values: {
    USER: { value: 'user', description: 'It was uploaded for the agent.' },
    AGENT: { value: 'agent', description: 'The agent made it.' },
  } as const satisfies Record<string, { value: AttachmentRecord['source']; description: string }>,
});

/** How much a session used. */
export const SessionSizeEnum = builder.enumType('SessionSize', {
  description: 'How much a session used, in ACUs.',
  values: {
    XS: { value: 'xs', description: 'Less than 1.' },
    S: { value: 's', description: 'Less than 3.' },
    M: { value: 'm', description: 'Less than 6.' },
    L: { value: 'l', description: 'Less than 12.' },
    XL: { value: 'xl', description: '12 or more.' },
  } as const satisfies Record<string, { value: SessionSize; description: string }>,
});

const codeMeaning: Record<(typeof userErrorCodes)[number], string> = {
  INVALID_INPUT: 'A value breaks a rule.',
  UNKNOWN_REFERENCE: 'An id refers to nothing that the caller may use.',
  NOT_UNIQUE: 'A name is taken.',
  INVALID_STATE: 'The thing is in a state that does not allow this.',
  LIMIT_EXCEEDED: 'A limit would be exceeded.',
  CONFLICT: 'The resource is at another version than `expectedVersion`: somebody changed it since it was read.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used with other input.',
};

/** ErrorCode of the contract. */
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'What is wrong with the input of a mutation. All other refusals are errors with a RequestErrorCode in `extensions.code`.',
  values: valuesOf(userErrorCodes, (code) => codeMeaning[code]),
});

builder.enumType('RequestErrorCode', {
  description:
    'Every value of `extensions.code` of an error in the `errors` of an answer. No field has this type. Clients should take an unknown code as they take INTERNAL_SERVER_ERROR.',
  values: valuesOf(Object.keys(requestErrorCodes) as RequestErrorCode[], (code) => requestErrorCodes[code]),
});
