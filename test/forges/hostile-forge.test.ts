import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import { createForgeHttp } from '../../src/forges/http/forge-http.ts';
import { ForgeError } from '../../src/forges/interface/errors.ts';
import type { ForgeConnection } from '../../src/forges/support/connection.ts';
import { type ForgeAnswer, type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { startMisbehavingServer } from '../support/misbehaving-server.ts';

const token = 'c4n4ry-token-of-the-connection';
const secret = 'c4n4ry-of-webhooks';
const kinds = ['github_token', 'gitlab_token', 'gitea_token'] as const;
let server: ForgeServer;
let elsewhere: ForgeServer;
let forges: Forges;
let answer: (path: string) => ForgeAnswer;

beforeAll(async () => {
  server = await startForgeServer(({ url }) => answer(url.pathname + url.search));
  elsewhere = await startForgeServer(() => ({ body: {} }));
  forges = createForges({ allowHttp: true });
});
afterAll(async () => {
  await forges.close();
  await server.close();
  await elsewhere.close();
});
beforeEach(() => {
  server.requests.length = 0;
  elsewhere.requests.length = 0;
});

const connection = (kind: (typeof kinds)[number], host = server.url): ForgeConnection => ({
  kind,
  host,
  token,
  webhookSecret: secret,
});
const open = (kind: (typeof kinds)[number] = 'github_token') => forges.open(connection(kind));
function opened(kind: (typeof kinds)[number] = 'github_token') {
  const { pullRequests, webhooks, ...forge } = open(kind);
  if (!pullRequests || !webhooks) throw new Error('The forge has no pull requests.');
  return { ...forge, pulls: pullRequests, webhooks };
}
/** Returns the error of a rejected promise, after a check that it shows no secret. */
async function errorOf(promise: Promise<unknown>): Promise<ForgeError> {
  const error = await promise.then(
    () => expect.fail('It succeeded.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ForgeError);
  expect((error as ForgeError).message).not.toMatch(/c4n4ry|[\p{Cc}\u202e]/u);
  expect((error as ForgeError).message.length).toBeLessThan(1_000);
  return error as ForgeError;
}
const repository = { id: 1, 'full_name': 'acme/site', name: 'site', private: false, 'default_branch': 'main' };
const pull = {
  number: 1,
  'html_url': 'https://github.test/acme/site/pull/1',
  title: 'A title',
  state: 'open',
  head: { ref: 'feature', sha: 'a'.repeat(40), repo: { 'full_name': 'acme/site' } },
  base: { ref: 'main' },
};

it.each(kinds)('sends the credential of %s to no other host', async (kind) => {
  for (const status of [301, 302, 307, 308]) {
    answer = () => ({ status, headers: { location: `${elsewhere.url}/collect` } });
    const { pulls, ...forge } = opened(kind);
    expect((await errorOf(forge.getRepository('acme/site'))).code).toBe('INVALID_RESPONSE');
    expect((await errorOf(forge.testConnection())).code).toBe('INVALID_RESPONSE');
    await errorOf(pulls.comment('acme/site', 1, 'x'));
  }
  expect(elsewhere.requests).toEqual([]);
});

it('follows redirects of reads within the forge, but not for ever, and repeats no write', async () => {
  answer = (path) =>
    path.endsWith('/acme/old')
      ? { status: 301, headers: { location: '/api/v3/repositories/1' } }
      : { body: repository };
  expect((await open().getRepository('acme/old')).path).toBe('acme/site');
  answer = () => ({ status: 302, headers: { location: '/api/v3/again' } });
  expect((await errorOf(open().getRepository('acme/site'))).code).toBe('INVALID_RESPONSE');
  server.requests.length = 0;
  answer = () => ({ status: 307, headers: { location: '/api/v3/again' } });
  await errorOf(opened().pulls.comment('acme/site', 1, 'x'));
  expect(server.requests).toHaveLength(1);
});

it('follows the address of a log to public hosts only, by https, without the credential', async () => {
  const { pulls } = opened();
  answer = () => ({ status: 302, headers: { location: `${elsewhere.url}/log` } });
  expect((await errorOf(pulls.checkLogTail('acme/site', 'run:1'))).message).toMatch(/without https/);
  for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', '169.254.169.254', 'localhost']) {
    answer = () => ({ status: 302, headers: { location: `https://${host}:${new URL(elsewhere.url).port}/log` } });
    expect((await errorOf(pulls.checkLogTail('acme/site', 'run:1'))).message).toMatch(
      /no address that this service may connect to/,
    );
  }
  expect(elsewhere.requests).toEqual([]);
});

it('never connects to the addresses where clouds have the credentials of a machine', async () => {
  for (const host of ['http://169.254.169.254', 'http://[fd00:ec2::254]', 'http://100.100.100.200']) {
    const forge = forges.open(connection('gitea_token', host));
    expect((await errorOf(forge.getRepository('acme/site'))).message).toMatch(
      /no address that this service may connect to/,
    );
  }
  const rebinding = createForges({
    allowHttp: true,
    lookup: (_host, _options, callback) => callback(null, [{ address: '169.254.169.254', family: 4 }]),
  });
  const forge = rebinding.open(connection('gitea_token', 'http://git.example.com'));
  expect((await errorOf(forge.getRepository('acme/site'))).message).toMatch(
    /no address that this service may connect to/,
  );
  await rebinding.close();
});

it.each([
  ['https://user:pass@git.example.com', /must not contain a user name/],
  ['http://git.example.com', /GIT_ALLOW_HTTP/],
  ['file:///etc/passwd', /must be a host name/],
  ['git.example.com?x=1', /must not contain a query/],
  ['a b', /must be a host name/],
  ['', /must be a host name/],
])('refuses the host %j', (host, message) => {
  const strict = createForges({ allowHttp: false });
  expect(() => strict.open(connection('gitlab_token', host))).toThrow(message);
});

it('refuses a token that would add a header', () => {
  expect(() =>
    forges.open({ kind: 'gitea_token', host: 'git.example.com', token: 'a\r\nx: y', webhookSecret: null }),
  ).toThrow(/one line/);
});

it.each(kinds)('reads a bounded number of endless pages of %s', async (kind) => {
  const check = { id: 1, name: 'x', context: 'x', status: 'completed', conclusion: 'success', state: 'success' };
  const pages = (item: unknown) => Array.from({ length: 100 }, () => item);
  const merge = {
    iid: 1,
    title: 'x',
    state: 'opened',
    'source_branch': 'x',
    'target_branch': 'main',
    sha: 'a'.repeat(40),
  };
  answer = (path) => {
    const link = '<http://127.0.0.1/next>; rel="next"';
    if (/check-runs/.test(path)) return { headers: { link }, body: { 'check_runs': pages(check) } };
    if (/commits\/a+\/status\?/.test(path)) return { headers: { link }, body: { statuses: pages(check) } };
    if (/\/(statuses|reviews)\?/.test(path)) return { headers: { link }, body: pages({ ...check, user: null }) };
    if (/\/(approvals|reviewers)/.test(path)) return { status: 404 };
    return { body: kind === 'gitlab_token' ? merge : pull };
  };
  const status = await opened(kind).pulls.read('acme/site', 1);
  expect(status?.isTruncated).toBe(true);
  expect(status?.checks.length).toBeLessThanOrEqual(600);
  expect(server.requests.length).toBeLessThan(25);
});

it.each([
  ['a body of 6 MB', { body: `["${'x'.repeat(6_000_000)}"]` }, /longer than 4194304 bytes/],
  ['100,000 levels', { body: '['.repeat(100_000) }, /more than 32 levels/],
  ['a page of HTML', { headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' }, /not JSON/],
  ['compressed bytes', { headers: { 'content-encoding': 'gzip' }, body: 'x' }, /compressed/],
  ['null', { body: null }, /wrong type/],
  ['a list', { body: [] }, /wrong type/],
  ['a path outside', { body: { ...repository, 'full_name': '../../etc' } }, /"full_name"/],
  ['a path that is an option', { body: { ...repository, 'full_name': '--upload-pack=x/y' } }, /"full_name"/],
  [
    'a branch that is an option',
    { body: { ...repository, 'default_branch': '--upload-pack=touch x' } },
    /"default_branch"/,
  ],
  ['a branch with a line break', { body: { ...repository, 'default_branch': 'main\nx' } }, /"default_branch"/],
  ['a number for a name', { body: { ...repository, name: 7 } }, /"name"/],
  ['an unexpected 304', { status: 304 }, /status 304/],
])('refuses %s', async (_what, response, message) => {
  answer = () => response;
  const error = await errorOf(open().getRepository('acme/site'));
  expect(error).toMatchObject({ code: 'INVALID_RESPONSE', message: expect.stringMatching(message) });
});

it('keeps control and bidirectional characters out of names, and scripts out of addresses', async () => {
  answer = () => ({
    body: { ...repository, description: 'safe\u202eexe.\u0000txt\r\nX: y', 'html_url': 'javascript:alert(1)' },
  });
  expect(await open().getRepository('acme/site')).toMatchObject({
    description: 'safe exe.\ufffdtxt X: y',
    webUrl: null,
  });
  answer = (path) => {
    if (/pulls\/1$/.test(path))
      return {
        body: { ...pull, title: 'a\u2066b\u001b[2Jc', body: 'x\u001b]0;title\u0007y\nz', 'html_url': 'data:x' },
      };
    if (/check-runs/.test(path)) return { body: { 'check_runs': [] } };
    return /status/.test(path) ? { body: { statuses: [] } } : { body: [] };
  };
  expect(await opened().pulls.read('acme/site', 1)).toMatchObject({
    title: 'a b [2Jc',
    body: 'xy\nz',
    url: `${server.url}/acme/site/pull/1`,
  });
});

it('does not take the pull request of another branch or fork for its own', async () => {
  const fork = { ...pull, number: 2, head: { ...pull.head, repo: { 'full_name': 'mallory/site' } } };
  answer = () => ({
    body: [
      fork,
      { ...pull, number: 3, head: { ...pull.head, ref: 'another' } },
      { ...pull, number: 4, head: { ...pull.head, repo: null } },
    ],
  });
  expect(await opened().pulls.find('acme/site', 'feature', 'main')).toBeNull();
});

it.each(kinds)('finds the pull request of %s beside one whose branch is an option', async (kind) => {
  const merge = {
    iid: 1,
    title: 'x',
    state: 'opened',
    'source_branch': 'feature',
    'target_branch': 'main',
    'source_project_id': 1,
    'target_project_id': 1,
  };
  const own = kind === 'gitlab_token' ? merge : pull;
  const strange = { ...own, head: { ...pull.head, ref: '--upload-pack=x' }, 'source_branch': '--upload-pack=x' };
  answer = () => ({ body: [strange, 7, own] });
  expect(await opened(kind).pulls.find('acme/site', 'feature')).toMatchObject({ number: 1, headBranch: 'feature' });
  const review = { body: 'x', state: 'approved', commit: '--x' } as const;
  expect((await errorOf(opened(kind).pulls.submitReview('acme/site', 1, review))).code).toBe('REJECTED');
});

it('masks a credential that the forge repeats', async () => {
  answer = () => ({ status: 422, body: { message: `Bad: ${token}\u202e`, errors: [{ message: `Bearer ${token}` }] } });
  const error = await errorOf(opened().pulls.comment('acme/site', 1, 'x'));
  expect(error).toMatchObject({ code: 'REJECTED', message: expect.stringContaining('********') });
  answer = () => ({ body: { ...repository, description: token } });
  expect((await open().getRepository('acme/site')).description).toBe('********');
});

it.each([
  [
    '403 with nothing left',
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1900000000' } },
    1_900_000_000_000,
  ],
  ['429 with a wait', { status: 429, headers: { 'retry-after': '60' } }, 60_000],
  ['429 with a wait of years', { status: 429, headers: { 'retry-after': '1e15' } }, 86_400_000],
  ['429 with a negative wait', { status: 429, headers: { 'retry-after': '-5' } }, 0],
  ['429 without a time', { status: 429 }, null],
  ['a secondary limit', { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } }, null],
])('reads the limit of %s', async (_what, response, expected) => {
  const now = 1_899_990_000_000;
  const timed = createForges({ allowHttp: true, now: () => now });
  answer = () => response;
  const error = await errorOf(timed.open(connection('github_token')).getRepository('acme/site'));
  expect(error.code).toBe('RATE_LIMITED');
  const at = expected === null ? null : expected > now ? expected : now + expected;
  expect(error.retryAt?.getTime() ?? null).toBe(at);
  await timed.close();
});

it('names the permission that GitHub requires', async () => {
  const message = 'Resource not accessible by integration';
  answer = () => ({
    status: 403,
    headers: { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' },
    body: { message },
  });
  const error = await errorOf(opened().pulls.comment('acme/site', 1, 'x'));
  expect(error).toMatchObject({ code: 'MISSING_PERMISSION', permission: 'issues: write or pull_requests: write' });
  answer = () => ({ status: 403, body: { message } });
  expect((await errorOf(opened().pulls.comment('acme/site', 1, 'x'))).permission).toBe('pull_requests: write');
});

it.each([
  ['nothing', '', /closed the connection/],
  ['no HTTP', 'SSH-2.0-x\r\n', /did not answer with HTTP/],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":', /closed the connection|could not be reached/],
])('reports a server that sends %s as unreachable', async (_what, bytes, message) => {
  const { url } = await startMisbehavingServer((socket) => socket.end(bytes));
  const forge = forges.open(connection('gitea_token', url));
  const error = await errorOf(forge.getRepository('acme/site'));
  expect(error).toMatchObject({ code: 'UNREACHABLE', message: expect.stringMatching(message) });
});

it('gives up on a body that never ends, in time and in memory', async () => {
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
  const { url } = await startMisbehavingServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  });
  const forge = forges.open(connection('gitea_token', url));
  expect((await errorOf(forge.getRepository('acme/site'))).message).toMatch(/longer than/);
  const slow = await startMisbehavingServer(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
  );
  const http = createForgeHttp();
  const call = {
    method: 'GET',
    url: new URL(slow.url),
    headers: {},
    timeoutMs: 200,
    keep: { limit: 100 },
    network: 'any',
  } as const;
  expect((await errorOf(http.send(call))).message).toMatch(/no complete response within 0\.2 seconds/);
  await http.close();
});

it.each([
  '../x',
  'a/../../b',
  '-x/y',
  'a/-b',
  'a//b',
  'a b/c',
  'a/b\n',
  'a/..',
  'ext::sh/x',
  'a/b?c',
  'a%2fb/c',
  'a',
  '',
  'x'.repeat(300),
])('has no repository %j', async (path) => {
  answer = () => ({ body: repository });
  for (const kind of kinds) {
    expect((await errorOf(open(kind).credentialFor(path, 'write'))).code).toBe('NOT_FOUND');
    expect(() => open(kind).cloneUrl(path)).toThrow(/has no repository/);
  }
  expect(server.requests).toEqual([]);
});
