import { z } from 'zod';
import { nestsDeeper } from '../../common/json-depth.ts';
import { plainLine } from '../../common/plain-text.ts';
import { ForgeError, invalidResponse } from '../interface/errors.ts';
import type { HttpResponse } from './forge-http.ts';

/** Maximum depth of the JSON of a forge. */
const maxDepth = 32;

/** Parses JSON of a forge. Throws INVALID_RESPONSE. */
export function parseJson(body: Uint8Array | string, host: string): unknown {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  if (nestsDeeper(text, maxDepth)) throw invalidResponse(host, `its JSON has more than ${maxDepth} levels`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidResponse(host, 'it is not JSON', error);
  }
}

/** Checks a parsed value by a schema. Throws INVALID_RESPONSE with the path of the first wrong value. */
export function checkShape<T>(schema: z.ZodType<T>, value: unknown, host: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = plainLine((issue?.path ?? []).map(String).join('.'), 100);
  throw invalidResponse(host, path === '' ? 'it has the wrong type' : `"${path}" is missing or invalid`, result.error);
}

/** A call's part of the message of an error. */
export interface CallContext {
  readonly host: string;
  /** Beginning with a verb: `create the pull request`. */
  readonly action: string;
  /** The permission that the call needs, in the words of the forge. */
  readonly permission: string | null;
  /** A sentence for people about a credential that the forge refuses; missing or null: none. */
  readonly refusalAdvice?: string | null;
  /** Masks credentials in texts of the forge. */
  readonly mask: (text: string) => string;
  /** Returns the current time in ms. */
  readonly now: () => number;
}

/** Converts a response that is not a success into an error. */
export function errorOf(response: HttpResponse, context: CallContext): ForgeError {
  const { status } = response;
  const { host, action } = context;
  const reason = reasonOf(response, context);
  const because = reason === null ? '.' : `: ${endSentence(reason)}`;
  const retryAt = retryTime(response, context.now());
  if (isRateLimited(response, reason)) {
    return new ForgeError('RATE_LIMITED', `${host} limits the number of requests and did not ${action}.`, {
      status,
      retryAt,
    });
  }
  if (status === 401) {
    const advice = context.refusalAdvice == null ? '' : ` ${context.refusalAdvice}`;
    const message = `${host} refused the credential of the connection${because}${advice}`;
    return new ForgeError('CREDENTIAL_REFUSED', message, { status });
  }
  if (status === 403) {
    const permission = permissionOf(response, reason) ?? context.permission;
    const missing = permission === null ? '' : ` It needs the permission "${permission}".`;
    return new ForgeError('MISSING_PERMISSION', `The connection may not ${action} at ${host}${because}${missing}`, {
      status,
      permission,
    });
  }
  if (status === 404 || status === 410) {
    return new ForgeError(
      'NOT_FOUND',
      `${host} could not ${action}: it does not exist, or the connection may not see it.`,
      {
        status,
      },
    );
  }
  if (status >= 500) return new ForgeError('UNREACHABLE', `${host} failed with status ${status}.`, { status, retryAt });
  if (status >= 400) return new ForgeError('REJECTED', `${host} did not ${action}${because}`, { status });
  return invalidResponse(host, `it has the status ${status}`);
}

function isRateLimited({ status, headers }: HttpResponse, reason: string | null): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /secondary rate limit/i.test(reason ?? '')
  );
}

const maxRetryMs = 24 * 60 * 60 * 1_000;

// Headers of GitHub, GitLab and Gitea: seconds to wait, or the time in seconds.
function retryTime({ headers }: HttpResponse, now: number): Date | null {
  const wait = Number(headers['retry-after'] ?? Number.NaN);
  const reset = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'] ?? Number.NaN);
  const at = Number.isFinite(wait) ? now + wait * 1_000 : reset * 1_000;
  return Number.isFinite(at) ? new Date(Math.min(Math.max(at, now), now + maxRetryMs)) : null;
}

const errorBody = z.object({
  message: z.unknown(),
  error: z.unknown(),
  'error_description': z.unknown(),
  errors: z.unknown(),
  scope: z.unknown(),
});

/** The forge's own message, for a person; null: none. */
function reasonOf(response: HttpResponse, { host, mask }: CallContext): string | null {
  try {
    const parsed = errorBody.partial().safeParse(parseJson(response.body, host));
    if (!parsed.success) return null;
    const { message, error, 'error_description': description, errors } = parsed.data;
    const parts = [...textsOf(message), ...textsOf(error), ...textsOf(description), ...textsOf(errors)];
    return plainLine(mask([...new Set(parts)].join(' – ')), 500) || null;
  } catch {
    return null;
  }
}

// GitHub: errors: [{message, field, code}]. GitLab: message: {title: ["is too long"]} or [text].
function textsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value.slice(0, 500)];
  if (depth > 2 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((each) => textsOf(each, depth + 1));
  const record = value as Record<string, unknown>;
  if (typeof record.message === 'string') return [record.message.slice(0, 500)];
  return Object.entries(record)
    .slice(0, 5)
    .flatMap(([name, each]) => {
      const texts = textsOf(each, depth + 1);
      return texts.length > 0 ? [`${name} ${texts.join(', ')}`] : [];
    });
}

// GitHub: X-Accepted-GitHub-Permissions: "pull_requests=write; contents=read". GitLab: scope. Gitea: in the message.
function permissionOf({ headers, body }: HttpResponse, reason: string | null): string | null {
  const accepted = headers['x-accepted-github-permissions'];
  if (accepted) return plainLine(accepted.replaceAll('=', ': ').replaceAll(';', ' or'), 200);
  const scope = /"scope"\s*:\s*"([\w ]{1,100})"/.exec(new TextDecoder().decode(body.subarray(0, 2_000)))?.[1];
  return scope ?? /required scope\(s\):?\s*\[?([\w:, ]{1,100})\]?/i.exec(reason ?? '')?.[1]?.trim() ?? null;
}

const endSentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);
