import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { environmentFile } from '../support/environments.ts';
import { connectApp, deliver } from '../support/forge-events.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import { type PushedPull, pushFiles, pushPull } from '../support/forges/pushed-pull.ts';
import type { TestConnection } from '../support/git-webhooks.ts';
import { commented, settledMentions } from '../support/mentions.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readCalls, sendMessage } from '../support/reports.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
let connection: TestConnection;
beforeAll(async () => {
  github = await startGithub({ hasGit: true });
  test = await startApp({
    ...{ roles: ['api', 'worker', 'scheduler'], isHttpForgeAllowed: true, rateLimitGitWebhook: 0 },
    agentsConfig: await writeProfiles({}),
  });
  connection = await connectApp(test, github);
});
afterAll(async () => {
  await test?.close();
  await github?.close();
});
beforeEach(() => github.intercept(() => null));

const octocat = { id: 1, login: 'octocat', type: 'User' };
/** Sends commands to the demo agent of a session after its first turn, and returns its finished tool calls. */
async function turn(sessionId: string, ...commands: string[]) {
  await waitUntilEnded(test, sessionId);
  const before = (await readCalls(test, sessionId)).length;
  await sendMessage(test, sessionId, commands.join('\n'));
  await waitUntilEnded(test, sessionId);
  return (await readCalls(test, sessionId)).slice(before);
}
const refsOf = async () => (await github.git?.git('acme/site', 'for-each-ref', '--format=%(refname)')) ?? '';

describe('a pull request from a fork', () => {
  /** Opens a pull request whose head is in the fork `mallory/site`, as GitHub says. */
  async function openForked(): Promise<PushedPull> {
    const pull = await pushPull(github, 'x');
    const path = `/repos/acme/site/pulls/${pull.number}`;
    github.intercept(async ({ method, url }) => {
      if (method !== 'GET' || url.pathname !== `/api/v3${path}`) return null;
      const found = (await github.person('GET', path)) as { head: { repo: object } };
      const repo = { ...found.head.repo, 'full_name': 'mallory/site' };
      return { body: { ...found, user: { id: 666, login: 'mallory' }, head: { ...found.head, repo } } };
    });
    return pull;
  }

  it('is the beginning of a session by a mention, which pushes to its own branch of the repository', async () => {
    const { number, branch } = await openForked();
    // The repository has the commits under the number only.
    await github.git?.git('acme/site', 'update-ref', '-d', `refs/heads/${branch}`);
    const before = await refsOf();
    const payload = commented('@switchyard go on', { number, 'pull_request': { url: 'x' } }, { sender: octocat });
    expect((await deliver(test, connection.path, 'issue_comment', payload)).status).toBe(202);
    const [mention] = await settledMentions(test);
    expect(mention).toMatchObject({ status: 'done', sessionId: expect.any(String) });
    const id = `devin-${mention?.sessionId}`;
    const calls = await turn(id, 'cat lines.txt', 'write lines.txt three', 'commit Third', 'push');
    expect(calls[0]).toMatchObject({ toolStatus: 'completed', output: expect.stringContaining('one\ntwo') });
    expect(calls.at(-1)).toMatchObject({ toolStatus: 'completed' });
    const added = (await refsOf()).split('\n').filter((ref) => !before.includes(ref));
    expect(added).toEqual([expect.stringMatching(/^refs\/heads\//)]);
    expect(added[0]).not.toBe(`refs/heads/${branch}`);
    expect(github.requests.filter(({ url }) => url.pathname.includes('mallory'))).toEqual([]);
  });

  it('is reviewed at its commit', async () => {
    const { number, url, commit } = await openForked();
    const input = { organizationId: test.organizationId, pullRequestUrl: url };
    const { session } = await runMutation(test, 'reviewPullRequest', 'session { sessionId }', input);
    const [file, submitted] = await turn(session.sessionId, 'cat lines.txt', 'mcp submit_review {"body": "Fine"}');
    expect(file?.output).toContain('one\ntwo');
    expect(submitted).toMatchObject({ toolStatus: 'completed' });
    const reviews = await github.person('GET', `/repos/acme/site/pulls/${number}/reviews`);
    expect(reviews).toMatchObject([{ state: 'COMMENTED', 'commit_id': commit }]);
  });
});

it('builds the environment after the webhook of a push to the default branch', async () => {
  await pushFiles(github, 'main', {
    [environmentFile]: 'setup: cp package-lock.json set-up\n',
    'package-lock.json': '{"lockfileVersion": 1}',
    '.gitignore': 'set-up\n',
  });
  const input = { repositories: [{ repository: 'acme/site' }], prompt: 'cat set-up' };
  const first = await createSession(test, input);
  await waitUntilEnded(test, first);
  const before = await github.git?.git('acme/site', 'rev-parse', 'main');
  const after = await pushFiles(github, 'main', { 'package-lock.json': '{"lockfileVersion": 2}' });
  const payload = { ref: 'refs/heads/main', before, after, repository: { 'full_name': 'acme/site' } };
  expect((await deliver(test, connection.path, 'push', payload)).status).toBe(202);

  const { store, now, notifier } = test.app.services;
  const wanted = 'select 1 from environment_read where due_at > $1::timestamptz';
  await expect.poll(() => store.query(wanted, [now()])).toHaveLength(1);
  await store.execute('update environment_read set due_at = $1::timestamptz returning due_at', [now()]);
  notifier.notify('environments');
  const document = `query($id: ID!) { organization(id: $id) { repository(path: "${new URL(github.url).host}/acme/site") {
    environmentBuilds { trigger state commit } } } }`;
  const builds = async () => {
    const { data } = await graphql(test, test.adminToken, document, { id: test.organizationId });
    return data.organization.repository.environmentBuilds;
  };
  await expect
    .poll(builds, { timeout: 60_000 })
    .toEqual(expect.arrayContaining([{ trigger: 'PUSH', state: 'READY', commit: after }]));
  const second = await createSession(test, input);
  await waitUntilEnded(test, second);
  expect(await readCalls(test, second)).toMatchObject([{ output: expect.stringContaining('"lockfileVersion": 2') }]);
});
