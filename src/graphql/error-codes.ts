/**
 * Every code that `extensions.code` of an error can have, with its meaning: the enum RequestErrorCode of the schema. The codes of
 * user errors are among them, because a query says as an error what a mutation says in `userErrors`.
 */
export const requestErrorCodes = {
  UNAUTHENTICATED:
    'The token is missing, unknown, expired or revoked. HTTP status 401; a WebSocket is closed with 4403.',
  FORBIDDEN:
    'The caller is known but may not do this. If one permission is missing, `extensions.permission` is its name in the enum Permission.',
  CONFIRMATION_REQUIRED:
    'A browser that is signed in to the console must show its token again before it may do this. Callers with a token never get it.',
  NOT_FOUND: 'There is nothing of this id that the caller may see, or the HTTP address names nothing.',
  BAD_CURSOR: 'A cursor in `after` or `before` is not one of this list.',
  INVALID_INPUT:
    'A variable or an argument has a value that breaks a rule, or the HTTP request has a body or an `Accept` that cannot be used.',
  UNKNOWN_REFERENCE: 'An id in an argument refers to nothing that the caller may use.',
  NOT_UNIQUE: 'A name that must be unique is taken. Mutations say this in `userErrors`.',
  INVALID_STATE: 'The thing, or the stream of server-sent events, is in a state that does not allow this.',
  LIMIT_EXCEEDED:
    'The operation is larger than any operation may be, or a limit on streams or on a thing would be exceeded. Sending it again does not help.',
  CONFLICT: 'The resource is at another version than `expectedVersion`. Mutations say this in `userErrors`.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used with another input. Mutations say this in `userErrors`.',
  RATE_LIMITED:
    'The key has too few points left in this minute. `extensions.retryAfter` is the number of seconds to wait. HTTP status 429.',
  SERVICE_UNAVAILABLE:
    'The database or the file storage does not answer. A change may have been carried out. `extensions.retryAfter` is the number of seconds to wait. HTTP status 503.',
  INTERNAL_SERVER_ERROR: 'A fault of the service, which has logged it.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL, or has too many tokens. From the parser, before anything runs.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema. From validation, before anything runs.',
  OPERATION_RESOLUTION_FAILURE:
    'The document has several operations, and `operationName` names none of them. From the server, before anything runs.',
  BAD_REQUEST:
    'The HTTP request or the message is no GraphQL request: it has no query, is a batch, sends a mutation by GET, or asks for a subscription without `Accept: text/event-stream`.',
  PERSISTED_QUERY_ONLY: 'The service runs trusted documents only, and the request has a text instead of an id.',
  PERSISTED_QUERY_NOT_FOUND: 'There is no trusted document of this id.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'The service has no trusted documents: send the document as `query`.',
} as const;

/** A key of {@link requestErrorCodes}. */
export type RequestErrorCode = keyof typeof requestErrorCodes;
