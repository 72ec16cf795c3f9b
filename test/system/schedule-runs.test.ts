import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { makeAutomatic } from '../support/automations.ts';
import { stopClock } from '../support/clock.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'scheduler'] });
});
afterAll(() => test.close());

const hourMs = 60 * 60_000;

/** Creates an organization that still uses schedules, and functions for requests to it. */
async function makeEarlier() {
  const { organizationId, token } = await makeAutomatic(test);
  await test.app.services.store.execute('update organization set has_automations = false where id = $1', [
    parseId('organization', organizationId),
  ]);
  const path = `/v3/organizations/${organizationId}`;
  const ask = (method: string, rest: string, body?: unknown) => call(test, token, method, `${path}${rest}`, body);
  const make = async (input: object): Promise<any> => {
    const { status, body } = await ask('POST', '/schedules', { name: 'Sweep', prompt: 'Sweep the floor.', ...input });
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };
  /** Makes the scheduler check, and waits until a schedule matches. */
  const waitFor = async (made: any, wanted: object): Promise<any> => {
    test.app.services.notifier.notify('automations');
    const one = `/schedules/${made.scheduled_session_id}`;
    const check = async () => expect((await ask('GET', one)).body).toMatchObject(wanted);
    await vi.waitFor(check, { timeout: 60_000, interval: 20 });
    return (await ask('GET', one)).body;
  };
  const runsOf = async (made: any) => (await ask('GET', `/automations/${made.scheduled_session_id}/runs`)).body.items;
  return { token, ask, make, until: waitFor, runsOf };
}

const time = (inMs: number) => new Date(test.app.services.now().getTime() + inMs).toISOString();

describe('a schedule', () => {
  it('starts a session with its playbook and tags at each occurrence', async () => {
    const clock = stopClock(test);
    const { ask, make, until: waitFor, runsOf } = await makeEarlier();
    const { playbook_id } = (await ask('POST', '/playbooks', { title: 'Cleaning', body: 'Thoroughly.' })).body;
    const made = await make({ frequency: '@hourly', playbook_id, tags: ['floor'] });
    const next = (await ask('GET', `/automations/${made.scheduled_session_id}`)).body.next_run_at * 1_000;
    clock.advance(next - test.app.services.now().getTime());
    await waitFor(made, { last_executed_at: new Date(next).toISOString(), consecutive_failures: 0, enabled: true });
    clock.advance(hourMs);
    await waitFor(made, { last_executed_at: new Date(next + hourMs).toISOString() });
    const runs = await runsOf(made);
    expect(runs).toMatchObject([{ status: 'started' }, { status: 'started' }]);
    const { body } = await ask('GET', `/sessions/${runs[0].session_id}`);
    expect(body).toMatchObject({ origin: 'automation', tags: ['floor'], playbook_id, title: 'Sweep the floor.' });
  });

  it('with one occurrence writes to its session once, and is disabled then', async () => {
    const clock = stopClock(test);
    const { token, ask, make, until: waitFor, runsOf } = await makeEarlier();
    const sessionId = await createSession(test, {}, token);
    const scheduledAt = time(hourMs);
    const made = await make({ schedule_type: 'one_time', scheduled_at: scheduledAt, target_devin_id: sessionId });
    clock.advance(hourMs);
    await waitFor(made, { enabled: false, last_executed_at: scheduledAt, scheduled_at: scheduledAt });
    expect(await runsOf(made)).toMatchObject([{ status: 'started', session_id: sessionId }]);
    const { body } = await ask('GET', `/sessions/${sessionId}/messages`);
    expect(body.items.map(({ message }: any) => message)).toEqual(['say hello', 'Sweep the floor.']);
  });

  it('that fails reports it, in the terms of schedules', async () => {
    const clock = stopClock(test);
    const { token, ask, make, until: waitFor } = await makeEarlier();
    const sessionId = await createSession(test, {}, token);
    const made = await make({ schedule_type: 'one_time', scheduled_at: time(hourMs), target_devin_id: sessionId });
    await ask('DELETE', `/sessions/${sessionId}`);
    clock.advance(hourMs);
    await waitFor(made, {
      enabled: true,
      consecutive_failures: 1,
      last_executed_at: null,
      last_error_at: time(0),
      last_error_message: 'The session has been terminated and takes no further messages.',
    });
  });

  it('with a reference to a missing object in its prompt is not saved', async () => {
    const { ask, make } = await makeEarlier();
    const prompt = 'Follow @playbook:Nowhere.';
    const refused = await ask('POST', '/schedules', { name: 'Sweep', prompt, frequency: '@daily' });
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused.body)).toMatch(/the playbook \\+"Nowhere\\+", which does not exist/);
    const made = await make({ frequency: '@daily' });
    expect((await ask('PATCH', `/schedules/${made.scheduled_session_id}`, { prompt })).status).toBe(400);
    const named = await make({ frequency: '@daily', prompt: 'Sweep @acme/site.' });
    // Saved unchanged, it stays a schedule.
    const one = `/automations/${named.scheduled_session_id}`;
    const { actions } = (await ask('GET', one)).body;
    expect((await ask('PATCH', one, { actions })).status).toBe(200);
    expect((await ask('GET', `/schedules/${named.scheduled_session_id}`)).status).toBe(200);
  });
});
