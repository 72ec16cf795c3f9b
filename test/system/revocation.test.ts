import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { createLiveViewers } from '../../src/auth/live-viewers.ts';
import { createLocalNotifier } from '../../src/realtime/local-notifier.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';

// One process revokes keys; the streams are open in another one if the database allows it.
let first: TestApp;
let second: TestApp;
beforeAll(async () => {
  first = await startApp();
  second = testDatabase === 'postgres' ? await first.another() : first;
});
afterAll(async () => {
  if (second !== first) await second.close();
  await first.close();
});

const makeKey = async (serviceUserId: string) => {
  const { data } = await graphql(
    first,
    first.adminToken,
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { apiKeyId } token } }',
    { input: { kind: { serviceUser: { serviceUserId } }, name: 'another' } },
  );
  return { id: data.createApiKey.apiKey.apiKeyId as string, token: data.createApiKey.token as string };
};

const revoke = async (apiKeyId: string) => {
  const { data } = await graphql(
    first,
    first.adminToken,
    'mutation($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { userErrors { message } } }',
    { input: { apiKeyId } },
  );
  expect(data.revokeApiKey.userErrors).toEqual([]);
};

/** Opens every kind of stream with a key, and reads the first message of each. */
async function openAll(token: string, id: string) {
  const socket = follow(connect(second.url, token), messages, { id });
  const stream = await openStream(second.url, token, messages, { id });
  await Promise.all([socket.take(1), stream.take(1)]);
  return { socket, stream, ended: () => Promise.all([socket.ended, stream.rest()]) };
}

it('ends the sockets and streams of a revoked key, and no others', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(first, 'Revoking');
  const id = await createSession(first, { organizationId }, token);
  const key = await makeKey(serviceUserId);
  const [gone, neighbour] = await Promise.all([openAll(key.token, id), openAll(token, id)]);
  await revoke(key.id);
  const [closed] = await gone.ended();
  expect(closed).toMatchObject({ code: 4403 });
  await say(first, id, 'still here');
  expect(await neighbour.socket.take(1)).toMatchObject([
    { data: { sessionMessages: { node: { body: 'still here' } } } },
  ]);
  expect(await neighbour.stream.take(1)).toMatchObject([
    { data: { sessionMessages: { node: { body: 'still here' } } } },
  ]);
  expect((await call(second, key.token, 'GET', '/v3/self')).status).toBe(401);
});

it('notices a revocation whose notification was lost', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(first, 'Unheard');
  const id = await createSession(first, { organizationId }, token);
  const key = await makeKey(serviceUserId);
  const open = await openAll(key.token, id);
  const { store } = first.app.services;
  await store.transact(async (tx) => {
    await tx.query('update api_key set revoked_at = now() where id = $1', [key.id.replace('key-', '')]);
    await tx.query('update installation set key_epoch = key_epoch + 1', []);
  });
  expect((await open.ended())[0]).toMatchObject({ code: 4403 });
});

it('sends nothing more when the viewer has left the organization', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(first, 'Leaving');
  const id = await createSession(first, { organizationId }, token);
  const open = await openAll(token, id);
  const removed = await call(
    first,
    first.adminToken,
    'DELETE',
    `/v3/enterprise/organizations/${organizationId}/members/service-users/${serviceUserId}`,
  );
  expect(removed.status).toBe(200);
  await say(first, id, 'among ourselves');
  const [closed, left] = await open.ended();
  expect(closed).toBe('complete');
  expect(left).toEqual([]);
  await expect(open.socket.take(1)).rejects.toThrow();
});

// A single process cannot be slower than itself.
it.runIf(testDatabase === 'postgres')('buffers entries until a notified revocation has been read', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(first, 'Leaving slowly');
  const id = await createSession(first, { organizationId }, token);
  const socket = follow(connect(second.url, token), messages, { id });
  await socket.take(1);
  // The read of the changed keys answers only after the new message has been read.
  const { store } = second.app.services;
  const { query } = store;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const spy = vi.spyOn(store, 'query').mockImplementation(async (sql: string, values?: readonly unknown[]) => {
    const rows = await query.call(store, sql, values);
    if (sql.includes('key_epoch')) await released;
    if (rows.some((row) => (row as { body?: unknown }).body === 'among ourselves')) setImmediate(release);
    return rows as never;
  });
  const removed = await call(
    first,
    first.adminToken,
    'DELETE',
    `/v3/enterprise/organizations/${organizationId}/members/service-users/${serviceUserId}`,
  );
  expect(removed.status).toBe(200);
  await say(first, id, 'among ourselves');
  expect(await socket.ended).toBe('complete');
  await expect(socket.take(1)).rejects.toThrow();
  await released;
  spy.mockRestore();
});

it('checks again a key that was revoked between its check and the opening of its stream', async () => {
  const { serviceUserId } = await makeOrganization(first, 'Racing');
  const key = await makeKey(serviceUserId);
  const { services } = first.app;
  const viewer = await authenticate(services, key.token, null);
  await revoke(key.id);
  // A process that already knows the revocation's epoch and gets no notification.
  const { store, now, log } = services;
  const live = createLiveViewers({ store, now, log, notifier: createLocalNotifier(() => undefined) });
  live.start();
  await new Promise<void>((resolve) => live.follow(viewer, null, resolve));
  expect(live.count()).toBe(0);
  live.stop();
});

it('watches no key whose sockets and streams have closed', async () => {
  const { organizationId, token } = await makeOrganization(first, 'Closing');
  const id = await createSession(first, { organizationId }, token);
  const { liveViewers } = second.app.services;
  await expect.poll(() => liveViewers.count()).toBe(0);
  const client = connect(second.url, token);
  await follow(client, messages, { id }).take(1);
  const stream = await openStream(second.url, token, messages, { id });
  await stream.take(1);
  expect(liveViewers.count()).toBe(2);
  const finite = await openStream(second.url, token, '{ viewer { principalType } }', {});
  expect(await finite.rest()).toMatchObject([{ data: { viewer: { principalType: 'SERVICE_USER' } } }]);
  await client.dispose();
  stream.abort();
  await expect.poll(() => liveViewers.count()).toBe(0);
});

it('records the last use of a key without a write for every request', async () => {
  const { serviceUserId } = await makeOrganization(first, 'Used');
  const key = await makeKey(serviceUserId);
  const { store } = second.app.services;
  const lastUsed = async () => {
    const sql = 'select last_used_at as at from api_key where id = $1';
    const [row] = await store.query<{ at: Date | null }>(sql, [key.id.replace('key-', '')]);
    return row?.at ?? null;
  };
  const before = Date.now();
  for (let n = 0; n < 5; n++) expect((await call(second, key.token, 'GET', '/v3/self')).status).toBe(200);
  expect(await lastUsed()).toBeNull();
  await second.app.keyUses.flush();
  expect((await lastUsed())?.getTime()).toBeGreaterThanOrEqual(before);
});
