import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { flushPkt, pktLine } from '../../src/agents/git-gateway/pkt-line.ts';
import { graphql, type TestApp } from '../support/app.ts';
import { forgeAccount, type GitForge, startGitForge } from '../support/git-forge.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { writeProfiles } from '../support/profiles.ts';
import { factor } from '../support/property-runs.ts';
import { bootstrapToken, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, firstOrganizationId } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

/** The limits of both directions, in MB: `PROPERTY_RUNS=8` tries 2 GB. */
const limitMb = Math.max(1, Math.round(256 * factor));
const limit = limitMb * 1_048_576;
/** The growth of the server's memory that is allowed, in bytes. Less than a pack of the limit. */
const maxGrowth = 200 * 1_048_576;

/**
 * A program of a hostile agent: pushes a pack to its branch `work` through its gateway, whose address and key it finds as git
 * does. The first argument is the size of the pack in MB, or `Infinity`. Prints the status and the text of the answer.
 */
const pusher = `
  const git = (...args) => require('child_process').execFileSync('git', args, { encoding: 'utf8' }).trim();
  const [, base] = git('config', '--get-regexp', '^url\\\\..*\\\\.insteadof$').match(/^url\\.(.*)\\.insteadof /m);
  const [name, value] = git('config', '--get-urlmatch', 'http.extraHeader', base).split(/: /);
  const path = new URL(git('config', 'remote.origin.url')).pathname;
  const id = git('rev-parse', 'HEAD');
  const text = '0'.repeat(40) + ' ' + id + ' refs/heads/work\\0 report-status side-band-64k';
  const head = (text.length + 4).toString(16).padStart(4, '0') + text + '0000';
  const part = Buffer.alloc(1048576, 'PACK');
  const headers = { [name]: value, 'content-type': 'application/x-git-receive-pack-request' };
  const request = require('http').request(base + path.slice(1) + '/git-receive-pack', { method: 'POST', headers }, (answer) => {
    answer.setEncoding('latin1').on('data', (data) => process.stdout.write(data.replace(/[^ -~]/g, ' ')));
    answer.on('end', () => process.exit());
    console.log('status', answer.statusCode);
  });
  request.on('error', () => { console.log('closed'); process.exit(); });
  request.write(head);
  let left = Number(process.argv[1]);
  const more = () => { while (left-- > 0) if (!request.write(part)) return request.once('drain', more); request.end(); };
  more();`;

/** Sends an endless pack of the same object in answer to a fetch. Returns false for other requests. */
function sendEndlessPack(response: ServerResponse): void {
  const content = Buffer.alloc(60_000, 'x');
  // The type and the size of a blob, in git's encoding of numbers.
  const header = Buffer.of(
    0x80 | (3 << 4) | (content.length & 15),
    0x80 | ((content.length >> 4) & 127),
    content.length >> 11,
  );
  const object = Buffer.concat([header, deflateSync(content, { level: 0 })]);
  const band = (data: Buffer) => pktLine(Buffer.concat([Buffer.of(1), data]));
  const start = Buffer.from('5041434b0000000200ffffff', 'hex');
  response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
  response.write(Buffer.concat([pktLine('packfile\n'), band(start)]));
  const line = band(object);
  const more = () => {
    while (!response.destroyed) if (!response.write(line)) return;
  };
  response.on('drain', more);
  more();
}

async function start(forge: GitForge) {
  const shell = { id: 'shell', command: [process.execPath, '-e', shellAgent], sandbox: 'none', mcp: false };
  const env: Record<string, string> = {
    ...(await makeServerEnv()),
    AGENTS_CONFIG: await writeProfiles({}, shell),
    GIT_ALLOW_HTTP: 'true',
    GIT_MAX_PUSH_MB: String(limitMb),
    MAX_REPOSITORY_MB: String(limitMb),
  };
  const server = await startServer(env);
  const organizationId = await firstOrganizationId(server, bootstrapToken);
  const test = { url: server.url, adminToken: bootstrapToken, organizationId } as TestApp;
  const account = { username: forgeAccount.username, token: forgeAccount.password };
  await connectForgeAt(test, forge.url, { providerType: 'GIT_HTTPS', webhookSecret: undefined, ...account });
  const begin = (path: string, prompt: string) =>
    createSession(test, { prompt, agent: 'shell', repositories: [{ repository: path, branch: 'work' }] });
  const run = async (path: string, prompt: string) => {
    const id = await begin(path, prompt);
    await waitUntilEnded(test, id);
    return { id, output: (await readMessages(test, id)).at(-1) ?? '' };
  };
  const memory = () =>
    Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1_024;
  return { server, test, run, memory, dataDir: env.DATA_DIR as string };
}

/** Samples a figure until the returned function is called, which returns the maximum. */
function watchMaximum(read: () => number): () => number {
  let maximum = read();
  const timer = setInterval(() => {
    maximum = Math.max(maximum, read());
  }, 20);
  onTestFinished(() => clearInterval(timer));
  return () => {
    clearInterval(timer);
    return Math.max(maximum, read());
  };
}

async function sizeOf(directory: string): Promise<number> {
  // A directory of the service may disappear while it is listed.
  const names = await vi.waitFor(() => readdir(directory, { recursive: true }), { timeout: 60_000 });
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

it('ends endless and huge packs of agents and forges in bounded memory and disk, while others work', async () => {
  let swallowed = 0;
  const forge = await startGitForge((request, response) => {
    if (request.url === '/acme/endless.git/git-upload-pack') {
      let body = '';
      request.setEncoding('latin1').on('data', (data: string) => {
        body += data;
      });
      // The list of refs is a true one.
      request.on('end', () => (body.includes('command=fetch') ? sendEndlessPack(response) : sendRefs(response, head)));
      return true;
    }
    if (request.url !== '/acme/sink.git/git-receive-pack') return false;
    request.on('data', (data: Buffer) => {
      swallowed += data.length;
    });
    request.on('end', () => {
      const report = Buffer.concat([pktLine('unpack ok\n'), pktLine('ok refs/heads/work\n'), flushPkt]);
      response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' });
      response.end(Buffer.concat([pktLine(Buffer.concat([Buffer.of(1), report])), flushPkt]));
    });
    return true;
  });
  for (const path of ['acme/site', 'acme/sink', 'acme/endless']) await forge.addRepository(path);
  const head = await forge.git('acme/endless', 'rev-parse', 'main');
  const { server, test, run, memory, dataDir } = await start(forge);
  const push = (megabytes: number) => run('acme/sink', `node -e '${pusher.replaceAll("'", `'"'"'`)}' ${megabytes}`);
  const pushesOf = async (id: string) => {
    const query = `query($id: ID!) { session(id: $id) { events(first: 50) { nodes { ... on PushEvent { pushOutcome refusal } } } } }`;
    const { data } = await graphql(test, bootstrapToken, query, { id });
    return data.session.events.nodes.filter((node: { pushOutcome?: string }) => node.pushOutcome);
  };
  // The first session loads what every session needs.
  await run('acme/site', 'ls');
  const before = memory();
  const stop = watchMaximum(memory);
  const onDisk = await sizeOf(dataDir);
  const tooLarge = `The pack of the push is too large: it may take at most ${limitMb} MB.`;

  const endless = push(Number.POSITIVE_INFINITY);
  const other = await run('acme/site', 'echo y >y; git add y; git commit -qm y; git push -q 2>&1; echo done');
  expect(other.output).toContain('done');
  // Nobody reads an endless pack to its end: the connection is closed with the reason.
  const { id, output } = await endless;
  expect(output).toMatch(/status 413|closed/);
  expect(await pushesOf(id)).toEqual([{ pushOutcome: 'REFUSED', refusal: expect.stringContaining(tooLarge) }]);
  expect(swallowed).toBeLessThanOrEqual(limit + 1_048_576);

  const slightlyTooLarge = await push(limitMb + 1);
  expect(slightlyTooLarge.output).toContain(tooLarge);
  swallowed = 0;
  const largest = await push(limitMb);
  expect(largest.output).toContain('ok refs/heads/work');
  expect(swallowed).toBeGreaterThan(limit);

  const cloning = run('acme/endless', 'ls');
  expect((await run('acme/site', 'git fetch -q; echo done')).output).toContain('done');
  const failed = await cloning;
  const query = `query($id: ID!) { session(id: $id) { repositories { state error } } }`;
  const { data } = await graphql(test, bootstrapToken, query, { id: failed.id });
  expect(data.session.repositories).toEqual([
    { state: 'FAILED', error: expect.stringContaining('the maximum for one fetch') },
  ]);

  const growth = stop() - before;
  if (process.env.TEST_LOG)
    process.stderr.write(`${limitMb} MB: memory grew by ${Math.round(growth / 1_048_576)} MB\n`);
  expect(growth).toBeLessThan(maxGrowth);
  expect((await sizeOf(dataDir)) - onDisk).toBeLessThan(20 * 1_048_576);
  expect(await server.stop()).toBe(0);
}, 480_000);

function sendRefs(response: ServerResponse, head: string): void {
  response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
  const lines = [`${head} HEAD symref-target:refs/heads/main\n`, `${head} refs/heads/main\n`];
  response.end(Buffer.concat([...lines.map((line) => pktLine(line)), flushPkt]));
}
