import { createHash } from 'node:crypto';
import type { Services } from '../../domain/context.ts';
import { findRegistrationForm } from '../../domain/github-apps/registration-form.ts';
import { pageHeaders } from '../../http/page-headers.ts';
import { Reply, textReply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';

const path = '/console/github-app';

const style = `:root { color-scheme: light dark; }
body { margin: 12vh auto; max-width: 34rem; padding: 0 1.25rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; }
button { font: inherit; font-weight: 600; padding: 0.5rem 1rem; border: 0; border-radius: 6px; background: light-dark(#4f46e5, #8b8cf8); color: light-dark(#fff, #11122b); cursor: pointer; }
a { color: light-dark(#4338ca, #a5a6ff); }
svg { display: block; width: 2.5rem; height: 2.5rem; }
button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
`;
// As web/src/styles/icon.svg.
const logo = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M7 11h6c4 0 6 10 10 10h2M7 21h6c1.6 0 2.9-1.6 4-3.5M19.5 13c.9-1.2 2-2 3.5-2h2" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>`;
const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * Serves `/console/github-app`, the page with the form that a browser posts to GitHub to create an App from a manifest. It has no script, and
 * its policy permits a form to the chosen host only, which the policy of the other pages forbids. Returns null for other paths.
 */
export function createAppRegistrationPage(services: Services): (request: RequestView) => Promise<Reply> | null {
  return (request) => (request.path === path ? answer(services, request) : null);
}

async function answer(services: Services, request: RequestView): Promise<Reply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return textReply(405, 'Only GET and HEAD are allowed.', { allow: 'GET, HEAD' });
  }
  try {
    const form = await findRegistrationForm(services, queryOf(request).get('state') ?? '');
    const isHead = request.method === 'HEAD';
    if (form === null) return page(404, "'none'", isHead ? null : missing);
    const { host, origin, action, manifest } = form;
    const name = escapeHtml(host);
    const content = `<h1>Create a GitHub App at ${name}</h1>
<p>${name} shows the permissions of the App before it creates it, and leads back to Switchyard afterwards. Sign in at ${name} first if you
are not signed in there.</p>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="manifest" value="${escapeHtml(manifest)}">
<button type="submit">Continue to ${name}</button>
</form>
<p><a href="/manage/git">Cancel</a></p>`;
    return page(200, origin, isHead ? null : content);
  } catch (error) {
    services.log.error({ err: error }, 'The page that creates a GitHub App could not be shown.');
    return textReply(500, 'Unexpected error.');
  }
}

const missing = `<h1>This page has expired</h1>
<p>A GitHub App can be created within an hour, and once. Start again in the settings.</p>
<p><a href="/manage/git">Git settings</a></p>`;

function page(status: number, formAction: string, content: string | null): Reply {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Create a GitHub App</title>
<style>${style}</style></head>
<body><main>
${logo}
${content}
</main></body></html>
`;
  const headers = {
    ...pageHeaders(policy),
    'cache-control': 'no-store',
    // The request to GitHub names the origin of this service, and not the address with the state.
    'referrer-policy': 'strict-origin',
  };
  return new Reply(status, headers, content === null ? null : html);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '');
