import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call } from './rest-app.ts';

const app = useApp();

const operations = (document: { paths: Record<string, object> }) =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();

const document = async (version: string) => (await call(app, null, 'GET', `/openapi/${version}.json`)).body;

// Published paths stay: a path leaves these lists only with its version.
test.each(['v1', 'v2', 'v3'])('%s: the published paths, without their aliases', async (version) => {
  const published = await readFile(new URL(`published/${version}.txt`, import.meta.url), 'utf8');
  const described = await document(version);
  expect(described.openapi).toBe('3.1.0');
  expect(operations(described)).toEqual(published.trim().split('\n'));
});

test('query parameters have the types of their meaning, not of their parser', async () => {
  const { parameters } = (await document('v1')).paths['/v1/sessions'].get;
  const schemas = Object.fromEntries(
    parameters.map((each: { name: string; schema: object }) => [each.name, each.schema]),
  );
  expect(schemas.limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 1_000, default: 100 });
  expect(schemas.tags).toMatchObject({ type: 'array', items: { type: 'string' } });
  expect(parameters.every((each: { in: string; required?: boolean }) => each.in === 'query' && !each.required)).toBe(
    true,
  );
});

test('path parameters, the idempotency header, the body and the responses are described', async () => {
  const v3 = await document('v3');
  const post = v3.paths['/v3/organizations/{org_id}/sessions/{devin_id}/messages'].post;
  const named = post.parameters.map((each: { in: string; name: string }) => `${each.in} ${each.name}`);
  expect(named.toSorted()).toEqual(['header Idempotency-Key', 'path devin_id', 'path org_id']);
  expect(Object.keys(post.responses)).toEqual([
    '200',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '422',
    '429',
    '500',
    '503',
  ]);
  expect(post.responses[409].content['application/problem+json'].schema).toEqual({
    $ref: '#/components/schemas/ProblemDetail',
  });
  expect(post.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/SessionResponse',
  });
  expect(v3.components.schemas.SessionCreateRequest.required).toEqual(['prompt']);
  expect(v3.components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
});

describe('unknown addresses', () => {
  test.each([
    ['/v1', { detail: 'The requested resource does not exist' }],
    ['/v1/nothing', { detail: 'The requested resource does not exist' }],
    ['/v2/enterprise', { detail: 'The requested resource does not exist' }],
    ['/v9/sessions', { detail: 'This route does not exist.' }],
    ['/openapi/v9.json', { detail: 'This route does not exist.' }],
    ['/openapi/v9', { detail: 'This route does not exist.' }],
    ['/openapi/assets/package.json', { detail: 'This route does not exist.' }],
  ])('404: %s', async (path, body) => {
    const answer = await call(app, app.v1Key, 'GET', path);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 404, body });
  });

  test('404: an address of version 3 is a problem', async () => {
    const { status, body, headers } = await call(app, app.adminToken, 'GET', '/v3/nothing');
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 404, type: 'application/problem+json' });
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'This route does not exist.',
      instance: '/v3/nothing',
    });
  });

  test('405: a document cannot be written', async () => {
    const { status, headers } = await call(app, null, 'POST', '/openapi/v1.json', {});
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD, OPTIONS' });
    expect(await call(app, null, 'HEAD', '/openapi/v1.json')).toMatchObject({ status: 200, body: null });
  });
});
