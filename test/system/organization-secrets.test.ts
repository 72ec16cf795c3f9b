import { afterAll, beforeAll, expect, it } from 'vitest';
import { resealSecrets } from '../../src/domain/library/secrets/reseal-secrets.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { secretCanary } from '../support/leaks.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
const logLines: string[] = [];
beforeAll(async () => {
  // No agent stays for another turn: each turn has its own process, with the secrets of that time.
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 0 });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
  const { log } = test.app.services;
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level] = (fields, message) => logLines.push(`${message} ${JSON.stringify(fields)}`);
  }
});
afterAll(async () => {
  expect(logLines.join('\n')).not.toContain(secretCanary);
  await test.close();
});

const makeNamedOrganization = async (name: string) => ({
  organizationId: (await makeOrganization(test, name)).organizationId.replace('org-', ''),
});
const make = async (organizationId: string, key: string, value: string, more: object = {}) => {
  const body = { type: 'key-value', key, value, is_sensitive: false, ...more };
  const answer = await call(test, test.adminToken, 'POST', `/v3/organizations/${organizationId}/secrets`, body);
  expect(answer.status).toBe(200);
  return answer.body.secret_id as string;
};
const run = async (organizationId: string, prompt: string, more: object = {}) => {
  const body = { prompt, ...more };
  const made = await call(test, test.adminToken, 'POST', `/v3/organizations/${organizationId}/sessions`, body);
  expect(made.body).toMatchObject({ session_id: expect.any(String) });
  await waitUntilEnded(test, made.body.session_id);
  return (await readMessages(test, made.body.session_id))
    .filter((line) => line.startsWith('AGENT_MESSAGE: '))
    .map((line) => line.slice('AGENT_MESSAGE: '.length));
};

it('gives the agent all secrets for null, none for [], and the named ones for a list', async () => {
  const { organizationId } = await makeNamedOrganization('Keeper');
  // Not sensitive, so that the agent's output is readable here.
  const one = await make(organizationId, 'ONE', 'first');
  await make(organizationId, 'TWO', 'second');
  const prompt = 'env ONE\nenv TWO';
  expect(await run(organizationId, prompt)).toEqual(['ONE=first', 'TWO=second']);
  expect(await run(organizationId, prompt, { secret_ids: null })).toEqual(['ONE=first', 'TWO=second']);
  expect(await run(organizationId, prompt, { secret_ids: [] })).toEqual(['ONE=(not set)', 'TWO=(not set)']);
  expect(await run(organizationId, prompt, { secret_ids: [one] })).toEqual(['ONE=first', 'TWO=(not set)']);
});

it('prefers a session’s own secret, and omits other organizations’ secrets, cookies and seeds', async () => {
  const { organizationId } = await makeNamedOrganization('Shadowed');
  const other = await makeNamedOrganization('Next door');
  await make(other.organizationId, 'THEIRS', 'next door');
  await make(organizationId, 'SHARED', 'of the organization');
  await make(organizationId, 'COOKIE', 'sid=1', { type: 'cookie' });
  await make(organizationId, 'SEED', 'JBSWY3DPEHPK3PXP', { type: 'totp' });
  const sessionSecrets = [{ key: 'SHARED', value: 'of the session', sensitive: false }];
  const prompt = 'env SHARED\nenv THEIRS\nenv COOKIE\nenv SEED';
  expect(await run(organizationId, prompt, { session_secrets: sessionSecrets })).toEqual([
    'SHARED=of the session',
    'THEIRS=(not set)',
    'COOKIE=(not set)',
    'SEED=(not set)',
  ]);
});

it('converts names that no variable can have; a secret with the exact name wins', async () => {
  const { organizationId } = await makeNamedOrganization('Names');
  await make(organizationId, 'api-key', 'dashed');
  await make(organizationId, 'api_key', 'plain');
  await make(organizationId, '2nd key', 'digit');
  await make(organizationId, 'twice-dashed', 'older');
  await make(organizationId, 'twice.dashed', 'younger');
  await make(organizationId, '__proto__', 'harmless');
  expect(await run(organizationId, 'env api_key\nenv _2nd_key\nenv twice_dashed\nenv __proto__')).toEqual([
    'api_key=plain',
    '_2nd_key=digit',
    'twice_dashed=older',
    '__proto__=harmless',
  ]);
});

it('masks sensitive values of the organization and of the session in everything that is stored', async () => {
  const { organizationId } = await makeNamedOrganization('Masked');
  await make(organizationId, 'SHARED', `${secretCanary}-shared`, { is_sensitive: true });
  const sessionSecrets = [{ key: 'OWN', value: `${secretCanary}-own` }];
  const answers = await run(organizationId, 'env SHARED\nenv OWN', { session_secrets: sessionSecrets });
  expect(answers).toEqual(['SHARED=********', 'OWN=********']);
});

it('omits a secret that was deleted after the session named it', async () => {
  const { organizationId } = await makeNamedOrganization('Deleted');
  const [one, two] = [await make(organizationId, 'ONE', 'first'), await make(organizationId, 'TWO', 'second')];
  const id = await createSession(test, { prompt: 'env ONE', organizationId, secretIds: [one, two] });
  await waitUntilEnded(test, id);
  await call(test, test.adminToken, 'DELETE', `/v3/organizations/${organizationId}/secrets/${one}`);
  const path = `/v3/organizations/${organizationId}/sessions/${id}/messages`;
  await call(test, test.adminToken, 'POST', path, { message: 'env ONE\nenv TWO' });
  await waitUntilEnded(test, id);
  expect(await readMessages(test, id)).toEqual([
    'INITIAL_USER_MESSAGE: env ONE',
    'AGENT_MESSAGE: ONE=first',
    'USER_MESSAGE: env ONE\nenv TWO',
    'AGENT_MESSAGE: ONE=(not set)',
    'AGENT_MESSAGE: TWO=second',
  ]);
});

it('deletes a session’s secrets with the session, and an organization’s with the organization', async () => {
  const { services } = test.app;
  const { organizationId } = await makeNamedOrganization('Over');
  await make(organizationId, 'ONE', 'first');
  const sessionSecrets = [{ key: 'OWN', value: `${secretCanary}-own` }];
  const retained = await createSession(test, { prompt: 'say x', organizationId, sessionSecrets });
  const ended = await createSession(test, { prompt: 'say x', organizationId, sessionSecrets });
  await call(test, test.adminToken, 'DELETE', `/v3/organizations/${organizationId}/sessions/${ended}`);
  const left = async () => {
    const own = await services.store.query<{ id: string }>(
      'select session_id as id from session_secret where session_id = any($1::text[])',
      [[retained, ended]],
    );
    const shared = await services.store.query('select 1 from secret where organization_id = $1', [organizationId]);
    return { own: own.map(({ id }) => id), shared: shared.length };
  };
  await resealSecrets(services, () => false);
  expect(await left()).toEqual({ own: [retained], shared: 1 });
  await call(test, test.adminToken, 'DELETE', `/v3/enterprise/organizations/${organizationId}`);
  await resealSecrets(services, () => false);
  expect(await left()).toEqual({ own: [], shared: 0 });
});

it('encrypts with the current key what the previous key encrypted, so that it can be dropped', async () => {
  const { services } = test.app;
  const { organizationId } = await makeNamedOrganization('Rotated');
  const id = (await make(organizationId, 'ONE', `${secretCanary}-rotated`)).replace('sec_', '');
  const sessionSecrets = [{ key: 'OWN', value: `${secretCanary}-own` }];
  const sessionId = await createSession(test, { prompt: 'say x', organizationId, sessionSecrets });
  const before = 'a secret key that is only for the tests';
  const present = 'the key that comes after it in the tests';
  const rotating = createKeyring({ secretKey: present, previousSecretKey: before });
  await resealSecrets({ ...services, keyring: rotating }, () => false);
  const [row] = await services.store.query<{ sealed: string; own: string }>(
    'select sealed, (select sealed from session_secret where session_id = $2) as own from secret where id = $1',
    [id, sessionId],
  );
  const alone = createKeyring({ secretKey: present, previousSecretKey: null });
  expect(alone.open(row?.sealed ?? '', `${organizationId}:${id}`)).toBe(`${secretCanary}-rotated`);
  expect(alone.open(row?.own ?? '', `${sessionId}:OWN`)).toBe(`${secretCanary}-own`);
});
