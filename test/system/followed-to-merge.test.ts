import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { followUpMessages, statesOfFollowUps } from '../support/follow-ups.ts';
import { type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { installationId, startGithub, type TestGithub, webhookSecret } from '../support/forges/github.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { respondingAgentProfile } from '../support/responding-agent.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const patience = { timeout: 60_000, interval: 100 };
let wire: ForgeServer;
let github: TestGithub;
let test: TestApp;
let hook = '';

beforeAll(async () => {
  wire = await startForgeServer(async ({ headers, body }) => {
    const own = Object.entries(headers).filter(([name]) => /^(content-type|x-|user-agent)/.test(name));
    const { status } = await postTo(
      test,
      hook,
      body,
      Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
    );
    return { status };
  });
  github = await startGithub({ webhookUrl: wire.url, hasGit: true });
  const agentsConfig = join(mkdtempSync(join(tmpdir(), 'switchyard-follow-')), 'agents.json');
  writeFileSync(
    agentsConfig,
    JSON.stringify({ agents: [respondingAgentProfile('responding')], default: 'responding' }),
  );
  test = await startApp({ roles: ['api', 'worker', 'scheduler'], agentsConfig, isHttpForgeAllowed: true });
  const app = { appId: '12345', privateKey: github.privateKey, installationId: String(installationId), webhookSecret };
  ({ path: hook } = await connectForgeAt(test, github.url, { providerType: 'GITHUB_APP', token: null, ...app }));
});
afterAll(async () => {
  await test?.close();
  await github?.close();
  await wire?.close();
});

const git = (...args: string[]) => github.git?.git('acme/site', ...args) ?? expect.fail('There is no git server.');
const person = (method: string, path: string, body?: object) => github.person(method, `/repos/acme/site${path}`, body);

it('follows a pull request through a failed check, a review and a conflict until it is merged', {
  timeout: 300_000,
}, async () => {
  const main = await git('rev-parse', 'main');
  await git('update-ref', 'refs/heads/develop', main);
  await person('POST', '/git/refs', { ref: 'refs/heads/develop', sha: main });
  const prompt = [
    'write app.txt broken',
    'commit Add the app',
    'push',
    'open pull request Add the app',
    'mcp finish_session {}',
  ];
  const id = await createSession(test, {
    prompt: prompt.join('\n'),
    repositories: [{ repository: 'acme/site', ref: 'develop' }],
  });
  await waitUntilEnded(test, id);
  const [{ branch, repositoryId, number } = expect.fail('There is no pull request.')] =
    await test.app.services.store.query<{
      branch: string;
      repositoryId: string;
      number: number;
    }>(
      `select r.branch, r.repository_id as "repositoryId", p.number from session_repository r
       join pull_request p on p.session_id = r.session_id where r.session_id = $1`,
      [id],
    );
  const appOf = () => git('show', `${branch}:app.txt`);
  const settings = { repositoryId: `repository-${repositoryId}`, isArchivedWhenMerged: true };
  expect((await runMutation(test, 'updateRepository', '', settings)).userErrors).toEqual([]);
  const become = (...states: string[]) =>
    vi.waitFor(async () => expect(await statesOfFollowUps(test, id)).toEqual(states), patience);

  const check = async (conclusion: string) =>
    person('POST', '/check-runs', {
      ...{ name: 'unit', 'head_sha': await git('rev-parse', branch), status: 'completed', conclusion },
    });
  await check('failure');
  await vi.waitFor(async () => expect(await appOf()).toBe('fixed'), patience);
  await waitUntilEnded(test, id);
  await check('success');
  await vi.waitFor(async () => expect(await readPull(id)).toMatchObject({ checks: [{ state: 'PASSED' }] }), patience);

  await person('POST', `/pulls/${number}/reviews`, {
    event: 'REQUEST_CHANGES',
    body: 'Please change three things.',
    comments: ['Rename it', 'Shorten it', 'Why?'].map((body, n) => ({ path: 'app.txt', position: n + 1, body })),
  });
  await vi.waitUntil(() => github.resolvedThreads.size === 3, patience);
  await waitUntilEnded(test, id);
  expect(await appOf()).toBe('reviewed');
  const comments = (await person('GET', `/pulls/${number}/comments`)) as unknown as { body: string }[];
  expect(comments.filter(({ body }) => body.startsWith('Reply of an agent.'))).toHaveLength(3);

  // The base gets another version of the same file.
  const other = await git('commit-tree', `${branch}^{tree}`, '-p', main, '-m', 'Add another app');
  await git('update-ref', 'refs/heads/develop', other);
  const isRebased = () =>
    git('merge-base', '--is-ancestor', other, branch).then(
      () => true,
      () => false,
    );
  github.intercept(async ({ method, url }) => {
    if (method !== 'GET' || url.pathname !== `/api/v3/repos/acme/site/pulls/${number}` || (await isRebased()))
      return null;
    const pull = await person('GET', `/pulls/${number}`);
    return { body: { ...pull, mergeable: false, 'mergeable_state': 'dirty' } };
  });
  await person('PATCH', `/pulls/${number}`, { title: 'Add the best app' });
  await vi.waitUntil(isRebased, patience);
  await waitUntilEnded(test, id);
  await become('conflict sent', 'review sent', 'checks sent');
  expect(await followUpMessages(test, id)).toHaveLength(3);

  await person('PUT', `/pulls/${number}/merge`, {});
  await vi.waitUntil(async () => (await readPull(id)).isArchived, patience);
  expect(await readPull(id)).toMatchObject({ state: 'MERGED', followUpStop: null });
});

async function readPull(id: string): Promise<any> {
  const document = `query($id: ID!) { session(id: $id) { isArchived pullRequests { state followUpStop checks { name state } } } }`;
  const { data } = await graphql(test, test.adminToken, document, { id: `devin-${id}` });
  const [pull] = data.session.pullRequests;
  return { ...pull, isArchived: data.session.isArchived };
}
