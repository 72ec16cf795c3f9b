import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
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
  const first = await open(sessionId, { isDraft: true, body: 'For @acme/core. Fixes #1' });
  expect(first.userErrors).toEqual([]);
  expect(first.pullRequest).toMatchObject({
    ...{ state: 'OPEN', title: 'Fix the page', isDraft: true, headBranch: branch, baseBranch: 'main' },
    isOpenedByService: true,
  });
  const second = await open(sessionId);
  expect(second.pullRequest.url).toBe(first.pullRequest.url);
  const [pull, ...others] = await pullsOf(branch);
  expect(others).toEqual([]);
  expect(pull?.body).toMatch(
    new RegExp(`^Requested by .+ in http.+/sessions/${sessionId}\n\nFor @&#8203;acme/core\\. Fixes #1\\s*$`),
  );
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
  await vi.waitUntil(async () => (await intents(sessionId)).length === 0, { timeout: 60_000 });
  const found = (await pullsOf(branch)) as unknown as { labels: object[]; requested_reviewers: object[] }[];
  expect(found).toMatchObject([{ labels: [{ name: 'agent' }], requested_reviewers: [{ login: 'hubot' }] }]);
});

const answers: [string, object | null, RegExp | null][] = [
  ['a page of HTML', { headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' }, /it is not JSON/],
  ['an error as a success', { status: 200, body: { message: 'Server Error' } }, /"number" is missing or invalid/],
  ['a text for a number', { status: 201, body: { number: '1' } }, /"number" is missing or invalid/],
  ['a body of 5 MB', { status: 201, body: `"${'x'.repeat(5_000_000)}"` }, /longer than 4194304 bytes/],
  ['a redirect to another host', { status: 307, headers: { location: 'http://127.0.0.1:1/collect' } }, /another host/],
  ['a list', { status: 201, body: [] }, /it has the wrong type/],
  ['a pull request of another branch', null, /a pull request of other branches/],
];
it.each(answers)('stores nothing when the forge answers with %s', async (_what, answer, message) => {
  const { sessionId } = await makeSession();
  const other = {
    number: 1,
    title: 'x',
    state: 'open',
    head: { ref: 'main', sha: 'a'.repeat(40) },
    base: { ref: 'main' },
  };
  github.intercept(({ method, url }) =>
    method === 'POST' && url.pathname.endsWith('/pulls') ? (answer ?? { status: 201, body: other }) : null,
  );
  const { pullRequest, userErrors } = await open(sessionId);
  expect(pullRequest).toBeNull();
  expect(userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  expect(userErrors[0].message).toMatch(message as RegExp);
  expect(userErrors[0].message).not.toContain(personToken);
  expect(await rows('select url from pull_request where session_id = $1', sessionId)).toEqual([]);
  expect((await statesOf(test, sessionId)).graphql).toEqual([]);
  await test.app.services.store.execute('delete from pull_request_intent where session_id = $1 returning id', [
    sessionId,
  ]);
});

it('stores only validated parts of an answer', async () => {
  const { sessionId, branch } = await makeSession();
  const body = {
    ...{ number: 900_001, 'html_url': 'javascript:alert(1)', title: 'a\u202eb\u0007', state: 'open' },
    head: { ref: branch, sha: 'a'.repeat(40) },
    base: { ref: 'main' },
    'merged_at': 'never',
    labels: [],
  };
  github.intercept(({ method, url }) => {
    if (method === 'POST' && url.pathname.endsWith('/pulls')) return { status: 201, body };
    // The labels get an answer that is no JSON.
    return url.pathname.endsWith('/labels') ? { status: 200, body: '<html>' } : null;
  });
  const { pullRequest, userErrors, warnings } = await open(sessionId, { labels: ['agent'] });
  expect({ userErrors, warnings }).toEqual({ userErrors: [], warnings: [] });
  expect(pullRequest).toMatchObject({ url: `${github.url}/acme/site/pull/900001`, title: 'a b', state: 'OPEN' });
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
  expect(lost.userErrors[0].message).toContain('The service tries again automatically.');
  expect(await intents(sessionId)).toHaveLength(1);
  isLost = false;
  clock.advance(3 * 60_000);
  await vi.waitUntil(async () => (await intents(sessionId)).length === 0, { timeout: 60_000 });
  expect(await pullsOf(branch)).toHaveLength(1);
  expect((await statesOf(test, sessionId)).graphql).toEqual(['OPEN']);
  expect(await entries(sessionId)).toHaveLength(1);
});
