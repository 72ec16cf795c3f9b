import { describe, expect, it } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeUser } from './rest-app.ts';

const test = useApp({ rateLimitLogin: 0 });

const deprecationHeaders = (headers: Headers) => ({
  deprecation: headers.get('deprecation'),
  sunset: headers.get('sunset'),
  link: headers.get('link'),
});
const since = `@${Date.UTC(2026, 0, 1) / 1_000}`;
const successor = (address: string) => ({
  deprecation: since,
  sunset: null,
  link: `<${address}>; rel="successor-version"`,
});

describe('versions 1 and 2', () => {
  it('name the replacement, with the ids of the request and the organization of the key', async () => {
    const organizationId = await makeOrganization(test);
    const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
    const home = `/v3/organizations/org-${organizationId}`;
    const list = await call(test, v1Key, 'GET', '/v1/sessions?limit=1');
    expect(deprecationHeaders(list.headers)).toEqual(successor(`${home}/sessions`));
    const { body, headers } = await call(test, v1Key, 'POST', '/v1/sessions', { prompt: 'say hello' });
    expect(deprecationHeaders(headers)).toEqual(successor(`${home}/sessions`));

    const one = `/v1/session/${body.session_id}`;
    const read = await call(test, v1Key, 'GET', one);
    expect(deprecationHeaders(read.headers)).toEqual(successor(`${home}/sessions/${body.session_id}`));
    const sent = await call(test, v1Key, 'POST', `${one}/message`, { message: 'go on' });
    expect(deprecationHeaders(sent.headers)).toEqual(successor(`${home}/sessions/${body.session_id}/messages`));
    // The successor exists, for a key of version 3.
    const [, address = ''] = /<(.*)>/.exec(read.headers.get('link') ?? '') ?? [];
    expect(await call(test, v3Token, 'GET', address)).toMatchObject({
      status: 200,
      body: { session_id: body.session_id.replace('devin-', '') },
    });
  });

  it('are marked as deprecated in refusals, 304s and streams', async () => {
    const { v1Key } = test;
    const home = `/v3/organizations/org-${test.organizationId}`;
    const missing = await call(test, v1Key, 'GET', '/v1/playbooks/a%2Fb%3E');
    expect(missing.status).toBe(404);
    expect(deprecationHeaders(missing.headers)).toEqual(successor(`${home}/playbooks/a%2Fb%3E`));
    const list = await call(test, v1Key, 'GET', '/v1/secrets');
    const known = { 'if-none-match': list.headers.get('etag') ?? '' };
    const same = await call(test, v1Key, 'GET', '/v1/secrets', undefined, known);
    expect(same.status).toBe(304);
    expect(deprecationHeaders(same.headers)).toEqual(successor(`${home}/secrets`));
    expect(deprecationHeaders((await call(test, v1Key, 'GET', '/v1/knowledge')).headers)).toEqual(
      successor(`${home}/knowledge/notes`),
    );
    expect(deprecationHeaders((await call(test, v1Key, 'GET', '/v2/enterprise/audit-logs')).headers)).toEqual(
      successor('/v3/enterprise/audit-logs'),
    );
  });

  it('name the current version if the caller or the successor is unknown', async () => {
    const unknown = await call(test, null, 'GET', '/v1/sessions');
    expect({ status: unknown.status, ...deprecationHeaders(unknown.headers) }).toEqual({
      status: 401,
      ...successor('/openapi/v3.json'),
    });
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['PATCH', '/v1/sessions'],
      ['OPTIONS', '/v2/enterprise/roles'],
    ] as const) {
      expect(deprecationHeaders((await call(test, null, method, path)).headers)).toEqual(successor('/openapi/v3.json'));
    }
    const without = await call(test, test.v1Key, 'DELETE', '/v2/enterprise/api-keys/nothing');
    expect(deprecationHeaders(without.headers)).toEqual(successor('/openapi/v3.json'));
    expect((await call(test, null, 'GET', '/openapi/v3.json')).status).toBe(200);
  });
});

it('deprecated routes of version 3 have their headers, with their end', async () => {
  const { organizationId } = test;
  const home = `/v3/organizations/${organizationId}`;
  const list = await call(test, test.adminToken, 'GET', `${home}/schedules`);
  expect({ status: list.status, ...deprecationHeaders(list.headers) }).toEqual({
    status: 200,
    ...successor(`${home}/automations`),
  });
  const { headers } = await call(test, test.adminToken, 'POST', `${home}/schedules`, {});
  expect(deprecationHeaders(headers)).toEqual({
    ...successor(`${home}/automations`),
    sunset: 'Thu, 24 Sep 2026 00:00:00 GMT',
  });
});

it('version 3 is not deprecated', async () => {
  const { headers } = await call(test, test.adminToken, 'GET', '/v3/self');
  expect(deprecationHeaders(headers)).toEqual({ deprecation: null, sunset: null, link: null });
});

describe('the OpenAPI documents', () => {
  type Operation = { deprecated?: boolean; description?: string };
  const operations = async (version: string) => {
    const { body } = await call(test, null, 'GET', `/openapi/${version}.json`);
    return Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
    );
  };
  const nameless = (route: string) => route.replaceAll(/\{\w+\}/g, '{}');
  /** Routes without a successor in version 3: the keys of versions 1 and 2. */
  const without = ['DELETE /v2/enterprise/api-keys/', 'DELETE /v2/enterprise/api-keys/{api_key_id}'];

  it('mark the schedules of version 3 as deprecated, and name the replacement', async () => {
    const all = await operations('v3');
    const deprecated = all.filter((operation) => operation.deprecated);
    expect(deprecated.map(({ name }) => name.replace(/^.*org_id\}/, ''))).toEqual(
      expect.arrayContaining(['/schedules', '/schedules/{schedule_id}']),
    );
    const routes = deprecated.map(({ description = '' }) =>
      nameless(/Use `(\S+ \S+)` instead/.exec(description)?.[1] ?? ''),
    );
    expect(all.map(({ name }) => nameless(name))).toEqual(expect.arrayContaining(routes));
  });

  it.each(['v1', 'v2'])('mark every route of %s as deprecated, and name an existing replacement', async (version) => {
    const current = new Set((await operations('v3')).map(({ name }) => nameless(name)));
    for (const { name, deprecated, description = '' } of await operations(version)) {
      expect({ name, deprecated }).toEqual({ name, deprecated: true });
      const [, route] = /Use `(\S+ \S+)` instead/.exec(description) ?? [];
      expect({ name, route: route === undefined ? null : current.has(nameless(route)) }).toEqual({
        name,
        route: without.includes(name) ? null : true,
      });
    }
  });
});
