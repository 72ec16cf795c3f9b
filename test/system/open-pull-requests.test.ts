import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { pushBranchAt, statesOf } from '../support/followed-pull-requests.ts';
import { personToken, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
let clock: Clock;
beforeAll(async () => {
  github = await startGithub();
  test = await startApp({ roles: ['api', 'scheduler'], isHttpForgeAllowed: true });
  clock = stopClock(test);
  await connectForgeAt(test, github.url, { token: personToken });
});
afterAll(async () => {
  await test.close();
  await github.close();
});
beforeEach(() => github.intercept(() => null));

let branches = 0;
/** A session whose branch is at the forge, unless it was not pushed. */
async function makeSession(isPushed = true) {
  branches += 1;
  const branch = `work-${branches}`;
  const sessionId = await createSession(test, { repositories: [{ repository: 'acme/site', branch }] });
  if (isPushed) await pushBranchAt(github, 'acme/site', branch);
  return { sessionId, branch };
}
const selection = `pullRequest { url state number title isDraft headBranch baseBranch isOpenedByService } session { sessionId } warnings`;
const open = (sessionId: string, more: object = {}) =>
  runMutation(test, 'openPullRequest', selection, { sessionId, title: 'Fix the page', ...more });
const pullsOf = async (branch: string) =>
  (await github.person('GET', `/repos/acme/site/pulls?state=all&head=acme:${branch}`)) as unknown as {
    number: number;
    body: string;
  }[];
const rows = (sql: string, id: string) => test.app.services.store.query<Record<string, any>>(sql, [id]);
const intents = (id: string) => rows('select id from pull_request_intent where session_id = $1', id);
const entries = (id: string) => rows(`select data from log_entry where session_id = $1 and kind = 'PULL_REQUEST'`, id);

it('opens one pull request for any number of requests, and shows it everywhere', async () => {
  const { sessionId, branch } = await makeSession();
  const first = await open(sessionId, { isDraft: true });
  expect(first.userErrors).toEqual([]);
  expect(first.pullRequest).toMatchObject({
    ...{ state: 'OPEN', title: 'Fix the page', isDraft: true, headBranch: branch, baseBranch: 'main' },
    isOpenedByService: true,
  });
  const second = await open(sessionId);
  expect(second.pullRequest.url).toBe(first.pullRequest.url);
  const [pull, ...others] = await pullsOf(branch);
  expect(others).toEqual([]);
  expect(pull?.body).toMatch(new RegExp(`^Requested by .+ in http.+/sessions/${sessionId}`));
  expect(await statesOf(test, sessionId)).toEqual({ graphql: ['OPEN'], v3: ['open'], v1: [first.pullRequest.url] });
  expect(await entries(sessionId)).toHaveLength(1);
  expect(await intents(sessionId)).toEqual([]);
  const audits = await rows(
    `select data from audit_entry where session_id = $1 and action = 'open_pull_request'`,
    sessionId,
  );
  expect(audits[0]?.data).toMatchObject({ repository: 'acme/site', headBranch: branch, baseBranch: 'main' });
});

it('says that a branch was not pushed, and leaves nothing', async () => {
  const { sessionId, branch } = await makeSession(false);
  // GitHub's answer for an unknown head, which emulate lacks.
  const errors = [{ resource: 'PullRequest', field: 'head', code: 'invalid' }];
  const answer = { status: 422, body: { message: 'Validation Failed', errors } };
  github.intercept(({ method, url }) => (method === 'POST' && url.pathname.endsWith('/pulls') ? answer : null));
  const { pullRequest, userErrors } = await open(sessionId);
  expect(pullRequest).toBeNull();
  expect(userErrors[0].message).toContain(`The branch "${branch}" was not pushed to acme/site. Push it first.`);
  expect(await intents(sessionId)).toEqual([]);
});

it('opens a pull request whose labels and reviewers the forge refuses, and says which', async () => {
  const { sessionId, branch } = await makeSession();
  github.intercept(({ method, url }) =>
    method === 'POST' && url.pathname.endsWith('/requested_reviewers')
      ? { status: 422, body: { message: 'Reviews may only be requested from collaborators.' } }
      : null,
  );
  const { pullRequest, userErrors, warnings } = await open(sessionId, {
    labels: ['agent'],
    reviewers: ['mallory\u202e'],
  });
  expect(userErrors).toEqual([]);
  expect(pullRequest).toMatchObject({ state: 'OPEN' });
  expect(warnings).toEqual([expect.stringMatching(/^The reviewer "mallory" was not added: .+ from collaborators\.$/)]);
  const [notice] = await rows(`select body from log_entry where session_id = $1 and kind = 'NOTICE'`, sessionId);
  expect(notice?.body).toBe(`The forge refused a part of ${pullRequest.url}. ${warnings[0]}`);
  const [pull] = (await pullsOf(branch)) as unknown as { labels: { name: string }[] }[];
  expect(pull?.labels).toMatchObject([{ name: 'agent' }]);
  const many = await open(sessionId, { labels: Array.from({ length: 21 }, (_, index) => `label-${index}`) });
  expect(many.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'labels'] }]);
});

it('adds the labels that an attempt did not reach', async () => {
  const { sessionId, branch } = await makeSession();
  let isLost = true;
  // The pull request is created, but neither its answer nor anything after it arrives.
  github.intercept(async ({ method, url, body }) => {
    if (!isLost || !url.pathname.startsWith('/api/v3/repos/acme/site/pulls')) return null;
    if (method === 'POST') await github.person('POST', '/repos/acme/site/pulls', JSON.parse(body));
    return method === 'POST' || (await pullsOf(branch)).length > 0 ? { status: 502, body: 'Bad gateway' } : null;
  });
  await open(sessionId, { base: 'main', body: 'By hand', labels: ['agent'], reviewers: ['hubot'] });
  isLost = false;
  clock.advance(3 * 60_000);
  await vi.waitUntil(async () => (await intents(sessionId)).length === 0, { timeout: 20_000 });
  const found = (await pullsOf(branch)) as unknown as { labels: object[]; requested_reviewers: object[] }[];
  expect(found).toMatchObject([{ labels: [{ name: 'agent' }], requested_reviewers: [{ login: 'hubot' }] }]);
});

it('lists sessions by the states of their pull requests', async () => {
  const [opened, closed] = [await makeSession(), await makeSession()];
  const { pullRequest } = await open(opened.sessionId);
  await open(closed.sessionId);
  const sql = `update session set pull_requests = jsonb_set(pull_requests, '{0,state}', '"closed"') where id = $1 returning id`;
  await test.app.services.store.execute(sql, [closed.sessionId]);
  expect(pullRequest.state).toBe('OPEN');
  const document =
    'query($states: [PullRequestState!], $ids: [ID!]) { sessions(first: 9, filter: { pullRequestStates: $states, ids: $ids }) { nodes { sessionId } totalCount } }';
  const ids = [opened.sessionId, closed.sessionId].map((id) => `devin-${id}`);
  const inGraphql = async (states: string[]) => {
    const { data } = await graphql(test, test.adminToken, document, { states, ids });
    return data.sessions.nodes.map(({ sessionId }: { sessionId: string }) => sessionId);
  };
  const inV3 = async (states: string[]) => {
    const query = [...states.map((state) => `pr_state=${state}`), ...ids.map((id) => `session_ids=${id}`)].join('&');
    const path = `/v3/organizations/${test.organizationId}/sessions?${query}`;
    const { body } = await call(test, test.adminToken, 'GET', path);
    return body.items.map((each: { session_id: string }) => `devin-${each.session_id.replace('devin-', '')}`);
  };
  const expected: [string[], string[]][] = [
    [['open'], [ids[0] as string]],
    [['closed'], [ids[1] as string]],
    [['merged'], []],
    [['merged', 'closed', 'open'], ids.toReversed()],
  ];
  for (const [states, found] of expected) {
    expect({ states, found: await inGraphql(states.map((state) => state.toUpperCase())) }).toEqual({ states, found });
    expect({ states, found: await inV3(states) }).toEqual({ states, found });
  }
  expect(await inV3(['draft'])).toEqual([]);
  expect(await inV3([`x"}]' or true --`])).toEqual([]);
});

it('refuses a repository of another session, and the branch itself as the base', async () => {
  const { sessionId, branch } = await makeSession();
  const other = await open(sessionId, { repository: 'acme/tools' });
  expect(other.userErrors).toMatchObject([{ code: 'UNKNOWN_REFERENCE' }]);
  const same = await open(sessionId, { base: branch });
  expect(same.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'base'] }]);
  expect(await pullsOf(branch)).toEqual([]);
});

it('finds the pull request after the forge created it without an answer, in the same process or by the scheduler', async () => {
  const { sessionId, branch } = await makeSession();
  let isLost = true;
  github.intercept(async ({ method, url, body }) => {
    if (!isLost || !url.pathname.startsWith('/api/v3/repos/acme/site/pulls')) return null;
    if (method === 'POST') await github.person('POST', '/repos/acme/site/pulls', JSON.parse(body));
    return method === 'POST' || (await pullsOf(branch)).length > 0 ? { status: 502, body: 'Bad gateway' } : null;
  });
  const lost = await open(sessionId, { base: 'main', body: 'By hand' });
  expect(lost.userErrors[0].message).toContain('The service tries again by itself.');
  expect(await intents(sessionId)).toHaveLength(1);
  isLost = false;
  clock.advance(3 * 60_000);
  await vi.waitUntil(async () => (await intents(sessionId)).length === 0, { timeout: 20_000 });
  expect(await pullsOf(branch)).toHaveLength(1);
  expect((await statesOf(test, sessionId)).graphql).toEqual(['OPEN']);
  expect(await entries(sessionId)).toHaveLength(1);
});
