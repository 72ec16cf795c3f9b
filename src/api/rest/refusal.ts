import { type DomainError, type ErrorCode, type Issue, retryAfterOf } from '../../common/errors.ts';

/** One problem of one value of a request, as the `detail` of a 422 has it (docs/wire/v1.md#errors). */
export interface WireIssue {
  /** The location: `body`, `query`, `path` or `header`, then names and indexes, all as strings. */
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** The error that a dialect turns into a response. `issues` matter for status 422 only. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly issues: readonly WireIssue[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds until the next try, for the header and the body (docs/wire/README.md#rate-limits). */
  readonly retryAfterSeconds?: number;
}

/** A request that the API refuses before it reaches the domain. */
export class RequestError extends Error implements Refusal {
  readonly status: number;
  readonly issues: readonly WireIssue[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    message: string,
    more: { status: number; issues?: readonly WireIssue[]; headers?: Record<string, string>; cause?: unknown },
  ) {
    super(message, 'cause' in more ? { cause: more.cause } : {});
    this.name = 'RequestError';
    this.status = more.status;
    this.issues = more.issues ?? [];
    this.headers = more.headers ?? {};
  }
}

/** A 422 with its issues. The message joins theirs, for error bodies that have one string only. */
export function invalidRequest(issues: readonly WireIssue[]): RequestError {
  return new RequestError([...new Set(issues.map((issue) => issue.msg))].join(' '), { status: 422, issues });
}

/** The part of a dialect that maps domain errors to the wire. */
export interface RefusalMapping {
  /** Complete: a new error code does not compile until every version maps it. */
  readonly statusOf: Readonly<Record<ErrorCode, number>>;
  /** Wire names of values, where they are not the domain's name in snake_case. */
  readonly wireNames: Readonly<Record<string, string>>;
  /** The version's own text for an error, from the domain's text in wire names. */
  readonly says: (error: DomainError, text: string) => string;
}

/** The names of an endpoint's parameters outside its body. */
export interface ParameterLocations {
  readonly query: ReadonlySet<string>;
  readonly path: ReadonlySet<string>;
}

/**
 * Translates a domain error to a version's names: `maxAcuLimit` becomes `max_acu_limit` in paths and in quoted names.
 */
export function refusalOf(error: DomainError, mapping: RefusalMapping, locations: ParameterLocations): Refusal {
  const issues = error.issues.map((issue) => ({
    loc: locate(issue, mapping, locations),
    msg: translate(issue.message, [issue], mapping),
    type: issueType[error.code] ?? 'value_error',
  }));
  const message = mapping.says(error, translate(error.message, error.issues, mapping));
  const fallback = error.code === 'IDEMPOTENCY_CONFLICT' ? ['header', idempotencyHeader] : [];
  return {
    status: mapping.statusOf[error.code],
    message,
    issues:
      issues.length > 0 ? issues : [{ loc: fallback, msg: message, type: issueType[error.code] ?? 'value_error' }],
    ...(error.code === 'UNAUTHENTICATED' ? { headers: { 'www-authenticate': 'Bearer' } } : {}),
    ...retryOf(error),
  };
}

function retryOf(error: DomainError): Pick<Refusal, 'headers' | 'retryAfterSeconds'> {
  const retryAfterSeconds = retryAfterOf(error);
  if (retryAfterSeconds === null) return {};
  return { retryAfterSeconds, headers: { 'retry-after': String(retryAfterSeconds) } };
}

/** The members of an error body that say when to retry; empty if that is not known. */
export function retryMembers({ retryAfterSeconds }: Refusal): { retry_after?: number } {
  return retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds };
}

/** The header's name as answers write it (docs/wire/README.md#idempotency). */
export const idempotencyHeader = 'Idempotency-Key';

// The machine-readable types of issues; all others are plain value errors.
const issueType: Partial<Record<ErrorCode, string>> = {
  BAD_CURSOR: 'bad_cursor',
  UNKNOWN_REFERENCE: 'unknown_reference',
  NOT_UNIQUE: 'not_unique',
  IDEMPOTENCY_CONFLICT: 'idempotency_conflict',
};

function locate(issue: Issue, mapping: RefusalMapping, locations: ParameterLocations): string[] {
  const [first, ...rest] = issue.path.map((name) => wireName(name, mapping));
  if (first === undefined) return ['body'];
  if (issue.path[0] === 'idempotencyKey') return ['header', idempotencyHeader];
  if (locations.query.has(first)) return ['query', first, ...rest];
  if (locations.path.has(first)) return ['path', first, ...rest];
  return ['body', first, ...rest];
}

function wireName(name: string, mapping: RefusalMapping): string {
  return mapping.wireNames[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function translate(text: string, issues: readonly Issue[], mapping: RefusalMapping): string {
  const names = new Set([...issues.flatMap((issue) => issue.path), ...Object.keys(mapping.wireNames)]);
  return text.replaceAll(/"([a-z][A-Za-z]*)"/g, (quoted, name: string) =>
    names.has(name) ? `"${wireName(name, mapping)}"` : quoted,
  );
}
