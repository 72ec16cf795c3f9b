import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import type { ForgeDelivery, Webhooks } from '../../src/forges/interface/events.ts';
import { type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { personToken, startGithub, type TestGithub, webhookSecret } from '../support/forges/github.ts';

let receiver: ForgeServer;
let github: TestGithub;
let forges: Forges;

beforeAll(async () => {
  receiver = await startForgeServer(() => ({ status: 202 }));
  github = await startGithub({ webhookUrl: `${receiver.url}/webhooks/git/1` });
  forges = createForges({ allowHttp: true });
});
afterAll(async () => {
  await forges.close();
  await github.close();
  await receiver.close();
});

function webhooks(secret: string | null = webhookSecret): Webhooks {
  const forge = forges.open({ kind: 'github_token', host: github.url, token: personToken, webhookSecret: secret });
  if (!forge.webhooks) throw new Error('The forge has no webhooks.');
  return forge.webhooks;
}
const headersOf = (index: number) => receiver.requests[index]?.headers as Record<string, string>;
const bytesOf = (index: number) => Buffer.from(receiver.requests[index]?.body ?? '');

/** Waits for a delivery with this name of an event, and parses it. */
async function delivered(name: string, action: string | null): Promise<ForgeDelivery> {
  return await vi.waitUntil(
    () =>
      receiver.requests
        .map((_, index) => index)
        .filter((index) => headersOf(index)['x-github-event'] === name)
        .map((index) => webhooks().parse(headersOf(index), bytesOf(index)))
        .find((delivery) => delivery.action === action),
    { timeout: 60_000 },
  );
}

it('reads the webhooks of a pull request from its creation to its merge', async () => {
  const main = (await github.person('GET', '/repos/acme/site/branches/main')) as { commit: { sha: string } };
  await github.person('POST', '/repos/acme/site/git/refs', { ref: 'refs/heads/feature', sha: main.commit.sha });
  const content = Buffer.from('x').toString('base64');
  const pushed = await github.person('PUT', '/repos/acme/site/contents/a.txt', {
    message: 'Add',
    content,
    branch: 'feature',
  });
  const { sha } = pushed.commit as { sha: string };
  const pull = { title: 'A title', head: 'feature', base: 'main', body: 'x' };
  const { number } = (await github.person('POST', '/repos/acme/site/pulls', pull)) as { number: number };
  expect(await delivered('pull_request', 'opened')).toMatchObject({
    repository: 'acme/site',
    sender: { login: 'octocat' },
    event: {
      type: 'pull_request',
      pullRequest: { number, state: 'open', headBranch: 'feature', headCommit: sha, baseBranch: 'main' },
    },
  });
  const path = `/repos/acme/site/pulls/${number}`;
  await github.person('POST', `/repos/acme/site/issues/${number}/comments`, { body: 'A comment' });
  // The emulator leaves out the property by which GitHub marks the issue of a pull request.
  expect((await delivered('issue_comment', 'created')).event).toBeNull();
  const index = receiver.requests.findIndex(({ headers }) => headers['x-github-event'] === 'issue_comment');
  const payload = JSON.parse(receiver.requests[index]?.body ?? '') as { issue: object };
  const body = Buffer.from(JSON.stringify({ ...payload, issue: { ...payload.issue, 'pull_request': { url: 'x' } } }));
  const signature = `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`;
  expect(webhooks().parse({ ...headersOf(index), 'x-hub-signature-256': signature }, body).event).toMatchObject({
    type: 'comment',
    number,
    comment: { body: 'A comment', location: null },
  });
  const line = { body: 'On a line', 'commit_id': sha, path: 'a.txt', line: 1, side: 'RIGHT' };
  await github.person('POST', `${path}/comments`, line);
  expect(await delivered('pull_request_review_comment', 'created')).toMatchObject({
    event: {
      type: 'comment',
      number,
      comment: { body: 'On a line', location: { path: 'a.txt', line: 1, side: 'new' } },
    },
  });
  await github.person('POST', `${path}/reviews`, { body: 'Change it', event: 'COMMENT' });
  expect(await delivered('pull_request_review', 'submitted')).toMatchObject({
    event: { type: 'review', number, review: { body: 'Change it', state: 'commented' } },
  });
  const run = { 'head_sha': sha, name: 'tests', status: 'completed', conclusion: 'failure' };
  await github.person('POST', '/repos/acme/site/check-runs', run);
  expect((await delivered('check_run', 'created')).event).toMatchObject({
    type: 'check',
    commit: sha,
    check: { name: 'tests', state: 'failed' },
  });
  await github.person('PUT', `${path}/merge`, {});
  const closed = await delivered('pull_request', 'closed');
  expect(closed.event).toMatchObject({ type: 'pull_request', pullRequest: { number, state: 'merged' } });
  expect(closed.id).not.toBe(closed.digest);
});

it('refuses every webhook whose signature does not cover its bytes', async () => {
  await vi.waitUntil(() => receiver.requests.length > 0);
  const [headers, body] = [headersOf(0), bytesOf(0)];
  const refusal = expect.objectContaining({ code: 'INVALID_SIGNATURE' });
  const parse = (change: Record<string, string | undefined>, bytes: Uint8Array = body, hooks = webhooks()) => {
    return () => hooks.parse({ ...headers, ...change }, bytes);
  };
  expect(parse({})).not.toThrow();
  const signature = headers['x-hub-signature-256'] ?? '';
  expect(parse({ 'x-hub-signature-256': signature.toUpperCase().replace('SHA256', 'sha256') })).not.toThrow();
  expect(parse({ 'x-hub-signature-256': undefined })).toThrow(refusal);
  expect(parse({ 'x-hub-signature-256': '' })).toThrow(refusal);
  expect(parse({ 'x-hub-signature-256': signature.slice(0, -1) })).toThrow(refusal);
  expect(parse({ 'x-hub-signature-256': signature.replace('sha256=', 'sha1=') })).toThrow(refusal);
  expect(parse({}, Buffer.concat([body, Buffer.from(' ')]))).toThrow(refusal);
  expect(parse({}, body, webhooks('another secret'))).toThrow(refusal);
  expect(parse({}, body, webhooks(null))).toThrow(refusal);
  // An empty secret must not be a known key.
  expect(parse({}, body, webhooks(''))).toThrow(refusal);
});
