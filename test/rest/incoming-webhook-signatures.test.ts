import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sameBodyMs } from '../../src/domain/automations/triggers/receive-webhook.ts';
import { parseId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { incoming, makeWebhook, promptOf } from '../support/incoming-webhooks.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const make = (input: Record<string, unknown> = {}) => makeWebhook(test, input);

const sign = (secret: string, body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

describe('GitHub', () => {
  it('signs the body with the secret, and starts one run per delivery', async () => {
    const { send, secret, runs } = await make();
    const body = JSON.stringify({ action: 'opened', text: 'größer' });
    const headers = {
      'x-hub-signature-256': sign(secret, body),
      'x-hub-signature': `sha1=${'0'.repeat(40)}`,
      'x-github-event': 'issues',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    };
    const first = await send(body, headers, null);
    expect(first).toMatchObject({ status: 202, body: { status: 'started' } });
    expect(await send(body, headers, null)).toMatchObject({ status: 200, body: { run_id: first.body.run_id } });
    expect(await runs()).toHaveLength(1);
  });

  it('may send its JSON in a form, and signs the form', async () => {
    const { send, secret, runs } = await make({
      triggers: [incoming({ field: 'body.action', operator: 'EQ', value: 'opened' })],
    });
    const form = new URLSearchParams({ payload: '{"action":"opened","text":"a+b &c"}' }).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const taken = await send(form, { ...type, 'x-hub-signature-256': sign(secret, form) }, null);
    expect(taken).toMatchObject({ status: 202, body: { status: 'started' } });
    const [run] = await runs();
    expect(await promptOf(test, run.session_id)).toContain('{"action":"opened","text":"a+b &c"}');
    const other = 'action=opened';
    const refused = await send(other, { ...type, 'x-hub-signature-256': sign(secret, other) }, null);
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('"payload"') } });
  });

  it('never has its JSON read as a form, nor a form with additional fields', async () => {
    const { send, secret, runs } = await make();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const bodies = [
      JSON.stringify({ title: 'x&payload={"forged":true}' }),
      'a=1&payload={}',
      'payload={}&a=1',
      'payload={}&payload={"forged":true}',
      '&payload={}',
      '%70ayload={}',
    ];
    for (const body of bodies) {
      const refused = await send(body, { ...type, 'x-hub-signature-256': sign(secret, body) }, null);
      expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('one field, "payload"') } });
    }
    expect(await runs()).toEqual([]);
  });

  it('starts no second run for a signed body without its id, or with the id in another header', async () => {
    const { send, secret, runs } = await make();
    const body = '{"action":"opened"}';
    const signed = { 'x-hub-signature-256': sign(secret, body) };
    const first = await send(body, { ...signed, 'x-github-delivery': 'a' }, null);
    expect(first.status).toBe(202);
    const replay = { status: 200, body: { run_id: first.body.run_id, is_replay: true } };
    expect(await send(body, signed, null)).toMatchObject(replay);
    expect(await send(body, { ...signed, 'webhook-id': 'b' }, null)).toMatchObject(replay);
    expect(await send(body, { ...signed, 'x-github-delivery': 'a' }, null)).toMatchObject(replay);
    expect(await runs()).toHaveLength(1);
  });

  it('starts another run for the same signed body with another id, and after ten minutes', async () => {
    const { send, secret, runs } = await make();
    const { services } = test.app;
    const original = services.now;
    let now = Date.now();
    Object.assign(services, { now: () => new Date(now) });
    onTestFinished(() => void Object.assign(services, { now: original }));
    const signed = { 'x-hub-signature-256': sign(secret, '{}') };
    expect((await send('{}', { ...signed, 'x-github-delivery': 'a' }, null)).status).toBe(202);
    expect((await send('{}', { ...signed, 'x-github-delivery': 'b' }, null)).status).toBe(202);
    now += sameBodyMs;
    expect((await send('{}', signed, null)).status).toBe(202);
    // A body without an id is sent again, now with one.
    expect((await send('{}', { ...signed, 'x-github-delivery': 'c' }, null)).status).toBe(200);
    expect(await runs()).toHaveLength(3);
  });

  it('gets a response to a ping, without a run', async () => {
    const { send, secret, runs } = await make();
    const body = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
    const ping = { 'x-github-event': 'ping', 'x-github-delivery': 'p' };
    expect(await send(body, { ...ping, 'x-hub-signature-256': sign(secret, body) }, null)).toMatchObject({
      status: 202,
      body: { run_id: null, status: 'ignored', is_replay: false },
    });
    expect((await send(body, { ...ping, 'x-hub-signature-256': sign('whsec_other', body) }, null)).status).toBe(401);
    expect(await runs()).toEqual([]);
  });

  it.each<[string, (secret: string, body: string) => Record<string, string>]>([
    ['made with another secret', (_secret, body) => ({ 'x-hub-signature-256': sign('whsec_other', body) })],
    ['of another body', (secret) => ({ 'x-hub-signature-256': sign(secret, '{"n":2}') })],
    ['with SHA-1 only', () => ({ 'x-hub-signature': `sha1=${'0'.repeat(40)}` })],
    ['without its algorithm', (secret, body) => ({ 'x-hub-signature-256': sign(secret, body).replace('sha256=', '') })],
    ['cut short', (secret, body) => ({ 'x-hub-signature-256': sign(secret, body).slice(0, -1) })],
    ['that is empty', () => ({ 'x-hub-signature-256': '' })],
    [
      'that is right beside a wrong secret',
      (secret, body) => ({ 'x-hub-signature-256': sign(secret, body), 'x-webhook-secret': 'whsec_other' }),
    ],
    [
      'that is wrong beside the right secret',
      (secret, body) => ({ 'x-hub-signature-256': sign('whsec_other', body), 'x-webhook-secret': secret }),
    ],
  ])('is refused with a signature %s', async (_what, headersOf) => {
    const { send, secret, runs } = await make();
    const body = '{"n":1}';
    const answer = await send(body, headersOf(secret, body), null);
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.stringMatching(/X-Hub-Signature-256/) } });
    expect(await runs()).toEqual([]);
  });

  it('is refused with the previous secret', async () => {
    const { send, secret, token, automationId } = await make();
    const { data } = await graphql(
      test,
      token,
      'mutation ($input: RotateAutomationWebhookSecretInput!) { rotateAutomationWebhookSecret(input: $input) { webhookSecret } }',
      { input: { automationId } },
    );
    const next = data.rotateAutomationWebhookSecret.webhookSecret;
    expect((await send('{}', { 'x-hub-signature-256': sign(secret, '{}') }, null)).status).toBe(401);
    expect((await send('{}', { 'x-hub-signature-256': sign(next, '{}') }, null)).status).toBe(202);
  });

  it('cannot sign for a webhook whose secret predates signatures, until the secret is rotated', async () => {
    const { send, secret, automationId } = await make();
    await test.app.services.store.execute('update automation set webhook_secret_sealed = null where id = $1', [
      parseId('automation', automationId),
    ]);
    expect((await send('{}', { 'x-hub-signature-256': sign(secret, '{}') }, null)).status).toBe(401);
    expect((await send('{}')).status).toBe(202);
  });

  it('has wrong signatures counted by address, without an effect on valid ones', async () => {
    const limited = await startApp({ rateLimitLogin: 2 });
    onTestFinished(() => limited.close());
    const original = test;
    test = limited;
    onTestFinished(() => {
      test = original;
    });
    const { send, secret } = await make();
    const wrong = { 'x-hub-signature-256': sign('whsec_other', '{}') };
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await send('{}', wrong, null)).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await send('{}', { 'x-hub-signature-256': sign(secret, '{}') }, null)).status).toBe(202);
    expect((await send('{"n":2}', {}, secret)).status).toBe(202);
  });
});

describe('GitLab', () => {
  it('sends the secret as its token, and starts one run per delivery', async () => {
    const { send, secret, runs } = await make();
    const headers = {
      'x-gitlab-token': secret,
      'x-gitlab-event': 'Push Hook',
      'idempotency-key': 'a',
      'x-gitlab-event-uuid': 'e',
    };
    const first = await send({ object_kind: 'push' }, headers, null);
    expect(first).toMatchObject({ status: 202, body: { status: 'started' } });
    expect(await send({ object_kind: 'push' }, headers, null)).toMatchObject({
      status: 200,
      body: { is_replay: true },
    });
    // Its own effects have the same event id, and are another delivery.
    expect((await send({ object_kind: 'push' }, { ...headers, 'idempotency-key': 'b' }, null)).status).toBe(202);
    expect(await runs()).toHaveLength(2);
  });

  it('is refused with another token, and its token is hidden from conditions and prompts', async () => {
    const { send, secret, runs } = await make({
      triggers: [incoming({ field: 'headers.x-gitlab-token', operator: 'IS_NOT_EMPTY', value: null })],
    });
    expect((await send({}, { 'x-gitlab-token': 'whsec_other' }, null)).status).toBe(401);
    expect((await send({}, { 'x-gitlab-token': 'whsec_other' })).status).toBe(401);
    expect((await send({}, { 'x-gitlab-token': secret }, null)).body.status).toBe('ignored');
    expect(await runs()).toEqual([]);
  });
});

it('shows an agent the beginning of a long body, and its length', async () => {
  const { send, runs } = await make();
  expect((await send({ first: 'shown', text: 'x'.repeat(200_000), last: 'not shown' })).status).toBe(202);
  const [run] = await runs();
  const prompt = (await promptOf(test, run.session_id)) ?? '';
  expect(prompt).toContain('Only the first 65536 of its 200046 characters are shown.');
  expect(prompt).toContain('"first":"shown"');
  expect(prompt).not.toContain('not shown');
  expect(prompt.length).toBeLessThan(66_500);
});
