import { createHash } from 'node:crypto';
import type { RequestView } from '../../../http/request-view.ts';
import { namesEtag } from '../answer.ts';
import { RequestError } from '../refusal.ts';

/** A complete resource, before a projection. */
interface Resource {
  readonly meta: object;
}

/** Returns the version of a resource: an ETag of all its attributes, whatever a request selects of them. */
const versionOf = (resource: Resource): string =>
  `W/"${createHash('sha256').update(JSON.stringify(resource)).digest('base64url').slice(0, 22)}"`;

/** Adds its version to the metadata of a resource. */
export function withVersion<T extends Resource>(resource: T): T & { readonly meta: { readonly version: string } } {
  return { ...resource, meta: { ...resource.meta, version: versionOf(resource) } };
}

/**
 * Returns the check that a change is based on the current version, as `If-Match` names it; undefined without this header. `present`
 * returns the current resource. The check throws 412.
 */
export function readPrecondition<T>(
  request: RequestView,
  present: (current: T) => { readonly meta: { readonly version?: string } },
): ((current: T) => void) | undefined {
  const ifMatch = request.header('if-match');
  if (ifMatch === null) return undefined;
  return (current) => {
    if (namesEtag(ifMatch, present(current).meta.version ?? '')) return;
    const message = 'The resource was changed since you read it: its version is not that of If-Match. Read it again.';
    throw new RequestError(message, { status: 412 });
  };
}
