import { z } from '@hono/zod-openapi';
import type { ErrorCode } from '../../../common/errors.ts';
import { Reply } from '../../../http/reply.ts';
import type { RequestView } from '../../../http/request-view.ts';
import { jsonAnswer } from '../answer.ts';
import type { Dialect } from '../dialect.ts';
import { type Refusal, RequestError } from '../refusal.ts';

/** The content type of SCIM (RFC 7644, 3.1). */
const contentType = 'application/scim+json';

/** The prefix of the URIs of SCIM's messages. */
export const messages = 'urn:ietf:params:scim:api:messages:2.0:';

/** The kinds of errors of RFC 7644, 3.12, that occur here. */
const scimTypes = [
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'noTarget',
  'tooMany',
  'uniqueness',
] as const;

/** One of SCIM's kinds of errors. */
export type ScimType = (typeof scimTypes)[number];

/** Creates a refusal with status 400 and a kind. */
export const scimError = (type: ScimType, message: string): RequestError =>
  new RequestError(message, { status: 400, issues: [{ loc: [], msg: message, type }] });

const isScimType = (type: string): type is ScimType => (scimTypes as readonly string[]).includes(type);

function scimTypeOf({ status, issues }: Refusal): ScimType | undefined {
  const type = issues[0]?.type;
  if (status === 409) return type === 'not_unique' ? 'uniqueness' : undefined;
  if (status !== 400) return undefined;
  // The body is not JSON.
  if (type === undefined) return 'invalidSyntax';
  return isScimType(type) ? type : 'invalidValue';
}

function problem(refusal: Refusal): Reply {
  const { status, message, headers } = refusal;
  const scimType = scimTypeOf(refusal);
  const body = {
    schemas: [`${messages}Error`],
    status: String(status),
    ...(scimType && { scimType }),
    detail: message,
  };
  return new Reply(status, { ...headers, 'content-type': contentType }, JSON.stringify(body));
}

/**
 * Encodes a value as the response to a request. The response to a read has a validator, as everywhere in REST: `version`, or one of
 * the whole value.
 */
export const scimAnswer = (request: RequestView, value: unknown, status?: number, version?: string): Reply => {
  const reply = jsonAnswer(request, value, status, version);
  return reply.status === 304 ? reply : reply.with({ 'content-type': contentType });
};

const statusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  ORGANIZATION_NOT_USABLE: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 400,
  BAD_CURSOR: 400,
  UNKNOWN_REFERENCE: 400,
  NOT_UNIQUE: 409,
  INVALID_STATE: 409,
  LIMIT_EXCEEDED: 400,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<ErrorCode, number>;

const missing = 'Missing or invalid Authorization header';

/** SCIM 2.0: RFC 7643 and 7644. */
export const dialect: Dialect = {
  title: 'Switchyard, SCIM 2.0',
  description: 'Users and groups, for the directory of an enterprise.',
  credentials: {
    prefixes: ['cog_'],
    wrongKind: `${missing}: SCIM takes service-user keys and personal access tokens, which begin with "cog_".`,
  },
  problem,
  problemSchema: z.object({ schemas: z.array(z.string()), status: z.string(), detail: z.string() }),
  problemType: contentType,
  unknownRoute: 'This route does not exist.',
  statusOf,
  wireNames: {
    email: 'userName',
    name: 'displayName',
    externalId: 'externalId',
    givenName: 'name.givenName',
    familyName: 'name.familyName',
  },
  says: (_error, text) => text,
};
