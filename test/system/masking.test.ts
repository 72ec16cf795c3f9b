import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { requireNoSecrets, secretCanary } from '../support/leaks.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { makeOrganization } from '../support/sessions.ts';

let test: TestApp;
const logged: string[] = [];
const providerKey = `sk-${secretCanary}-of-the-provider`;
beforeAll(async () => {
  const env = { FAKE_API_KEY: providerKey, FAKE_MODEL: 'a-model-that-may-be-named' };
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 0, env, retry_delays_ms: [] });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
  const { log } = test.app.services;
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level] = (fields, message) => logged.push(`${message} ${JSON.stringify(fields)}`);
  }
});
afterAll(() => test.close());

const everything = `query($id: ID!) { session(id: $id) { title structuredOutput pullRequests { url } messages(first: 100) { nodes { body } }
  events(first: 100) { nodes { kind ... on SessionMessage { body } ... on ThoughtEvent { body } ... on NoticeEvent { body }
    ... on PlanEvent { entries { content } } ... on ErrorEvent { body }
    ... on ToolCallEvent { title toolStatus output locations { path } diffs { path newText } } } } } }`;

const start = async (body: object) => {
  const { organizationId } = await makeOrganization(test, 'Loose lips');
  const path = `/v3/organizations/${organizationId.replace('org-', '')}`;
  const { body: made } = await call(test, test.adminToken, 'POST', `${path}/sessions`, body);
  const id = made.session_id as string;
  await waitUntilEnded(test, id);
  const { data, errors } = await graphql(test, test.adminToken, everything, { id });
  expect(errors).toBeUndefined();
  const rest = await call(test, test.adminToken, 'GET', `${path}/sessions/${id}/messages`);
  const v1 = await call(test, test.adminToken, 'GET', `${path}/sessions/${id}`);
  return { session: data.session, all: JSON.stringify([data, rest.body, v1.body]) };
};

/** All encodings in which a value could still be read in a text. */
function readable(text: string, value: string): string[] {
  const base64 = [0, 1, 2].map((before) =>
    Buffer.from(`${'-'.repeat(before)}${value}`)
      .toString('base64')
      .slice(before + 2, before + 14),
  );
  const hex = Buffer.from(value).toString('hex');
  const address = encodeURIComponent(value);
  const forms = [
    value.slice(0, 8),
    value.slice(-8),
    ...base64,
    hex.slice(0, 16),
    address.slice(-12),
    address.toLowerCase().slice(-12),
  ];
  const flat = text.replaceAll(/\\n\s*/g, '');
  return forms.filter((form) => flat.toLowerCase().includes(form.toLowerCase()));
}

const values = {
  plain: `${secretCanary}-0123456789abcdef`,
  odd: `${secretCanary}/ä+ "quoted" & <ö>=?`,
  long: `${secretCanary}${'0123456789abcdefghijklmnopqrstuvwxyz'.repeat(20)}`,
};

it.each(Object.entries(values))('masks a secret that an agent prints in every encoding: %s', async (_, value) => {
  const { session, all } = await start({ prompt: 'spell LEAK', session_secrets: [{ key: 'LEAK', value }] });
  // The values were printed, and other text is unchanged.
  expect(session.title).toBe('About ********');
  const tools = session.events.nodes.filter((event: { kind: string }) => event.kind === 'TOOL_CALL');
  expect(tools[0].title).toBe('echo ********');
  expect(tools.at(-1).diffs[0].newText).toBe('key: ********\n');
  expect(readable(all, value)).toEqual([]);
  await requireNoSecrets(test.app.services.store);
});

it('masks each of two hundred secrets, including those with a common prefix', async () => {
  const values = Array.from({ length: 200 }, (_, n) => `${secretCanary}-${n}-${'s'.repeat(n)}`);
  const { session } = await start({
    prompt: values.map((_, n) => `env S${n}`).join('\n'),
    session_secrets: values.map((value, n) => ({ key: `S${n}`, value })),
  });
  const bodies = session.messages.nodes.slice(1).map(({ body }: { body: string }) => body);
  expect(bodies).toEqual(values.slice(0, bodies.length).map((_, n) => `S${n}=********`));
  expect(bodies.length).toBeGreaterThan(50);
});

it('masks single lines of a multi-line secret, but no short or insensitive values', async () => {
  const key = `-----BEGIN KEY-----\n${secretCanary}line1line1line1\n${secretCanary}line2line2line2\n-----END KEY-----`;
  const { session } = await start({
    prompt: 'env SHORT\nenv OPEN\nenv KEY',
    session_secrets: [
      { key: 'KEY', value: key },
      { key: 'SHORT', value: 'abcde' },
      { key: 'OPEN', value: 'may be seen', sensitive: false },
    ],
  });
  const bodies = session.messages.nodes.slice(1).map(({ body }: { body: string }) => body);
  expect(bodies).toEqual(['SHORT=abcde', 'OPEN=may be seen', 'KEY=********']);
});

it('masks the keys of the agent’s profile, whose settings no secret replaces', async () => {
  const { session } = await start({
    prompt: 'env FAKE_API_KEY\nenv FAKE_MODEL\nprompt',
    session_secrets: [{ key: 'FAKE_MODEL', value: `${secretCanary}-other-model` }],
  });
  const bodies = session.messages.nodes.slice(1).map(({ body }: { body: string }) => body);
  expect(bodies.slice(0, 2)).toEqual(['FAKE_API_KEY=********', 'FAKE_MODEL=a-model-that-may-be-named']);
  expect(bodies[2]).toContain(
    'Secrets that you were not given, because the service sets variables of these names itself: `FAKE_MODEL`.',
  );
});

it('writes no secret into the service’s log when the agent crashes', async () => {
  const value = `${secretCanary}-in-the-last-words`;
  const { session, all } = await start({ prompt: 'spell LEAK\ncrash', session_secrets: [{ key: 'LEAK', value }] });
  expect(session.events.nodes.some(({ kind }: { kind: string }) => kind === 'ERROR')).toBe(true);
  const logText = logged.join('\n');
  expect(logText).toContain('The demo agent was told to crash.');
  expect(readable(logText, value)).toEqual([]);
  expect(readable(all, value)).toEqual([]);
});
