import { vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { graphql, startApp, type TestApp } from './app.ts';
import { type Clock, stopClock } from './clock.ts';
import { openPullRequestAt, reportPullRequest } from './followed-pull-requests.ts';
import { type ForgeServer, startForgeServer } from './forges/forge-server.ts';
import { installationId, startGithub, type TestGithub, webhookSecret } from './forges/github.ts';
import { connectForgeAt, signatureOf } from './git-webhooks.ts';
import { postTo } from './incoming-webhooks.ts';
import { runMutation } from './people.ts';
import { createSession } from './sessions.ts';

/** Maximum time to wait: on a busy machine the usual second says nothing. */
export const longWait = { timeout: 60_000 };

/** A service with two schedulers, connected as an App to an emulated GitHub whose webhooks it gets only when a test passes them on. */
export interface FollowUpTest {
  readonly test: TestApp;
  readonly github: TestGithub;
  readonly clock: Clock;
  /** Path of the webhooks of the connection. */
  readonly hook: string;
  /** Takes the deliveries of the forge that have not been passed on. */
  held(): ForgeServer['requests'];
  /** Passes a delivery on, and returns the status. */
  passOn(request: ForgeServer['requests'][number]): Promise<number>;
  /** Passes on all deliveries that are held once these events are among them, such as `{push: 2}`. */
  passOnAll(events: Readonly<Record<string, number>>): Promise<void>;
  /** Moves the clock past the pause after a read, and waits until no read and no delivery is under way or due. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service and the forge. */
export async function startFollowUps(options: Partial<Config> = {}): Promise<FollowUpTest> {
  const wire = await startForgeServer(() => ({ status: 202 }));
  const github = await startGithub({ webhookUrl: `${wire.url}/hook` });
  const roles = ['api', 'scheduler'] as const;
  const test = await startApp({ roles: [...roles], isHttpForgeAllowed: true, ...options });
  const other = await test.another({ roles: [...roles], isHttpForgeAllowed: true, ...options });
  const clock = stopClock(test, other);
  const app = { appId: '12345', privateKey: github.privateKey, installationId: String(installationId) };
  const connection = { providerType: 'GITHUB_APP', token: null, webhookSecret, ...app };
  const { path: hook } = await connectForgeAt(test, github.url, connection);
  const held = () => wire.requests.splice(0);
  const passOn = async (request: ForgeServer['requests'][number]) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name];
    return (await postTo(test, hook, ...signedAgain(request.body, headers))).status;
  };
  const { store, now } = test.app.services;
  return {
    ...{ test, github, clock, hook, held, passOn },
    async passOnAll(events) {
      const count = (event: string) =>
        wire.requests.filter(({ headers }) => headers['x-github-event'] === event).length;
      await vi.waitUntil(() => Object.entries(events).every(([event, min]) => count(event) >= min), longWait);
      for (const request of held()) await passOn(request);
    },
    settled: async () => {
      const isIdle = 'select 1 from git_delivery where next_attempt_at is not null';
      await vi.waitUntil(async () => (await store.query(isIdle)).length === 0, longWait);
      clock.advance(500);
      for (const topic of ['pull-requests', 'follow-ups'] as const) test.app.services.notifier.notify(topic);
      await vi.waitUntil(async () => {
        const rows = await store.query(
          `select 1 from followed_pull_request where claimed_until_at is not null or wanted_at <= $1::timestamptz
           union all select 1 from follow_up where state = 'pending' and due_at <= $1::timestamptz`,
          [now()],
        );
        return rows.length === 0;
      }, longWait);
    },
    async close() {
      await other.close();
      await test.close();
      await github.close();
      await wire.close();
    },
  };
}

/** A comment's delivery as GitHub sends it: emulate 0.12.2 does not say that the issue is a pull request. */
function signedAgain(body: string, headers: Record<string, string>): [string, Record<string, string>] {
  if (headers['x-github-event'] !== 'issue_comment') return [body, headers];
  const payload = JSON.parse(body) as { issue: object };
  const full = JSON.stringify({ ...payload, issue: { ...payload.issue, 'pull_request': {} } });
  return [full, { ...headers, 'x-hub-signature-256': signatureOf(full, webhookSecret) }];
}

/** A session with an open pull request that has been read once. */
export interface Followed {
  readonly sessionId: string;
  readonly number: number;
  readonly url: string;
  /** The path of the pull request in the API. */
  readonly path: string;
  readonly head: string;
}

let branches = 0;

/** Starts a session, opens a pull request for it, and sets its follow-ups to AUTO. */
export async function makeFollowed(
  { test, github, held, settled }: FollowUpTest,
  { repository = 'acme/site', mode = 'AUTO' as string | null, sessionInput = {} as object } = {},
): Promise<Followed> {
  branches += 1;
  const sessionId = await createSession(test, { repositories: [{ repository }], ...sessionInput });
  const number = await openPullRequestAt(github, repository, `follow-${branches}`);
  const url = `${github.url}/${repository}/pull/${number}`;
  const path = `/repos/${repository}/pulls/${number}`;
  await reportPullRequest(test, sessionId, url);
  await settled();
  await vi.waitUntil(async () => (await pullRequestOf(test, sessionId)).number !== null, longWait);
  if (mode !== null) await setMode(test, { sessionId, url }, mode);
  await settled();
  held();
  const { head } = (await github.person('GET', path)) as { head: { sha: string } };
  return { sessionId, number, url, path, head: head.sha };
}

/** Sets the follow-ups of a pull request. */
export async function setMode(
  test: TestApp,
  { sessionId, url }: Pick<Followed, 'sessionId' | 'url'>,
  mode: string | null,
): Promise<void> {
  const input = { sessionId: `devin-${sessionId}`, url, mode };
  const { userErrors } = await runMutation(test, 'setPullRequestFollowUp', 'pullRequest { followUpMode }', input);
  if (userErrors.length > 0) throw new Error(JSON.stringify(userErrors));
}

/** Reports a finished check of a commit. */
export async function finishCheck(
  { github }: FollowUpTest,
  { head, path }: Pick<Followed, 'head' | 'path'>,
  name: string,
  conclusion: string | null = 'failure',
): Promise<number> {
  const repository = path.split('/').slice(2, 4).join('/');
  const state = conclusion === null ? { status: 'in_progress' } : { status: 'completed', conclusion };
  const run = { name, 'head_sha': head, 'details_url': 'https://ci.test/1', ...state };
  return ((await github.person('POST', `/repos/${repository}/check-runs`, run)) as { id: number }).id;
}

/** Adds a commit to the branch of a pull request, and returns its id. */
export async function addCommit({ github }: FollowUpTest, { path }: Pick<Followed, 'path'>): Promise<string> {
  const repository = path.split('/').slice(2, 4).join('/');
  const { head } = (await github.person('GET', path)) as { head: { ref: string } };
  branches += 1;
  const file = { message: 'More', content: Buffer.from(String(branches)).toString('base64'), branch: head.ref };
  const created = await github.person('PUT', `/repos/${repository}/contents/more-${branches}.txt`, file);
  return (created.commit as { sha: string }).sha;
}

/** The newest messages of the service in a session's log, oldest first. */
export async function followUpMessages(test: TestApp, sessionId: string): Promise<string[]> {
  const rows = await test.app.services.store.query<{ body: string }>(
    `select e.body from log_entry e where e.session_id = $1 and e.kind = 'MESSAGE' and e.data ? 'followUp' order by e.seq`,
    [sessionId],
  );
  return rows.map(({ body }) => body);
}

/** The notices in a session's log. */
export async function noticesOf(test: TestApp, sessionId: string): Promise<string[]> {
  const rows = await test.app.services.store.query<{ body: string }>(
    `select e.body from log_entry e where e.session_id = $1 and e.kind = 'NOTICE' order by e.seq`,
    [sessionId],
  );
  return rows.map(({ body }) => body);
}

/** The pull request of a session as GraphQL shows it. */
export async function pullRequestOf(test: TestApp, sessionId: string): Promise<any> {
  const document = `query($id: ID!) { session(id: $id) { isArchived pullRequests {
    number followUpMode followUpModeOverride followUpStop followUps { followUpId kind state summary settledAt } } } }`;
  const { data, errors } = await graphql(test, test.adminToken, document, { id: `devin-${sessionId}` });
  if (errors) throw new Error(JSON.stringify(errors));
  return data.session.pullRequests[0];
}

/** The states of a pull request's follow-ups, newest first. */
export const statesOfFollowUps = async (test: TestApp, sessionId: string): Promise<string[]> =>
  (await pullRequestOf(test, sessionId)).followUps.map(({ kind, state }: any) => `${kind} ${state}`.toLowerCase());
