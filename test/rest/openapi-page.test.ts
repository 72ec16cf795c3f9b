import { expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';

const app = useApp();

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers, redirect: 'manual' });

test.each(['/openapi', '/openapi/'])('%s redirects to the page of the newest version', async (path) => {
  const { status, url, headers } = await get(path);
  expect({ status, to: new URL(headers.get('location') ?? '', url).pathname }).toEqual({
    status: 302,
    to: '/openapi/v3',
  });
});

test.each(['v1', 'v2', 'v3'])('the page of %s loads everything from this host', async (version) => {
  const page = await get(`/openapi/${version}`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  const html = await page.text();
  expect(html).not.toMatch(/https?:/);
  const addresses = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address as string);
  expect(addresses).toContain(`${version}.json`);
  expect(addresses).toContain('assets/swagger-ui-bundle.js');
  for (const address of addresses) {
    const { status } = await get(new URL(address, page.url).pathname);
    expect({ address, status }).toEqual({ address, status: 200 });
  }
});

test('its cached scripts are not sent again', async () => {
  const { headers } = await get('/openapi/assets/swagger-ui-bundle.js');
  const again = await get('/openapi/assets/swagger-ui-bundle.js', { 'if-none-match': headers.get('etag') ?? '' });
  expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: '' });
});
