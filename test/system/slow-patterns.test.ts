import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Patterns } from '../../src/domain/patterns.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { createAutomation, makeAutomatic } from '../support/automations.ts';
import { stopClock } from '../support/clock.ts';
import { gatePatterns } from '../support/gated-patterns.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
let own: Patterns;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'scheduler'] });
  own = test.app.services.patterns;
});
const setPatterns = (patterns: Patterns) => {
  (test.app.services as { patterns: Patterns }).patterns = patterns;
};
beforeEach(() => setPatterns(own));
afterAll(async () => {
  setPatterns(own);
  await test.close();
});

const action = { type: 'start_session', prompt: 'Sweep the floor.' };
const trigger = (eventType: string, field: string, value: string) => ({
  event_type: eventType,
  conditions: { any: [{ all: [{ field, operator: 'matches', value }] }] },
});

const post = (organizationId: string, token: string, ...triggers: object[]) =>
  call(test, token, 'POST', `/v3/organizations/${organizationId}/automations`, {
    name: 'Sweep',
    triggers,
    actions: [action],
  });

/** An automation with an incoming webhook whose conditions have a pattern. */
async function makeHook(pattern: string) {
  const { token, organizationId } = await makeAutomatic(test);
  const conditions = { any: [{ all: [{ field: 'body.text', operator: 'MATCHES', value: pattern }] }] };
  const triggers = [{ incomingWebhook: { conditions } }];
  const { automation, webhookSecret } = await createAutomation(test, { triggers }, token);
  const send = async (text: string) => {
    const response = await fetch(test.url + new URL(automation.triggers[0].webhookUrl).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-secret': webhookSecret },
      body: JSON.stringify({ text }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const path = `/v3/organizations/${organizationId}/automations/${automation.automationId}/runs`;
  const runs = async () => (await call(test, token, 'GET', path)).body.items as Record<string, unknown>[];
  return { token, organizationId, send, runs };
}

const tooSlow = 'The conditions are not met: a pattern takes too long: "^slow+$".';

describe('the compilation of a pattern', () => {
  it('does not delay other requests', async () => {
    const gatedPatterns = gatePatterns(test);
    const { token, organizationId } = await makeAutomatic(test);
    let isSaved = false;
    const saved = post(organizationId, token, trigger('webhook:incoming', 'body.text', '(?i)[a-z]+')).finally(() => {
      isSaved = true;
    });
    await gatedPatterns.waitForRequests(1);
    const health = await fetch(`${test.url}/healthz`);
    const { data } = await graphql(test, token, '{ viewer { __typename } }');
    expect([health.status, data.viewer.__typename, isSaved]).toEqual([200, expect.any(String), false]);
    gatedPatterns.open();
    expect((await saved).status).toBe(200);
    await gatedPatterns.patterns.stop();
  });

  it('is refused by name if it takes too long, and the next one is compiled', async () => {
    const gatedPatterns = gatePatterns(test, 500);
    const { token, organizationId } = await makeAutomatic(test);
    const slow = trigger('webhook:incoming', 'body.text', '^slow+$');
    const { status, body } = await post(organizationId, token, slow);
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(String.raw`takes too long to compile: \"^slow+$\".`);
    setPatterns(own);
    expect((await post(organizationId, token, slow)).status).toBe(200);
    await gatedPatterns.patterns.stop();
  });
});

describe('a pattern that takes too long to match', () => {
  it('skips a delivery, is recorded in the run, and is not run again for a minute', async () => {
    const clock = stopClock(test);
    const { send, runs } = await makeHook('^slow+$');
    const gatedPatterns = gatePatterns(test, 500);
    expect(await send('slow')).toMatchObject({ status: 202, body: { status: 'skipped' } });
    expect(await runs()).toMatchObject([{ status: 'skipped', error: { message: tooSlow } }]);
    await gatedPatterns.waitForRequests(1);
    expect((await send('again')).body.status).toBe('skipped');
    clock.advance(61_000);
    expect((await send('later')).body.status).toBe('skipped');
    await gatedPatterns.waitForRequests(2);
    expect(gatedPatterns.requestCount()).toBe(2);
    await gatedPatterns.patterns.stop();
  });

  it('skips an event of a session, and loses none', async () => {
    const { token } = await makeAutomatic(test);
    const make = async (conditions?: object) => {
      const triggers = [{ event: { eventType: 'session:terminated', ...(conditions ? { conditions } : {}) } }];
      const fields = 'id runs(first: 10) { nodes { status error { message } } }';
      return (await createAutomation(test, { triggers }, token, fields)).automation as { id: string };
    };
    const runsOf = async ({ id }: { id: string }) => {
      const query = `query($id: ID!) { node(id: $id) { ... on Automation { runs(first: 10) { nodes { status error { message } } } } } }`;
      return (await graphql(test, token, query, { id })).data.node.runs.nodes as object[];
    };
    const slow = await make({ any: [{ all: [{ field: 'title', operator: 'MATCHES', value: '^slow+$' }] }] });
    const any = await make();
    const gatedPatterns = gatePatterns(test, 500);
    const sessionId = await createSession(test, { prompt: 'slow', title: 'slow' }, token);
    await runMutation(test, 'terminateSession', 'session { status }', { sessionId }, token);
    await vi.waitFor(async () => expect((await runsOf(any)).length).toBe(1), { timeout: 60_000, interval: 50 });
    expect(await runsOf(slow)).toEqual([{ status: 'SKIPPED', error: { message: tooSlow } }]);
    expect(await runsOf(any)).toEqual([{ status: 'STARTED', error: null }]);
    await gatedPatterns.patterns.stop();
  });
});
