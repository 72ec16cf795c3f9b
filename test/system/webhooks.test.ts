import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { retryDelaysMs } from '../../src/domain/webhooks/deliver.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { makeMember } from '../support/automations.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { runMutation } from '../support/people.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { endpointFields, makeEndpoint, readEndpoint, waitForDeliveries } from '../support/webhooks.ts';

const dayMs = 24 * 60 * 60 * 1_000;

let test: TestApp;
let clock: Clock;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'scheduler'], isPrivateWebhookAllowed: true });
  clock = stopClock(test);
});
afterAll(() => test.close());

/** Moves the clock and notifies that deliveries may be due. */
function advance(ms: number): void {
  clock.advance(ms);
  test.app.services.notifier.notify('deliveries');
}

const bare = (organizationId: string) => organizationId.replace('org-', '');

async function sayAs(organizationId: string, sessionId: string, ...words: string[]): Promise<void> {
  await say(test, sessionId, ...words);
  test.app.services.notifier.notify(`organization:${bare(organizationId)}`);
}

/** Verifies a delivery like a receiver whose clock follows the test's. */
function verify(secret: string, { text, headers }: Received): any {
  vi.useFakeTimers({ now: test.app.services.now(), toFake: ['Date'] });
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

const actionsOf = async (organizationId: string) => {
  const rows = await test.app.services.store.query<{ action: string }>(
    `select action from audit_entry where organization_id = $1 and action like '%webhook%' order by created_at, id`,
    [bare(organizationId)],
  );
  return rows.map(({ action }) => action);
};

it('sends the events of its organization’s sessions to an endpoint, signed, each once', async () => {
  const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Hears');
  const before = await createSession(test, { prompt: 'say before' }, token);
  const receiver = await startReceiver();
  clock.advance(1_000);
  const { secret, id } = await makeEndpoint(test, token, { url: receiver.url });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const stranger = await makeOrganization(test, 'Is not heard');
  await createSession(test, { prompt: 'say elsewhere' }, stranger.token);
  const sessionId = await createSession(test, { prompt: 'say hello' }, token);
  await sayAs(organizationId, sessionId, 'Hello.', 'And more.');
  await sayAs(organizationId, before, 'Later.');
  const received = await receiver.waitFor((all) => all.length === 5);
  const events = received.map((one) => {
    const body = verify(secret, one);
    expect(one.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': body.data.eventId });
    expect(body.data.organizationId).toBe(organizationId);
    expect(body.data.url).toBe(`${test.app.services.baseUrl}/sessions/${body.data.sessionId.replace('devin-', '')}`);
    return body;
  });
  const ofSession = (bareId: string) =>
    events
      .filter(({ data }) => data.sessionId === `devin-${bareId}`)
      .sort((one, other) => one.data.sequence - other.data.sequence)
      .map(({ type, data }) => [type, data.status ?? data.message]);
  expect(ofSession(sessionId)).toEqual([
    ['session.status_changed', 'new'],
    ['session.message', 'say hello'],
    ['session.message', 'Hello.'],
    ['session.message', 'And more.'],
  ]);
  expect(ofSession(before)).toEqual([['session.message', 'Later.']]);
  const firstEvent = events.find(({ data }) => data.message === 'say hello');
  expect(firstEvent.data).toMatchObject({ messageType: 'initial_user_message', userId: null, serviceUserId });
  expect(new Set(events.map(({ data }) => data.eventId)).size).toBe(5);
  const { deliveries } = await waitForDeliveries(test, token, id, ({ deliveries: { nodes } }) =>
    nodes.every(({ status }: { status: string }) => status === 'DELIVERED'),
  );
  expect(deliveries.totalCount).toBe(5);
  expect(deliveries.nodes[0].attempts).toEqual([
    { startedAt: expect.any(String), statusCode: 204, error: null, answer: '' },
  ]);
});

it('sends only the subscribed event types to an endpoint, and nothing of unlisted sessions', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Chooses');
  const receiver = await startReceiver();
  await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  const unlisted = await createSession(test, { prompt: 'say hidden', isUnlisted: true }, token);
  await sayAs(organizationId, unlisted, 'Hidden.');
  const listed = await createSession(test, { prompt: 'say shown' }, token);
  await sayAs(organizationId, listed, 'Shown.');
  // In any order.
  const wanted = ['say shown', 'Shown.'];
  const received = await receiver.waitFor((all) =>
    wanted.every((words) => all.some(({ body }) => body.data.message === words)),
  );
  expect(received.map(({ body }) => body.data.message).sort()).toEqual(['Shown.', 'say shown']);
});

it('retries a failed delivery with growing delays and the same id, and gives up after a day', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Fails');
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(500).end('Broken\u0000 here'));
  const { id, secret } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  await createSession(test, {}, token);
  for (const [n, delayMs] of retryDelaysMs.entries()) {
    await waitForDeliveries(test, token, id, ({ deliveries }) => deliveries.nodes[0]?.attempts.length === n + 1);
    advance(delayMs * 1.1);
  }
  const { deliveries } = await waitForDeliveries(
    test,
    token,
    id,
    (endpoint) => endpoint.deliveries.nodes[0].status === 'FAILED',
  );
  const [delivery] = deliveries.nodes;
  expect(delivery.attempts).toHaveLength(9);
  expect(delivery.attempts[0]).toMatchObject({
    statusCode: 500,
    error: 'The answer was 500, and not one from 200 to 299.',
    answer: 'Broken\ufffd here',
  });
  expect(delivery.nextAttemptAt).toBeNull();
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.messageId]));
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  const last = Date.parse(delivery.attempts[8].startedAt) - Date.parse(delivery.attempts[0].startedAt);
  expect(last).toBeGreaterThan(0.9 * dayMs);

  // A repeated delivery starts over, and a successful one resets the failures.
  receiver.answer((response) => void response.writeHead(200).end('Thanks'));
  const again = await runMutation(
    test,
    'redeliverWebhookDelivery',
    'webhookDelivery { id status }',
    { webhookDeliveryId: delivery.id },
    token,
  );
  expect(again.webhookDelivery).toEqual({ id: delivery.id, status: 'PENDING' });
  // An endpoint is read before its deliveries.
  const after = await waitForDeliveries(test, token, id, (endpoint) => endpoint.consecutiveFailures === 0);
  expect(after.deliveries.nodes[0].status).toBe('DELIVERED');
  expect(after).toMatchObject({ isEnabled: true, consecutiveFailures: 0, failingSince: null });
  expect(after.deliveries.nodes[0].attempts.at(-1)).toMatchObject({ statusCode: 200, error: null, answer: 'Thanks' });
  // A response may quote the delivery, which not everybody who manages endpoints may read.
  const manager = await makeMember(test, organizationId, 'MANAGE_ORG_AUTOMATIONS');
  const attempt = (await readEndpoint(test, manager.token, id)).deliveries.nodes[0].attempts.at(-1);
  expect(attempt).toMatchObject({ statusCode: 200, answer: '' });
  const sent = receiver.received.at(-1) as Received;
  expect(sent.headers['webhook-id']).toBe(delivery.messageId);
  expect(await actionsOf(organizationId)).toEqual(['create_webhook_endpoint', 'redeliver_webhook']);
  // Each attempt signs its own time.
  expect(Number(sent.headers['webhook-timestamp'])).toBe(Math.floor(test.app.services.now().getTime() / 1_000));
  expect(new Webhook(secret).sign(delivery.messageId, test.app.services.now(), sent.text)).toBe(
    sent.headers['webhook-signature'],
  );
});

it('does not follow redirects', async () => {
  const { token } = await makeOrganization(test, 'Is led astray');
  const elsewhere = await startReceiver();
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(307, { location: elsewhere.url }).end());
  const { id } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  await createSession(test, {}, token);
  const { deliveries } = await waitForDeliveries(
    test,
    token,
    id,
    (endpoint) => endpoint.deliveries.nodes[0]?.attempts.length === 1,
  );
  expect(deliveries.nodes[0].attempts[0]).toMatchObject({
    statusCode: 307,
    error: 'The answer was 307: redirects are not followed.',
  });
  expect(elsewhere.received).toEqual([]);
});

it('disables an endpoint that accepted nothing for a day, or answered 410, and logs it', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Gives up');
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(503).end());
  const { id } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  const session = await createSession(test, {}, token);
  await sayAs(organizationId, session, ...Array.from({ length: 9 }, (_, n) => `Message ${n}`));
  const failing = await waitForDeliveries(test, token, id, (endpoint) => endpoint.consecutiveFailures === 10);
  // Ten failures in a minute mean that a receiver is restarting, not that it is gone.
  expect(failing.isEnabled).toBe(true);
  advance(dayMs);
  const disabled = await waitForDeliveries(test, token, id, (endpoint) => !endpoint.isEnabled);
  expect(disabled.disabledReason).toMatch(/^It accepted no event for a day and failed \d+ times\.$/);
  const gone = await startReceiver();
  gone.answer((response) => void response.writeHead(410).end());
  const other = await makeEndpoint(test, token, { url: gone.url, eventTypes: ['SESSION_MESSAGE'] });
  await sayAs(organizationId, session, 'Is anybody there?');
  const over = await waitForDeliveries(test, token, other.id, (endpoint) => !endpoint.isEnabled);
  expect(over.disabledReason).toBe('The endpoint answered 410 Gone.');
  const auditRows = await test.app.services.store.query(
    `select data->>'changed' as changed, user_id, service_user_id from audit_entry
      where organization_id = $1 and action = 'update_webhook_endpoint'`,
    [bare(organizationId)],
  );
  const byTheService = { changed: 'isEnabled', 'user_id': null, 'service_user_id': null };
  expect(auditRows).toEqual([byTheService, byTheService]);
  const refused = await runMutation(
    test,
    'testWebhookEndpoint',
    'webhookDelivery { id }',
    { webhookEndpointId: id },
    token,
  );
  expect(refused.userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);

  // After it is enabled again, it receives new events; waiting deliveries continue.
  receiver.answer((response) => void response.writeHead(204).end());
  clock.advance(1_000);
  const enabled = await runMutation(test, 'enableWebhookEndpoint', endpointFields, { webhookEndpointId: id }, token);
  expect(enabled.webhookEndpoint).toMatchObject({ isEnabled: true, disabledReason: null, consecutiveFailures: 0 });
  await sayAs(organizationId, session, 'Welcome back.');
  advance(dayMs / 2);
  const { deliveries } = await waitForDeliveries(test, token, id, (endpoint) =>
    endpoint.deliveries.nodes.every(({ status }: { status: string }) => status !== 'PENDING'),
  );
  expect(deliveries.totalCount).toBe(11);
  expect(receiver.received.map(({ body }) => body.data.message)).not.toContain('Is anybody there?');
});

it('sends a test once, and signs with both secrets for a day after a rotation', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Tests');
  const receiver = await startReceiver();
  const { id, secret } = await makeEndpoint(test, token, { url: receiver.url });
  const sendTest = () =>
    runMutation(
      test,
      'testWebhookEndpoint',
      'webhookDelivery { messageId eventType session { id } }',
      { webhookEndpointId: id },
      token,
    );
  const { webhookDelivery } = await sendTest();
  expect(webhookDelivery).toEqual({
    messageId: expect.stringMatching(/^delivery-[0-9a-f]{32}$/),
    eventType: 'TEST',
    session: null,
  });
  const [first] = await receiver.waitFor((all) => all.length === 1);
  expect(verify(secret, first as Received)).toEqual({
    type: 'webhook.test',
    timestamp: expect.any(String),
    data: { organizationId },
  });
  expect((first as Received).headers['webhook-id']).toBe(webhookDelivery.messageId);

  const rotated = await runMutation(test, 'rotateWebhookEndpointSecret', 'secret', { webhookEndpointId: id }, token);
  expect(rotated.secret).not.toBe(secret);
  receiver.answer((response) => void response.writeHead(500).end());
  await sendTest();
  const [, second] = await receiver.waitFor((all) => all.length === 2);
  const signedBy = (word: string, one: Received | undefined) => {
    const { headers, text } = one as Received;
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const signature = new Webhook(word).sign(String(headers['webhook-id']), at, text);
    return String(headers['webhook-signature']).split(' ').includes(signature);
  };
  expect([signedBy(secret, second), signedBy(rotated.secret, second)]).toEqual([true, true]);
  const failed = await waitForDeliveries(test, token, id, ({ deliveries }) => deliveries.nodes[0].status === 'FAILED');
  // A test delivery does not count for the endpoint's health.
  expect(failed).toMatchObject({ consecutiveFailures: 0 });
  advance(dayMs);
  await sendTest();
  const [, , third] = await receiver.waitFor((all) => all.length === 3);
  expect([signedBy(secret, third), signedBy(rotated.secret, third)]).toEqual([false, true]);
});

it('sends to an endpoint without waiting for one that hangs', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Hangs once');
  const receiver = await startReceiver();
  receiver.answer((response, { body }) => (body.type === 'webhook.test' ? undefined : response.writeHead(204).end()));
  const { id } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  await runMutation(test, 'testWebhookEndpoint', 'webhookDelivery { id }', { webhookEndpointId: id }, token);
  await receiver.waitFor((all) => all.length === 1);
  const session = await createSession(test, {}, token);
  await sayAs(organizationId, session, ...Array.from({ length: 19 }, (_, n) => `Message ${n}`));
  await receiver.waitFor((all) => all.length === 21);
  const { deliveries } = await readEndpoint(test, token, id);
  expect(deliveries.nodes.at(-1)).toMatchObject({ eventType: 'TEST', status: 'PENDING', attempts: [] });
});

it('sends to an endpoint without waiting for those of others', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Hangs');
  const hanging = await startReceiver();
  hanging.answer(() => undefined);
  await makeEndpoint(test, token, { url: hanging.url, eventTypes: ['SESSION_MESSAGE'] });
  const receiver = await startReceiver();
  const { id } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  const session = await createSession(test, {}, token);
  await sayAs(organizationId, session, ...Array.from({ length: 49 }, (_, n) => `Message ${n}`));
  const received = await receiver.waitFor((all) => all.length === 50);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(50);
  expect(hanging.received.length).toBeLessThanOrEqual(8);
  expect((await readEndpoint(test, token, id)).isEnabled).toBe(true);
});

it('sends to an organization without waiting for another one’s many hanging endpoints', async () => {
  const slow = await makeOrganization(test, 'Hangs in many places');
  const hanging = await startReceiver();
  hanging.answer(() => undefined);
  for (let n = 0; n < 12; n++)
    await makeEndpoint(test, slow.token, { url: hanging.url, eventTypes: ['SESSION_MESSAGE'] });
  const busy = await createSession(test, {}, slow.token);
  await sayAs(slow.organizationId, busy, ...Array.from({ length: 10 }, (_, n) => `Message ${n}`));
  // All its delivery slots are used; each message goes to twelve endpoints.
  await hanging.waitFor((all) => all.length >= 16);
  const { organizationId, token } = await makeOrganization(test, 'Does not wait');
  const receiver = await startReceiver();
  await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  const session = await createSession(test, {}, token);
  await sayAs(organizationId, session, 'Hello.');
  await receiver.waitFor((all) => all.length === 2);
  // Sixteen at a time; on a slow machine some of them have already timed out.
  expect(hanging.received.length).toBeLessThan(64);
});

it('sends nothing more to a deleted endpoint', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Is deleted');
  const [gone, retained] = [await startReceiver(), await startReceiver()];
  const { id } = await makeEndpoint(test, token, { url: gone.url, eventTypes: ['SESSION_MESSAGE'] });
  await makeEndpoint(test, token, { url: retained.url, eventTypes: ['SESSION_MESSAGE'] });
  const deleted = await runMutation(
    test,
    'deleteWebhookEndpoint',
    'deletedWebhookEndpointId',
    { webhookEndpointId: id },
    token,
  );
  expect(deleted.deletedWebhookEndpointId).toBe(id);
  const session = await createSession(test, {}, token);
  await sayAs(organizationId, session, 'Said.');
  await retained.waitFor((all) => all.length === 2);
  expect(gone.received).toEqual([]);
  expect(await readEndpoint(test, token, id)).toBeNull();
});

// PGlite always runs in one process.
it.skipIf(testDatabase === 'pglite')('sends each event once when several processes deliver', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Several');
  const receiver = await startReceiver();
  const { id } = await makeEndpoint(test, token, { url: receiver.url, eventTypes: ['SESSION_MESSAGE'] });
  const settings: Partial<Config> = { roles: ['scheduler'], isPrivateWebhookAllowed: true };
  const others = [await test.another(settings), await test.another(settings)];
  clock.join(...others);
  try {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => createSession(test, {}, token)));
    for (let n = 0; n < 10; n++) {
      await Promise.all(sessions.map((session) => sayAs(organizationId, session, `Message ${n}`)));
    }
    await waitForDeliveries(
      test,
      token,
      id,
      ({ deliveries: { nodes, totalCount } }) =>
        totalCount === 110 && nodes.every(({ status }: { status: string }) => status === 'DELIVERED'),
    );
    const received = await receiver.waitFor((all) => all.length >= 110);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(110);
    expect(received).toHaveLength(110);
  } finally {
    for (const other of others) await other.close();
  }
});
