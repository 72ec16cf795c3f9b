import type { Services } from '../../domain/context.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import { type Asset, type ConsoleFiles, createConsoleFiles } from './files.ts';
import { createSignIn } from './sign-in.ts';

/**
 * The content security policy of a console page: it loads from and sends requests to this service only, and no other
 * page may frame it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The paths of the console's pages. The script of the page decides what each path shows. */
const pages = /^\/(?:sign-in|sessions(?:\/[^/]+)?|(?:manage|usage)(?:\/.*)?)?\/?$/;

/** Paths of APIs: only programs request them, even with `Accept: text/html`. */
const apiPaths = /^\/(?:v\d|enterprise|graphql|openapi|attachments|webhooks)/;

const assetsPrefix = '/console/assets/';

/** Serves the web console: its pages, its files and its sign-in. The pages get all other data from GraphQL. */
export interface ConsoleApp {
  /** Resolves to null for a path that is not the console's. */
  fetch(request: Request, env: { readonly address: string | null }): Promise<Response | null>;
  /** The page for an unknown address, with a link back to the console. Null for programs and for paths of APIs. */
  missing(request: Request): Promise<Response | null>;
}

/** Creates the {@link ConsoleApp}. `directory` is the build output of the console. */
export function createConsole(services: Services, directory: string): ConsoleApp {
  const files = createConsoleFiles(directory);
  const signIn = createSignIn(services);
  return {
    async fetch(request, { address }) {
      const { pathname } = new URL(request.url);
      const signInResponse = signIn(request, address);
      if (signInResponse !== null) return signInResponse;
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (pathname === '/console' || pathname.startsWith('/console/')) {
        if (!isRead) return refuse(405, 'Only GET and HEAD can be asked for here.', { allow: 'GET, HEAD' });
        return findAsset(files, request, pathname);
      }
      // Browsers request it where a page names no icon: for a JSON response, or in the explorer.
      if (pathname === '/favicon.ico' && isRead) return serve(await files.icon(), request, 'public, max-age=86400');
      // A request with a token comes from a program, which does not want a page.
      if (!isRead || !pages.test(pathname) || request.headers.has('authorization')) return null;
      // A program at "/" gets the list of the APIs instead.
      const isBrowser = request.headers.get('accept')?.includes('text/html') ?? false;
      return pathname === '/' && !isBrowser ? null : page(files, request);
    },
    async missing(request) {
      const isPageRequest = request.method === 'GET' && !request.headers.has('authorization');
      const isBrowser = request.headers.get('accept')?.includes('text/html') ?? false;
      if (!isPageRequest || !isBrowser || apiPaths.test(new URL(request.url).pathname)) return null;
      return page(files, request, 404);
    },
  };
}

async function page(files: ConsoleFiles, request: Request, status = 200): Promise<Response> {
  const html = await files.page();
  if (html === null) {
    return refuse(
      503,
      'The console has not been built: run "npm run build:console". The APIs are here: /graphql, /openapi.',
    );
  }
  return new Response(request.method === 'HEAD' ? null : html, {
    status,
    headers: {
      ...pageHeaders(contentSecurityPolicy),
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      'vary': 'Accept',
    },
  });
}

async function findAsset(files: ConsoleFiles, request: Request, pathname: string): Promise<Response> {
  const name = pathname.startsWith(assetsPrefix) ? pathname.slice(assetsPrefix.length) : '';
  return serve(await files.asset(name), request, 'public, max-age=31536000, immutable');
}

function serve(asset: Asset | null, request: Request, cacheControl: string): Response {
  // The file belongs to an earlier version whose page the browser still has open. The page then reloads itself.
  if (asset === null) return refuse(404, 'There is no such file.', { 'cache-control': 'no-store' });
  return new Response(request.method === 'HEAD' ? null : asset.bytes, {
    headers: {
      'content-type': asset.type,
      'content-length': String(asset.bytes.byteLength),
      'cache-control': cacheControl,
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
  });
}

function refuse(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
  });
}
