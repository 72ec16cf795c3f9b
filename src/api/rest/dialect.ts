import type { z } from '@hono/zod-openapi';
import type { Reply } from '../../http/reply.ts';
import type { Deprecation } from './deprecation.ts';
import type { Refusal, RefusalMapping } from './refusal.ts';

/** The kinds of keys that a version accepts. */
export interface Credentials {
  readonly prefixes: readonly string[];
  /** The message of the 401 for a key of another kind. It names the right prefix. */
  readonly wrongKind: string;
}

/**
 * The conventions of one version. Resource files compose these and never write a status, a date or an error body
 * themselves.
 */
export interface Dialect extends RefusalMapping {
  readonly title: string;
  readonly description: string;
  /** Set where the whole version is deprecated. */
  readonly deprecation?: Deprecation;
  readonly credentials: Credentials;
  /** Builds the response to a refused request; `instance` is the requested path. */
  readonly problem: (refusal: Refusal, instance: string) => Reply;
  /** The body of {@link Dialect.problem} and its content type, for the OpenAPI document. */
  readonly problemSchema: z.ZodType;
  readonly problemType: string;
  /** The message of the 404 for a path that the version does not have. */
  readonly unknownRoute: string;
}
