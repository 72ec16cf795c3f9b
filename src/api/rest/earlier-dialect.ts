import { z } from '@hono/zod-openapi';
import type { DomainError, ErrorCode } from '../../common/errors.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { Deprecation } from './deprecation.ts';
import type { Dialect } from './dialect.ts';
import { type Refusal, retryMembers } from './refusal.ts';

const missing = 'Missing or invalid Authorization header';

/**
 * Versions 1 and 2 have no date of end, so there is no `Sunset`. No source dates the deprecation: it is the start of 2026
 * (docs/wire/http.md#deprecated-routes).
 */
const deprecation: Deprecation = { since: new Date('2026-01-01T00:00:00Z') };

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
  INVALID_STATE: 400,
  LIMIT_EXCEEDED: 400,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 400,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<ErrorCode, number>;

// Texts that existing clients expect (docs/wire/v1.md#errors). They name no permission.
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

// Gives `{detail}`: a string, or the array of issues on 422 (docs/wire/v1.md#errors).
function problem(refusal: Refusal): Reply {
  const { status, headers } = refusal;
  const detail = status === 422 ? refusal.issues : refusal.message;
  return jsonReply(status, { detail, ...retryMembers(refusal) }, headers);
}

/** The common part of versions 1 and 2: their kinds of keys (docs/security.md#keys), statuses and texts of errors. */
export function earlierDialect(version: 'v1' | 'v2'): Omit<Dialect, 'title' | 'description' | 'wireNames'> {
  return {
    deprecation,
    credentials: {
      prefixes: ['apk_user_', 'apk_'],
      wrongKind: `${missing}: ${version} takes personal keys, which begin with "apk_user_", and service keys, which begin with "apk_".`,
    },
    problem,
    problemSchema,
    problemType: 'application/json',
    unknownRoute: 'The requested resource does not exist',
    statusOf,
    says: (error: DomainError, text: string) => texts[error.code] ?? text,
  };
}
