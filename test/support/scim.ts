import { call, type TestApp } from './app.ts';

/** The URIs of SCIM's messages. */
export const scimUris = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const;

/** Sends a request to SCIM as directories do. `path` begins below `/scim/v2`. */
export async function scim(
  test: Pick<TestApp, 'url'>,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
): ReturnType<typeof call> {
  const headers = { 'accept': 'application/scim+json', 'content-type': 'application/scim+json; charset=utf-8' };
  const answer = await call(test, token, method, `/scim/v2${path}`, body, headers);
  const type = answer.headers.get('content-type');
  if (answer.status !== 204 && answer.status !== 304 && type !== 'application/scim+json') {
    throw new Error(`${method} ${path} has the content type ${type}.`);
  }
  return answer;
}

/** Returns the path of a list with a filter, encoded as directories do. */
export const filtered = (resources: 'Users' | 'Groups', filter: string, more = ''): string =>
  `/${resources}?filter=${encodeURIComponent(filter)}${more}`;

/** The body of a PATCH. */
export const patchOf = (...operations: object[]) => ({ schemas: [scimUris.patch], Operations: operations });

/** The expected body of an error. */
export const scimProblem = (status: number, scimType?: string) => ({
  schemas: [scimUris.error],
  status: String(status),
  ...(scimType !== undefined && { scimType }),
});
