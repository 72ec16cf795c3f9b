import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeManager, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const automationsOf = (id: string) => `/v3/organizations/${id}/automations`;
const missing = `automation-${'0'.repeat(32)}`;

const recurring = (value: string) => ({
  event_type: 'schedule:recurring',
  conditions: { any: [{ all: [{ field: 'rrule', operator: 'recurrence', value }] }] },
});
const start = { type: 'start_session', prompt: 'Sweep the floor.' };
const daily = 'DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY';
const automation = { name: 'Sweep', triggers: [recurring(daily)], actions: [start] };

/** Every option. */
const options = {
  limits: { max_acu_limit: 5, invocations: { max_per_window: 3, window_seconds: 3_600 } },
  concurrency: { max_concurrent_runs: 1, max_queue_depth: 0 },
  metadata: { owner_team: 'floor', camelCase: 'kept' },
  notifications: {
    email: { when: 'dispatch_failed', recipients: ['a@example.com'] },
    slack: { when: 'always', channel_id: 'C1' },
  },
  session_settings: {
    devin_mode: 'fast',
    net_policy: { allow: [{ hostname: 'example.com' }, { ipv4: '10.0.0.0/8' }] },
  },
  security_profile: { profile_id: 'p1' },
  template_id: 't1',
  tools: { mcp_servers: ['m'], slack_channels: ['c'], slack_dm_scope: 'all', linear_enabled: true },
};

describe('an automation of an organization', () => {
  test('with expensive rules does not delay other requests when it is created and shown', async () => {
    const id = await makeOrganization(app);
    const expensiveRule = (n: number) =>
      `FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=${n};BYMINUTE=0;BYSECOND=0`;
    let isMade = false;
    const making = admin('POST', automationsOf(id), {
      ...automation,
      triggers: [1, 2, 3, 4, 5].map(expensiveRule).map(recurring),
    });
    void making.then(() => {
      isMade = true;
    });
    let answered = 0;
    for (; !isMade; answered++) await call(app, null, 'GET', '/v3/self');
    expect((await making).body.next_runs).toHaveLength(5);
    // Each rule takes at least one turn of the event loop, and other turns come between two.
    expect(answered).toBeGreaterThan(5);
  });

  test('POST returns all its fields, and GET does by any form of its id', async () => {
    const id = await makeOrganization(app);
    const { v3Token, userId } = await makeUser(app, id, 'org_admin');
    const made = await call(app, v3Token, 'POST', automationsOf(id), { ...automation, ...options });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      automation_id: expect.stringMatching(/^automation-[0-9a-f]{32}$/),
      org_id: `org-${id}`,
      name: 'Sweep',
      enabled: true,
      run_as: { type: 'organization' },
      triggers: [{ ...recurring(daily), replies: [] }],
      actions: [start],
      ...options,
      next_run_at: Date.UTC(2030, 0, 1, 9) / 1_000,
      next_runs: [1, 2, 3, 4, 5].map((day) => Date.UTC(2030, 0, day, 9) / 1_000),
      last_run_at: null,
      created_at: expect.any(Number),
      created_by: `user-${userId}`,
      updated_at: made.body.created_at,
      updated_by: `user-${userId}`,
    });
    const bare = made.body.automation_id.replace('automation-', '');
    for (const form of [made.body.automation_id, bare]) {
      const read = await admin('GET', `${automationsOf(id)}/${form}`);
      expect(read).toMatchObject({ status: 200, body: made.body });
    }
    const plain = (await admin('POST', automationsOf(id), automation)).body;
    for (const name of Object.keys(options)) expect(plain[name]).toBeNull();
  });

  test('PATCH keeps omitted options, clears null ones, enables and disables', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', automationsOf(id), { ...automation, ...options })).body;
    const path = `${automationsOf(id)}/${made.automation_id}`;
    const off = (await admin('PATCH', path, { enabled: false })).body;
    expect(off).toEqual({ ...made, enabled: false, next_run_at: null, next_runs: [], updated_at: off.updated_at });
    const cleared = (await admin('PATCH', path, { enabled: true, limits: null, metadata: null, name: 'Mop' })).body;
    expect(cleared).toEqual({ ...made, name: 'Mop', limits: null, metadata: null, updated_at: cleared.updated_at });
    expect((await admin('PATCH', path, { limits: { max_acu_limit: 9 } })).body.limits).toEqual({ max_acu_limit: 9 });
    expect((await admin('PATCH', path, {})).body.name).toBe('Mop');
    expect((await readAuditActions(app, id, '_automation')).map(({ action, data }) => [action, data])).toEqual([
      ['create_automation', { name: 'Sweep' }],
      ['update_automation', { name: 'Sweep', changed: 'enabled' }],
      ['update_automation', { name: 'Mop', changed: 'name enabled options' }],
      ['update_automation', { name: 'Mop', changed: 'options' }],
    ]);
  });

  test('DELETE returns the automation, which is unknown from then on', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', automationsOf(id), automation)).body;
    const path = `${automationsOf(id)}/${made.automation_id}`;
    const deleted = await admin('DELETE', path);
    expect(deleted).toMatchObject({ status: 200, body: { automation_id: made.automation_id, enabled: true } });
    for (const method of ['GET', 'DELETE']) expect((await admin(method, path)).status).toBe(404);
    expect((await admin('PATCH', path, { enabled: true })).status).toBe(404);
    expect((await admin('GET', automationsOf(id))).body.items).toEqual([]);
  });

  test('a single occurrence is accepted in the future, and cannot be enabled in the past', async () => {
    const id = await makeOrganization(app);
    const once = 'DTSTART=20300101T090000Z;FREQ=DAILY;COUNT=1';
    const made = (await admin('POST', automationsOf(id), { ...automation, triggers: [recurring(once)] })).body;
    expect(made.next_runs).toEqual([Date.UTC(2030, 0, 1, 9) / 1_000]);
    expect(made.triggers[0].conditions.any[0].all[0].value).toBe(once);
    const path = `${automationsOf(id)}/${made.automation_id}`;
    await admin('PATCH', path, { enabled: false });
    const real = app.app.services.now;
    (app.app.services as { now: () => Date }).now = () => new Date('2031-01-01T00:00:00Z');
    try {
      const late = await admin('PATCH', path, { enabled: true });
      expect(late).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'enabled'] }] } });
      // Its current values may be sent again.
      expect((await admin('PATCH', path, { name: 'Over', triggers: made.triggers })).status).toBe(200);
    } finally {
      (app.app.services as { now: () => Date }).now = real;
    }
  });

  test('a rule without DTSTART begins at the creation of the automation', async () => {
    const id = await makeOrganization(app);
    const trigger = recurring('RRULE:FREQ=WEEKLY;INTERVAL=2');
    const made = (await admin('POST', automationsOf(id), { ...automation, triggers: [trigger] })).body;
    expect(made.next_run_at - made.created_at).toBe(14 * 24 * 3_600);
  });
});

describe('pages', () => {
  test('150 automations, newest first, each once, at most 100 per page', async () => {
    const id = await makeOrganization(app);
    for (let n = 0; n < 150; n++) {
      expect((await admin('POST', automationsOf(id), { ...automation, name: `a${n}` })).status).toBe(200);
    }
    const first = (await admin('GET', automationsOf(id))).body;
    expect(first).toMatchObject({ has_next_page: true, total: null });
    expect(first.items).toHaveLength(100);
    expect(first.items[0]).not.toHaveProperty('next_runs');
    expect(first.items[0].next_run_at).toBe(Date.UTC(2030, 0, 1, 9) / 1_000);
    const second = (await admin('GET', `${automationsOf(id)}?after=${first.end_cursor}`)).body;
    expect(second.has_next_page).toBe(false);
    const names = [...first.items, ...second.items].map(({ name }: { name: string }) => name);
    expect(names).toEqual([...Array(150)].map((_, n) => `a${149 - n}`));
    for (const wrong of ['first=101', 'first=0', 'after=nonsense']) {
      expect((await admin('GET', `${automationsOf(id)}?${wrong}`)).status).toBe(422);
    }
  });
});

describe('an incoming webhook', () => {
  const webhook = { event_type: 'webhook:incoming' };

  test('its secret is shown once, stored as a hash only, and replaced when it is created again', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', automationsOf(id), { ...automation, triggers: [webhook] })).body;
    const { url, secret } = made.triggers[0].webhook;
    expect(url).toMatch(/^http:.*[0-9a-f]{32}$/);
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    const path = `${automationsOf(id)}/${made.automation_id}`;
    expect((await admin('GET', path)).body.triggers[0].webhook).toEqual({ url, secret: null });
    const other = [recurring(daily), webhook];
    expect((await admin('PATCH', path, { triggers: other })).body.triggers[1].webhook).toEqual({ url, secret: null });
    const rows = await app.app.services.store.query<{ hash: string; row: string }>(
      'select a.webhook_secret_hash as hash, a::text as row from automation a where a.organization_id = $1',
      [id],
    );
    expect(rows[0]?.hash).toBe(`sha256:${createHash('sha256').update(secret).digest('hex')}`);
    expect(rows[0]?.row).not.toContain(secret.slice(6));
    await admin('PATCH', path, { triggers: [recurring(daily)] });
    const again = (await admin('PATCH', path, { triggers: [webhook] })).body.triggers[0].webhook;
    expect(again.secret).toMatch(/^whsec_/);
    expect(again.secret).not.toBe(secret);
  });
});

describe('references', () => {
  test('a playbook and a session of another organization are answered like unknown ones', async () => {
    const [id, elsewhere] = [await makeOrganization(app), await makeOrganization(app)];
    const playbookIn = async (org: string) =>
      (await admin('POST', `/v3/organizations/${org}/playbooks`, { title: 'P', body: 'B' })).body.playbook_id;
    const sessionIn = async (org: string) =>
      (await admin('POST', `/v3/organizations/${org}/sessions`, { prompt: 'Hello' })).body.session_id;
    const withPlaybook = (playbookId: string) => [{ ...start, session: { playbook_id: playbookId } }];
    const to = (sessionId: string) => [{ type: 'message_session', prompt: 'Again', target_devin_id: sessionId }];
    const own = await playbookIn(id);
    const made = await admin('POST', automationsOf(id), { ...automation, actions: withPlaybook(own) });
    expect(made.body.actions[0].session.playbook_id).toBe(own);
    const session = await sessionIn(id);
    const messaging = await admin('POST', automationsOf(id), { ...automation, actions: to(`devin-${session}`) });
    expect(messaging.body.actions[0].target_devin_id).toBe(session);
    for (const [actions, at] of [
      [withPlaybook(await playbookIn(elsewhere)), 'playbook_id'],
      [withPlaybook(`playbook-${'0'.repeat(32)}`), 'playbook_id'],
      [to(await sessionIn(elsewhere)), 'target_devin_id'],
      [to('0'.repeat(32)), 'target_devin_id'],
    ] as const) {
      const refused = await admin('POST', automationsOf(id), { ...automation, actions });
      expect(refused.status).toBe(400);
      expect(refused.body.detail).toContain(at);
    }
  });
});

describe('permissions', () => {
  test('members view; managers change; others get the missing permission', async () => {
    const id = await makeOrganization(app);
    const member = (await makeUser(app, id)).v3Token;
    const made = (await admin('POST', automationsOf(id), automation)).body;
    const path = `${automationsOf(id)}/${made.automation_id}`;
    for (const where of [path, automationsOf(id), `${automationsOf(id)}/schemas`]) {
      expect((await call(app, member, 'GET', where)).status).toBe(200);
    }
    for (const [method, where, body] of [
      ['POST', automationsOf(id), automation],
      ['PATCH', path, { enabled: false }],
      ['DELETE', path, undefined],
    ] as const) {
      const refused = await call(app, member, method, where, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrgAutomations' } });
    }
    const manager = await makeManager(app, 'ReadAccountMeta');
    expect((await call(app, manager, 'GET', automationsOf(id))).status).toBe(403);
  });

  test('a caller that may not start sessions cannot let an automation start them', async () => {
    const id = await makeOrganization(app);
    const permissions = ['ManageOrgAutomations', 'ManageOrgSessions', 'ViewOrgSessions'] as const;
    const role = await createRole(await asAdministrator(app), { name: 'Clerk', scope: 'organization', permissions });
    const { token } = await makeServiceUser(app, { organizationId: id, roleId: role.id });
    const clerk = (method: string, path: string, body?: unknown) => call(app, token, method, path, body);
    const made = (await admin('POST', automationsOf(id), automation)).body;
    const path = `${automationsOf(id)}/${made.automation_id}`;
    const lacking = { status: 403, body: { detail: 'Missing permission UseDevinSessions' } };
    const autoCreate = { type: 'message_session', prompt: 'Go on.', auto_create: true };
    expect(await clerk('POST', automationsOf(id), automation)).toMatchObject(lacking);
    expect(await clerk('POST', automationsOf(id), { ...automation, actions: [autoCreate] })).toMatchObject(lacking);
    expect(await clerk('PATCH', path, { actions: [{ ...start, prompt: 'Other.' }] })).toMatchObject(lacking);
    expect(await clerk('PATCH', path, { triggers: [] })).toMatchObject(lacking);
    expect(await clerk('POST', `${path}/run`)).toMatchObject(lacking);
    expect((await clerk('PATCH', path, { name: 'Off', enabled: false })).status).toBe(200);
    expect(await clerk('PATCH', path, { enabled: true })).toMatchObject(lacking);
    expect((await clerk('DELETE', path)).status).toBe(200);
  });

  test('an automation of another organization is unknown', async () => {
    const [id, elsewhere] = [await makeOrganization(app), await makeOrganization(app)];
    const { v3Token } = await makeUser(app, id, 'org_admin');
    const made = (await admin('POST', automationsOf(elsewhere), automation)).body;
    for (const automationId of [made.automation_id, missing, 'schemata']) {
      for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
        const path = `${automationsOf(id)}/${automationId}`;
        expect((await call(app, v3Token, method, path, body)).body.detail).toBe('There is no such automation.');
      }
    }
    expect((await call(app, v3Token, 'GET', automationsOf(elsewhere))).status).toBe(403);
  });

  test('only a user’s automation runs as its creator, and changes by others need permission to act as that user', async () => {
    const id = await makeOrganization(app);
    const creator = await makeUser(app, id, 'org_admin');
    const personal = { ...automation, run_as: { type: 'creator' } };
    const made = await call(app, creator.v3Token, 'POST', automationsOf(id), personal);
    expect(made.body.run_as).toEqual({ type: 'creator' });
    const robot = (await makeServiceUser(app, { organizationId: id, roleId: 'org_admin' })).token;
    const refused = await call(app, robot, 'POST', automationsOf(id), personal);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'run_as', 'type'] }] } });

    const path = `${automationsOf(id)}/${made.body.automation_id}`;
    const manager = await makeManager(app, 'ReadAccountMeta');
    expect((await call(app, manager, 'PATCH', path, { enabled: false })).status).toBe(403);
    const other = await makeUser(app, id, 'org_admin');
    const taken = (await call(app, creator.v3Token, 'PATCH', path, { run_as: { type: 'organization' } })).body;
    expect(taken.run_as).toEqual({ type: 'organization' });
    const wish = { run_as: { type: 'creator' } };
    expect((await call(app, other.v3Token, 'PATCH', path, wish)).status).toBe(403);
    expect((await call(app, creator.v3Token, 'PATCH', path, wish)).status).toBe(200);
  });
});

test('the schemas list events by source, with fields and operators', async () => {
  const id = await makeOrganization(app);
  const { status, body } = await admin('GET', `${automationsOf(id)}/schemas`);
  expect(status).toBe(200);
  expect(body.sources.schedule.recurring).toMatchObject({ has_source: true, fields: { rrule: { required: true } } });
  const nowhere = { has_source: false, description: expect.stringContaining('not connected'), fields: {} };
  expect(body.sources.slack.message).toEqual(nowhere);
  const issues = { has_source: true, fields: { 'label.name': { type: 'string', required: false } } };
  expect(body.sources.github.issues).toMatchObject(issues);
  expect(body.sources.pylon).toEqual({ '*': nowhere });
  const { fields } = body.sources.session.finished;
  expect(fields.tags).toMatchObject({ type: 'list', required: true });
  expect(fields.tags.operators).toContain('contains');
  expect(fields.acus_consumed.operators).toEqual(
    body.operators.filter((name: string) => fields.acus_consumed.operators.includes(name)),
  );
  expect(fields.acus_consumed.operators).toContain('between');
  expect(fields.acus_consumed.operators).not.toContain('contains');
  expect(body.sources.webhook.incoming.fields).toMatchObject({ body: { type: 'json' }, headers: { type: 'json' } });
  expect(body.operators).toContain('not_globs');
});
