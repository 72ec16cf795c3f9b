import type { Services } from '../../domain/context.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import { Reply, type ReplyHeaders, textReply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { createAppRegistrationPage } from './app-registration-page.ts';
import { type Asset, type ConsoleFiles, createConsoleFiles } from './files.ts';
import { createSignIn } from './sign-in.ts';
import { createSignOn } from './sign-on.ts';

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
const pages =
  /^\/(?:sign-in(?:\/confirm|\/callback\/[^/]+)?|device|inbox|sessions(?:\/[^/]+)?|(?:manage|usage)(?:\/.*)?)?\/?$/;

/**
 * Paths of APIs: only programs request them, even with `Accept: text/html`. `/enterprise` and `/webhooks` alone are none: people
 * guess them for the pages of these names.
 */
const apiPaths =
  /^\/(?:v\d|(?:enterprise|webhooks)\/.|oauth|\.well-known|graphql|openapi|attachments|workspace-files|scim(?:\/|$))/;

const assetsPrefix = '/console/assets/';

/** Serves the web console: its pages, its files and its sign-in. The pages get all other data from GraphQL. */
export interface ConsoleApp {
  /** Returns null for a path that is not the console's. */
  respond(request: RequestView): Promise<Reply> | null;
  /** The page for an unknown address, with a link back to the console. Null for programs and for paths of APIs. */
  missing(request: RequestView): Promise<Reply | null>;
}

/** Creates the {@link ConsoleApp}. `directory` is the build output of the console. */
export function createConsole(services: Services, directory: string): ConsoleApp {
  const files = createConsoleFiles(directory);
  const signIn = createSignIn(services);
  const signOn = createSignOn(services);
  const appRegistration = createAppRegistrationPage(services);
  return {
    respond(request) {
      const { path, method } = request;
      const ownReply = signIn(request) ?? signOn(request) ?? appRegistration(request);
      if (ownReply !== null) return ownReply;
      const isRead = method === 'GET' || method === 'HEAD';
      if (path === '/console' || path.startsWith('/console/')) return findAsset(files, request, isRead);
      // Browsers request it where a page names no icon: for a JSON response, or in the explorer.
      if (path === '/favicon.ico' && isRead) return findIcon(files, request);
      // A request with a token comes from a program, which does not want a page.
      if (!isRead || !pages.test(path) || request.header('authorization') !== null) return null;
      // A program at "/" gets the list of the APIs instead.
      return path === '/' && !isFromBrowser(request) ? null : page(files, request);
    },
    async missing(request) {
      const isPageRequest = request.method === 'GET' && request.header('authorization') === null;
      if (!isPageRequest || !isFromBrowser(request) || apiPaths.test(request.path)) return null;
      return page(files, request, 404);
    },
  };
}

const isFromBrowser = (request: RequestView): boolean => request.header('accept')?.includes('text/html') ?? false;

async function page(files: ConsoleFiles, request: RequestView, status = 200): Promise<Reply> {
  const html = await files.page();
  if (html === null) {
    return refuse(
      503,
      'The console isn’t built. Run "npm run build:console". The APIs are available: /graphql, /openapi.',
    );
  }
  const headers = {
    ...pageHeaders(contentSecurityPolicy),
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'vary': 'Accept',
  };
  return new Reply(status, headers, request.method === 'HEAD' ? null : html);
}

async function findAsset(files: ConsoleFiles, request: RequestView, isRead: boolean): Promise<Reply> {
  if (!isRead) return refuse(405, 'Only GET and HEAD are allowed.', { allow: 'GET, HEAD' });
  const { path } = request;
  const name = path.startsWith(assetsPrefix) ? path.slice(assetsPrefix.length) : '';
  return serve(await files.asset(name), request, 'public, max-age=31536000, immutable');
}

const findIcon = async (files: ConsoleFiles, request: RequestView): Promise<Reply> =>
  serve(await files.icon(), request, 'public, max-age=86400');

function serve(asset: Asset | null, request: RequestView, cacheControl: string): Reply {
  // The file belongs to an earlier version whose page the browser still has open. The page then reloads itself.
  if (asset === null) return refuse(404, 'This file does not exist.', { 'cache-control': 'no-store' });
  const headers = {
    'content-type': asset.type,
    'content-length': String(asset.bytes.byteLength),
    'cache-control': cacheControl,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
  return new Reply(200, headers, request.method === 'HEAD' ? null : asset.bytes);
}

const refuse = (status: number, text: string, headers: ReplyHeaders = {}): Reply =>
  textReply(status, text, { 'x-content-type-options': 'nosniff', ...headers });
