import { createHash } from 'node:crypto';
import { pageHeaders } from '../../http/page-headers.ts';
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
export function wantsExplorer(request: Request): boolean {
  const { headers, method, url } = request;
  const isBrowser = headers.get('accept')?.includes('text/html') ?? false;
  const path = new URL(url).pathname.replace(/\/+$/, '');
  return method === 'GET' && path === '/graphql' && isBrowser && !headers.has('authorization');
}

/** The explorer's page. It contains no private data and needs no token; the requests that it sends do. */
export async function explorer(): Promise<Response> {
  const { version } = await loadAssets();
  return new Response(explorerHtml(`${prefix}${version}`), { headers: pageHeaders(contentSecurityPolicy) });
}

/**
 * A script or style sheet of the explorer; null for any other path. The files of one version never change, and browsers
 * cache them.
 */
export async function findExplorerAsset(request: Request): Promise<Response | null> {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith(prefix) || request.method !== 'GET') return null;
  const { version, texts } = await loadAssets();
  const [requestedVersion, name = '', ...rest] = pathname.slice(prefix.length).split('/');
  const text = requestedVersion === version && rest.length === 0 ? texts.get(name) : undefined;
  if (text === undefined) return null;
  const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
  return new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
  });
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
