import { beforeAll, describe, expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();
beforeAll(async () => {
  (app.app.services as { now: () => Date }).now = () => new Date('2026-12-01T12:34:56.789Z');
});

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const schedulesOf = (id: string) => `/v3/organizations/${id}/schedules`;
const automationsOf = (id: string) => `/v3/organizations/${id}/automations`;
const schedule = { name: 'Sweep', prompt: 'Sweep the floor.', frequency: '0 9 * * 1-5' };
const once = { name: 'Once', prompt: 'Mop.', schedule_type: 'one_time', scheduled_at: '2026-12-24T18:00:00Z' };
const missing = `automation-${'0'.repeat(32)}`;

/** An organization that has not moved to automations. */
async function makeEarlier(): Promise<string> {
  const id = await makeOrganization(app);
  await app.app.services.store.execute('update organization set has_automations = false where id = $1', [id]);
  return id;
}

const make = async (id: string, body: object = schedule) => {
  const made = await admin('POST', schedulesOf(id), body);
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made.body;
};

describe('the creation of a schedule', () => {
  test('is refused for new organizations since 24 September 2026, and was allowed before', async () => {
    const id = await makeOrganization(app);
    const refused = await admin('POST', schedulesOf(id), schedule);
    expect(refused).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/automations since 24 September 2026/) },
    });
    expect((await admin('GET', schedulesOf(id))).body.items).toEqual([]);
    const { services } = app.app;
    const real = services.now;
    try {
      (services as { now: () => Date }).now = () => new Date('2026-09-23T23:59:59Z');
      await make(id);
      (services as { now: () => Date }).now = () => new Date('2026-09-24T00:00:00Z');
      expect((await admin('POST', schedulesOf(id), schedule)).status).toBe(403);
    } finally {
      (services as { now: () => Date }).now = real;
    }
  });

  test('returns all its fields, with times in ISO 8601, and so does GET', async () => {
    const id = await makeEarlier();
    const { v3Token, userId } = await makeUser(app, id, 'org_admin');
    const playbook = { title: 'P', body: 'B' };
    const playbookId = (await admin('POST', `/v3/organizations/${id}/playbooks`, playbook)).body.playbook_id;
    const input = {
      ...schedule,
      agent: 'data_analyst',
      bypass_approval: true,
      interval_count: 2,
      notify_on: 'always',
      platform: 'linux',
      slack_channel_id: 'C1',
      slack_team_id: 'T1',
      tags: ['floor'],
    };
    const made = await call(app, v3Token, 'POST', schedulesOf(id), { ...input, playbook_id: playbookId });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      scheduled_session_id: expect.stringMatching(/^automation-[0-9a-f]{32}$/),
      org_id: `org-${id}`,
      enabled: true,
      ...input,
      playbook: { playbook_id: playbookId, title: 'P' },
      schedule_type: 'recurring',
      scheduled_at: null,
      target_devin_id: null,
      consecutive_failures: 0,
      last_executed_at: null,
      last_error_at: null,
      last_error_message: null,
      created_at: '2026-12-01T12:34:56.789Z',
      created_by: `user-${userId}`,
      last_edited_by: `user-${userId}`,
      updated_at: '2026-12-01T12:34:56.789Z',
    });
    const path = `${schedulesOf(id)}/${made.body.scheduled_session_id}`;
    expect((await admin('GET', path)).body).toEqual(made.body);
    expect((await admin('GET', schedulesOf(id))).body).toEqual({
      items: [made.body],
      end_cursor: null,
      has_next_page: false,
      total: null,
    });
    expect((await readAuditActions(app, id, '_automation')).map(({ action }) => action)).toEqual(['create_automation']);
  });

  // 1 December 2026 is a Tuesday.
  test.each([
    ['*/15 * * * *', 1, ['12:45', '13:00', '13:15']],
    ['0 9 * * *', 1, ['12-02T09:00', '12-03T09:00', '12-04T09:00']],
    ['0 9 * * *', 3, ['12-04T09:00', '12-07T09:00', '12-10T09:00']],
    ['30 8 * * MON', 2, ['12-14T08:30', '12-28T08:30', '01-11T08:30']],
    ['0 9 * * 1-5', 1, ['12-02T09:00', '12-03T09:00', '12-04T09:00']],
    ['0 0 * * 0,7', 1, ['12-06T00:00', '12-13T00:00', '12-20T00:00']],
    ['15 10 31 * *', 1, ['2026-12-31T10:15', '2027-01-31T10:15', '2027-03-31T10:15']],
    ['0 12 25 DEC *', 1, ['2026-12-25T12:00', '2027-12-25T12:00', '2028-12-25T12:00']],
    ['0 0 13 * 5', 1, ['12-04T00:00', '12-11T00:00', '12-13T00:00']],
    ['0 8-18/5 * 1 *', 1, ['2027-01-01T08:00', '2027-01-01T13:00', '2027-01-01T18:00']],
    ['@hourly', 4, ['12-01T16:00', '12-01T20:00', '12-02T00:00']],
    ['@weekly', 1, ['12-06T00:00', '12-13T00:00', '12-20T00:00']],
  ])('%s, every %i: the automation with the same id has these occurrences', async (frequency, interval, times) => {
    const id = await makeEarlier();
    const made = await make(id, { ...schedule, frequency, interval_count: interval });
    const automation = (await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).body;
    expect(automation).toMatchObject({
      name: 'Sweep',
      actions: [{ type: 'start_session', prompt: 'Sweep the floor.' }],
    });
    const next = automation.next_runs.slice(0, 3).map((at: number) => new Date(at * 1_000).toISOString());
    expect(next).toEqual(times.map((time) => expect.stringContaining(time)));
  });

  test('with one occurrence creates an automation with one, which may write to a session', async () => {
    const id = await makeEarlier();
    const sessionId = (await admin('POST', `/v3/organizations/${id}/sessions`, { prompt: 'Hello' })).body.session_id;
    const made = await make(id, { ...once, target_devin_id: `devin-${sessionId}` });
    expect(made).toMatchObject({
      frequency: null,
      scheduled_at: '2026-12-24T18:00:00.000Z',
      target_devin_id: sessionId,
    });
    const automation = (await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).body;
    expect(automation.next_runs).toEqual([Date.UTC(2026, 11, 24, 18) / 1_000]);
    expect(automation.actions).toEqual([{ type: 'message_session', prompt: 'Mop.', target_devin_id: sessionId }]);
  });

  test.each([
    ['no frequency', { ...schedule, frequency: null }, 422, 'frequency', /required/],
    ['no cron', { ...schedule, frequency: 'daily' }, 422, 'frequency', /cron.*"daily"/],
    ['four fields', { ...schedule, frequency: '0 9 * *' }, 422, 'frequency', /cron/],
    ['a minute of 60', { ...schedule, frequency: '60 9 * * *' }, 422, 'frequency', /cron/],
    ['a step of 0', { ...schedule, frequency: '*/0 9 * * *' }, 422, 'frequency', /cron/],
    ['every minute', { ...schedule, frequency: '* * * * *' }, 422, 'frequency', /15 minutes/],
    ['never', { ...schedule, frequency: '0 0 30 2 *' }, 422, 'frequency', /never fires/],
    ['a time for what recurs', { ...schedule, scheduled_at: '2026-12-24T18:00:00Z' }, 422, 'scheduled_at', /omitted/],
    ['a session for what recurs', { ...schedule, target_devin_id: 'own' }, 422, 'target_devin_id', /omitted/],
    ['an interval of 0', { ...schedule, interval_count: 0 }, 422, 'interval_count', /at least 1/],
    ['a time that is over', { ...once, scheduled_at: '2026-12-01T12:34:56Z' }, 422, 'scheduled_at', /future/],
    ['an invalid time', { ...once, scheduled_at: 'tomorrow' }, 422, 'scheduled_at', /time such as/],
    ['no time', { ...once, scheduled_at: null }, 422, 'scheduled_at', /required/],
    ['a frequency for what is once', { ...once, frequency: '0 9 * * *' }, 422, 'frequency', /omitted/],
    ['an empty prompt', { ...schedule, prompt: '' }, 422, 'prompt', /empty/],
    ['an unknown agent', { ...schedule, agent: 'robot' }, 422, 'agent', /devin/],
    ['an unknown playbook', { ...schedule, playbook_id: 'playbook-1' }, 400, 'playbook_id', /playbook_id/],
    ['an unknown session', { ...once, target_devin_id: '0'.repeat(32) }, 400, 'target_devin_id', /target_devin_id/],
    ['an unknown user', { ...schedule, create_as_user_id: 'user-1' }, 400, 'create_as_user_id', /create_as_user_id/],
  ])('%s is refused', async (_what, body, status, field, message) => {
    const id = await makeEarlier();
    const sessionId = (await admin('POST', `/v3/organizations/${id}/sessions`, { prompt: 'Hello' })).body.session_id;
    const own = 'target_devin_id' in body && body.target_devin_id === 'own' ? { target_devin_id: sessionId } : {};
    const refused = await admin('POST', schedulesOf(id), { ...body, ...own });
    expect(refused.status).toBe(status);
    if (status === 422) expect(refused.body.detail[0].loc).toEqual(['body', field]);
    expect(JSON.stringify(refused.body.detail).replaceAll('\\"', '"')).toMatch(message);
  });
});

describe('the change of a schedule', () => {
  test('PATCH keeps omitted fields and clears null ones, for its automation too', async () => {
    const id = await makeEarlier();
    const made = await make(id, { ...schedule, tags: ['floor'], platform: 'linux', notify_on: 'never' });
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    const changed = (await admin('PATCH', path, { prompt: 'Mop.', tags: null, notify_on: null, name: null })).body;
    expect(changed).toEqual({ ...made, prompt: 'Mop.', tags: null, notify_on: 'failure' });
    const automation = (await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).body;
    expect(automation.actions[0]).toMatchObject({ prompt: 'Mop.', session: { tags: null, platform: 'linux' } });
    const off = (await admin('PATCH', path, { enabled: false })).body;
    expect(off).toEqual({ ...changed, enabled: false });
    const moved = (
      await admin('PATCH', path, { enabled: true, schedule_type: 'one_time', scheduled_at: once.scheduled_at })
    ).body;
    expect(moved).toMatchObject({ enabled: true, schedule_type: 'one_time', frequency: null });
    const again = await admin('PATCH', path, { scheduled_at: '2026-11-01T00:00:00Z' });
    expect(again).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'scheduled_at'] }] } });
    const back = (await admin('PATCH', path, { schedule_type: 'recurring', frequency: '0 9 * * *' })).body;
    expect(back).toMatchObject({ scheduled_at: null, frequency: '0 9 * * *' });
  });

  test('an automation with another action is no longer a schedule', async () => {
    const id = await makeEarlier();
    const made = await make(id);
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    const automation = `${automationsOf(id)}/${made.scheduled_session_id}`;
    await admin('PATCH', automation, { name: 'Renamed', enabled: false });
    expect((await admin('GET', path)).body).toMatchObject({ name: 'Renamed', enabled: false });
    await admin('PATCH', automation, { actions: [{ type: 'start_session', prompt: 'Other' }] });
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      expect((await admin(method, path, body)).status).toBe(404);
    }
    expect((await admin('GET', automation)).status).toBe(200);
  });

  test('DELETE returns the schedule, and deletes the automation too', async () => {
    const id = await makeEarlier();
    const made = await make(id);
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    expect((await admin('DELETE', path)).body).toEqual(made);
    expect((await admin('GET', path)).status).toBe(404);
    expect((await admin('DELETE', path)).status).toBe(404);
    expect((await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).status).toBe(404);
    expect((await admin('GET', schedulesOf(id))).body.items).toEqual([]);
  });

  test('run_as needs ImpersonateOrgSessions, and so does a change of its action then', async () => {
    const id = await makeEarlier();
    const member = await makeUser(app, id);
    const made = await make(id, { ...schedule, create_as_user_id: `user-${member.userId}` });
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    const automation = (await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).body;
    expect(automation.run_as).toEqual({ type: 'creator' });
    // A role that may manage schedules, but not act as another user.
    const permissions = ['ManageOrgSchedules', 'UseSessions'] as const;
    const role = await createRole(await asAdministrator(app), { name: 'Keeper', scope: 'organization', permissions });
    const { token } = await makeServiceUser(app, { organizationId: id, roleId: role.id });
    for (const change of [{ prompt: 'Do my work.' }, { run_as_user_id: `user-${member.userId}` }]) {
      const own = (await call(app, token, 'POST', schedulesOf(id), schedule)).body.scheduled_session_id;
      const target = 'prompt' in change ? path : `${schedulesOf(id)}/${own}`;
      const refused = await call(app, token, 'PATCH', target, change);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ImpersonateOrgSessions' } });
    }
    expect((await call(app, token, 'PATCH', path, { enabled: false })).status).toBe(200);
    expect((await call(app, token, 'PATCH', path, { enabled: true })).status).toBe(403);
    const freed = await call(app, token, 'PATCH', path, { run_as_user_id: null, prompt: 'Do my work.' });
    expect(freed.status).toBe(200);
    expect((await admin('GET', `${automationsOf(id)}/${made.scheduled_session_id}`)).body.run_as.type).toBe(
      'organization',
    );
  });

  test('a caller that may not start sessions cannot let a schedule start them', async () => {
    const id = await makeEarlier();
    const permissions = ['ManageOrgSchedules'] as const;
    const role = await createRole(await asAdministrator(app), { name: 'Bell', scope: 'organization', permissions });
    const { token } = await makeServiceUser(app, { organizationId: id, roleId: role.id });
    const made = await make(id, schedule);
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    const lacking = { status: 403, body: { detail: 'Missing permission UseDevinSessions' } };
    expect(await call(app, token, 'POST', schedulesOf(id), schedule)).toMatchObject(lacking);
    expect(await call(app, token, 'PATCH', path, { prompt: 'Mine.' })).toMatchObject(lacking);
    expect((await call(app, token, 'PATCH', path, { enabled: false })).status).toBe(200);
    expect(await call(app, token, 'PATCH', path, { enabled: true })).toMatchObject(lacking);
  });

  test('a caller that may not write to a session cannot change the message of its schedule', async () => {
    const id = await makeEarlier();
    const sessionId = (await admin('POST', `/v3/organizations/${id}/sessions`, { prompt: 'Hello' })).body.session_id;
    const made = await make(id, { ...once, target_devin_id: sessionId });
    const path = `${schedulesOf(id)}/${made.scheduled_session_id}`;
    const permissions = ['ManageOrgSchedules', 'UseSessions', 'ViewOrgSessions'] as const;
    const role = await createRole(await asAdministrator(app), { name: 'Clock', scope: 'organization', permissions });
    const { token } = await makeServiceUser(app, { organizationId: id, roleId: role.id });
    const refused = await call(app, token, 'PATCH', path, { prompt: 'Give me all you know.' });
    expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrgSessions' } });
    expect((await admin('GET', path)).body.prompt).toBe('Mop.');
    expect((await call(app, token, 'PATCH', path, { name: 'Later' })).status).toBe(200);
    const own = await call(app, token, 'PATCH', path, { prompt: 'Sweep.', target_devin_id: null });
    expect(own).toMatchObject({ status: 200, body: { prompt: 'Sweep.', target_devin_id: null } });
    expect((await admin('PATCH', path, { prompt: 'Wax.', target_devin_id: sessionId })).status).toBe(200);
    expect((await admin('PATCH', path, { prompt: 'Polish.' })).body.prompt).toBe('Polish.');
  });
});

test('pages go by limit and offset, newest first', async () => {
  const id = await makeEarlier();
  for (let n = 0; n < 5; n++) await make(id, { ...schedule, name: `s${n}` });
  await admin('POST', automationsOf(id), {
    name: 'other',
    triggers: [],
    actions: [{ type: 'start_session', prompt: 'x' }],
  });
  const names = async (query: string) => {
    const { body } = await admin('GET', `${schedulesOf(id)}?${query}`);
    return [body.items.map(({ name }: { name: string }) => name), body.has_next_page];
  };
  expect(await names('')).toEqual([['s4', 's3', 's2', 's1', 's0'], false]);
  expect(await names('limit=2')).toEqual([['s4', 's3'], true]);
  expect(await names('limit=2&offset=3')).toEqual([['s1', 's0'], false]);
  expect(await names('offset=9')).toEqual([[], false]);
  for (const wrong of ['limit=201', 'limit=0', 'offset=-1']) {
    const refused = await admin('GET', `${schedulesOf(id)}?${wrong}`);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', wrong.split('=')[0]] }] } });
  }
});

test('every route needs ManageOrgSchedules, and hides other organizations', async () => {
  const [id, elsewhere] = [await makeEarlier(), await makeEarlier()];
  const member = (await makeUser(app, id)).v3Token;
  const manager = (await makeUser(app, id, 'org_admin')).v3Token;
  const foreign = (await make(elsewhere)).scheduled_session_id;
  const own = (await make(id)).scheduled_session_id;
  for (const [method, path, body] of [
    ['GET', ''],
    ['POST', '', schedule],
    ['GET', `/${own}`],
    ['PATCH', `/${own}`, {}],
    ['DELETE', `/${own}`],
  ] as const) {
    const refused = await call(app, member, method, schedulesOf(id) + path, body);
    expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrgSchedules' } });
  }
  for (const scheduleId of [foreign, missing]) {
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const absent = await call(app, manager, method, `${schedulesOf(id)}/${scheduleId}`, body);
      expect(absent).toMatchObject({ status: 404, body: { detail: 'There is no such schedule.' } });
    }
  }
  expect((await call(app, manager, 'GET', schedulesOf(elsewhere))).status).toBe(403);
});
