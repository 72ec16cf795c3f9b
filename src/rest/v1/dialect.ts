import { z } from '@hono/zod-openapi';
import type { Context } from '../../domain/context.ts';
import type { DomainError, ErrorCode } from '../../domain/errors.ts';
import { refuse } from '../../domain/errors.ts';
import { onlyOrganizationId } from '../../domain/organizations/use-organization.ts';
import type { Credentials, Dialect } from '../dialect.ts';
import { type Refusal, retryMembers } from '../refusal.ts';

/** ISO 8601 in UTC with milliseconds. */
export const time = (at: Date): string => at.toISOString();

/** Pages are `limit` and `offset`: limit 1 to 1000, 100 when left out (spec 8). */
export const page = { max: 1_000, default: 100 } as const;

const missing = 'Missing or invalid Authorization header';

/** Keys of persons and of services (pinned 1). */
export const credentials: Credentials = {
  prefixes: ['apk_user_', 'apk_'],
  wrongKind: `${missing}: v1 takes personal keys, which begin with "apk_user_", and service keys, which begin with "apk_".`,
};

/** `{detail}`: a string, on 422 the array of spec 7. */
export function problem(refusal: Refusal): Response {
  const { status, headers } = refusal;
  const detail = status === 422 ? refusal.issues : refusal.message;
  return Response.json({ detail, ...retryMembers(refusal) }, { status, ...(headers ? { headers } : {}) });
}

const statusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  ORGANIZATION_NOT_USABLE: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 422,
  BAD_CURSOR: 422,
  UNKNOWN_REFERENCE: 400,
  NOT_UNIQUE: 409,
  INVALID_STATE: 400,
  LIMIT_EXCEEDED: 400,
  IDEMPOTENCY_CONFLICT: 400,
  RATE_LIMITED: 429,
} as const satisfies Record<ErrorCode, number>;

// The texts of wire-facts 1, where the generation has one; permissions have no names in it.
const texts: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: missing,
  FORBIDDEN: 'You do not have permission to access this resource',
  ORGANIZATION_NOT_USABLE: 'You do not have permission to access this resource',
  NOT_FOUND: 'The requested resource does not exist',
};

const problemSchema = z
  .object({
    detail: z.union([z.string(), z.array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() }))]),
    retry_after: z.int().optional(),
  })
  .openapi('Problem');

/** Version 1: `{detail}`, ISO times, limit and offset, keys that act in one organization. */
export const dialect: Dialect = {
  title: 'Switchyard, version 1',
  description: 'Sessions of the organization that the key belongs to. Legacy: version 3 is the current one.',
  credentials,
  problem,
  problemSchema,
  problemType: 'application/json',
  unknownRoute: 'The requested resource does not exist',
  statusOf,
  wireNames: { first: 'limit', isUnlisted: 'unlisted', trigger: 'trigger_description', folderId: 'parent_folder_id' },
  says: (error: DomainError, text: string) => texts[error.code] ?? text,
};

/** The organization that the key acts in: the paths of v1 name none. INVALID_INPUT for a key that has several or none. */
export async function organizationOf(context: Context): Promise<string> {
  const id = await onlyOrganizationId(context);
  if (id === null) throw refuse(['organizationId'], 'This key acts in no single organization: v1 needs a key of one.');
  return id;
}
