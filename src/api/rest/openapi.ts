import { jsonAnswer, toResponse } from './answer.ts';
import { openapiAsset, openapiPage } from './openapi-page.ts';
import type { VersionApi } from './version-api.ts';

/** Serves `/openapi`: `v1.json` and so on for programs, `v1` and so on for people. No key is needed. */
export interface Descriptions {
  /** Answers every request; 404 and 405 as `{detail}`. */
  fetch(request: Request): Promise<Response>;
}

const allow = 'GET, HEAD, OPTIONS';

/** Creates the documents of all versions on the first request, when the address of this installation is known. */
export function createDescriptions(apis: ReadonlyMap<string, VersionApi>): Descriptions {
  const versions = [...apis.keys()];
  const documents = new Map<string, object>();

  const documentOf = (version: string, api: VersionApi): object => {
    const document = documents.get(version) ?? api.document();
    documents.set(version, document);
    return document;
  };

  const find = async (path: string, request: Request): Promise<Response | null> => {
    const newest = versions.at(-1) as string;
    // Relative, as all links of the page are, so that they work behind every proxy.
    if (path === '') return redirect(request.url.endsWith('/') ? newest : `openapi/${newest}`);
    if (path.startsWith('assets/')) return openapiAsset(path.slice('assets/'.length), request);
    if (apis.has(path)) return openapiPage(path, versions);
    const version = path.replace(/\.json$/, '');
    const api = path.endsWith('.json') ? apis.get(version) : undefined;
    if (!api) return null;
    const response = toResponse(
      jsonAnswer(
        { method: request.method, ifNoneMatch: request.headers.get('if-none-match') },
        documentOf(version, api),
      ),
    );
    response.headers.set('cache-control', 'no-cache');
    return response;
  };

  return {
    async fetch(request) {
      const path = new URL(request.url).pathname.replace(/^\/openapi\/?/, '');
      const found = await find(path, request);
      if (!found) return Response.json({ detail: 'There is no such route.' }, { status: 404 });
      if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } });
      if (request.method === 'GET') return found;
      if (request.method === 'HEAD') return new Response(null, { status: found.status, headers: found.headers });
      return Response.json({ detail: 'Method not allowed.' }, { status: 405, headers: { allow } });
    },
  };
}

const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });
