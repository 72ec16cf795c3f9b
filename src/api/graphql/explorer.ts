import { createHash } from 'node:crypto';
import { pageHeaders } from '../../http/page-headers.ts';
import { Reply } from '../../http/reply.ts';
import { type RequestView, withoutEndSlashes } from '../../http/request-view.ts';
import { explorerHtml, explorerScript, explorerStyle } from './explorer-page.ts';

/**
 * The content security policy of the page: it loads from and sends requests to this service only, and no other page may
 * frame it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const prefix = '/graphql/explorer/';

/** Returns true if a browser opens the address. A request with a token wants a GraphQL response instead. */
export function wantsExplorer(request: RequestView): boolean {
  const isBrowser = request.header('accept')?.includes('text/html') ?? false;
  const path = withoutEndSlashes(request.path);
  return request.method === 'GET' && path === '/graphql' && isBrowser && request.header('authorization') === null;
}

/** The explorer's page. It contains no private data and needs no token; the requests that it sends do. */
export async function explorer(): Promise<Reply> {
  const { version } = await loadAssets();
  return new Reply(200, pageHeaders(contentSecurityPolicy), explorerHtml(`${prefix}${version}`));
}

/**
 * A script or style sheet of the explorer; null for any other path. The files of one version never change, and browsers
 * cache them.
 */
export async function findExplorerAsset({ path, method }: RequestView): Promise<Reply | null> {
  if (!path.startsWith(prefix) || method !== 'GET') return null;
  const { version, texts } = await loadAssets();
  const [requestedVersion, name = '', ...rest] = path.slice(prefix.length).split('/');
  const text = requestedVersion === version && rest.length === 0 ? texts.get(name) : undefined;
  if (text === undefined) return null;
  const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  };
  return new Reply(200, headers, text);
}

interface Assets {
  /** Part of the assets' URLs. */
  readonly version: string;
  readonly texts: ReadonlyMap<string, string>;
}

let assets: Promise<Assets> | null = null;

// Loads on first use: nine megabytes that most processes never serve.
function loadAssets(): Promise<Assets> {
  assets ??= readAssets();
  return assets;
}

async function readAssets(): Promise<Assets> {
  const { css, editorWorkerService, graphqlWorker, js, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const texts = new Map([
    ['graphiql.js', js],
    ['graphiql.css', css],
    ['editor.worker.js', editorWorkerService],
    ['json.worker.js', jsonWorker],
    ['graphql.worker.js', graphqlWorker],
    ['page.js', explorerScript],
    ['page.css', explorerStyle],
  ]);
  const hash = createHash('sha256');
  for (const text of texts.values()) hash.update(text);
  return { version: hash.digest('hex').slice(0, 16), texts };
}
