import { z } from '@hono/zod-openapi';
import { type AccessType, accessTypes, type Scope } from '../../../domain/identity/organizations/scope.ts';
import { textParam } from '../query.ts';

/** One of the two places where routes of the same shape stand. */
export interface RouteScope {
  readonly prefix: string;
  /** What stands in the operations' names. */
  readonly word: string;
  /** What stands in their summaries. */
  readonly of: string;
  readonly scopeOf: (param: (name: string) => string) => Scope;
  /** The 404 of an organization that is not there, for routes that name nothing else. */
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

/** Whose a thing is. */
export const accessTypeSchema = z.enum(accessTypes);

/** The query parameter of lists. */
export const accessTypeParam = textParam('access_type', {
  description:
    '"org": of organizations; "enterprise": the enterprise’s own. In an organization "org" when left out, else both.',
});

/** What the parameter says. The domain refuses other words than its own. */
export const accessTypeOf = (text: string | undefined): AccessType | undefined => text as AccessType | undefined;
