import { jsonReply, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { jsonAnswer } from './answer.ts';
import { openapiAsset, openapiPage } from './openapi-page.ts';
import type { VersionApi } from './version-api.ts';

/** Serves `/openapi`: `v1.json` and so on for programs, `v1` and so on for people. No key is needed. */
export interface Descriptions {
  /** Answers every request; 404 and 405 as `{detail}`. */
  respond(request: RequestView): Promise<Reply>;
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

  const find = async (path: string, request: RequestView): Promise<Reply | null> => {
    const newest = versions.at(-1) as string;
    // Relative, as all links of the page are, so that they work behind every proxy.
    if (path === '') return redirect(request.path.endsWith('/') ? newest : `openapi/${newest}`);
    if (path.startsWith('assets/')) return openapiAsset(path.slice('assets/'.length), request);
    if (apis.has(path)) return openapiPage(path, versions);
    const version = path.replace(/\.json$/, '');
    const api = path.endsWith('.json') ? apis.get(version) : undefined;
    if (!api) return null;
    return jsonAnswer(request, documentOf(version, api)).with({ 'cache-control': 'no-cache' });
  };

  return {
    async respond(request) {
      const path = request.path.replace(/^\/openapi\/?/, '');
      const found = await find(path, request);
      if (!found) return jsonReply(404, { detail: 'This route does not exist.' });
      if (request.method === 'OPTIONS') return new Reply(204, { allow });
      if (request.method === 'GET') return found;
      if (request.method === 'HEAD') return found.withoutBody();
      return jsonReply(405, { detail: 'Method not allowed.' }, { allow });
    },
  };
}

const redirect = (location: string) => new Reply(302, { location });
