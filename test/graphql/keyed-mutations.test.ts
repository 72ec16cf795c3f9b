import { getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { createAutomation } from '../support/automations.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { keyInput } from '../support/principals.ts';
import { sessionWithCheckpoint } from '../support/session-checkpoints.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { makeEndpoint } from '../support/webhooks.ts';

const test = useApp();

// A report of presence, and tests of a provider key and of a git connection, may be repeated and have no key. A follow-up is sent once.
const keyed =
  /^(create|send(?!Presence|FollowUp)|answer|invite|rotate|run|test(?!ProviderKey|GitConnection)|redeliver|interrupt|retry|rewind|fork|review)[A-Z]/;

it('every mutation that creates or sends takes a key, and its payload shows if it was replayed', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const named = mutations.filter(({ name }) => keyed.test(name)).map(({ name }) => name);
  const withKey = mutations.filter(({ args }) => {
    const input = getNamedType(args[0]?.type);
    return isInputObjectType(input) && 'idempotencyKey' in input.getFields();
  });
  const withReplay = mutations.filter(({ type }) => {
    const payload = getNamedType(type);
    return isObjectType(payload) && String(payload.getFields().wasReplayed?.type) === 'Boolean!';
  });
  expect(named.length).toBeGreaterThan(20);
  expect(withKey.map(({ name }) => name)).toEqual(named);
  expect(withReplay.map(({ name }) => name)).toEqual(named);
});

const count = async (table: string): Promise<number> => {
  const [row] = await test.app.services.store.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return row?.n ?? 0;
};

interface Case {
  /** The selection of the payload besides the secret. */
  readonly selection: string;
  /** Values that are shown once. */
  readonly secret?: string;
  readonly input: () => Promise<Record<string, unknown>>;
  /** Other input, for which the same key is not. */
  readonly other: () => Promise<Record<string, unknown>>;
  /** The table in which created rows are counted; the audit log for mutations without a row. */
  readonly table: string;
}

const hook = async () => {
  const { id } = await makeEndpoint(test, test.adminToken, {
    organizationId: test.organizationId,
    url: 'https://hooks.example/',
  });
  return { webhookEndpointId: id };
};
const delivery = async () => {
  const { webhookDelivery } = await runMutation(test, 'testWebhookEndpoint', 'webhookDelivery { id }', await hook());
  return { webhookDeliveryId: webhookDelivery.id };
};
const gitConnection = async () => {
  const { id } = await connectForgeAt(test, 'github.com');
  return { gitConnectionId: `git-connection-${id}` };
};
const incoming = async () => {
  const { automation } = await createAutomation(test, { triggers: [{ incomingWebhook: {} }] });
  return { automationId: automation.id };
};
const key = (name: string) => keyInput({ kind: 'SERVICE', name, organizationId: test.organizationId });
const apiKey = async () => {
  const made = await runMutation(test, 'createApiKey', 'apiKey { id }', key('To rotate'));
  return { apiKeyId: made.apiKey.id };
};

const pointed = async () => {
  const { sessionId, checkpointId } = await sessionWithCheckpoint(test);
  return { sessionId, point: { checkpointId } };
};
let snapshots = 0;
const named = async () => ({ ...(await pointed()), name: `Snapshot ${snapshots++}` });

const queued = async () => ({ sessionId: await createSession(test) });

const failed = async () => {
  const sessionId = await createSession(test);
  await test.app.services.store.execute(
    `update run set queued_at = null, turn_count = 1, turn_seqs = '{2}', delivered_seq = 2 where session_id = $1`,
    [sessionId],
  );
  await test.app.services.store.execute(`update session set status = 'error' where id = $1`, [sessionId]);
  return { sessionId };
};

const cases: Record<string, Case> = {
  retryTurn: { selection: 'session { id status }', input: failed, other: failed, table: 'audit_entry' },
  interruptSession: { selection: 'session { id statusDetail }', input: queued, other: queued, table: 'audit_entry' },
  rewindSession: {
    selection: 'session { id statusDetail } checkpoint { id }',
    input: pointed,
    other: pointed,
    table: 'audit_entry',
  },
  forkSession: { selection: 'session { id title }', input: pointed, other: pointed, table: 'session' },
  createSnapshot: { selection: 'snapshot { id name }', input: named, other: named, table: 'snapshot' },
  createRole: {
    selection: 'role { id name }',
    input: async () => ({ name: 'Once', scope: 'ORGANIZATION', permissions: ['USE_SESSIONS'] }),
    other: async () => ({ name: 'Another', scope: 'ORGANIZATION', permissions: ['USE_SESSIONS'] }),
    table: 'role',
  },
  createLegalHold: {
    selection: 'legalHold { id reason }',
    input: async () => ({ target: { organizationId: test.organizationId }, reason: 'Once' }),
    other: async () => ({ target: { organizationId: test.organizationId }, reason: 'Another' }),
    table: 'legal_hold',
  },
  inviteUsers: {
    selection: 'users { id email }',
    input: async () => ({ emails: ['once@example.com', 'twice@example.com'], enterpriseRoleId: 'account_member' }),
    other: async () => ({ emails: ['thrice@example.com'], enterpriseRoleId: 'account_member' }),
    table: 'user_account',
  },
  createApiKey: {
    selection: 'apiKey { id name isActive }',
    secret: 'token',
    input: async () => key('Once'),
    other: async () => key('Another'),
    table: 'api_key',
  },
  rotateApiKey: {
    selection: 'apiKey { id name isActive }',
    secret: 'token',
    input: apiKey,
    other: apiKey,
    table: 'api_key',
  },
  rotateAutomationWebhookSecret: {
    selection: 'automation { id updatedAt }',
    secret: 'webhookSecret',
    input: incoming,
    other: incoming,
    table: 'audit_entry',
  },
  rotateWebhookEndpointSecret: {
    selection: 'webhookEndpoint { id updatedAt }',
    secret: 'secret',
    input: hook,
    other: hook,
    table: 'audit_entry',
  },
  rotateGitConnectionWebhookSecret: {
    selection: 'gitConnection { id updatedAt }',
    secret: 'webhookSecret',
    input: gitConnection,
    other: gitConnection,
    table: 'audit_entry',
  },
  testWebhookEndpoint: {
    selection: 'webhookDelivery { id }',
    input: hook,
    other: hook,
    table: 'webhook_delivery',
  },
  redeliverWebhookDelivery: {
    selection: 'webhookDelivery { id }',
    input: delivery,
    other: delivery,
    table: 'audit_entry',
  },
};

describe.each(Object.entries(cases))('%s', (name, { selection, secret, input, other, table }) => {
  const run = (fields: Record<string, unknown>) =>
    runMutation(test, name, `${selection} ${secret ?? ''} wasReplayed`, { ...fields, idempotencyKey: `once-${name}` });

  it('runs once under a key, and shows secrets once', async () => {
    const fields = await input();
    const elsewhere = await other();
    const before = await count(table);
    const all = await Promise.all(Array.from({ length: 5 }, () => run(fields)));
    const made = await count(table);
    const again = await run(fields);
    expect(all.filter((payload) => !payload.wasReplayed)).toHaveLength(1);
    const first = all.find((payload) => !payload.wasReplayed);
    const replayed = { ...first, wasReplayed: true, ...(secret && { [secret]: null }) };
    for (const payload of [...all.filter((each) => each !== first), again]) expect(payload).toEqual(replayed);
    expect(made - before).toBe(name === 'inviteUsers' ? 2 : 1);
    expect(await run(elsewhere)).toMatchObject({ wasReplayed: false, userErrors: [{ code: 'IDEMPOTENCY_CONFLICT' }] });
    expect(await count(table)).toBe(made);
    if (secret === undefined) return;
    expect(first[secret]).toEqual(expect.any(String));
    const storedKeys = await test.app.services.store.query<{ row: string }>(
      'select k::text as row from idempotency_key k',
    );
    expect(storedKeys.map(({ row }) => row).join()).not.toContain(first[secret]);
  });

  it('refuses an invalid key, and changes nothing', async () => {
    const fields = await input();
    const before = await count(table);
    const refused = await runMutation(test, name, 'wasReplayed', { ...fields, idempotencyKey: 'ü' });
    expect(refused.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'idempotencyKey'] }]);
    expect(await count(table)).toBe(before);
  });
});

it('returns one address for one file to all calls of createAttachmentUpload under a key', async () => {
  const create = (more: object = {}) =>
    runMutation(test, 'createAttachmentUpload', 'attachmentUpload { url } wasReplayed', {
      organizationId: test.organizationId,
      idempotencyKey: 'once-upload',
      ...more,
    });
  const pathOf = ({ attachmentUpload }: any) => new URL(attachmentUpload.url).pathname;
  const [first, second] = [await create(), await create()];
  expect([first.wasReplayed, second.wasReplayed]).toEqual([false, true]);
  expect(pathOf(second)).toBe(pathOf(first));
  expect(pathOf(await create({ idempotencyKey: 'another' }))).not.toBe(pathOf(first));
});

it('returns the key that was rotated under a key only to callers that may rotate it', async () => {
  const { apiKeyId } = await apiKey();
  const token = (await runMutation(test, 'createApiKey', 'token', key('Stranger'))).token;
  const input = { apiKeyId, idempotencyKey: 'shared' };
  expect((await runMutation(test, 'rotateApiKey', 'token', input)).token).toEqual(expect.any(String));
  // Another caller's key is its own: the rotated key is no longer active.
  const theirs = await runMutation(test, 'rotateApiKey', 'apiKey { id } token wasReplayed', input, token);
  expect(theirs).toMatchObject({ apiKey: null, token: null, wasReplayed: false });
  expect(theirs.userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
});
