import { describe, expect, test } from 'vitest';
import { findSecrets } from '../../src/domain/library/secrets/secrets.ts';
import { secretCanary } from '../support/leaks.ts';
import { useApp } from '../support/use-app.ts';
import {
  asAdministrator,
  call,
  countSessions,
  makeOrganization,
  makeServiceKey,
  makeServiceUser,
  makeUser,
} from './rest-app.ts';

const app = useApp();

const value = `${secretCanary}-value`;
const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const secrets = (id: string) => `/v3/organizations/org-${id}/secrets`;
const v1Body = { type: 'key-value', key: 'API_TOKEN', value, sensitive: true, note: 'for the registry' };
const make = async (id: string, body: object) => {
  const answer = await admin('POST', secrets(id), { type: 'key-value', value, ...body });
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('/v1/secrets', () => {
  test('POST 201 with only the id, GET the names of both editions, DELETE 204 without a body', async () => {
    const key = await makeServiceKey(app, await makeOrganization(app));
    const made = await call(app, key, 'POST', '/v1/secrets', v1Body);
    expect(made).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^sec_[0-9a-f]{32}$/) } });
    expect(Object.keys(made.body)).toEqual(['id']);
    const { id } = made.body;
    const listed = await call(app, key, 'GET', '/v1/secrets');
    expect(listed.body).toEqual({
      secrets: [
        {
          secret_id: id,
          secret_type: 'key-value',
          secret_name: 'API_TOKEN',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          id,
          type: 'key-value',
          key: 'API_TOKEN',
        },
      ],
    });
    expect(await call(app, key, 'DELETE', `/v1/secrets/${id}`)).toMatchObject({ status: 204, body: null });
    expect((await call(app, key, 'GET', '/v1/secrets')).body).toEqual({ secrets: [] });
    expect(await call(app, key, 'DELETE', `/v1/secrets/${id}`)).toMatchObject({
      status: 404,
      body: { detail: 'The requested resource does not exist' },
    });
  });

  test('409 for a used name, in this organization only', async () => {
    const key = await makeServiceKey(app, await makeOrganization(app));
    const other = await makeServiceKey(app, await makeOrganization(app));
    expect((await call(app, key, 'POST', '/v1/secrets', v1Body)).status).toBe(201);
    expect(await call(app, key, 'POST', '/v1/secrets', { ...v1Body, type: 'cookie' })).toMatchObject({
      status: 409,
      body: { detail: 'Secret name is not unique' },
    });
    expect((await call(app, other, 'POST', '/v1/secrets', v1Body)).status).toBe(201);
    expect((await call(app, key, 'GET', '/v1/secrets')).body.secrets).toHaveLength(1);
  });

  test('one of two concurrent secrets with the same name is created', async () => {
    const key = await makeServiceKey(app, await makeOrganization(app));
    const answers = await Promise.all(Array.from({ length: 6 }, () => call(app, key, 'POST', '/v1/secrets', v1Body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  test('403 for a member, who may list but not change them', async () => {
    const { v1Key } = await makeUser(app, app.organizationId);
    expect((await call(app, v1Key, 'POST', '/v1/secrets', v1Body)).status).toBe(403);
    expect((await call(app, v1Key, 'GET', '/v1/secrets')).status).toBe(200);
  });

  test.each<[string, object, string]>([
    ['no value', { value: undefined }, 'value'],
    ['no note', { note: undefined }, 'note'],
    ['no "sensitive"', { sensitive: undefined }, 'sensitive'],
    ['a type of listings only', { type: 'dictionary' }, 'type'],
    ['an empty value', { value: '' }, 'value'],
    ['a value of 65,537 characters', { value: 'x'.repeat(65_537) }, 'value'],
    ['a value with a NUL', { value: 'a\u0000b' }, 'value'],
    ['an empty name', { key: ' ' }, 'key'],
    ['a name of 257 characters', { key: 'K'.repeat(257) }, 'key'],
    ['a name of two lines', { key: 'A\nB' }, 'key'],
    ['a name with "="', { key: 'A=B' }, 'key'],
    ['PATH', { key: 'PATH' }, 'key'],
    ['a key that becomes LD_PRELOAD', { key: 'ld-preload' }, 'key'],
    ['a seed that is no base32', { type: 'totp', value: 'not base32!' }, 'value'],
    ['a seed that is short', { type: 'totp', value: 'JBSWY3DP' }, 'value'],
    [
      'an otpauth address of another kind',
      { type: 'totp', value: 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP' },
      'value',
    ],
    ['an otpauth address without a seed', { type: 'totp', value: 'otpauth://totp/x?secret=' }, 'value'],
  ])('422 for %s, and the value is not repeated', async (_, change, name) => {
    const body = { ...v1Body, ...change };
    const answer = await call(app, app.v1Key, 'POST', '/v1/secrets', body);
    expect({ status: answer.status, loc: answer.body.detail[0].loc }).toEqual({ status: 422, loc: ['body', name] });
    expect(JSON.stringify(answer.body)).not.toContain(secretCanary);
    expect(JSON.stringify(answer.body)).not.toContain('not base32!');
  });
});

describe('/v3/organizations/{org_id}/secrets', () => {
  test('POST and DELETE return the secret without its value', async () => {
    const id = await makeOrganization(app);
    const { serviceUserId, token } = await makeServiceUser(app, { organizationId: id, roleId: 'org_admin' });
    const made = await call(app, token, 'POST', secrets(id), {
      type: 'totp',
      key: 'Registry code',
      value: 'jbsw y3dp ehpk 3pxp',
    });
    expect(made.body).toEqual({
      secret_id: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
      secret_type: 'totp',
      key: 'Registry code',
      note: null,
      is_sensitive: true,
      access_type: 'org',
      created_by: `service-user-${serviceUserId}`,
      created_at: expect.any(Number),
      updated_by: null,
      updated_at: null,
    });
    const deleted = await call(app, token, 'DELETE', `${secrets(id)}/${made.body.secret_id}`);
    expect(deleted).toMatchObject({ status: 200, body: made.body });
    expect((await call(app, token, 'GET', secrets(id))).body.items).toEqual([]);
  });

  test.each<[string, object]>([
    ['a name in lower case', { key: 'api_token' }],
    ['a name with dashes and spaces', { key: 'my api-token 2' }],
    ['a cookie as JSON', { type: 'cookie', key: 'c1', value: `[{"name":"sid","value":"${value}"}]` }],
    ['a cookie as a header', { type: 'cookie', key: 'c2', value: `sid=${value}; Path=/` }],
    ['a cookie under a name that no variable could have', { type: 'cookie', key: 'PATH' }],
    [
      'an otpauth address',
      { type: 'totp', key: 't', value: 'otpauth://totp/Me?secret=JBSWY3DPEHPK3PXP&issuer=c4n4ry' },
    ],
    ['a value of 65,536 characters', { key: 'MOST', value: value.padEnd(65_536, 'x') }],
  ])('accepts %s', async (_, change) => {
    const body = { type: 'key-value', key: 'K', value, is_sensitive: false, ...change };
    expect(await admin('POST', secrets(app.organizationId), body)).toMatchObject({
      status: 200,
      body: { is_sensitive: false },
    });
  });

  test('GET pages return all of them, newest first, each once', async () => {
    const id = await makeOrganization(app);
    const keys: string[] = [];
    for (let n = 0; n < 5; n++) keys.unshift((await make(id, { key: `K${n}` })).key);
    const seen: string[] = [];
    let query = '?first=2';
    for (;;) {
      const { body } = await admin('GET', secrets(id) + query);
      seen.push(...body.items.map((item: { key: string }) => item.key));
      expect(JSON.stringify(body)).not.toContain(secretCanary);
      if (!body.has_next_page) break;
      query = `?first=2&after=${body.end_cursor}`;
    }
    expect(seen).toEqual(keys);
    for (const bad of ['?first=0', '?first=201', '?after=nonsense']) {
      expect((await admin('GET', secrets(id) + bad)).status).toBe(422);
    }
  });

  test('409 for a duplicate name', async () => {
    const id = await makeOrganization(app);
    await make(id, { key: 'TWICE' });
    const again = await admin('POST', secrets(id), { type: 'key-value', key: 'TWICE', value });
    expect(again).toMatchObject({ status: 409, body: { detail: 'Secret name is not unique' } });
  });

  test('another organization’s is answered like an unknown one', async () => {
    const [mine, theirs] = [await makeOrganization(app), await makeOrganization(app)];
    const { token } = await makeServiceUser(app, { organizationId: mine, roleId: 'org_admin' });
    const secret = await make(theirs, { key: 'THEIRS' });
    for (const id of [secret.secret_id, `sec_${'0'.repeat(32)}`, 'nonsense']) {
      const answer = await call(app, token, 'DELETE', `${secrets(mine)}/${id}`);
      expect({ status: answer.status, detail: answer.body.detail }).toEqual({
        status: 404,
        detail: 'There is no such secret.',
      });
    }
    expect((await call(app, token, 'DELETE', `${secrets(theirs)}/${secret.secret_id}`)).status).toBe(403);
    expect((await call(app, token, 'GET', secrets(theirs))).status).toBe(403);
    expect((await admin('DELETE', `${secrets(mine)}/${secret.secret_id}`)).status).toBe(404);
    expect((await admin('GET', secrets(theirs))).body.items).toHaveLength(1);
  });

  test('403 names the permission', async () => {
    const { v3Token } = await makeUser(app, app.organizationId);
    const secret = await make(app.organizationId, { key: 'KEPT' });
    for (const [method, path] of [
      ['POST', secrets(app.organizationId)],
      ['DELETE', `${secrets(app.organizationId)}/${secret.secret_id}`],
    ] as const) {
      const body = method === 'POST' ? { type: 'key-value', key: 'X', value } : undefined;
      expect(await call(app, v3Token, method, path, body)).toMatchObject({
        status: 403,
        body: { detail: 'Missing permission ManageOrgSecrets' },
      });
    }
  });

  test('400 beyond the size of an agent’s environment; cookies do not count', async () => {
    const id = await makeOrganization(app);
    const large = value.padEnd(65_536, 'x');
    for (let n = 0; n < 5; n++) await make(id, { key: `K${n}`, value: large });
    const refused = await admin('POST', secrets(id), { type: 'key-value', key: 'K5', value: large });
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^"value" is too long/) } });
    await make(id, { key: 'COOKIE', type: 'cookie', value: large });
    expect((await admin('GET', secrets(id))).body.items).toHaveLength(6);
  });

  test('the audit log contains the name and never the value', async () => {
    const id = await makeOrganization(app);
    const secret = await make(id, { key: 'AUDITED' });
    await admin('DELETE', `${secrets(id)}/${secret.secret_id}`);
    const rows = await app.app.services.store.query(
      `select action, target_id, data from audit_entry where organization_id = $1 and action like '%secret' order by created_at, id`,
      [id],
    );
    const about = { target_id: secret.secret_id.replace('sec_', ''), data: { name: 'AUDITED' } };
    expect(rows).toEqual([
      { action: 'create_secret', ...about },
      { action: 'delete_secret', ...about },
    ]);
  });
});

test('a value is bound to its organization and its row: moved to another, it cannot be decrypted', async () => {
  const id = await makeOrganization(app);
  const [one, two] = [await make(id, { key: 'ONE' }), await make(id, { key: 'TWO' })];
  const bare = (secret: { secret_id: string }) => secret.secret_id.replace('sec_', '');
  const { store, keyring } = app.app.services;
  const rows = await store.query<{ id: string; sealed: string }>(
    'select id, sealed from secret where organization_id = $1',
    [id],
  );
  const sealed = rows.find((row) => row.id === bare(one))?.sealed ?? '';
  expect(keyring.open(sealed, `${id}:${bare(one)}`)).toBe(value);
  for (const associatedData of [`${id}:${bare(two)}`, `${app.organizationId}:${bare(one)}`, '']) {
    expect(() => keyring.open(sealed, associatedData)).toThrow('cannot be decrypted');
  }
});

test('secrets are found by ids in their order, and those of others are null', async () => {
  const [mine, theirs] = [await makeOrganization(app), await makeOrganization(app)];
  const bare = async (id: string, key: string) => (await make(id, { key })).secret_id.replace('sec_', '') as string;
  const [a, b, other] = [await bare(mine, 'A'), await bare(mine, 'B'), await bare(theirs, 'A')];
  const context = await asAdministrator(app);
  const all = await findSecrets(context, [b, other, a, '0'.repeat(32)]);
  expect(all.map((secret) => secret?.key ?? null)).toEqual(['B', 'A', 'A', null]);
  const limited = {
    ...context,
    viewer: {
      ...context.viewer,
      everywhere: new Set<never>(),
      organizations: new Map([[mine, context.viewer.everywhere]]),
    },
  };
  expect((await findSecrets(limited, [b, other, a])).map((secret) => secret?.id ?? null)).toEqual([b, null, a]);
});

describe('secret_ids of a session', () => {
  test('may be any of the organization’s, in any form; unknown ones are refused, and nothing is created', async () => {
    const [mine, theirs] = [await makeOrganization(app), await makeOrganization(app)];
    const own = (await make(mine, { key: 'A' })).secret_id;
    const other = (await make(theirs, { key: 'A' })).secret_id;
    const start = (ids: unknown) =>
      admin('POST', `/v3/organizations/${mine}/sessions`, { prompt: 'x', secret_ids: ids });
    for (const ids of [null, [], [own], [own.replace('sec_', ''), own]]) expect((await start(ids)).status).toBe(200);
    const count = await countSessions(app);
    for (const ids of [[other], [own, `sec_${'0'.repeat(32)}`], ['nonsense'], ['']]) {
      const refused = await start(ids);
      expect({ ids, status: refused.status }).toEqual({ ids, status: 400 });
      expect(refused.body.detail).toMatch(/^"secret_ids" refers to/);
    }
    expect(await countSessions(app)).toBe(count);
  });
});
