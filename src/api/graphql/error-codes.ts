/**
 * Every code that `extensions.code` of an error can have, with its meaning: the enum RequestErrorCode of the schema. It
 * includes the codes of user errors, because a query reports as an error what a mutation reports in `userErrors`.
 */
export const requestErrorCodes = {
  UNAUTHENTICATED:
    'The token is missing, unknown, expired or revoked. HTTP status 401; a WebSocket is closed with 4403.',
  FORBIDDEN:
    'The caller is authenticated but not allowed to do this. If a single permission is missing, `extensions.permission` is its value of the enum Permission.',
  CONFIRMATION_REQUIRED:
    'A browser that is signed in to the console must send its token again before this operation. Callers that authenticate with a token never get this code.',
  NOT_FOUND: 'No resource that the caller may see has this id, or the HTTP address does not exist.',
  BAD_CURSOR: 'The cursor in `after` or `before` does not belong to this list.',
  INVALID_INPUT:
    'The value of a variable or an argument is invalid, or the HTTP request has a body or an `Accept` header that cannot be used.',
  UNKNOWN_REFERENCE: 'An argument refers to something that does not exist or that the caller may not use.',
  NOT_UNIQUE: 'A name that must be unique is already in use. Mutations report this in `userErrors`.',
  INVALID_STATE: 'The resource, or the stream of server-sent events, is in a state that does not allow the operation.',
  LIMIT_EXCEEDED:
    'The operation is larger than allowed, or it would exceed a limit on streams or on a resource. Sending the operation again does not help.',
  CONFLICT: 'The resource has another version than `expectedVersion`. Mutations report this in `userErrors`.',
  IDEMPOTENCY_CONFLICT:
    'The idempotency key was already used with another input. Mutations report this in `userErrors`.',
  RATE_LIMITED:
    'The key has too few points left in this minute for the operation. `extensions.retryAfter` is the number of seconds to wait. HTTP status 429.',
  SERVICE_UNAVAILABLE:
    'The database or the file storage does not respond. A change may have been carried out nevertheless. `extensions.retryAfter` is the number of seconds to wait. HTTP status 503.',
  INTERNAL_SERVER_ERROR: 'An internal error of the service, which has been logged.',
  GRAPHQL_PARSE_FAILED:
    'The document is not valid GraphQL, or has too many tokens. Reported by the parser before anything runs.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not match the schema. Reported by validation before anything runs.',
  OPERATION_RESOLUTION_FAILURE:
    'The document has several operations, and `operationName` names none of them. Reported by the server before anything runs.',
  BAD_REQUEST:
    'The HTTP request or the WebSocket message is not a GraphQL request: it has no query, is a batch, sends a mutation by GET, or requests a subscription without `Accept: text/event-stream`.',
  PERSISTED_QUERY_ONLY:
    'The service runs only trusted documents, and the request has the text of a document instead of an id.',
  PERSISTED_QUERY_NOT_FOUND: 'The service has no trusted document with this id.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'The service has no trusted documents. Send the text of the document as `query`.',
} as const;

/** A key of {@link requestErrorCodes}. */
export type RequestErrorCode = keyof typeof requestErrorCodes;
