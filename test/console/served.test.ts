import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { ensureConsole } from '../support/built.ts';

let test: TestApp;
beforeAll(async () => {
  await ensureConsole();
  test = await startApp();
});
afterAll(() => test.close());

const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(test.url + path, { method, headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

describe('the console over HTTP', () => {
  it('is one page at each of its addresses, the same for everybody', async () => {
    const texts = new Set<string>();
    for (const path of ['/', '/inbox', '/sessions', '/sessions/devin-0123', '/sign-in', '/manage/secrets', '/usage']) {
      const response = await open(path);
      expect({ path, status: response.status, type: response.headers.get('content-type') }).toEqual({
        path,
        status: 200,
        type: 'text/html; charset=utf-8',
      });
      texts.add(await response.text());
    }
    expect(texts.size).toBe(1);
  });

  it('has an icon at the browsers’ default path', async () => {
    const response = await fetch(`${test.url}/favicon.ico`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
    expect(await response.text()).toContain('<svg');
  });

  it('may run and request nothing except from this service, and cannot be framed', async () => {
    const { headers } = await open('/sessions');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  it('loads only its own files, which browsers cache permanently', async () => {
    const html = await (await open('/')).text();
    const loaded = [...html.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(loaded.length).toBeGreaterThan(2);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=/);
    for (const address of loaded) {
      expect(address).toMatch(/^\/console\/assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg)$/);
      const { status, headers } = await open(address);
      expect({ status, cached: headers.get('cache-control'), sniffed: headers.get('x-content-type-options') }).toEqual({
        status: 200,
        cached: 'public, max-age=31536000, immutable',
        sniffed: 'nosniff',
      });
    }
  });

  it('has a small initial size', async () => {
    const html = await (await open('/')).text();
    const loaded = [...html.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    let bytes = 0;
    for (const address of loaded) {
      const response = await open(address, { 'accept-encoding': 'gzip' });
      bytes += Number(response.headers.get('content-length'));
    }
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(250_000);
  });

  it('answers 404 at other addresses', async () => {
    for (const path of ['/console/', '/console/assets/', '/console/assets/x.js', '/console/assets/index.html', '/x']) {
      expect((await open(path)).status, path).toBe(404);
    }
    const [page, api] = [await open('/nope/at-all'), await open('/v9/sessions')];
    expect([page.headers.get('content-type'), api.headers.get('content-type')]).toEqual([
      'text/html; charset=utf-8',
      'application/json',
    ]);
    expect((await (await fetch(`${test.url}/nope`)).json()).detail).toBe('This route does not exist.');
    expect((await open('/console/assets/..%2findex.html')).status).toBe(404);
    expect((await open('/sessions', {}, 'POST')).status).toBe(404);
    expect((await open('/console/assets/x.js', {}, 'POST')).status).toBe(405);
  });

  it('is also served at guessed names of pages, but not for paths of APIs', async () => {
    const typeOf = async (path: string) => (await open(path)).headers.get('content-type');
    for (const path of ['/webhooks', '/webhooks/', '/enterprise', '/git', '/users'])
      expect(await typeOf(path), path).toBe('text/html; charset=utf-8');
    for (const path of ['/webhooks/automations/x', '/webhooks/x', '/enterprise/x', '/v3', '/openapi/x', '/scim/v2/x'])
      expect(await typeOf(path), path).not.toContain('text/html');
    expect((await fetch(`${test.url}/webhooks`)).headers.get('content-type')).toContain('json');
  });

  it('is not served to programs that send a token', async () => {
    const response = await open('/sessions/1', { authorization: `Bearer ${test.adminToken}` });
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 404,
      type: 'application/json',
    });
  });

  it('answers HEAD like GET, and scripts that read the root as before', async () => {
    const head = await open('/sessions/1', {}, 'HEAD');
    expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' });
    expect(await (await fetch(`${test.url}/`)).text()).toContain('/openapi');
  });
});
