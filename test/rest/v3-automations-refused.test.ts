import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const automationsOf = (id: string) => `/v3/organizations/${id}/automations`;

const recurring = (value: string) => ({
  event_type: 'schedule:recurring',
  conditions: { any: [{ all: [{ field: 'rrule', operator: 'recurrence', value }] }] },
});
const start = { type: 'start_session', prompt: 'Sweep the floor.' };
const daily = 'DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY';
const automation = { name: 'Sweep', triggers: [recurring(daily)], actions: [start] };

describe('an invalid automation', () => {
  const wrong = (change: object) => ({ ...automation, ...change });
  const condition = (change: object) => ({
    triggers: [
      {
        event_type: 'github:push',
        conditions: { any: [{ all: [{ field: 'branch', operator: 'eq', value: 'main', ...change }] }] },
      },
    ],
  });
  const inCondition = ['triggers', '0', 'conditions', 'any', '0', 'all', '0'];
  test.each([
    ['an empty name', { name: '' }, ['name'], /empty/],
    ['a name of 501', { name: 'n'.repeat(501) }, ['name'], /500/],
    ['a field that there is not', { colour: 'red' }, ['colour'], /not a field/],
    ['one inside an action', { actions: [{ ...start, colour: 1 }] }, ['actions', '0', 'colour'], /not a field/],
    ['one inside a condition', condition({ colour: 1 }), [...inCondition, 'colour'], /not a field/],
    ['no actions', { actions: [] }, ['actions'], /at least one/],
    ['two starts', { actions: [start, start] }, ['actions'], /at most one start_session/],
    ['an unknown action', { actions: [{ type: 'dance' }] }, ['actions', '0', 'type'], /start_session/],
    [
      'a monitor beside another',
      {
        actions: [start, { type: 'monitor_session', setup_prompt: 'x', slack_monitor_config: {} }],
      },
      ['actions'],
      /only one/,
    ],
    ['an empty prompt', { actions: [{ ...start, prompt: ' ' }] }, ['actions', '0', 'prompt'], /empty/],
    ['an unknown event', { triggers: [{ event_type: 'moon:full' }] }, ['triggers', '0', 'event_type'], /"moon:full"/],
    ['an unknown run_as', { run_as: { type: 'nobody' } }, ['run_as', 'type'], /organization.*creator/],
    [
      'two webhooks',
      { triggers: [{ event_type: 'webhook:incoming' }, { event_type: 'webhook:incoming' }] },
      ['triggers'],
      /at most one/,
    ],
    [
      'no condition on a schedule',
      { triggers: [{ event_type: 'schedule:recurring' }] },
      ['triggers', '0', 'conditions'],
      /exactly one/,
    ],
    ['an unknown operator', condition({ operator: 'near' }), [...inCondition, 'operator'], /between/],
    ['a text as number', condition({ operator: 'gt' }), [...inCondition, 'value'], /a number/],
    [
      'a range upside down',
      condition({ operator: 'between', value: [2, 1] }),
      [...inCondition, 'value'],
      /lower one first/,
    ],
    ['a value for is_empty', condition({ operator: 'is_empty' }), [...inCondition, 'value'], /null/],
    ['an empty list', condition({ operator: 'in', value: [] }), [...inCondition, 'value'], /1 to 200/],
    [
      'a rule elsewhere',
      condition({ operator: 'recurrence' }),
      ['triggers', '0', 'conditions'],
      /schedule:recurring only/,
    ],
    [
      'no conditions inside any',
      { triggers: [{ event_type: 'github:push', conditions: { any: [] } }] },
      ['triggers', '0', 'conditions', 'any'],
      /at least one/,
    ],
    ['an ACU limit of 1001', { limits: { max_acu_limit: 1_001 } }, ['limits', 'max_acu_limit'], /1000/],
    [
      'a window of 59 s',
      { limits: { invocations: { max_per_window: 1, window_seconds: 59 } } },
      ['limits', 'invocations', 'window_seconds'],
      /60/,
    ],
    [
      'half an integer',
      { concurrency: { max_concurrent_runs: 1.5 } },
      ['concurrency', 'max_concurrent_runs'],
      /integer/,
    ],
    ['17 pairs', { metadata: Object.fromEntries([...Array(17)].map((_, n) => [`k${n}`, 'v'])) }, ['metadata'], /16/],
    ['a long key', { metadata: { ['k'.repeat(33)]: 'v' } }, ['metadata', 'k'.repeat(33)], /./],
    ['a long value', { metadata: { key: 'v'.repeat(129) } }, ['metadata', 'key'], /128/],
    [
      'an unknown moment',
      { notifications: { email: { when: 'never' } } },
      ['notifications', 'email', 'when'],
      /dispatch_failed/,
    ],
    ['an unknown mode', { session_settings: { devin_mode: 'warp' } }, ['session_settings', 'devin_mode'], /normal/],
    [
      'an address that is two',
      { session_settings: { net_policy: { allow: [{ ipv4: '1.1.1.1', ipv6: '::1' }] } } },
      ['session_settings', 'net_policy', 'allow', '0'],
      /one of/,
    ],
    [
      '51 tags',
      { actions: [{ ...start, session: { tags: [...Array(51)].map(String) } }] },
      ['actions', '0', 'session', 'tags'],
      /50/,
    ],
  ])('%s is 422 with its path, and nothing is written', async (_what, change, loc, message) => {
    const id = await makeOrganization(app);
    const refused = await admin('POST', automationsOf(id), wrong(change));
    expect(refused.status).toBe(422);
    const at = refused.body.errors.find((each: { loc: string[] }) => each.loc.join('.') === ['body', ...loc].join('.'));
    expect(at, JSON.stringify(refused.body.errors)).toBeDefined();
    expect(at.msg).toMatch(message);
    expect((await admin('GET', automationsOf(id))).body.items).toEqual([]);
    const made = (await admin('POST', automationsOf(id), automation)).body;
    expect((await admin('PATCH', `${automationsOf(id)}/${made.automation_id}`, change)).status).toBe(422);
  });

  test.each([
    ['a zone', 'DTSTART;TZID=Europe/Berlin:20300101T090000\nRRULE:FREQ=DAILY', /UTC/],
    ['an invalid rule', 'every morning', /NAME=VALUE/],
    ['no frequency', 'INTERVAL=2', /FREQ is missing/],
    ['an unknown part', 'FREQ=DAILY;BYEASTER=1', /BYEASTER/],
    ['an hour of 25', 'FREQ=DAILY;BYHOUR=25', /BYHOUR.*23/],
    ['COUNT and UNTIL', 'FREQ=DAILY;COUNT=1;UNTIL=20400101T000000Z', /COUNT and UNTIL/],
    ['a rule that never fires', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', /never fires/],
    ['a rule in the past', 'DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=1', /never fires/],
    ['every minute', 'FREQ=MINUTELY', /15 minutes/],
    ['every 14 minutes', 'FREQ=MINUTELY;INTERVAL=14', /15 minutes/],
    ['twice in a morning', 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0,5', /15 minutes/],
  ])('%s is 422 at the rule', async (_what, value, message) => {
    const id = await makeOrganization(app);
    const refused = await admin('POST', automationsOf(id), { ...automation, triggers: [recurring(value)] });
    expect(refused.status).toBe(422);
    expect(refused.body.detail[0].loc).toEqual(['body', ...inCondition, 'value']);
    expect(refused.body.detail[0].msg).toMatch(message);
  });

  test('every 15 minutes is accepted', async () => {
    const id = await makeOrganization(app);
    const triggers = [recurring('FREQ=MINUTELY;INTERVAL=15')];
    expect((await admin('POST', automationsOf(id), { ...automation, triggers })).status).toBe(200);
  });
});
