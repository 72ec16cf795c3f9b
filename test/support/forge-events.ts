import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { graphql, type TestApp } from './app.ts';
import { installationId, type TestGithub, webhookSecret } from './forges/github.ts';
import { connectForgeAt, githubHeaders, type TestConnection } from './git-webhooks.ts';
import { postTo } from './incoming-webhooks.ts';

/** Connects the emulated GitHub as its App, whose bot is not the person `octocat`. */
export function connectApp(test: TestApp, github: TestGithub): Promise<TestConnection> {
  const app = { providerType: 'GITHUB_APP', appId: '12345', installationId: String(installationId), token: undefined };
  return connectForgeAt(test, github.url, { ...app, privateKey: github.privateKey, webhookSecret });
}

/** A person at a forge. */
export const ann = { id: 77, login: 'ann', type: 'User' };

/** The JSON of an event of GitHub about an issue of `acme/site` that gets the label `agent`; members replace its own. */
export const labeled = (change: Record<string, unknown> = {}, issue: Record<string, unknown> = {}) => ({
  action: 'labeled',
  issue: {
    'url': 'https://api.github.com/repos/acme/site/issues/7',
    'html_url': 'https://github.com/acme/site/issues/7',
    'number': 7,
    'title': 'The login fails',
    'body': 'Nobody can log in.',
    'state': 'open',
    'user': ann,
    'labels': [
      { id: 1, name: 'bug' },
      { id: 2, name: 'agent' },
    ],
    'author_association': 'MEMBER',
    ...issue,
  },
  label: { id: 2, name: 'agent', color: 'ff0000' },
  repository: { id: 1, name: 'site', 'full_name': 'acme/site', 'default_branch': 'main', private: true },
  sender: ann,
  nonce: randomUUID(),
  ...change,
});

/** Sends an event of GitHub with its signature. */
export const deliver = (test: TestApp, path: string, event: string, payload: object, secret = webhookSecret) => {
  const body = JSON.stringify(payload);
  return postTo(test, path, body, githubHeaders(body, { event, secret }));
};

/** A run of an automation, with its session. */
export interface SeenRun {
  readonly status: string;
  readonly eventType: string;
  readonly trigger: Record<string, unknown>;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly session: {
    readonly sessionId: string;
    readonly prompt: string;
    readonly repositories: readonly Record<string, unknown>[];
  } | null;
}

/** Returns the runs of an automation, the oldest first. */
export async function runsOf(test: TestApp, automationId: string): Promise<SeenRun[]> {
  const fields = `status eventType trigger error { code message }
    session { sessionId repositories { path requestedRef pullRequestNumber } }`;
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { automation(id: $id) { runs(first: 50) { nodes { ${fields} } } } }`,
    { id: automationId },
  );
  const runs: SeenRun[] = data.automation.runs.nodes.toReversed();
  const prompts = await test.app.services.store.query<{ id: string; prompt: string }>(
    'select id, prompt from session where id = any($1::text[])',
    [runs.map(({ session }) => session?.sessionId.replace('devin-', '') ?? '')],
  );
  return runs.map(({ session, ...run }) => ({
    ...run,
    session: session && { ...session, prompt: prompts.find(({ id }) => session.sessionId.endsWith(id))?.prompt ?? '' },
  }));
}

/** Waits until all events of forges have been processed. */
export const settled = (test: TestApp) =>
  vi.waitUntil(
    async () => {
      const waiting = await test.app.services.store.query(
        'select 1 from forge_event where next_attempt_at is not null limit 1',
      );
      return waiting.length === 0;
    },
    { timeout: 60_000 },
  );
