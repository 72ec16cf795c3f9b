import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { call, graphql } from '../support/app.ts';
import {
  automationFields,
  automationOptions,
  createAutomation,
  daily,
  makeAutomatic,
  recurring,
  startSession,
  updateAutomation,
} from '../support/automations.ts';
import { stopClock } from '../support/clock.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const create = (input: Record<string, unknown>, token?: string, selection?: string) =>
  createAutomation(test, input, token, selection);
const update = (input: Record<string, unknown>, token?: string) => updateAutomation(test, input, token);
const world = () => makeAutomatic(test);

describe('an automation', () => {
  it('is created with every option, and read by its organization, by its id, and over REST', async () => {
    const { organizationId, serviceUserId, token } = await world();
    const made = await create(automationOptions, token);
    expect(made).toMatchObject({ webhookSecret: null, userErrors: [] });
    const { automation } = made;
    expect(automation).toEqual({
      id: expect.any(String),
      automationId: expect.stringMatching(/^automation-[0-9a-f]{32}$/),
      organization: { organizationId },
      name: 'Sweep',
      isEnabled: true,
      runAs: { type: 'ORGANIZATION', user: null },
      triggers: [
        { __typename: 'ScheduleTrigger', eventType: 'schedule:recurring', rule: daily, timeZone: null, replies: [] },
      ],
      actions: [{ __typename: 'StartSessionAction', ...startSession.startSession, session: null }],
      ...automationOptions,
      sessionSettings: {
        sessionMode: 'FAST',
        netPolicy: {
          allow: [
            { hostname: 'example.com', ipv4: null, ipv6: null },
            { hostname: null, ipv4: '10.0.0.0/8', ipv6: null },
          ],
        },
      },
      nextRunAt: '2099-03-01T09:00:00.000Z',
      nextRuns: [1, 2, 3, 4, 5].map((day) => `2099-03-0${day}T09:00:00.000Z`),
      lastRunAt: null,
      lastErrorAt: null,
      lastErrorMessage: null,
      consecutiveFailures: 0,
      createdBy: { serviceUserId },
      updatedBy: { __typename: 'ServiceUser' },
      createdAt: automation.updatedAt,
      updatedAt: expect.any(String),
      deletedAt: null,
      runs: { totalCount: 0, nodes: [] },
    });
    const { data } = await graphql(
      test,
      token,
      `query($id: ID!, $node: ID!) { node(id: $node) { ... on Automation { ${automationFields} } }
         organization(id: $id) { automations { totalCount nodes { ${automationFields} } } } }`,
      { id: organizationId, node: automation.id },
    );
    expect(data.node).toEqual(automation);
    expect(data.organization.automations).toEqual({ totalCount: 1, nodes: [automation] });
    const path = `/v3/organizations/${organizationId}/automations/${automation.automationId}`;
    expect((await call(test, token, 'GET', path)).body).toMatchObject({
      name: 'Sweep',
      limits: { max_acu_limit: 5 },
      session_settings: { devin_mode: 'fast' },
      next_run_at: Date.parse('2099-03-01T09:00:00Z') / 1_000,
    });
  });

  it('keeps the members that an update omits, and clears those that are null', async () => {
    const { token } = await world();
    const { automation } = await create(automationOptions, token);
    const { automationId } = automation;
    const changed = await update({ automationId, name: 'Mop', limits: null, templateId: null }, token);
    expect(changed).toMatchObject({
      automation: { ...automation, name: 'Mop', limits: null, templateId: null, updatedAt: expect.any(String) },
      userErrors: [],
    });
    const session = { tags: ['floor'], repos: ['a/b'], bypassApproval: true };
    const other = { startSession: { ...startSession.startSession, session } };
    const acted = await update({ automationId: automation.id, actions: [other] }, token);
    expect(acted.automation.actions[0].session).toMatchObject({ tags: ['floor'], repos: ['a/b'], playbook: null });
    for (const name of ['name', 'triggers', 'actions']) {
      expect((await update({ automationId, [name]: null }, token)).userErrors).toMatchObject([
        { code: 'INVALID_INPUT', path: ['input', name] },
      ]);
    }
  });

  it('is disabled and enabled', async () => {
    const { token } = await world();
    const { automation } = await create({}, token);
    const act = (name: string) =>
      runMutation(
        test,
        name,
        'automation { isEnabled nextRunAt nextRuns }',
        { automationId: automation.automationId },
        token,
      );
    for (const name of ['disableAutomation', 'disableAutomation']) {
      expect((await act(name)).automation).toEqual({ isEnabled: false, nextRunAt: null, nextRuns: [] });
    }
    const { nextRunAt, nextRuns } = automation;
    for (const name of ['enableAutomation', 'enableAutomation']) {
      expect((await act(name)).automation).toEqual({ isEnabled: true, nextRunAt, nextRuns });
    }
    const off = await create({ isEnabled: false }, token);
    expect(off.automation).toMatchObject({ isEnabled: false, nextRunAt: null });
  });

  it('is deleted, and the sessions that it started still name it', async () => {
    const { organizationId, token } = await world();
    const { automation } = await create({}, token);
    const session = await createSession(test, {}, token);
    const bare = parseId('automation', automation.automationId);
    await test.app.services.store.execute('update session set automation_id = $2 where id = $1', [session, bare]);
    const remove = () =>
      runMutation(test, 'deleteAutomation', 'deletedAutomationId', { automationId: automation.automationId }, token);
    expect(await remove()).toMatchObject({ deletedAutomationId: automation.id, userErrors: [] });
    expect(await remove()).toMatchObject({ error: 'NOT_FOUND' });
    expect(await update({ automationId: automation.id, name: 'x' }, token)).toMatchObject({ error: 'NOT_FOUND' });
    const { data } = await graphql(
      test,
      token,
      `query($id: ID!, $session: ID!) { organization(id: $id) { automations { nodes { id } } }
         session(id: $session) { automation { name deletedAt } } }`,
      { id: organizationId, session },
    );
    expect(data.organization.automations.nodes).toEqual([]);
    expect(data.session.automation).toEqual({ name: 'Sweep', deletedAt: expect.any(String) });
  });

  it('has a webhook whose secret is shown once', async () => {
    const { token } = await world();
    const made = await create({ triggers: [{ incomingWebhook: {} }] }, token);
    expect(made.webhookSecret).toMatch(/^whsec_/);
    const { automationId, triggers } = made.automation;
    expect(triggers[0].webhookUrl).toBe(
      `${test.app.services.baseUrl}/webhooks/automations/${parseId('automation', automationId)}`,
    );
    expect((await update({ automationId, name: 'Other' }, token)).webhookSecret).toBeNull();
  });

  it('is created once with the same key and input', async () => {
    const { organizationId, token } = await world();
    const triggers = [{ incomingWebhook: {} }];
    const made = await create({ triggers, idempotencyKey: 'k1' }, token);
    const again = await create({ triggers, idempotencyKey: 'k1' }, token);
    expect(again).toEqual({ ...made, webhookSecret: null });
    expect((await create({ idempotencyKey: 'k1' }, token)).userErrors).toMatchObject([
      { code: 'IDEMPOTENCY_CONFLICT' },
    ]);
    expect((await create({ triggers, idempotencyKey: 'k2' }, token)).automation.id).not.toBe(made.automation.id);
    const count = 'query($id: ID!) { organization(id: $id) { automations { totalCount } } }';
    expect((await graphql(test, token, count, { id: organizationId })).data.organization.automations.totalCount).toBe(
      2,
    );
  });

  it('writes to a session, or follows a playbook, of the organization', async () => {
    const { organizationId, token } = await world();
    const target = await createSession(test, {}, token);
    const playbook = await runMutation(
      test,
      'createPlaybook',
      'playbook { playbookId }',
      { scope: { organizationId }, title: 't', body: 'b' },
      token,
    );
    const { playbookId } = playbook.playbook;
    const message = { prompt: 'Go on.', targetSessionId: `devin-${target}`, autoCreate: true };
    const actions = [
      { startSession: { ...startSession.startSession, session: { playbookId } } },
      { messageSession: message },
    ];
    const { automation } = await create({ actions }, token);
    expect(automation.actions).toMatchObject([
      { __typename: 'StartSessionAction', session: { playbook: { playbookId } } },
      {
        __typename: 'MessageSessionAction',
        prompt: 'Go on.',
        targetSessionId: `devin-${target}`,
        targetSession: { sessionId: `devin-${target}` },
        autoCreate: true,
      },
    ]);
    const foreign = await createSession(test, {}, (await world()).token);
    const refused = await create({ actions: [{ messageSession: { ...message, targetSessionId: foreign } }] }, token);
    expect(refused.userErrors).toMatchObject([
      { code: 'UNKNOWN_REFERENCE', path: ['input', 'actions', '0', 'messageSession', 'targetSessionId'] },
    ]);
  });

  it.each([
    ['a name that is empty', { name: '' }, ['name'], 'must not be empty'],
    [
      'an event that is none',
      { triggers: [{ event: { eventType: 'moon:rises' } }] },
      ['triggers', '0', 'event', 'eventType'],
      'eventType',
    ],
    [
      'a schedule that is given as an event',
      { triggers: [{ event: { eventType: 'schedule:recurring' } }] },
      ['triggers', '0', 'event', 'eventType'],
      '"schedule"',
    ],
    [
      'an incoming webhook that is given as an event',
      { triggers: [{ event: { eventType: 'webhook:incoming' } }] },
      ['triggers', '0', 'event', 'eventType'],
      '"incomingWebhook"',
    ],
    [
      'a condition on what an event does not have',
      {
        triggers: [
          {
            event: {
              eventType: 'session:error',
              conditions: { any: [{ all: [{ field: 'colour', operator: 'EQ', value: 'red' }] }] },
            },
          },
        ],
      },
      ['triggers', '0', 'event', 'conditions', 'any', '0', 'all', '0', 'field'],
      'must begin with',
    ],
    [
      'a rule that is none',
      { triggers: [recurring('FREQ=NEVER')] },
      ['triggers', '0', 'schedule', 'rule'],
      '"rule" is not a valid recurrence',
    ],
    [
      'a rule that fires too often',
      { triggers: [recurring('FREQ=MINUTELY', 'Europe/Berlin')] },
      ['triggers', '0', 'schedule', 'rule'],
      '15 minutes',
    ],
    [
      'a time zone that is none',
      { triggers: [recurring(daily, 'Berlin')] },
      ['triggers', '0', 'schedule', 'timeZone'],
      'IANA',
    ],
    [
      'an offset for a time zone',
      { triggers: [recurring(daily, '+01:00')] },
      ['triggers', '0', 'schedule', 'timeZone'],
      'IANA',
    ],
    [
      'an action without a prompt',
      { actions: [{ startSession: { prompt: ' ' } }] },
      ['actions', '0', 'startSession', 'prompt'],
      'prompt',
    ],
    [
      'a message to nobody',
      { actions: [{ messageSession: { prompt: 'Well?' } }] },
      ['actions', '0', 'messageSession', 'targetSessionId'],
      'required',
    ],
    ['no action', { actions: [] }, ['actions'], 'at least one'],
    ['a service user as creator', { runAs: { type: 'CREATOR' } }, ['runAs', 'type'], 'organization'],
  ] as const)('is refused with %s', async (_what, wrong, path, message) => {
    const { token } = await world();
    expect(await create(wrong, token)).toMatchObject({
      automation: null,
      webhookSecret: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', ...path], message: expect.stringContaining(message) }],
    });
  });
});

const someOf = (what: string) => `Exactly one key must be specified for OneOf type "${what}".`;

// Input that violates the schema's types is refused before the automation is read.
it.each<[string, Record<string, unknown>, string]>([
  ['no member of a trigger', { triggers: [{}] }, someOf('AutomationTriggerInput')],
  [
    'two members of a trigger',
    { triggers: [{ incomingWebhook: {}, schedule: { rule: 'x' } }] },
    someOf('AutomationTriggerInput'),
  ],
  ['a member that is null', { triggers: [{ schedule: null }] }, 'must be non-null'],
  ['no member of an action', { actions: [{}] }, someOf('AutomationActionInput')],
  [
    'two members of an action',
    { actions: [{ ...startSession, messageSession: { prompt: 'x', autoCreate: true } }] },
    someOf('AutomationActionInput'),
  ],
  ['an action that is none', { actions: [{ dance: {} }] }, 'Field "dance" is not defined'],
  ['an answer that is none', { triggers: [{ event: { eventType: 'slack:message', replies: ['SHOUT'] } }] }, 'SHOUT'],
  ['a word of REST', { missedRuns: 'skip' }, 'does not exist in "AutomationMissedRuns" enum'],
  ['somebody else to run as', { runAs: { type: 'EVERYBODY' } }, 'AutomationRunAsType'],
  [
    'two kinds of address',
    { sessionSettings: { netPolicy: { allow: [{ hostname: 'a.example', ipv4: '10.0.0.1' }] } } },
    someOf('AutomationNetAddressInput'),
  ],
])('refuses %s as a variable, before it runs', async (_what, wrong, message) => {
  const { token } = await world();
  const refused = await create(wrong, token);
  expect(refused).toMatchObject({ error: expect.stringMatching(/INVALID_INPUT|BAD_USER_INPUT/) });
  expect(refused.message).toContain(message);
});

it('refuses a literal with two members, and a nullable variable in a member', async () => {
  const { token } = await world();
  const literal = (action: string, variables = '') =>
    graphql(
      test,
      token,
      `mutation${variables} { createAutomation(input: {name: "x", triggers: [], actions: [${action}]}) { automation { id } } }`,
      { action: null },
    );
  const two = await literal('{startSession: {prompt: "a"}, messageSession: {prompt: "b"}}');
  expect(two.errors?.[0].message).toContain('AutomationActionInput');
  const nullable = await literal('{startSession: $action}', '($action: StartSessionActionInput)');
  expect(nullable.errors?.[0].message).toContain('must be non-nullable');
  const left = await literal('{startSession: $action}', '($action: StartSessionActionInput!)');
  expect(left.errors?.[0].message).toContain('must not be null');
});

describe('a recurring trigger with a time zone', () => {
  it('follows its clocks through every change', async () => {
    const { token } = await world();
    const clock = stopClock(test);
    const { automation } = await create({ triggers: [recurring(daily, 'America/New_York')] }, token);
    expect(automation).toMatchObject({
      triggers: [{ timeZone: 'America/New_York' }],
      nextRunAt: '2099-03-01T14:00:00.000Z',
    });
    const document = 'query($id: ID!) { node(id: $id) { ... on Automation { nextRuns(count: 10) } } }';
    const { data } = await graphql(test, token, document, { id: automation.id });
    expect(data.node.nextRuns.map((time: string) => time.slice(5, 16))).toEqual([
      ...['03-01', '03-02', '03-03', '03-04', '03-05', '03-06', '03-07'].map((day) => `${day}T14:00`),
      ...['03-08', '03-09', '03-10'].map((day) => `${day}T13:00`),
    ]);
    clock.advance(1_000);
    const utc = await update({ automationId: automation.automationId, triggers: [recurring(daily)] }, token);
    expect(utc.automation).toMatchObject({ triggers: [{ timeZone: null }], nextRunAt: '2099-03-01T09:00:00.000Z' });
  });

  it('previews 1 to 20 occurrences', async () => {
    const { token } = await world();
    const { automation } = await create({}, token);
    const count = async (n: number) => {
      const document = 'query($id: ID!, $n: Int) { node(id: $id) { ... on Automation { nextRuns(count: $n) } } }';
      const { data, errors } = await graphql(test, token, document, { id: automation.id, n });
      return errors?.[0].extensions.code ?? data.node.nextRuns.length;
    };
    expect([await count(1), await count(20)]).toEqual([1, 20]);
    expect([await count(0), await count(21)]).toEqual(['INVALID_INPUT', 'INVALID_INPUT']);
  });
});
