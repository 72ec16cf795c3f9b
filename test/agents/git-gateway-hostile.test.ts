import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { flushPkt, pktLine } from '../../src/agents/git-gateway/pkt-line.ts';
import { type GitAgent, repositoryAt, startGitAgent } from '../support/git-agent.ts';
import { forgeAccount, type Intercept, startGitForge } from '../support/git-forge.ts';
import { connectRaw } from '../support/raw-http.ts';

type Options = Parameters<typeof startGitAgent>[1];

async function start(options: Options = {}, intercept?: Intercept) {
  const forge = await startGitForge(intercept);
  await forge.addRepository('acme/site');
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')], options);
  const base = `/${forge.host}/acme/site.git`;
  return { forge, agent, base, auth: authOf(agent), connect: () => connectRaw(agent.gateway.port as number) };
}

const authOf = ({ gateway }: GitAgent) => `Host: 127.0.0.1\r\nAuthorization: Bearer ${gateway.key}\r\n`;
const [idA, zero] = ['a'.repeat(40), '0'.repeat(40)];
const pushTo = (ref: string) =>
  Buffer.concat([pktLine(`${zero} ${idA} ${ref}\0report-status side-band-64k`), flushPkt]);
const own = 'refs/heads/switchyard/page-ab12cd';
const pushType = 'Content-Type: application/x-git-receive-pack-request\r\n';
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

describe('what a request may ask for', () => {
  it.each([
    {
      what: 'another repository',
      target: '/HOST/acme/other.git/info/refs?service=git-upload-pack',
      text: 'This session may not use HOST/acme/other. It may use HOST/acme/site.',
    },
    {
      what: 'another host',
      target: '/elsewhere.example/acme/site.git/info/refs?service=git-upload-pack',
      text: 'This session may not use elsewhere.example/acme/site.',
    },
    {
      what: 'a path upwards',
      target: '/HOST/acme/site.git/../other.git/info/refs?service=git-upload-pack',
      text: 'This session may not use HOST/acme/other.',
    },
    {
      what: 'an encoded path upwards',
      target: '/HOST/acme/site.git%2f..%2fother/info/refs?service=git-upload-pack',
      text: 'This session may not use',
    },
    { what: 'the dumb protocol', target: '/HOST/acme/site.git/info/refs', text: 'passes on smart HTTP and LFS only' },
    { what: 'a file', target: '/HOST/acme/site.git/HEAD', text: 'passes on smart HTTP and LFS only' },
    {
      what: 'another service',
      target: '/HOST/acme/site.git/info/refs?service=git-upload-archive',
      text: 'passes on smart HTTP and LFS only',
    },
    {
      what: 'two services',
      target: '/HOST/acme/site.git/info/refs?service=git-upload-pack&service=git-receive-pack',
      text: 'passes on smart HTTP and LFS only',
    },
    { what: 'a forge API', target: '/HOST/api/v3/user', text: 'passes on smart HTTP and LFS only' },
    {
      what: 'an absolute address',
      target: 'http://HOST/acme/site.git/info/refs?service=git-upload-pack',
      text: 'must be a path',
    },
  ])('refuses $what', async ({ target, text }) => {
    const { forge, auth, connect } = await start();
    const client = connect();
    client.send(`GET ${target.replaceAll('HOST', forge.host)} HTTP/1.1\r\n${auth}Connection: close\r\n\r\n`);
    expect(await client.closed).toContain(text.replaceAll('HOST', forge.host));
    expect(forge.requests).toEqual([]);
  });

  it('accepts the key of its own run only', async () => {
    const { forge, agent, base } = await start();
    const other = await startGitAgent([]);
    const url = `${agent.url}${base}/info/refs?service=git-upload-pack`;
    for (const key of [other.gateway.key, '', `${agent.gateway.key}x`])
      for (const authorization of [`Bearer ${key}`, `Basic ${Buffer.from(`x:${key}`).toString('base64')}`])
        expect((await fetch(url, { headers: { authorization } })).status).toBe(401);
    expect((await fetch(url)).headers.get('www-authenticate')).toBe('Basic realm="Switchyard"');
    expect(forge.requests).toEqual([]);
    const basic = Buffer.from(`anyone:${agent.gateway.key}`).toString('base64');
    expect((await fetch(url, { headers: { authorization: `Basic ${basic}` } })).status).toBe(200);
  });

  it('sends the forge only the headers that git needs', async () => {
    const { forge, agent, base } = await start();
    const headers = {
      'authorization': `Bearer ${agent.gateway.key}`,
      'cookie': 'a=b',
      'x-forwarded-host': 'x',
      'git-protocol': 'version=2:evil',
      'user-agent': 'curl',
    };
    await fetch(`${agent.url}${base}/info/refs?service=git-upload-pack`, { headers });
    const { host, connection, authorization, ...rest } = forge.requests[0]?.headers ?? {};
    expect([host, connection]).toEqual([forge.host, 'close']);
    expect(Buffer.from(authorization?.slice(6) ?? '', 'base64').toString()).toBe(
      `${forgeAccount.username}:${forgeAccount.password}`,
    );
    expect(rest).toEqual({ 'accept': '*/*', 'accept-encoding': 'identity', 'user-agent': 'git/2.40.0' });
  });

  it('refuses more requests than its limit', async () => {
    const { agent, base, auth, connect } = await start({ limits: { maxExchanges: 1 } });
    const first = connect();
    first.send(
      `POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Content-Length: 99\r\nExpect: 100-continue\r\n\r\n`,
    );
    await first.waitFor(/100 Continue/);
    const clone = await agent.git('', 'clone', `http://${base.slice(1)}`, 'site');
    expect(clone.stderr).toContain('fatal: remote error: The session has 1 pending git requests');
  });
});

describe('pushes that lie', () => {
  it.each(['gzip', 'x-gzip'])('reads the commands of a push with coding %s', async (coding) => {
    const { forge, base, auth, connect } = await start();
    const body = gzipSync(pushTo('refs/heads/main'));
    const client = connect();
    client.send(
      `POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    client.send(body);
    await client.waitFor(/ng refs\/heads\/main this session may push to its own branches only/);
    expect(forge.requests).toEqual([]);
  });

  it('ends a push that decompresses without end', async () => {
    const { forge, base, auth, connect } = await start({ limits: { maxPackBytes: 1_000_000 } });
    const body = gzipSync(Buffer.concat([pushTo('refs/heads/main'), Buffer.alloc(50_000_000)]));
    const client = connect();
    client.send(
      `POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    client.send(body);
    expect(await client.closed).toMatch(/^HTTP\/1\.1 413 /);
    expect(forge.requests).toEqual([]);
  });

  it.each([
    { what: 'an allowed pack', ref: own, sees: 1 },
    { what: 'a refused pack', ref: 'refs/heads/main', sees: 0 },
  ])('ends $what that never ends', async ({ ref, sees }) => {
    const limits = { maxPackBytes: 3_000_000 };
    // Git itself would end it after a few bytes: they are no pack.
    const { forge, agent, base, auth, connect } = await start({ limits }, (request) => Boolean(request.resume()));
    const client = connect();
    client.send(`POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Transfer-Encoding: chunked\r\n\r\n`);
    client.send(chunk(pushTo(ref)));
    let isOpen = true;
    void client.closed.then(() => {
      isOpen = false;
    });
    const part = chunk(Buffer.alloc(65_536, 'PACK'));
    for (let count = 0; isOpen && count < 2_000; count++)
      if (!client.socket.write(part))
        await Promise.race([once(client.socket, 'drain').catch(() => null), client.closed]);
    expect(await client.closed).toMatch(/^(HTTP\/1\.1 413 [\s\S]*)?$/);
    expect(forge.requests).toHaveLength(sees);
    await expect.poll(() => agent.pushes).toHaveLength(1);
    expect(agent.pushes[0]?.refs).toMatchObject([{ ref, outcome: 'refused' }]);
  });

  it.each([
    { what: 'has a false length', body: Buffer.from('fffe'), text: 'A length is not allowed.' },
    {
      what: 'has no report',
      body: Buffer.concat([pktLine(`${zero} ${idA} ${own}\0quiet`), flushPkt]),
      text: 'report-status',
    },
    { what: 'ends early', body: pushTo(own).subarray(0, 60), text: 'It ends before its list of commands does.' },
    {
      what: 'deletes and has a pack',
      body: Buffer.concat([pktLine(`${idA} ${zero} ${own}\0report-status`), flushPkt, Buffer.from('PACK')]),
      text: 'It deletes refs only, but has a pack.',
    },
  ])('refuses a push that $what', async ({ body, text }) => {
    const rulesFor = () => ({
      branches: ['switchyard/*'],
      allowOtherBranches: true,
      allowTags: true,
      allowDeletions: true,
      pushOptions: [],
    });
    const { forge, base, auth, connect } = await start({ rulesFor });
    const client = connect();
    client.send(
      `POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    client.send(body);
    expect(await client.closed).toContain(text);
    expect(forge.requests).toEqual([]);
  });

  it('answers the question before a large push, without the forge', async () => {
    const { forge, base, auth, connect } = await start();
    const client = connect();
    client.send(
      `POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Connection: close\r\nContent-Length: 4\r\n\r\n0000`,
    );
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*content-length: 0/i);
    expect(forge.requests).toEqual([]);
  });

  it('closes the connection to the forge if the agent disconnects during a push', async () => {
    let resolve: () => void = () => undefined;
    const closed = new Promise<void>((done) => {
      resolve = done;
    });
    const { agent, base, auth, connect } = await start({}, (request) => {
      if (!request.url?.endsWith('/git-receive-pack')) return false;
      request.resume();
      request.once('close', () => resolve());
      client.socket.destroy();
      return true;
    });
    const client = connect();
    client.send(`POST ${base}/git-receive-pack HTTP/1.1\r\n${auth}${pushType}Transfer-Encoding: chunked\r\n\r\n`);
    client.send(chunk(pushTo(own)));
    await closed;
    await expect.poll(() => agent.pushes).toHaveLength(1);
    expect(agent.pushes[0]?.refs[0]).toMatchObject({
      outcome: 'refused',
      reason: 'the agent did not send the push completely',
    });
  });
});

describe('forges that lie', () => {
  const clone = async (intercept: Intercept, options: Options = {}) => {
    const { forge, agent } = await start(options, intercept);
    const result = await agent.git('', 'clone', `${forge.url}/acme/site.git`, 'site');
    expect(JSON.stringify(result)).not.toContain('canary');
    return { ...result, forge, agent };
  };
  const redirectTo =
    (location: (url: string) => string, status = 302): Intercept =>
    ({ url = '' }, response) => {
      response.writeHead(status, { location: location(url) }).end();
      return true;
    };

  it.each([
    { what: 'redirects in a circle', intercept: redirectTo((url) => url), text: 'redirected the request too often' },
    {
      what: 'redirects to nowhere',
      intercept: redirectTo(() => 'http://:0'),
      text: 'redirected the request to nowhere',
    },
    {
      what: 'redirects to a forbidden address',
      intercept: redirectTo(() => 'http://169.254.169.254/info/refs'),
      text: 'The gateway may not connect to 169.254.169.254.',
    },
    {
      what: 'redirects to another scheme',
      intercept: redirectTo(() => 'file:///etc/passwd'),
      text: 'The gateway may not connect to',
    },
    {
      what: 'answers with a page',
      intercept: ((_, response) =>
        Boolean(response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'))) as Intercept,
      text: 'did not answer as a git server for acme/site',
    },
    {
      what: 'asks for a password',
      intercept: ((_, response) =>
        Boolean(response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('no'))) as Intercept,
      text: 'refused the credential of the connection "Local git" for acme/site. An administrator can test the connection "Local git" in Settings → Git.',
    },
    {
      what: 'closes the connection',
      intercept: (({ socket }) => Boolean(socket.destroy())) as Intercept,
      text: 'could not be reached by the connection "Local git".',
    },
    { what: 'does not answer', intercept: (() => true) as Intercept, text: 'sent nothing for 1 s' },
    {
      what: 'has no such repository',
      intercept: ((_, response) => Boolean(response.writeHead(404).end())) as Intercept,
      text: 'has no repository acme/site, or the connection "Local git" may not use it',
    },
  ])('shows that a forge $what', async ({ intercept, text }) => {
    const isAllowed = (url: URL) => url.protocol === 'http:' && url.hostname === '127.0.0.1';
    const { stderr, code } = await clone(intercept, {
      addresses: { lookup: null, isAllowed },
      credentialFor: () => ({ ...forgeAccount, connection: 'Local git' }),
      limits: { idleTimeoutMs: 1_000 },
    });
    expect(stderr).toContain('fatal: remote error: ');
    expect(stderr).toContain(text);
    expect(code).toBe(128);
  });

  it('shows that a forge does not answer with TLS', async () => {
    const forge = await startGitForge();
    const repository = repositoryAt(forge.url, 'acme/site');
    const agent = await startGitAgent([{ ...repository, url: repository.url.replace('http:', 'https:') }], {
      credentialFor: () => ({ ...forgeAccount, connection: 'Local git' }),
    });
    const { stderr } = await agent.git('', 'clone', repository.url, 'site');
    const advice = 'An administrator can test the connection "Local git" in Settings → Git.';
    expect(stderr).toContain(`${forge.host} does not answer with TLS. ${advice}`);
  });

  it('hides a credential that the forge repeats', async () => {
    const { stderr } = await clone(({ headers }, response) => {
      const [, basic = ''] = headers.authorization?.split(' ') ?? [];
      const text = `ERR ${basic} ${Buffer.from(basic, 'base64').toString()}`;
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      response.end(Buffer.concat([pktLine('# service=git-upload-pack\n'), flushPkt, pktLine(text)]));
      return true;
    });
    expect(stderr).toMatch(/remote error: \*+ x-access-token:\*+/);
  });

  it('follows a moved repository, with its later requests', async () => {
    const { code, forge, agent } = await clone((request, response) => {
      if (!request.url?.startsWith('/acme/site.git/info/refs')) return false;
      response.writeHead(301, { location: request.url.replace('/acme/site.git', '/acme/moved.git') }).end();
      return true;
    });
    expect(code).toBe(128);
    await forge.addRepository('acme/moved');
    expect(await agent.git('', 'clone', '-q', `${forge.url}/acme/site.git`, 'again')).toMatchObject({ code: 0 });
    expect(forge.requests.at(-1)).toMatchObject({
      url: '/acme/moved.git/git-upload-pack',
      headers: { authorization: expect.anything() },
    });
  });

  it('sends no credential to another origin', async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    await clone(redirectTo((url) => `http://127.0.0.1:${port}${url}`, 307));
    expect(seen).toEqual([undefined]);
  });

  it('closes the connection of a fetch that ends too early', async () => {
    const { stderr, code } = await clone(({ url }, response) => {
      if (!url?.endsWith('/git-upload-pack')) return false;
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      response.write('0032');
      setImmediate(() => response.destroy());
      return true;
    });
    expect(stderr).toMatch(/RPC failed|early EOF|disconnect/);
    expect(code).toBe(128);
  });

  it('reads no faster than the agent, and bounds an endless response', async () => {
    let written = 0;
    const intercept: Intercept = ({ url }, response) => {
      if (!url?.endsWith('/git-upload-pack')) return false;
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      const more = () => {
        let isReady = !response.destroyed;
        while (isReady) {
          isReady = response.write(Buffer.alloc(65_536));
          written += 65_536;
        }
      };
      response.on('drain', more);
      more();
      return true;
    };
    const { base, auth, connect } = await start({ limits: { maxFetchBytes: 50_000_000 } }, intercept);
    const client = connect();
    client.socket.pause();
    const request = `POST ${base}/git-upload-pack HTTP/1.1\r\n${auth}Content-Type: application/x-git-upload-pack-request\r\nContent-Length: 4\r\n\r\n0000`;
    client.send(request);
    await expect.poll(() => written).toBeGreaterThan(100_000);
    // Sockets hold some of it, but the figure stays when nobody reads.
    let before = -1;
    const isStill = () => {
      const isSame = before === written;
      before = written;
      return isSame;
    };
    await expect.poll(isStill, { interval: 300 }).toBe(true);
    expect(written).toBeLessThan(20_000_000);
    client.socket.resume();
    await client.closed;
    expect(client.received().length).toBeLessThan(51_000_000);
  });
});
