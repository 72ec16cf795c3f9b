import { createHmac, randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import { runMutation } from './people.ts';

/** The secret of the webhooks of {@link connectForgeAt}. */
export const gitWebhookSecret = 'c4n4ry-of-the-git-webhook';

/** A git connection of a test. */
export interface TestConnection {
  readonly id: string;
  /** Path of its webhooks. */
  readonly path: string;
}

let count = 0;

/** Creates a git connection with a webhook secret; more members replace its own. */
export async function connectForgeAt(
  test: TestApp,
  host: string,
  more: Record<string, unknown> = {},
): Promise<TestConnection> {
  count += 1;
  const input = {
    providerType: 'GITHUB_TOKEN',
    name: `Forge ${count}`,
    host,
    token: 'ghp_of-a-test',
    webhookSecret: gitWebhookSecret,
    ...more,
  };
  const selection = 'gitConnection { gitConnectionId }';
  const made = await runMutation(test, 'createGitConnection', selection, input, test.adminToken);
  const prefixed: string | undefined = made.gitConnection?.gitConnectionId;
  if (prefixed === undefined) throw new Error(JSON.stringify(made));
  return { id: prefixed.replace('git-connection-', ''), path: `/webhooks/git/${prefixed}` };
}

/** Signs a body like GitHub. */
export const signatureOf = (body: string | Uint8Array, secret: string = gitWebhookSecret): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Returns the headers of a delivery of GitHub. */
export const githubHeaders = (
  body: string | Uint8Array,
  { event = 'pull_request', id = randomUUID() as string, secret = gitWebhookSecret } = {},
): Record<string, string> => ({
  'content-type': 'application/json',
  'x-github-event': event,
  'x-github-delivery': id,
  'x-hub-signature-256': signatureOf(body, secret),
});

/** Returns the body of GitHub's event `pull_request`. */
export const pullRequestBody = (repository: string, number: number, more: object = {}): string => {
  const sha = 'a'.repeat(40);
  const pull = {
    number,
    title: 'A title',
    body: null,
    state: 'open',
    draft: false,
    head: { ref: 'feature', sha, repo: { 'full_name': repository } },
    base: { ref: 'main', sha },
    ...more,
  };
  const nonce = randomUUID();
  return JSON.stringify({
    action: 'synchronize',
    'pull_request': pull,
    repository: { 'full_name': repository },
    nonce,
  });
};
