import { z } from '@hono/zod-openapi';
import { type AccessType, accessTypes, type Scope } from '../../../domain/identity/organizations/scope.ts';
import { textParam } from '../query.ts';

/** One of the two scopes that have routes of the same shape. */
export interface RouteScope {
  readonly prefix: string;
  /** The word for the scope in operation names. */
  readonly word: string;
  /** The words for the scope in summaries. */
  readonly of: string;
  readonly scopeOf: (param: (name: string) => string) => Scope;
  /** The 404 for a missing organization, for routes that name nothing else. */
  readonly notThere: readonly 404[];
}

/** `/v3/organizations/{org_id}` and `/v3/enterprise`. */
export const routeScopes: readonly RouteScope[] = [
  {
    prefix: '/v3/organizations/{org_id}',
    word: '',
    of: 'of an organization',
    scopeOf: (param) => ({ organizationId: param('org_id') }),
    notThere: [404],
  },
  {
    prefix: '/v3/enterprise',
    word: 'Enterprise',
    of: 'of the enterprise',
    scopeOf: () => 'enterprise',
    notThere: [],
  },
];

/** The owner kind of a resource. */
export const accessTypeSchema = z.enum(accessTypes);

/** The query parameter `access_type` of lists. */
export const accessTypeParam = textParam('access_type', {
  description:
    '"org": of organizations; "enterprise": the enterprise’s own. In an organization "org" when left out, else both.',
});

/** Casts the value of the parameter. The domain refuses unknown values. */
export const accessTypeOf = (text: string | undefined): AccessType | undefined => text as AccessType | undefined;
