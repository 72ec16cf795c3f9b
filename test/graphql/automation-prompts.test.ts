// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so prompts name secrets
import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation, makeAutomatic, makeMember, updateAutomation } from '../support/automations.ts';
import { runMutation } from '../support/people.ts';
import { homeScope } from '../support/principals.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = `id automationId lastErrorMessage
  actions { ... on StartSessionAction { prompt session { repos playbook { playbookId } } }
    ... on MessageSessionAction { prompt targetSessionId } } runs { nodes { status } }`;
const create = (input: Record<string, unknown>, token: string) => createAutomation(test, input, token, fields);
const start = (prompt: string, session?: object) => [{ startSession: { prompt, ...(session && { session }) } }];

const runNow = async (automation: { automationId: string }, token: string) => {
  const { automationId } = automation;
  const fields = 'run { status error { code message } sessionId }';
  return (await runMutation(test, 'runAutomation', fields, { automationId }, token)).run;
};
const makePlaybook = async (input: object, token: string): Promise<string> =>
  (
    await runMutation(
      test,
      'createPlaybook',
      'playbook { playbookId }',
      { scope: homeScope(token), body: 'Do it.', ...input },
      token,
    )
  ).playbook.playbookId;
const makeSecret = async (key: string, token: string): Promise<string> => {
  const input = { key, type: 'KEY_VALUE', value: `c4n4ry of ${key}` };
  return (
    parseId('secret', (await runMutation(test, 'createSecret', 'secret { secretId }', input, token)).secret.secretId) ??
    ''
  );
};

/** The stored input of a session. */
async function rowOf(sessionId: string) {
  const [row] = await test.app.services.store.query<any>(
    `select prompt, playbook_id as "playbookId", secret_ids as "secretIds", automation_id as "automationId" from session where id = $1`,
    [parseId('session', sessionId)],
  );
  return row;
}

describe('a prompt', () => {
  it('gives its session the first named playbook, by id or by title, and stays unchanged', async () => {
    const { token } = await makeAutomatic(test);
    const first = await makePlaybook({ title: 'Release notes' }, token);
    const second = await makePlaybook({ title: 'Cleaning' }, token);
    for (const [prompt, id] of [
      [`Follow @playbook:${first}.`, first],
      ['Follow @playbook:"release NOTES" and @playbook:Cleaning.', first],
      [`Follow @playbook:cleaning, not @playbook:${first}`, second],
    ] as const) {
      const { automation } = await create({ actions: start(prompt) }, token);
      expect(automation.actions[0].session).toMatchObject({ playbook: { playbookId: id } });
      const run = await runNow(automation, token);
      expect(run).toMatchObject({ status: 'STARTED', error: null });
      expect(await rowOf(run.sessionId)).toMatchObject({ prompt, playbookId: parseId('playbook', id) });
    }
  });

  it('selects the named secrets, without their values; a prompt without a name selects all', async () => {
    const { token } = await makeAutomatic(test);
    const ids = [await makeSecret('NPM_TOKEN', token), await makeSecret('deploy-key', token)];
    await makeSecret('OTHER', token);
    const prompt = 'Publish with ${NPM_TOKEN} and ${deploy_key}; $${HOME}, ${HOME:-/root} and \\${USER} are text.';
    const { automation } = await create({ actions: start(prompt) }, token);
    const run = await runNow(automation, token);
    expect(await rowOf(run.sessionId)).toMatchObject({ prompt, secretIds: ids });
    const { automation: plain } = await create({ actions: start('Publish.') }, token);
    expect(await rowOf((await runNow(plain, token)).sessionId)).toMatchObject({ secretIds: null });
  });

  it('lists the named repositories before those in the input', async () => {
    const { token } = await makeAutomatic(test);
    const prompt = 'Fix @acme/site and @acme/api.js. Ask ann@example.com/x, and read @skills:review.';
    const { automation } = await create({ actions: start(prompt, { repos: ['acme/old'], tags: ['floor'] }) }, token);
    expect(automation.actions[0].session.repos).toEqual(['acme/site', 'acme/api.js']);
    expect(await rowOf((await runNow(automation, token)).sessionId)).toMatchObject({ prompt });
  });

  it.each([
    ['a playbook', 'By @playbook:Nowhere.', /the playbook "Nowhere", which does not exist/],
    ['a macro', 'Do !nothing-like-it.', /the macro "!nothing-like-it", which does not exist/],
    ['a secret', 'With ${NO_SUCH}.', /the secret "NO_SUCH", which does not exist.*\\\$\{NO_SUCH\}/],
  ])('with a name of %s that does not exist is not saved', async (_what, prompt, expectedMessage) => {
    const { token } = await makeAutomatic(test);
    const refused = await create({ actions: start(prompt) }, token);
    expect(refused).toMatchObject({
      automation: null,
      userErrors: [
        {
          code: 'UNKNOWN_REFERENCE',
          path: ['input', 'actions', '0', 'startSession', 'prompt'],
          message: expect.stringMatching(expectedMessage),
        },
      ],
    });
    const { automation } = await create({ actions: start(prompt.replace(/[!@$]/, '\\$&')) }, token);
    const message = { messageSession: { prompt, autoCreate: true } };
    const actions = [...start('Sweep.'), message];
    expect(await updateAutomation(test, { automationId: automation.automationId, actions }, token)).toMatchObject({
      userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'actions', '1', 'messageSession', 'prompt'] }],
    });
  });

  it('with several unknown names lists all of them', async () => {
    const { token } = await makeAutomatic(test);
    const { userErrors } = await create({ actions: start('!none, ${NONE}, ${NEVER} by @playbook:None.') }, token);
    const path = ['input', 'actions', '0', 'startSession', 'prompt'];
    const names = ['the playbook "None"', 'the macro "!none"', 'the secret "NONE"', 'the secret "NEVER"'];
    expect(userErrors).toMatchObject(
      names.map((name) => ({ code: 'UNKNOWN_REFERENCE', path, message: expect.stringContaining(name) })),
    );
  });

  it('finds no names of another organization, and the enterprise’s only if the organization has none', async () => {
    const { token } = await makeAutomatic(test);
    const neighbour = await makeAutomatic(test);
    const theirs = await makePlaybook({ title: 'Theirs', macro: '!theirs' }, neighbour.token);
    await makeSecret('THEIRS', neighbour.token);
    for (const prompt of ['@playbook:Theirs', `@playbook:${theirs}`, '!theirs', '${THEIRS}']) {
      expect((await create({ actions: start(prompt) }, token)).userErrors, prompt).toMatchObject([
        { code: 'UNKNOWN_REFERENCE' },
      ]);
    }
    const { body } = await call(test, test.adminToken, 'POST', '/v3/enterprise/playbooks', {
      title: 'Shared by all',
      body: 'x',
    });
    const { automation } = await create({ actions: start('@playbook:"Shared by all"') }, token);
    expect(automation.actions[0].session.playbook.playbookId).toBe(body.playbook_id);
    const own = await makePlaybook({ title: 'shared BY all' }, token);
    const run = await runNow(automation, token);
    expect((await rowOf(run.sessionId)).playbookId).toBe(parseId('playbook', own));
  });

  it('with a name of a deleted object fails its run with the reason, and starts nothing', async () => {
    const { token, organizationId } = await makeAutomatic(test);
    const playbookId = await makePlaybook({ title: 'Gone', macro: '!gone' }, token);
    const secretId = await makeSecret('GONE', token);
    const prompts = ['@playbook:Gone', 'Do !gone.', 'Use ${GONE}'];
    const made = [];
    for (const prompt of prompts) made.push((await create({ actions: start(prompt) }, token)).automation);
    await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', { playbookId }, token);
    await runMutation(test, 'deleteSecret', 'deletedSecretId', { secretId }, token);
    for (const automation of made) {
      expect(await runNow(automation, token)).toMatchObject({
        status: 'FAILED',
        sessionId: null,
        error: { code: 'UNKNOWN_REFERENCE', message: expect.stringMatching(/which does not exist/) },
      });
    }
    const [count] = await test.app.services.store.query<{ count: number }>(
      'select count(*)::int as count from session where organization_id = $1',
      [parseId('organization', organizationId)],
    );
    expect(count).toEqual({ count: 0 });
  });

  it('has a maximum number of names', async () => {
    const { token } = await makeAutomatic(test);
    const prompt = Array.from({ length: 21 }, (_each, n) => `!macro-${n}`).join(' ');
    expect((await create({ actions: start(prompt) }, token)).userErrors).toMatchObject([
      { code: 'INVALID_INPUT', message: expect.stringMatching(/21 macros.*at most 20/) },
    ]);
  });
});

describe('a message', () => {
  const message = (more: object) => [{ messageSession: { prompt: 'How is it?', ...more } }];
  const terminate = (sessionId: string, token: string) =>
    runMutation(test, 'terminateSession', 'session { id }', { sessionId }, token);
  const bodiesOf = async (sessionId: string, token: string): Promise<string[]> => {
    const query = 'query($id: ID!) { session(id: $id) { messages(first: 10) { nodes { body } } } }';
    const { data } = await graphql(test, token, query, { id: sessionId });
    return data.session.messages.nodes.map(({ body }: { body: string }) => body);
  };
  const readTarget = async (id: string, token: string) => {
    const query = `query($id: ID!) { node(id: $id) { ... on Automation { ${fields} } } }`;
    return (await graphql(test, token, query, { id })).data.node.actions[0].targetSessionId;
  };

  it('starts a session if there is none, and goes to that session from then on', async () => {
    const { token } = await makeAutomatic(test);
    const { automation } = await create({ actions: message({ autoCreate: true }) }, token);
    const first = await runNow(automation, token);
    expect(await rowOf(first.sessionId)).toMatchObject({ prompt: 'How is it?' });
    expect(await readTarget(automation.id, token)).toBe(first.sessionId);
    const second = await runNow(automation, token);
    expect(second.sessionId).toBe(first.sessionId);
    expect(await bodiesOf(first.sessionId, token)).toEqual(['How is it?', 'How is it?']);
    await terminate(first.sessionId, token);
    const third = await runNow(automation, token);
    expect(third).toMatchObject({ status: 'STARTED', error: null });
    expect(third.sessionId).not.toBe(first.sessionId);
    expect(await readTarget(automation.id, token)).toBe(third.sessionId);
  });

  it('resumes a suspended session', async () => {
    const { token } = await makeAutomatic(test);
    const sessionId = await createSession(test, {}, token);
    await runMutation(test, 'suspendSession', 'session { status }', { sessionId }, token);
    const { automation } = await create({ actions: message({ targetSessionId: sessionId, autoCreate: true }) }, token);
    const run = await runNow(automation, token);
    expect(parseId('session', run.sessionId)).toBe(sessionId);
    const query = 'query($id: ID!) { session(id: $id) { status } }';
    expect((await graphql(test, token, query, { id: sessionId })).data.session.status).toBe('RESUMING');
  });

  it.each([
    ['terminated', 'terminateSession', 'has been terminated'],
    ['archived', 'archiveSession', 'is archived'],
  ])('to a session that was %s fails with the reason if it may not start another', async (_what, act, state) => {
    const { token } = await makeAutomatic(test);
    const sessionId = await createSession(test, {}, token);
    const { automation } = await create({ actions: message({ targetSessionId: sessionId }) }, token);
    await runMutation(test, act, 'session { id }', { sessionId }, token);
    expect(await runNow(automation, token)).toMatchObject({
      status: 'FAILED',
      sessionId: null,
      error: { code: 'INVALID_STATE', message: `The session ${state} and takes no further messages.` },
    });
    expect(parseId('session', await readTarget(automation.id, token))).toBe(sessionId);
  });

  it('starts none for an owner who may write to sessions, but not start them', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const sessionId = await createSession(test, {}, token);
    const permissions = [
      'MANAGE_ORG_AUTOMATIONS',
      'USE_PERSONAL_AUTOMATIONS',
      'MANAGE_ORG_SESSIONS',
      'VIEW_ORG_SESSIONS',
    ];
    const owner = await makeMember(test, organizationId, ...permissions);
    const actions = message({ targetSessionId: sessionId, autoCreate: true });
    const { automation } = await create({ actions, runAs: { type: 'CREATOR' } }, owner.token);
    expect(await runNow(automation, owner.token)).toMatchObject({ status: 'STARTED' });
    await terminate(sessionId, token);
    expect(await runNow(automation, owner.token)).toMatchObject({ status: 'FAILED', error: { code: 'FORBIDDEN' } });
  });
});
