import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pageHeaders } from '../../http/page-headers.ts';
import { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';

const require = createRequire(import.meta.url);

/** The folder into which the build copies Swagger UI. A service that runs from its sources reads it from its package. */
const builtFolder = fileURLToPath(new URL('swagger-ui/', import.meta.url));

/** The files of Swagger UI that the page uses, by the names under which they are served. */
const parts: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);

/** Served from this service, so that the page needs no other host and no inline script. */
const startScript = `const version = document.documentElement.dataset.version;
window.ui = SwaggerUIBundle({
  url: version + '.json',
  dom_id: '#ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null,
  // The document names BASE_URL; requests from the page go to the host that served it.
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
});
`;

const style = `body { margin: 0; font-family: sans-serif; }
nav { padding: 0.75rem 1.25rem; background: #1b1f24; color: #fff; }
nav a { color: #fff; margin-left: 1rem; }
nav a[aria-current] { font-weight: bold; text-decoration: none; }
`;

/** Allows no other host, and only this page's own scripts. Swagger UI uses inline styles and images. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The HTML page of one version's document, with links to the other versions. */
export function openapiPage(version: string, versions: readonly string[]): Reply {
  const links = versions.map(
    (each) => `<a href="${each}"${each === version ? ' aria-current="page"' : ''}>${each}</a>`,
  );
  const html = `<!doctype html>
<html lang="en" data-version="${version}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Switchyard REST ${version}</title>
<link rel="stylesheet" href="assets/swagger-ui.css">
<link rel="stylesheet" href="assets/page.css">
</head>
<body>
<nav>Switchyard REST${links.join('')}<a href="${version}.json">${version}.json</a></nav>
<main id="ui"></main>
<noscript>This page needs JavaScript; the same is in <a href="${version}.json">${version}.json</a>.</noscript>
<script src="assets/swagger-ui-bundle.js"></script>
<script src="assets/page.js"></script>
</body>
</html>
`;
  return new Reply(200, pageHeaders(contentSecurityPolicy), html);
}

/** A style sheet or script of the page; null for an unknown name. Each file is read once. */
export async function openapiAsset(name: string, request: RequestView): Promise<Reply | null> {
  const asset = await findAsset(name);
  if (!asset) return null;
  const headers = { etag: asset.etag, 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
  if (request.header('if-none-match')?.includes(asset.etag.slice(2))) {
    return new Reply(304, headers);
  }
  return new Reply(200, { ...headers, 'content-type': asset.type }, asset.text);
}

interface Asset {
  readonly text: string;
  readonly type: string;
  readonly etag: string;
}

const assets = new Map<string, Promise<Asset>>();

async function findAsset(name: string): Promise<Asset | null> {
  if (name === 'page.js') return asset(startScript, 'text/javascript; charset=utf-8');
  if (name === 'page.css') return asset(style, 'text/css; charset=utf-8');
  const type = parts.get(name);
  if (type === undefined) return null;
  const cached = assets.get(name) ?? readPart(name, type);
  assets.set(name, cached);
  return cached;
}

async function readPart(name: string, type: string): Promise<Asset> {
  const folder = existsSync(builtFolder) ? builtFolder : packageFolder();
  return asset(await readFile(join(folder, name), 'utf8'), type);
}

function packageFolder(): string {
  return dirname(require.resolve('swagger-ui-dist/package.json'));
}

function asset(text: string, type: string): Asset {
  return { text, type, etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
