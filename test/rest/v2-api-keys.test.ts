import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceKey, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();
/** An account_admin's personal key that no test has revoked yet. */
let adminKey: string;
beforeEach(async () => {
  adminKey = await personalKey(await administratorId());
});

const everyKey = '/v2/enterprise/api-keys/';
const never = `key-${'0'.repeat(32)}`;

async function administratorId(): Promise<string> {
  const [user] = await app.app.services.store.query<{ id: string }>(
    `select id from user_account where email = 'admin@localhost'`,
  );
  return user?.id ?? '';
}

async function personalKey(userId: string): Promise<string> {
  const input = { kind: 'PERSONAL', name: 'personal', organizationId: app.organizationId, userId } as const;
  return (await createApiKey(await asAdministrator(app), input)).token;
}

async function enterpriseKey(roleId: string): Promise<string> {
  const input = { kind: 'SERVICE', name: 'of the enterprise', organizationId: null, roleId } as const;
  return (await createApiKey(await asAdministrator(app), input)).token;
}

/** The id of the key with this token. */
async function idOf(token: string): Promise<string> {
  const hash = app.app.services.keyring.hashToken(token);
  const [key] = await app.app.services.store.query<{ id: string }>('select id from api_key where token_hash = $1', [
    hash,
  ]);
  return `key-${key?.id}`;
}

const isLive = async (token: string) =>
  (await call(app, token, 'POST', '/graphql', { query: '{ viewer { principalType } }' })).status === 200;

const countLive = async () => {
  const [row] = await app.app.services.store.query<{ n: number }>(
    'select count(*)::int as n from api_key where revoked_at is null',
  );
  return row?.n;
};

describe('DELETE of one key', () => {
  test('revokes a key of a user and of a service: 401 on the next request', async () => {
    const user = await makeUser(app, app.organizationId);
    for (const token of [user.v1Key, user.v3Token, await makeServiceKey(app, app.organizationId)]) {
      expect(await isLive(token)).toBe(true);
      const path = everyKey + (await idOf(token));
      expect(await call(app, adminKey, 'DELETE', path)).toMatchObject({ status: 200, body: { status: 'success' } });
      expect(await isLive(token)).toBe(false);
      expect((await call(app, adminKey, 'DELETE', path)).status).toBe(400);
    }
  });

  test('tolerates a slash behind an id: only that key is revoked', async () => {
    const { v1Key } = await makeUser(app, app.organizationId);
    const before = await countLive();
    expect((await call(app, adminKey, 'DELETE', `${everyKey}${await idOf(v1Key)}/`)).status).toBe(200);
    expect(await countLive()).toBe((before ?? 0) - 1);
  });

  test('answers an invalid id, and one of another enterprise, like an unknown one', async () => {
    const { store, now } = app.app.services;
    const theirs = 'd'.repeat(32);
    const enterpriseId = 'e'.repeat(32);
    await store.execute(
      `insert into enterprise (id, name, ip_ranges, created_at) values ($1, 'Other', '{}', $2::timestamptz)`,
      [enterpriseId, now()],
    );
    await store.execute(
      `insert into api_key (id, kind, name, token_hash, display, enterprise_id, created_at)
       values ($1, 'SERVICE', 'Theirs', 'no hash', 'apk_…', $2, $3::timestamptz)`,
      [theirs, enterpriseId, now()],
    );
    const unknown = await call(app, adminKey, 'DELETE', everyKey + never);
    expect(unknown.status).toBe(404);
    for (const id of [`key-${theirs}`, theirs, 'x', '%20']) {
      expect(await call(app, adminKey, 'DELETE', everyKey + id)).toMatchObject({ status: 404, body: unknown.body });
    }
    const [row] = await store.query<{ revokedAt: Date | null }>(
      'select revoked_at as "revokedAt" from api_key where id = $1',
      [theirs],
    );
    expect(row?.revokedAt).toBeNull();
  });
});

describe('a caller that is no administrator', () => {
  test('revokes nothing: members, administrators of organizations, service keys without account_admin', async () => {
    const organizationId = await makeOrganization(app);
    const victim = (await makeUser(app, organizationId)).v1Key;
    const id = await idOf(victim);
    const callers = [
      (await makeUser(app, organizationId)).v1Key,
      (await makeUser(app, organizationId, 'org_admin')).v1Key,
      await makeServiceKey(app, organizationId),
      await enterpriseKey('account_member'),
    ];
    const before = await countLive();
    for (const key of callers) {
      for (const path of [everyKey, everyKey + id, everyKey + never]) {
        expect((await call(app, key, 'DELETE', path)).status).toBe(403);
      }
    }
    expect(await countLive()).toBe(before);
  });

  test('gets the list of accepted keys for a key of version 3', async () => {
    const { token } = await makeServiceUser(app, { roleId: 'account_admin' });
    const before = await countLive();
    for (const each of [token, app.adminToken]) {
      const refused = await call(app, each, 'DELETE', everyKey);
      expect(refused.status).toBe(401);
      expect(refused.body.detail).toContain('apk_user_');
    }
    expect((await call(app, null, 'DELETE', everyKey)).status).toBe(401);
    expect(await countLive()).toBe(before);
  });
});

describe('DELETE of all keys', () => {
  test.each(['/v2/enterprise/api-keys', '/v2/enterprise/api-keys//', '/v2/enterprise/api-keys/%20'])(
    'is refused at %s',
    async (path) => {
      const before = await countLive();
      const { status } = await call(app, adminKey, 'DELETE', path);
      expect([404, 405]).toContain(status);
      expect(await countLive()).toBe(before);
    },
  );

  test.each(['a personal key', 'a service key of the enterprise'])(
    'with %s of an account_admin revokes those of users and services, and keeps those of service users',
    async (kind) => {
      const another = await makeOrganization(app);
      const user = await makeUser(app, another);
      const robot = await makeServiceUser(app, { organizationId: another, roleId: 'org_member' });
      const service = await makeServiceKey(app, another);
      const caller = kind === 'a personal key' ? adminKey : await enterpriseKey('account_admin');
      expect(await call(app, caller, 'DELETE', everyKey)).toMatchObject({ status: 200, body: { status: 'success' } });

      for (const token of [user.v1Key, user.v3Token, service, adminKey, caller])
        expect(await isLive(token)).toBe(false);
      expect([await isLive(robot.token), await isLive(app.adminToken)]).toEqual([true, true]);
      const entries = await app.app.services.store.query<{ data: { count: number }; apiKeyId: string }>(
        `select data, api_key_id as "apiKeyId" from audit_entry where action = 'revoke_all_enterprise_api_keys'
          order by created_at desc, id desc limit 1`,
      );
      expect(entries).toEqual([{ data: { count: expect.any(Number) }, apiKeyId: (await idOf(caller)).slice(4) }]);
      expect(entries[0]?.data.count).toBeGreaterThanOrEqual(4);
    },
  );
});

test('revokes nothing at a path that only matches after normalization', async () => {
  const before = await countLive();
  const { hostname, port } = new URL(app.url);
  for (const path of ['.', './', '%2e', 'x/..', 'x/%2E%2e/', '#', '\\', '../api-keys/', `${never}/../`]) {
    const sent = request({
      hostname,
      port,
      path: everyKey + path,
      method: 'DELETE',
      headers: { authorization: `Bearer ${adminKey}` },
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect([path, response.statusCode]).toEqual([path, 400]);
  }
  expect(await countLive()).toBe(before);
});
