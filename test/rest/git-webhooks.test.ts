import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pruneGitDeliveries } from '../../src/domain/git-deliveries/prune-deliveries.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { connectForgeAt, githubHeaders, pullRequestBody, signatureOf } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { connectRaw } from '../support/raw-http.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const connect = (more: Record<string, unknown> = {}) => connectForgeAt(test, 'github.com', more);

interface StoredDelivery {
  readonly deliveryKey: string;
  readonly eventName: string | null;
  readonly repositoryPath: string | null;
  readonly event: { readonly type: string } | null;
  readonly status: string;
  readonly error: string | null;
}
const stored = (id: string, at: TestApp = test) =>
  at.app.services.store.query<StoredDelivery>(
    `select delivery_key as "deliveryKey", event_name as "eventName", repository_path as "repositoryPath", event, status, error
       from git_delivery where git_connection_id = $1 order by received_at, id`,
    [id],
  );
const send = (path: string, body: string, headers = githubHeaders(body)) => postTo(test, path, body, headers);
/** The parts of a refusal that a caller sees. */
const seen = ({ status, headers, body }: Awaited<ReturnType<typeof send>>) => ({
  status,
  names: [...headers.keys()].filter((name) => !/^(?:date|x-request-id|content-length)$/.test(name)),
  body: { ...body, instance: null },
});

it('stores a signed delivery before it answers, by its id and by its body once', async () => {
  const { id, path } = await connect();
  const body = pullRequestBody('acme/site', 7);
  const headers = githubHeaders(body);
  expect(await send(path, body, headers)).toMatchObject({ status: 202, body: { status: 'accepted' } });
  const key = headers['x-github-delivery'];
  const row = { deliveryKey: key, eventName: 'pull_request', repositoryPath: 'acme/site', status: 'pending' };
  expect(await stored(id)).toMatchObject([{ ...row, event: { type: 'pull_request' } }]);
  // The forge repeats it, somebody repeats it under another id, and somebody sends another body under its id.
  expect(await send(path, body, headers)).toMatchObject({ status: 200, body: { status: 'repeated' } });
  expect(await send(path, body)).toMatchObject({ status: 200, body: { status: 'repeated' } });
  const other = pullRequestBody('acme/site', 8);
  expect(await send(path, other, githubHeaders(other, { id: key ?? '' }))).toMatchObject({ status: 200 });
  expect(await stored(id)).toHaveLength(1);
});

it('stores one of many copies that arrive at once', async () => {
  const { id, path } = await connect();
  const body = pullRequestBody('acme/site', 7);
  const headers = githubHeaders(body);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(path, body, headers)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 202]);
  expect(await stored(id)).toHaveLength(1);
});

it('refuses an unknown connection, a missing secret and a wrong signature alike', async () => {
  const { id, path } = await connect();
  const silent = await connect({ webhookSecret: undefined });
  const plain = await connect({ providerType: 'GIT_HTTPS', host: 'git.example.com', webhookSecret: undefined });
  const gone = await connect();
  await runMutation(
    test,
    'deleteGitConnection',
    'deletedGitConnectionId',
    { gitConnectionId: `git-connection-${gone.id}` },
    test.adminToken,
  );
  const body = pullRequestBody('acme/site', 7);
  const answers = [];
  for (const [to, headers] of [
    [path, githubHeaders(body, { secret: 'another' })],
    [path, { ...githubHeaders(body), 'x-hub-signature-256': '' }],
    [path, { ...githubHeaders(body), 'x-hub-signature-256': 'sha256=zz' }],
    [path, { 'x-gitlab-token': 'c4n4ry-of-the-git-webhook' }],
    [silent.path, githubHeaders(body, { secret: '' })],
    [silent.path, githubHeaders(body, { secret: 'no secret' })],
    [plain.path, githubHeaders(body)],
    [gone.path, githubHeaders(body)],
    [`/webhooks/git/git-connection-${'0'.repeat(32)}`, githubHeaders(body)],
    ['/webhooks/git/nothing', githubHeaders(body)],
    ['/webhooks/git/%00', githubHeaders(body)],
  ] as const) {
    answers.push(seen(await send(to, body, headers)));
  }
  expect(answers[0]).toMatchObject({ status: 401 });
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  for (const each of [id, silent.id, plain.id, gone.id]) expect(await stored(each)).toEqual([]);
});

it('reads the signatures of GitLab and Gitea', async () => {
  const gitlab = await connect({ providerType: 'GITLAB_TOKEN', host: 'gitlab.com' });
  const request = { iid: 7, title: 'A title', state: 'opened', 'source_branch': 'feature', 'target_branch': 'main' };
  const project = { 'path_with_namespace': 'acme/web/site' };
  const merge = JSON.stringify({
    'object_kind': 'merge_request',
    user: { id: 1, username: 'a' },
    project,
    'object_attributes': request,
  });
  const token = { 'x-gitlab-token': 'c4n4ry-of-the-git-webhook', 'x-gitlab-event-uuid': randomUUID() };
  expect(await send(gitlab.path, merge, { ...token, 'x-gitlab-token': 'wrong' })).toMatchObject({ status: 401 });
  expect(await send(gitlab.path, merge, token)).toMatchObject({ status: 202, body: { status: 'accepted' } });
  expect(await stored(gitlab.id)).toMatchObject([{ repositoryPath: 'acme/web/site', eventName: 'merge_request' }]);
  const gitea = await connect({ providerType: 'GITEA_TOKEN', host: 'gitea.example.com' });
  const body = pullRequestBody('acme/site', 7);
  const signed = { 'x-gitea-event': 'pull_request', 'x-gitea-signature': signatureOf(body).slice(7) };
  expect(await send(gitea.path, body, { ...signed, 'x-gitea-delivery': randomUUID() })).toMatchObject({ status: 202 });
  expect(await stored(gitea.id)).toMatchObject([{ eventName: 'pull_request', status: 'pending' }]);
});

describe('signed deliveries that mean nothing', () => {
  it('are kept with the reason if they cannot be read', async () => {
    const { id, path } = await connect();
    const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
    const bodies = [
      'no JSON',
      '[]',
      deep,
      pullRequestBody('acme/site', -1),
      pullRequestBody('../../etc', 1),
      pullRequestBody('acme/site', 1, { head: { ref: '--upload-pack=x', sha: 'a'.repeat(40) } }),
      pullRequestBody('acme/site', 1, { state: { toString: 'x' } }),
    ];
    for (const body of bodies) {
      const answer = await send(path, body);
      expect(answer, body.slice(0, 80)).toMatchObject({
        status: 202,
        body: { status: 'failed', detail: expect.any(String) },
      });
      expect((await send(path, body)).body).toEqual({ status: 'repeated' });
    }
    const rows = await stored(id);
    expect(rows.map(({ status }) => status)).toEqual(bodies.map(() => 'failed'));
    for (const { error, event } of rows) {
      expect(event).toBeNull();
      expect(error).toMatch(/^github\.com sent an invalid response: /);
    }
  });

  it('are ignored if they are events that sessions do not react to', async () => {
    const { id, path } = await connect();
    const ping = JSON.stringify({ zen: 'Practicality beats purity.' });
    expect((await send(path, ping, githubHeaders(ping, { event: 'ping' }))).body).toEqual({ status: 'ignored' });
    const star = JSON.stringify({ action: 'created', repository: { 'full_name': 'acme/site' } });
    expect((await send(path, star, githubHeaders(star, { event: 'star' }))).body).toEqual({ status: 'ignored' });
    expect((await stored(id)).map(({ status }) => status)).toEqual(['ignored', 'ignored']);
  });

  it('do not store text that the database cannot represent', async () => {
    const { id, path } = await connect();
    const body = pullRequestBody('acme/site', 1, { title: 'a\u0000b\ud800' }).replace('synchronize', 'x\\u0000');
    expect((await send(path, body)).status).toBe(202);
    expect(await stored(id)).toHaveLength(1);
  });
});

it('refuses large and compressed bodies, other methods and other paths', async () => {
  const { id, path } = await connect();
  const large = 'x'.repeat(6 * 1_048_576);
  expect(await send(path, large)).toMatchObject({ status: 413 });
  expect(await send(path, '{}', { ...githubHeaders('{}'), 'content-encoding': 'gzip' })).toMatchObject({ status: 415 });
  const get = await fetch(test.url + path);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  expect((await fetch(test.url + path, { method: 'OPTIONS' })).status).toBe(204);
  expect(await send(`${path}/more`, '{}')).toMatchObject({ status: 404 });
  expect(await stored(id)).toEqual([]);
});

it('ends bodies of 100 MB early, announced and in chunks', async () => {
  const { id, path } = await connect();
  const head = `POST ${path} HTTP/1.1\r\nHost: switchyard\r\nX-GitHub-Event: push\r\n`;
  const announced = connectRaw(Number(new URL(test.url).port));
  announced.send(`${head}Content-Length: 104857600\r\n\r\n`);
  expect(await announced.waitFor(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
  const chunked = connectRaw(Number(new URL(test.url).port));
  chunked.send(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  for (let n = 0; n < 20; n += 1) chunked.send(chunk);
  // 413, or 503 while other bodies whose signature is not checked yet fill the memory that they may have.
  expect(await chunked.waitFor(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 (?:413|503) /);
  expect(await stored(id)).toEqual([]);
});

const connectionFields =
  'webhookUrl hasWebhookSecret lastWebhookAt lastWebhookFailure { message at } lastWebhookRefusal { message at }';
const readConnection = async (id: string) => {
  const selection = `nodes { gitConnectionId ${connectionFields} }`;
  const { data } = await graphql(
    test,
    test.adminToken,
    `{ enterprise { gitConnections(first: 100) { ${selection} } } }`,
  );
  const { nodes } = data.enterprise.gitConnections;
  return nodes.find((each: { gitConnectionId: string }) => each.gitConnectionId === `git-connection-${id}`);
};

it('shows the address, the last delivery and the last failure of a connection', async () => {
  const { id, path } = await connect();
  const fresh = { hasWebhookSecret: true, lastWebhookAt: null, lastWebhookFailure: null };
  const webhookUrl = expect.stringMatching(new RegExp(`^http.*${path}$`));
  expect(await readConnection(id)).toMatchObject({ ...fresh, webhookUrl });
  await send(path, 'no JSON');
  const failure = { message: expect.stringContaining('it is not JSON'), at: expect.stringMatching(/Z$/) };
  expect(await readConnection(id)).toMatchObject({ lastWebhookAt: failure.at, lastWebhookFailure: failure });
  const plain = await connect({ providerType: 'GIT_HTTPS', host: 'git.example.com', webhookSecret: undefined });
  expect(await readConnection(plain.id)).toMatchObject({ webhookUrl: null, hasWebhookSecret: false });
});

it('shows the last refused delivery of a connection, and records at most one in a minute', async () => {
  const services = test.app.services as { now: () => Date };
  const { now } = services;
  const start = now().getTime();
  const after = (ms: number) => {
    services.now = () => new Date(start + ms);
    return new Date(start + ms).toISOString();
  };
  const { id, path } = await connect();
  const silent = await connect({ webhookSecret: undefined });
  const refuse = async (to: string) => {
    const body = pullRequestBody('acme/site', 7);
    expect(await send(to, body, githubHeaders(body, { secret: 'wrong' }))).toMatchObject({ status: 401 });
  };
  const read = async (of: string) => (await readConnection(of)).lastWebhookRefusal;
  try {
    expect(await read(id)).toBeNull();
    const first = { message: expect.stringContaining('another secret'), at: after(0) };
    await refuse(path);
    expect(await read(id)).toEqual(first);
    after(59_999);
    await refuse(path);
    expect(await read(id)).toEqual(first);
    const second = { ...first, at: after(60_000) };
    await refuse(path);
    expect(await read(id)).toEqual(second);
    await refuse(silent.path);
    expect(await read(silent.id)).toEqual({ message: expect.stringContaining('no secret'), at: second.at });
  } finally {
    services.now = now;
  }
});

it('rotates the secret of a connection, from which on only the new one signs', async () => {
  const { id, path } = await connect({ webhookSecret: undefined });
  const input = { gitConnectionId: `git-connection-${id}` };
  const rotate = () =>
    runMutation(
      test,
      'rotateGitConnectionWebhookSecret',
      'webhookSecret gitConnection { hasWebhookSecret }',
      input,
      test.adminToken,
    );
  const first = await rotate();
  expect(first).toMatchObject({
    webhookSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
    gitConnection: { hasWebhookSecret: true },
  });
  const body = pullRequestBody('acme/site', 7);
  expect(await send(path, body, githubHeaders(body, { secret: first.webhookSecret }))).toMatchObject({ status: 202 });
  const second = await rotate();
  const next = pullRequestBody('acme/site', 8);
  expect(await send(path, next, githubHeaders(next, { secret: first.webhookSecret }))).toMatchObject({ status: 401 });
  expect(await send(path, next, githubHeaders(next, { secret: second.webhookSecret }))).toMatchObject({ status: 202 });
  const removed = { ...input, webhookSecret: null };
  const selection = 'gitConnection { hasWebhookSecret hasCredential }';
  const { gitConnection } = await runMutation(test, 'updateGitConnection', selection, removed, test.adminToken);
  expect(gitConnection).toEqual({ hasWebhookSecret: false, hasCredential: true });
  const plain = await connect({ providerType: 'GIT_HTTPS', host: 'git.example.com', webhookSecret: undefined });
  const refused = await runMutation(
    test,
    'rotateGitConnectionWebhookSecret',
    'webhookSecret',
    { gitConnectionId: `git-connection-${plain.id}` },
    test.adminToken,
  );
  expect(refused).toMatchObject({ webhookSecret: null, userErrors: [{ code: 'INVALID_INPUT' }] });
});

it('limits the deliveries of a connection and the wrong signatures of an address', async () => {
  const limited = await startApp({ rateLimitGitWebhook: 2, rateLimitLogin: 2 });
  try {
    const { path } = await connectForgeAt(limited, 'github.com');
    const post = (secret?: string) => {
      const body = pullRequestBody('acme/site', 7);
      return postTo(limited, path, body, githubHeaders(body, secret === undefined ? {} : { secret }));
    };
    const statuses = [];
    for (const secret of ['wrong', 'wrong', 'wrong']) statuses.push((await post(secret)).status);
    // The failures of the address do not refuse a correct signature.
    for (let n = 0; n < 3; n += 1) statuses.push((await post()).status);
    expect(statuses).toEqual([401, 401, 429, 202, 202, 429]);
  } finally {
    await limited.close();
  }
});

it('deletes deliveries after a week, and those of a deleted connection', async () => {
  const { services } = test.app;
  const [old, gone, kept] = [await connect(), await connect(), await connect()];
  for (const { path } of [old, gone, kept]) await send(path, pullRequestBody('acme/site', 7));
  await services.store.execute(
    `update git_delivery set received_at = received_at - interval '8 days' where git_connection_id = $1 returning id`,
    [old.id],
  );
  await runMutation(
    test,
    'deleteGitConnection',
    'deletedGitConnectionId',
    { gitConnectionId: `git-connection-${gone.id}` },
    test.adminToken,
  );
  await pruneGitDeliveries(services, () => false);
  expect([await stored(old.id), await stored(gone.id)]).toEqual([[], []]);
  expect(await stored(kept.id)).toHaveLength(1);
});
