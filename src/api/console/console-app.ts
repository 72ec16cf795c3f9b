import type { Services } from '../../domain/context.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import { type Asset, type ConsoleFiles, createConsoleFiles } from './files.ts';
import { createSignIn } from './sign-in.ts';

/** What a page of the console may do: load from this service alone, ask it alone, and stand in no other page. */
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

/** The addresses that are pages of the console; what each shows, the page itself knows. */
const pages = /^\/(?:sign-in|sessions(?:\/[^/]+)?|(?:manage|usage)(?:\/.*)?)?\/?$/;

/** Where who asks is a program, whatever it says that it takes. */
const apiPaths = /^\/(?:v\d|enterprise|graphql|openapi|attachments|webhooks)/;

const assetsPrefix = '/console/assets/';

/** The web console's door: its pages and files, and who is signed in. All else it asks of GraphQL. */
export interface ConsoleApp {
  /** Null for what is not the console's. */
  fetch(request: Request, env: { readonly address: string | null }): Promise<Response | null>;
  /** What a browser is shown at an address where nothing is: a page with a way back. Null for programs, and at addresses of APIs. */
  missing(request: Request): Promise<Response | null>;
}

/** Opens the door; `directory` is where the console was built. */
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
      // Browsers ask for it where a page names none: at an answer as JSON, or at the explorer.
      if (pathname === '/favicon.ico' && isRead) return serve(await files.icon(), request, 'public, max-age=86400');
      // Who sends a token is a program that asks for something else than a page.
      if (!isRead || !pages.test(pathname) || request.headers.has('authorization')) return null;
      // Who reads this address by hand or by a script is told where the APIs are.
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
  // Of an earlier version, whose page a browser still has: it loads its page anew then.
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
