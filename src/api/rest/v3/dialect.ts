import { STATUS_CODES } from 'node:http';
import { z } from '@hono/zod-openapi';
import type { Permission } from '../../../auth/permissions.ts';
import type { DomainError, ErrorCode } from '../../../common/errors.ts';
import type { Page } from '../../../domain/pages.ts';
import { Reply } from '../../../http/reply.ts';
import type { Credentials, Dialect } from '../dialect.ts';
import { integerParam, textParam } from '../query.ts';
import { type Refusal, retryMembers } from '../refusal.ts';

/** Whole Unix seconds. */
export const time = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** The schema of a {@link time}. */
export const timeSchema = z.int().openapi({ description: 'Unix seconds.' });

/** The maximum and the default of `first`. */
export const page = { max: 200, default: 100 } as const;

/** The query parameters of every list. */
export const pageQuery = {
  first: integerParam('first', {
    description: 'Items in this page.',
    minimum: 1,
    maximum: page.max,
    default: page.default,
  }),
  after: textParam('after', { description: 'The `end_cursor` of the page before.' }),
};

/** The schema of a page of some items. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    end_cursor: z.string().nullable(),
    has_next_page: z.boolean(),
    total: z.int().nullable().openapi({ description: 'Not counted: always null.' }),
  });
}

/** A page of records as the wire has it. */
export function presentPage<T, W>(records: Page<T>, present: (record: T) => W) {
  return presentPageOf(records, records.items.map(present));
}

/** {@link presentPage} for items that are presented together, in their order. */
export function presentPageOf<T, W>(records: Page<T>, items: W[]) {
  const last = records.items.at(-1);
  return {
    items,
    end_cursor: last === undefined ? null : records.cursorOf(last),
    has_next_page: records.hasNextPage,
    total: null,
  };
}

const missing = 'Missing or invalid Authorization header';

/** The keys that version 3 takes: those of service users, and personal access tokens (docs/security.md#keys). */
export const credentials: Credentials = {
  prefixes: ['cog_'],
  wrongKind: `${missing}: v3 takes service-user keys and personal access tokens, which begin with "cog_".`,
};

/** Gives RFC 9457 problem details. `detail` is a string; on 422 it is the array of issues, and `errors` repeats it. */
export function problem(refusal: Refusal, instance: string): Reply {
  const { status, issues } = refusal;
  const isInvalid = status === 422;
  const body = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: isInvalid ? issues : refusal.message,
    instance,
    ...(isInvalid ? { errors: issues } : {}),
    ...retryMembers(refusal),
  };
  const headers = { ...refusal.headers, 'content-type': 'application/problem+json' };
  return new Reply(status, headers, JSON.stringify(body));
}

const statusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  ORGANIZATION_NOT_USABLE: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 422,
  BAD_CURSOR: 422,
  UNKNOWN_REFERENCE: 400,
  NOT_UNIQUE: 409,
  INVALID_STATE: 409,
  LIMIT_EXCEEDED: 400,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<ErrorCode, number>;

/** The names of permissions in answers of version 3. */
export const permissionNames = {
  UseSessions: 'UseDevinSessions',
  ViewOrgSessions: 'ViewOrgSessions',
  ManageOrgSessions: 'ManageOrgSessions',
  ImpersonateOrgSessions: 'ImpersonateOrgSessions',
  ManageOrgSecrets: 'ManageOrgSecrets',
  ManageOrgKnowledge: 'ManageOrgKnowledge',
  ManageOrgPlaybooks: 'ManageOrgPlaybooks',
  ManageOrgSchedules: 'ManageOrgSchedules',
  ViewOrgAutomations: 'ViewOrgAutomations',
  ManageOrgAutomations: 'ManageOrgAutomations',
  UsePersonalAutomations: 'UsePersonalAutomations',
  ManageOrgServiceUsers: 'ManageOrgServiceUsers',
  ViewOrgMembership: 'ViewOrgMembership',
  ReadAccountMeta: 'ReadAccountMeta',
  ManageEnterpriseSettings: 'ManageEnterpriseSettings',
  ManageOrganizations: 'ManageOrganizations',
  ManageAccountMembership: 'ManageAccountMembership',
  ViewAccountMembership: 'ViewAccountMembership',
  ManageAccountServiceUsers: 'ManageAccountServiceUsers',
  ManageBilling: 'ManageBilling',
  ViewAccountConsumption: 'ViewAccountConsumption',
  ViewAccountMetrics: 'ViewAccountMetrics',
  ViewAccountSessions: 'ViewAccountSessions',
  ManageAccountSessions: 'ManageAccountSessions',
  ManageAccountPlaybooks: 'ManageAccountPlaybooks',
  ManageAccountKnowledge: 'ManageAccountKnowledge',
} as const satisfies Record<Permission, string>;

// A missing permission is an issue whose path is the permission's name. All other texts are the domain's.
function says(error: DomainError, text: string): string {
  if (error.code === 'UNAUTHENTICATED') return missing;
  const [name] = error.code === 'FORBIDDEN' ? (error.issues[0]?.path ?? []) : [];
  return name !== undefined && name in permissionNames
    ? `Missing permission ${permissionNames[name as Permission]}`
    : text;
}

const issueSchema = z
  .object({ loc: z.array(z.string()), msg: z.string(), type: z.string() })
  .openapi('ValidationError');

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.union([z.string(), z.array(issueSchema)]),
    instance: z.string(),
    errors: z.array(issueSchema).optional(),
    retry_after: z.int().optional(),
  })
  .openapi('ProblemDetail');

/** Version 3: RFC 9457, Unix seconds, cursors, permissions. */
export const dialect: Dialect = {
  title: 'Switchyard, version 3',
  description: 'The current version: organizations in the path, cursor pages, named permissions.',
  credentials,
  problem,
  problemSchema,
  problemType: 'application/problem+json',
  unknownRoute: 'This route does not exist.',
  statusOf,
  wireNames: {
    organizationId: 'org_id',
    sessionId: 'devin_id',
    isUnlisted: 'unlisted',
    attachmentIds: 'attachment_urls',
    targetSessionId: 'target_devin_id',
    sessionMode: 'devin_mode',
    pullRequestUrl: 'pr_url',
    newExpiresAt: 'new_key_expires_at',
    groupNames: 'idp_group_names',
  },
  says,
};
