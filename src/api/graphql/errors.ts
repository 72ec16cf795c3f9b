import { GraphQLError } from 'graphql';
import { manageOwnSessions } from '../../auth/permissions.ts';
import {
  DomainError,
  type ErrorCode,
  type Issue,
  MissingPermissionError,
  notFound,
  retryAfterOf,
  UnavailableError,
} from '../../common/errors.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { enumName } from './enum-name.ts';
import type { RequestErrorCode } from './error-codes.ts';

/** Maps each domain error to a user error in a mutation's payload, or to an error with an extension code. */
const dialect = {
  UNAUTHENTICATED: { as: 'error', code: 'UNAUTHENTICATED' },
  FORBIDDEN: { as: 'error', code: 'FORBIDDEN' },
  CONFIRMATION_REQUIRED: { as: 'error', code: 'CONFIRMATION_REQUIRED' },
  // Missing and forbidden look the same.
  ORGANIZATION_NOT_USABLE: { as: 'error', code: 'NOT_FOUND' },
  NOT_FOUND: { as: 'error', code: 'NOT_FOUND' },
  BAD_CURSOR: { as: 'error', code: 'BAD_CURSOR' },
  INVALID_INPUT: { as: 'userError', code: 'INVALID_INPUT' },
  UNKNOWN_REFERENCE: { as: 'userError', code: 'UNKNOWN_REFERENCE' },
  NOT_UNIQUE: { as: 'userError', code: 'NOT_UNIQUE' },
  INVALID_STATE: { as: 'userError', code: 'INVALID_STATE' },
  LIMIT_EXCEEDED: { as: 'userError', code: 'LIMIT_EXCEEDED' },
  CONFLICT: { as: 'userError', code: 'CONFLICT' },
  IDEMPOTENCY_CONFLICT: { as: 'userError', code: 'IDEMPOTENCY_CONFLICT' },
  RATE_LIMITED: { as: 'error', code: 'RATE_LIMITED' },
  SERVICE_UNAVAILABLE: { as: 'error', code: 'SERVICE_UNAVAILABLE' },
} as const satisfies Record<ErrorCode, { as: 'error' | 'userError'; code: RequestErrorCode }>;

/** The codes of a user error: the enum ErrorCode of the schema. */
export const userErrorCodes = [
  'INVALID_INPUT',
  'UNKNOWN_REFERENCE',
  'NOT_UNIQUE',
  'INVALID_STATE',
  'LIMIT_EXCEEDED',
  'CONFLICT',
  'IDEMPOTENCY_CONFLICT',
] as const;

/** One problem in a mutation's payload. */
export interface UserError {
  readonly code: (typeof userErrorCodes)[number];
  readonly message: string;
  readonly path: readonly string[] | null;
}

/**
 * The user errors of a domain error; null if it must be a GraphQL error instead. `prefix`: prepended to the paths of
 * the issues. `names`: maps domain names to the names of input members; a dotted name is a path.
 */
export function toUserErrors(
  error: unknown,
  prefix: readonly string[],
  names: Readonly<Record<string, string>> = {},
): UserError[] | null {
  if (!(error instanceof DomainError)) return null;
  const mapping = dialect[error.code];
  if (mapping.as !== 'userError') return null;
  const { code } = mapping;
  if (error.issues.length === 0) return [{ code, message: error.message, path: null }];
  return error.issues.map((issue) => {
    const { message, path } = inInputNames(issue, names);
    return { code, message: ofItem(message, path), path: [...prefix, ...path] };
  });
}

function inInputNames({ message, path: [first = '', ...rest] }: Issue, names: Readonly<Record<string, string>>): Issue {
  const renamed = Object.hasOwn(names, first) ? names[first] : undefined;
  if (renamed === undefined) return { message, path: first === '' ? rest : [first, ...rest] };
  const path = renamed.split('.');
  return { message: message.replaceAll(`"${first}"`, `"${path.at(-1)}"`), path: [...path, ...rest] };
}

/** The message of a domain error, with permissions named as in the enum Permission. */
function messageOf(error: DomainError): string {
  if (!(error instanceof MissingPermissionError)) return error.message;
  return error.message.replace(error.permission, enumName(error.permission));
}

// A message about list items names the list; the path tells which item.
function ofItem(message: string, path: readonly string[]): string {
  const [name, index] = path.slice(-2);
  if (name === undefined || !/^\d+$/.test(index ?? '')) return message;
  return message.startsWith(`"${name}" `) ? `"${name}[${index}]"${message.slice(name.length + 2)}` : message;
}

/**
 * The user errors of one item of a bulk operation. None of them is an error of the whole operation, so a missing or
 * forbidden item is reported at `path`, as an id that refers to nothing the caller may use.
 */
export function toItemErrors(error: DomainError, prefix: readonly string[], path: readonly string[]): UserError[] {
  const message = messageOf(error);
  return toUserErrors(error, prefix) ?? [{ code: 'UNKNOWN_REFERENCE', message, path: [...prefix, ...path] }];
}

/**
 * Converts an error for the client: a domain error with its code, GraphQL's own errors unchanged, and any other error
 * masked. `report` logs such an error, and returns the id that the client may quote.
 */
export function maskError(error: unknown, report: (error: unknown) => string): GraphQLError {
  if (!(error instanceof GraphQLError)) {
    const refusal = asRefusal(error);
    if (refusal instanceof UnavailableError)
      return new GraphQLError(refusal.message, { extensions: extensionsOf(refusal) });
    return internalError(report(error));
  }
  const originalError = asRefusal(error.originalError) as Error | undefined;
  if (originalError === undefined) return withCode(error);
  const { nodes, source, positions, path } = error;
  const location = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  if (originalError instanceof GraphQLError) return withCode(error);
  if (originalError instanceof DomainError && originalError.code === 'ORGANIZATION_NOT_USABLE') {
    // The same message as for a missing organization.
    return new GraphQLError(notFound('organization').message, { ...location, extensions: { code: 'NOT_FOUND' } });
  }
  if (originalError instanceof DomainError)
    return new GraphQLError(messageOf(originalError), {
      ...location,
      extensions: extensionsOf(originalError),
    });
  return internalError(report(originalError), location);
}

// Adds a code to GraphQL's own runtime errors, such as a missing variable.
function withCode(error: GraphQLError): GraphQLError {
  if (error.extensions.code !== undefined) return error;
  const { message, nodes, source, positions, path, originalError } = error;
  const location = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  const extensions = { ...error.extensions, code: 'INVALID_INPUT' };
  return new GraphQLError(message, { ...location, originalError: originalError ?? null, extensions });
}

type ErrorExtensions = {
  readonly code: RequestErrorCode;
  /**
   * For FORBIDDEN: the missing permission, as in the enum Permission. Omitted unless exactly one permission is missing.
   */
  readonly permission?: string;
  /** In seconds. */
  readonly retryAfter?: number;
  /**
   * For an error about a value in the arguments of a field: its path from the arguments, as in `path` of a user error.
   */
  readonly path?: readonly string[];
};

/**
 * The extensions of a domain error. The error of an outage also sets the status of the HTTP response, through a
 * non-enumerable property that no response shows.
 */
export function extensionsOf(error: DomainError): ErrorExtensions {
  const { as, code } = dialect[error.code];
  if (error instanceof MissingPermissionError && error.permission !== manageOwnSessions) {
    return { code, permission: enumName(error.permission) };
  }
  const retryAfter = retryAfterOf(error);
  if (retryAfter === null) {
    const [issue] = as === 'userError' || code === 'BAD_CURSOR' ? error.issues : [];
    return issue === undefined || issue.path.length === 0 ? { code } : { code, path: issue.path };
  }
  const extensions = { code, retryAfter };
  if (!(error instanceof UnavailableError)) return extensions;
  const http = { status: 503, headers: { 'retry-after': String(retryAfter) } };
  return Object.defineProperty(extensions, 'http', { value: http });
}

/** The headers of a 503 for a result with an outage among its errors; null for any other result. */
export function outageHeaders(errors: readonly GraphQLError[] | undefined): Readonly<Record<string, string>> | null {
  const found = errors?.find(({ extensions }) => extensions.code === dialect.SERVICE_UNAVAILABLE.code);
  return found ? { 'retry-after': String(found.extensions.retryAfter) } : null;
}

/** Creates the error that replaces an unexpected one. `errorId`: the id under which that one was logged. */
export function internalError(errorId: string, location: object = {}): GraphQLError {
  return new GraphQLError('Unexpected error.', { ...location, extensions: { code: 'INTERNAL_SERVER_ERROR', errorId } });
}
