import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { claimReads } from '../../src/domain/followed-pull-requests/claim-reads.ts';
import { newId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { openPullRequestAt, reportPullRequest, statesOf } from '../support/followed-pull-requests.ts';
import { type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { personToken, startGithub, type TestGithub, webhookSecret } from '../support/forges/github.ts';
import {
  connectForgeAt,
  githubHeaders,
  gitWebhookSecret,
  pullRequestBody,
  signatureOf,
} from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';

/** Maximum time to wait: on a busy machine the second that is usual says nothing. */
const longWait = { timeout: 60_000 };

let github: TestGithub;
let wire: ForgeServer;
let test: TestApp;
let other: TestApp;
let clock: Clock;
/** Path of the webhooks of the connection. */
let hook: string;

/** Deliveries of the forge that have not been passed on. */
const held = () => wire.requests.splice(0);
const passOn = (request: ForgeServer['requests'][number]) => {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name];
  return postTo(test, hook, request.body, headers);
};

beforeAll(async () => {
  wire = await startForgeServer(() => ({ status: 202 }));
  github = await startGithub({ webhookUrl: `${wire.url}/hook` });
  const settings = { roles: ['api', 'scheduler'] as const, isHttpForgeAllowed: true };
  test = await startApp({ ...settings, roles: [...settings.roles] });
  other = await test.another({ ...settings, roles: [...settings.roles] });
  clock = stopClock(test, other);
  ({ path: hook } = await connectForgeAt(test, github.url, { token: personToken, webhookSecret }));
});
afterAll(async () => {
  await other.close();
  await test.close();
  await github.close();
  await wire.close();
});

let branches = 0;
/** A session with an open pull request that has been read once. */
async function makeFollowed(repository = 'acme/site') {
  branches += 1;
  const sessionId = await createSession(test, { repositories: [{ repository }] });
  const number = await openPullRequestAt(github, repository, `feature-${branches}`);
  const url = `${github.url}/${repository}/pull/${number}`;
  const path = `/repos/${repository}/pulls/${number}`;
  await reportPullRequest(test, sessionId, url);
  await vi.waitUntil(async () => (await followed(number, repository))?.readAt, longWait);
  held();
  return { sessionId, number, url, path };
}

interface Followed {
  readonly readAt: Date | null;
  readonly dueAt: Date | null;
  readonly webhookAt: Date | null;
  readonly failureCount: number;
  readonly error: string | null;
}
async function followed(number: number, path = 'acme/site'): Promise<Followed | undefined> {
  const [row] = await test.app.services.store.query<Followed>(
    `select read_at as "readAt", due_at as "dueAt", webhook_at as "webhookAt", failure_count as "failureCount", error
       from followed_pull_request where number = $1 and path = $2`,
    [number, path],
  );
  return row;
}
const merged = (url: string) => ({ graphql: ['MERGED'], v3: ['merged'], v1: [url] });
const shows = (sessionId: string, state: unknown) =>
  vi.waitFor(async () => expect(await statesOf(test, sessionId)).toEqual(state), longWait);
const reads = (path: string) => github.requests.filter(({ url }) => url.pathname === `/api/v3${path}`).length;
const entries = (sessionId: string) =>
  test.app.services.store.query<{ data: { state: string } }>(
    `select data from log_entry where session_id = $1 and kind = 'PULL_REQUEST' order by seq`,
    [sessionId],
  );
/** Makes every read due, and waits until the pull requests of other tests have been read too. */
const wake = (ms: number) => {
  clock.advance(ms);
  test.app.services.notifier.notify('pull-requests');
};

it('shows a merge after one event, whose deliveries arrive twice and in any order', async () => {
  const { sessionId, url, path, number } = await makeFollowed();
  expect(await statesOf(test, sessionId)).toEqual({ graphql: ['OPEN'], v3: ['open'], v1: [url] });
  await github.person('POST', `/repos/acme/site/issues/${number}/comments`, { body: 'A comment' });
  await github.person('PATCH', path, { title: 'Another title' });
  await github.person('PUT', `${path}/merge`, {});
  await vi.waitUntil(() => wire.requests.some(({ body }) => body.includes('"merged":true')), longWait);
  const events = held().reverse();
  expect(events.length).toBeGreaterThan(1);
  const answers = await Promise.all([...events, ...events].map(passOn));
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(events.length);
  await shows(sessionId, merged(url));
  expect((await entries(sessionId)).map(({ data }) => data.state)).toEqual(['open', 'merged']);
  await vi.waitFor(
    async () => expect(await followed(number)).toMatchObject({ dueAt: null, failureCount: 0 }),
    longWait,
  );
});

it('shows a merge at the next poll without webhooks, and polls no more then', async () => {
  const { sessionId, url, path, number } = await makeFollowed();
  await github.person('PUT', `${path}/merge`, {});
  held();
  expect((await statesOf(test, sessionId)).v3).toEqual(['open']);
  wake(60_000);
  await shows(sessionId, merged(url));
  await vi.waitFor(async () => expect((await followed(number))?.dueAt).toBeNull(), longWait);
  const count = reads(path);
  wake(3_600_000);
  const next = await makeFollowed();
  expect(next.number).not.toBe(number);
  expect(reads(path)).toBe(count);
});

it('polls a pull request rarely while its webhooks arrive, and often again when one was missed', async () => {
  const { path, number } = await makeFollowed();
  const interval = async () => {
    const { dueAt, readAt } = (await followed(number)) ?? {};
    return (dueAt?.getTime() ?? 0) - (readAt?.getTime() ?? 0);
  };
  expect(await interval()).toBe(55_000);
  await github.person('PATCH', path, { title: 'By webhook' });
  await vi.waitUntil(() => wire.requests.length > 0, longWait);
  for (const request of held()) await passOn(request);
  await vi.waitFor(async () => expect(await interval()).toBe(600_000), longWait);
  await github.person('PATCH', path, { title: 'Its webhook is lost' });
  held();
  wake(600_000);
  await vi.waitFor(async () => expect(await interval()).toBe(55_000), longWait);
});

it('reads a pull request in one process at a time', async () => {
  const { path, number } = await makeFollowed();
  const before = reads(path);
  const open: (() => void)[] = [];
  github.intercept(async ({ url }) => {
    if (url.pathname === `/api/v3${path}`) await new Promise<void>((resolve) => open.push(resolve));
    return null;
  });
  onTestFinished(() => github.intercept(() => null));
  wake(60_000);
  await vi.waitUntil(() => open.length > 0, longWait);
  for (const { app } of [test, other]) app.services.notifier.notify('pull-requests');
  // A pull request of another repository is read meanwhile by either process.
  await makeFollowed('acme/tools');
  expect(reads(path)).toBe(before + 1);
  for (const release of open) release();
  await vi.waitUntil(async () => ((await followed(number))?.readAt?.getTime() ?? 0) > 0, longWait);
});

it('applies a state to a session that reports the pull request while it is read', async () => {
  const { sessionId, path, url } = await makeFollowed();
  const second = await createSession(test, { repositories: [{ repository: 'acme/site' }] });
  await github.person('PUT', `${path}/merge`, {});
  held();
  const open: (() => void)[] = [];
  github.intercept(async (request) => {
    const isRead = request.url.pathname === `/api/v3${path}`;
    if (isRead && open.length === 0) await new Promise<void>((resolve) => open.push(resolve));
    return null;
  });
  onTestFinished(() => github.intercept(() => null));
  wake(60_000);
  await vi.waitUntil(() => open.length > 0, longWait);
  await reportPullRequest(test, second, url);
  for (const release of open) release();
  await shows(sessionId, merged(url));
  await shows(second, merged(url));
});

const pauses = () =>
  test.app.services.store.query<{ seconds: number }>(
    'select extract(epoch from paused_until_at - paused_at)::int as seconds from git_connection_pause',
  );
/** Waits until no process reads a pull request: reads that began before a pause still send their requests. */
const settle = () =>
  vi.waitUntil(async () => {
    const claims = 'select id from followed_pull_request where claimed_until_at is not null';
    return (await test.app.services.store.query(claims)).length === 0;
  }, longWait);
const limited = { status: 429, headers: { 'retry-after': '900' }, body: { message: 'Too many requests' } };

it('waits as long as the forge says when it limits requests', async () => {
  const { sessionId, url, path } = await makeFollowed();
  await github.person('PUT', `${path}/merge`, {});
  held();
  github.intercept(({ url: { pathname } }) => (pathname.startsWith('/api/v3/repos/') ? limited : null));
  onTestFinished(() => github.intercept(() => null));
  wake(60_000);
  await vi.waitUntil(async () => (await pauses()).length > 0, longWait);
  await settle();
  github.intercept(() => null);
  const count = github.requests.length;
  // The forge answers with real time; the clock of the test stands still.
  const [{ seconds } = { seconds: 0 }] = await pauses();
  expect(seconds).toBeGreaterThan(60);
  wake(60_000);
  expect(await claimReads(test.app.services, new Map(), 10)).toEqual([]);
  expect(github.requests.length).toBe(count);
  wake(3_600_000);
  await shows(sessionId, merged(url));
  await vi.waitFor(async () => expect(await pauses()).toEqual([]), longWait);
});

it('still waits after the success of a read that began before the forge limited requests', async () => {
  const reading = [(await makeFollowed()).path, (await makeFollowed()).path];
  const open: (() => void)[] = [];
  github.intercept(async ({ url }) => {
    if (!url.pathname.startsWith('/api/v3/repos/')) return null;
    if (open.length > 0) return limited;
    await new Promise<void>((resolve) => open.push(resolve));
    return null;
  });
  onTestFinished(() => github.intercept(() => null));
  wake(60_000);
  await vi.waitUntil(async () => (await pauses()).length > 0, longWait);
  github.intercept(() => null);
  for (const release of open) release();
  await settle();
  expect(await pauses()).toHaveLength(1);
  const before = reading.map(reads);
  wake(3_600_000);
  await vi.waitUntil(() => reading.every((path, index) => reads(path) > (before[index] ?? 0)), longWait);
  await vi.waitFor(async () => expect(await pauses()).toEqual([]), longWait);
});

it('is not told by events of other repositories, and tells nobody if it was', async () => {
  const { path, number } = await makeFollowed();
  await github.person('PATCH', path, { title: 'Another title' });
  await vi.waitUntil(() => wire.requests.length > 0, longWait);
  const [event] = held();
  const before = reads(path);
  const stranger = await connectForgeAt(test, 'git.example.com');
  // Another forge's connection signs an event of this repository, and this forge's one of a repository that nobody uses.
  const body = pullRequestBody('acme/site', number);
  expect(await postTo(test, stranger.path, body, githubHeaders(body))).toMatchObject({ status: 202 });
  const unknown = pullRequestBody('acme/unknown', number);
  const headers = { ...githubHeaders(unknown), 'x-hub-signature-256': signatureOf(unknown, webhookSecret) };
  expect(await postTo(test, hook, unknown, headers)).toMatchObject({ status: 202, body: { status: 'accepted' } });
  const finished = async () =>
    (
      await test.app.services.store.query<{ count: number }>(
        'select count(*)::int as count from git_delivery where next_attempt_at is not null',
      )
    )[0]?.count === 0;
  await vi.waitUntil(finished, longWait);
  expect((await followed(number))?.webhookAt).toBeNull();
  expect(reads(path)).toBe(before);
  if (event) await passOn(event);
  await vi.waitUntil(async () => (await followed(number))?.webhookAt, longWait);
});

it('starts automations when a pull request is merged or closed', async () => {
  const on = (eventType: string) => ({ event: { eventType } });
  const merge = await createAutomation(test, { triggers: [on('session:pull_request_merged')] });
  const close = await createAutomation(test, { triggers: [on('session:pull_request_closed')] });
  const one = await makeFollowed();
  const another = await makeFollowed();
  await github.person('PUT', `${one.path}/merge`, {});
  await github.person('PATCH', another.path, { state: 'closed' });
  held();
  wake(60_000);
  const prompts = async (id: string) => {
    const rows = await test.app.services.store.query<{ prompt: string }>(
      'select s.prompt from automation_run r join session s on s.id = r.session_id where r.automation_id = $1',
      [id.replace('automation-', '')],
    );
    return rows.map(({ prompt }) => prompt);
  };
  for (const [automation, { url }] of [
    [merge, one],
    [close, another],
  ] as const) {
    await vi.waitFor(
      async () => expect(await prompts(automation.automation.automationId)).toEqual([expect.stringContaining(url)]),
      longWait,
    );
  }
});

it('takes the events of one connection for all of its enterprise at the same host, and for no other enterprise', async () => {
  const { path, number } = await makeFollowed();
  const second = await connectForgeAt(test, github.url.toUpperCase().replace('HTTP', 'http'), { token: personToken });
  const { store, keyring, now } = test.app.services;
  const enterpriseId = newId();
  const theirs = newId();
  const secrets = { token: 'ghp_of-theirs', webhookSecret: gitWebhookSecret };
  const when = { createdAt: now(), updatedAt: now() };
  await store.transact(async (tx) => {
    await tx.prisma.gitConnection.create({
      data: {
        ...{ id: theirs, enterpriseId, providerType: 'github_token', name: 'Theirs', host: github.url },
        ...{ hostKey: new URL(github.url).host, hasWebhookSecret: true, ...when },
        sealed: keyring.seal(JSON.stringify(secrets), `${enterpriseId}:${theirs}`),
      },
    });
  });
  const before = reads(path);
  const send = (to: string) => {
    const body = pullRequestBody('Acme/Site', number);
    return postTo(test, to, body, githubHeaders(body));
  };
  expect(await send(`/webhooks/git/git-connection-${theirs}`)).toMatchObject({ status: 202 });
  const pending = () => store.query('select id from git_delivery where next_attempt_at is not null');
  await vi.waitUntil(async () => (await pending()).length === 0, longWait);
  expect((await followed(number))?.webhookAt).toBeNull();
  expect(reads(path)).toBe(before);
  expect(await send(second.path)).toMatchObject({ status: 202 });
  await vi.waitUntil(() => reads(path) === before + 1, longWait);
});

it('shows no state to an organization that may no longer use the repository', async () => {
  const { sessionId, path, number } = await makeFollowed('acme/tools');
  const { store } = test.app.services;
  const connections = await store.query<{ id: string }>('select id from git_connection where deleted_at is null');
  // A permission for another repository limits the only organization to it.
  for (const { id } of connections) {
    const input = { gitConnectionId: id, organizationId: test.organizationId, repoPath: 'acme/other' };
    const made = await runMutation(test, 'createGitPermission', 'gitPermission { id }', input);
    if (made.gitPermission === undefined) expect(made).toMatchObject({ error: 'NOT_FOUND' });
  }
  await github.person('PUT', `${path}/merge`, {});
  held();
  const before = (await followed(number, 'acme/tools'))?.readAt?.getTime() ?? 0;
  wake(60_000);
  await vi.waitUntil(async () => ((await followed(number, 'acme/tools'))?.readAt?.getTime() ?? 0) > before, longWait);
  expect((await statesOf(test, sessionId)).v3).toEqual(['open']);
});
