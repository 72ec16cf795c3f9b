import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isWebhookSecret, newWebhookSecret } from '../../src/domain/automations/triggers/webhook-secrets.ts';
import { parseId } from '../../src/domain/ids.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation, makeAutomatic, makeMember, updateAutomation } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const incoming = { incomingWebhook: {} };

const rotate = (automationId: string, token: string) =>
  runMutation(
    test,
    'rotateAutomationWebhookSecret',
    'webhookSecret automation { automationId triggers { ... on IncomingWebhookTrigger { webhookUrl } } }',
    { automationId },
    token,
  );

async function send(automation: any, secret: string): Promise<number> {
  const { pathname } = new URL(automation.triggers[0].webhookUrl);
  return (await call(test, null, 'POST', pathname, { at: Math.random() }, { 'x-webhook-secret': secret })).status;
}

describe('the secret of an incoming webhook', () => {
  it('is shown once, and can be rotated: the previous one is invalid', async () => {
    const { token, organizationId } = await makeAutomatic(test);
    const { automation, webhookSecret } = await createAutomation(test, { triggers: [incoming] }, token);
    expect(await send(automation, webhookSecret)).toBe(202);
    const rotated = await rotate(automation.automationId, token);
    expect(rotated).toMatchObject({
      userErrors: [],
      webhookSecret: expect.stringMatching(/^whsec_[\w-]{43}$/),
      automation: {
        automationId: automation.automationId,
        triggers: [{ webhookUrl: automation.triggers[0].webhookUrl }],
      },
    });
    expect(await send(automation, webhookSecret)).toBe(401);
    expect(await send(automation, rotated.webhookSecret)).toBe(202);
    const { webhookSecret: shown } = await updateAutomation(
      test,
      { automationId: automation.automationId, name: 'Still', triggers: [incoming] },
      token,
    );
    expect(shown).toBeNull();
    expect(await send(automation, rotated.webhookSecret)).toBe(202);
    const [entry] = await test.app.services.store.query<{ data: object }>(
      `select data from audit_entry where organization_id = $1 and action = 'update_automation' order by created_at, id limit 1`,
      [parseId('organization', organizationId)],
    );
    expect(entry?.data).toEqual({ name: 'Sweep', changed: 'webhookSecret' });
  });

  it('changes over REST if the trigger was removed and added again', async () => {
    const { token, organizationId } = await makeAutomatic(test);
    const { automation, webhookSecret } = await createAutomation(test, { triggers: [incoming] }, token);
    const path = `/v3/organizations/${organizationId}/automations/${automation.automationId}`;
    await call(test, token, 'PATCH', path, { triggers: [] });
    expect(await send(automation, webhookSecret)).toBe(401);
    const { body } = await call(test, token, 'PATCH', path, { triggers: [{ event_type: 'webhook:incoming' }] });
    const [{ webhook }] = body.triggers;
    expect(webhook.url).toBe(automation.triggers[0].webhookUrl);
    expect(await send(automation, webhookSecret)).toBe(401);
    expect(await send(automation, webhook.secret)).toBe(202);
    const again = await call(test, token, 'GET', path);
    expect(again.body.triggers[0].webhook).toEqual({ url: webhook.url, secret: null });
  });

  it('can be rotated only by callers that may run the automation, and only if it exists', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const creator = await makeUser(test, { organizationId, roleId: 'org_admin' });
    const { automation } = await createAutomation(
      test,
      { triggers: [incoming], runAs: { type: 'CREATOR' } },
      creator.token,
    );
    const manager = await makeMember(test, organizationId, 'MANAGE_ORG_AUTOMATIONS', 'USE_SESSIONS');
    const viewer = await makeMember(test, organizationId, 'VIEW_ORG_AUTOMATIONS');
    for (const each of [manager, viewer]) {
      expect(await rotate(automation.automationId, each.token)).toMatchObject({ error: 'FORBIDDEN' });
    }
    expect(await rotate(automation.automationId, (await makeAutomatic(test)).token)).toMatchObject({
      error: 'NOT_FOUND',
    });
    expect((await rotate(automation.automationId, creator.token)).webhookSecret).not.toBeNull();
    const plain = await createAutomation(test, {}, token);
    expect(await rotate(plain.automation.automationId, token)).toMatchObject({
      automation: null,
      userErrors: [{ code: 'INVALID_STATE' }],
    });
  });

  it('survives every rotation of SECRET_KEY; an older hash survives one', () => {
    const [one, two, three] = ['first', 'second', 'third'].map((name) => `the ${name} secret key of this test`);
    const at = (secretKey = '', previousSecretKey: string | null = null) =>
      createKeyring({ secretKey, previousSecretKey });
    const { secret, hash } = newWebhookSecret(
      { keyring: at(one) },
      { id: 'automation', organizationId: 'organization' },
    );
    for (const keyring of [at(one), at(two, one), at(three)]) {
      expect(isWebhookSecret(keyring, secret, hash)).toBe(true);
      expect(isWebhookSecret(keyring, `${secret}x`, hash)).toBe(false);
      expect(isWebhookSecret(keyring, secret, null)).toBe(false);
    }
    const pepper = Buffer.from(hkdfSync('sha256', one ?? '', 'switchyard', 'pepper', 32));
    const earlier = createHmac('sha256', pepper).update(secret).digest('hex');
    expect([at(one), at(two, one), at(three, two)].map((each) => isWebhookSecret(each, secret, earlier))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

it('automationSchemas lists the events, their fields and the operators', async () => {
  const { token } = await makeAutomatic(test);
  const { data } = await graphql(
    test,
    token,
    '{ automationSchemas { operators { name operand } eventTypes { name hasSource description fields { name type isRequired description operators } } } }',
  );
  const { operators, eventTypes } = data.automationSchemas;
  expect(operators).toContainEqual({ name: 'BETWEEN', operand: 'two numbers, the lower one first' });
  const named = (name: string) => eventTypes.find((each: any) => each.name === name);
  expect(named('slack:message')).toMatchObject({ hasSource: false, fields: [] });
  expect(named('github:issues')).toMatchObject({ hasSource: true });
  expect(named('github:issues').fields).toContainEqual({
    name: 'issue.title',
    type: 'STRING',
    isRequired: false,
    description: 'Title of the issue.',
    operators: expect.arrayContaining(['CONTAINS', 'MATCHES']),
  });
  expect(named('pylon:*')).toMatchObject({ hasSource: false });
  expect(named('session:finished').fields).toContainEqual({
    name: 'acus_consumed',
    type: 'NUMBER',
    isRequired: true,
    description: 'Number of ACUs that the session has consumed.',
    operators: ['EQ', 'NEQ', 'GT', 'LT', 'GTE', 'LTE', 'BETWEEN', 'IN', 'NOT_IN', 'IS_EMPTY', 'IS_NOT_EMPTY'],
  });
  // Fields listed with a source can be saved as they are.
  for (const { name, hasSource, fields } of eventTypes) {
    if (!hasSource || name === 'schedule:recurring') continue;
    const all = fields.map((field: any) => ({ field: field.name, operator: 'IS_NOT_EMPTY' }));
    const conditions = { any: [{ all }] };
    const isIncoming = name === 'webhook:incoming';
    const made = await createAutomation(
      test,
      { triggers: [isIncoming ? { incomingWebhook: { conditions } } : { event: { eventType: name, conditions } }] },
      token,
    );
    expect([name, made.userErrors]).toEqual([name, []]);
  }
});
