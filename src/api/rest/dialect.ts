import type { z } from '@hono/zod-openapi';
import type { Deprecation } from './deprecation.ts';
import type { Refusal, RefusalMapping } from './refusal.ts';

/** The keys that a version takes. */
export interface Credentials {
  readonly prefixes: readonly string[];
  /** Said, with 401, to a key of another kind: it names the right prefix. */
  readonly wrongKind: string;
}

/** One version's habits. Resource files compose these and never write a status, a date or an error body themselves. */
export interface Dialect extends RefusalMapping {
  readonly title: string;
  readonly description: string;
  /** Set where the whole version is deprecated. */
  readonly deprecation?: Deprecation;
  readonly credentials: Credentials;
  /** The answer to a refusal; `instance` is the path that was asked for. */
  readonly problem: (refusal: Refusal, instance: string) => Response;
  /** The body of {@link Dialect.problem} and its content type, for the OpenAPI document. */
  readonly problemSchema: z.ZodType;
  readonly problemType: string;
  /** Said, with 404, to an address that the version does not have. */
  readonly unknownRoute: string;
}
