import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const open = (path = '/graphql') => fetch(test.url + path, { headers: { accept: 'text/html,*/*;q=0.8' } });

it('is a page for browsers that needs no token and tells nothing', async () => {
  const response = await open();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await response.text();
  expect(html).toMatch(/<title>[^<]*Switchyard/);
  for (const secret of [test.adminToken, test.v1Key, test.organizationId]) expect(html).not.toContain(secret);
});

it('loads nothing from another host', async () => {
  const html = await (await open()).text();
  const markup = html.replaceAll(/<(script|style)\b([^>]*)>[\s\S]*?<\/\1>/g, '<$1$2></$1>');
  const loaded = [...markup.matchAll(/\b(?:src|href|action|data)\s*=\s*["']?([^"'\s>]+)/g)].map(
    ([, address]) => address,
  );
  expect(loaded.filter((address) => /^(?:[a-z]+:)?\/\//i.test(address ?? ''))).toEqual([]);
  // Nor by a style, an import or a worker made from elsewhere.
  expect(html).not.toMatch(/@import\s+(?:url\()?["']?https?:/);
  expect(html).not.toMatch(/url\(\s*["']?(?:https?:)?\/\//);
  expect(html).not.toMatch(/\bimport\(\s*["'`]https?:/);
  expect(html).not.toMatch(/importScripts\(\s*["'`]https?:/);
  expect(html).not.toMatch(/\bfrom\s*["']https?:/);
});

it('is not given to whoever asks for JSON, or sends a query', async () => {
  const query = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
  expect((await open(query)).status).toBe(401);
  expect((await fetch(`${test.url}/graphql`, { headers: { accept: 'application/json' } })).status).toBe(401);
});
