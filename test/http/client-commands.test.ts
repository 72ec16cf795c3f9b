import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { signInByDevice } from '../../src/cli/client/device-sign-in.ts';
import { readViewer } from '../../src/cli/client/request.ts';
import { runCommand } from '../support/server.ts';

const token = 'cog_secret0fthistest';

/** Starts a server that answers as `answer` says, and returns its address. */
async function serve(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<string> {
  const server = createServer((request, response) => answer(request.url ?? '', response, request));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Starts an authorization server whose endpoints answer with these values; a function is called with the response. */
async function serveOauth(answers: {
  readonly begun?: object;
  readonly token?: object | ((response: ServerResponse) => void);
  readonly revoke?: (form: string) => void;
}): Promise<string> {
  const address: string = await serve((path, response, request) => {
    if (path.startsWith('/.well-known/')) {
      const endpoints = {
        'device_authorization_endpoint': `${address}/begin`,
        'token_endpoint': `${address}/token`,
        'revocation_endpoint': `${address}/revoke`,
      };
      sendJson(response, { issuer: address, ...endpoints });
    } else if (path === '/begin') {
      const codes = { 'device_code': 'code', 'user_code': 'AAAA-BBBB', 'verification_uri': `${address}/device` };
      sendJson(response, { ...codes, 'expires_in': 600, interval: 1, ...answers.begun });
    } else if (path === '/token') {
      if (typeof answers.token === 'function') answers.token(response);
      else sendJson(response, { 'token_type': 'bearer', 'access_token': token, ...answers.token });
    } else if (path === '/revoke') {
      request.setEncoding('utf8').on('data', (form: string) => answers.revoke?.(form));
      request.on('end', () => response.writeHead(200).end());
    } else sendJson(response, {}, 404);
  });
  return address;
}

/** Runs a command with settings of its own. */
function makeHome() {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-client-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const run = (name: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
    runCommand(name, { XDG_CONFIG_HOME: directory, ...env }, ...args);
  return { run, folder: join(directory, 'switchyard'), file: join(directory, 'switchyard', 'credentials.json') };
}

const control = /[^\P{C}\n]/u;

it('refuses answers that are endless, late, or not those of a Switchyard', async () => {
  const answers: [(response: ServerResponse) => void, RegExp][] = [
    [
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const fill = () => {
          while (response.write(' '.repeat(65_536)));
        };
        response.on('drain', fill);
        fill();
      },
      /doesn’t answer: The response is too large\.$/,
    ],
    [() => undefined, /doesn’t answer: .+\.$/],
    [(response) => response.writeHead(200).write('{'), /doesn’t answer: .+\.$/],
    [
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /isn’t a Switchyard|not as a Switchyard does/,
    ],
    [
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      /isn’t a Switchyard|answered 302/,
    ],
    [(response) => sendJson(response, { data: { viewer: null } }), /isn’t a Switchyard|not as a Switchyard does/],
    [(response) => sendJson(response, []), /isn’t a Switchyard|not as a Switchyard does/],
  ];
  for (const [answer, problem] of answers) {
    const address = await serve((_path, response) => answer(response));
    await expect(readViewer({ address, token }, 2)).rejects.toThrow(problem);
    await expect(signInByDevice(address, 'Test', async () => undefined, 2)).rejects.toThrow(problem);
  }
});

it('shows and opens no page of another place, and takes no token that cannot be one', async () => {
  const shown: object[] = [];
  const signIn = (address: string) => signInByDevice(address, 'Test', async (code) => void shown.push(code));
  for (const page of ['file:///etc/passwd', 'https://switchyard.example.com/device', 'javascript:alert(1)', 'x']) {
    const address = await serveOauth({ begun: { 'verification_uri': page } });
    await expect(signIn(address)).rejects.toThrow('names a page of another service');
  }
  expect(shown).toEqual([]);
  const address = await serveOauth({
    begun: { 'user_code': '\u001b[2JAAAA', interval: 0.001 },
    token: { 'expires_in': 1e300 },
  });
  expect(await signIn(address)).toEqual({ token, tokenExpiresAt: null });
  expect(shown).toEqual([{ userCode: '[2JAAAA', page: `${address}/device` }]);
  await expect(signIn(await serveOauth({ token: { 'access_token': 'two\nlines' } }))).rejects.toThrow('cannot be one');
});

it('prints no control characters of a service, and no token', async () => {
  const { run, file } = makeHome();
  const refusal = { error: 'invalid_request', 'error_description': '\u001b[31mNo\u0007' };
  const hostile = await serveOauth({ token: (response) => sendJson(response, refusal, 400) });
  const login = await run('login', [hostile, '--no-browser']);
  expect(login).toMatchObject({ code: 1, stderr: expect.stringMatching(/\[31mNo\n$/) });
  expect(login.stderr).not.toMatch(control);
  const env = { SWITCHYARD_URL: hostile };
  for (const wrong of ['cog_two\nlines', 'cog_\u2026']) {
    const { code, stderr } = await run('whoami', [], { ...env, SWITCHYARD_TOKEN: wrong });
    expect([code, stderr]).toEqual([1, expect.stringContaining('SWITCHYARD_TOKEN isn’t a token')]);
    expect(stderr).not.toContain('cog_');
  }
  expect((await run('login', ['https://user:secret@exa mple'])).stderr).not.toContain('secret');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ current: null, services: {} });
});

it('sends SWITCHYARD_TOKEN to its own service alone', async () => {
  const { run } = makeHome();
  const tokens: (string | undefined)[] = [];
  const other = await serve((_path, response, request) => {
    tokens.push(request.headers.authorization);
    sendJson(response, {}, 401);
  });
  const env = { SWITCHYARD_URL: 'https://switchyard.example.com', SWITCHYARD_TOKEN: token };
  const refused = await run('whoami', [other], env);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`You aren’t signed in to ${other}`)]);
  expect(tokens).toEqual([]);
  await run('whoami', [other], { ...env, SWITCHYARD_URL: `${other}/` });
  await run('whoami', [other], { SWITCHYARD_TOKEN: token });
  expect(tokens).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
});

it('stores tokens where the user alone reads them, and leaves links', async () => {
  const { run, folder, file } = makeHome();
  mkdirSync(folder);
  const target = join(folder, 'elsewhere.json');
  writeFileSync(target, JSON.stringify({ current: null, services: {} }), { mode: 0o644 });
  symlinkSync(target, file);
  const address = await serveOauth({});
  const login = await run('login', [address, '--no-browser']);
  expect(login.stderr).toContain('answered 404');
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8')).services[address]).toEqual({ token, tokenExpiresAt: null });
  expect(readFileSync(target, 'utf8')).toBe(readFileSync(file, 'utf8'));
});

it('asks nobody for an approval if the sign-in cannot be stored, and revokes a token that could not be', async () => {
  const { run, folder, file } = makeHome();
  mkdirSync(folder);
  writeFileSync(file, 'not JSON');
  const address = await serveOauth({});
  const invalid = await run('login', [address, '--no-browser']);
  expect(invalid).toMatchObject({ code: 1, stderr: expect.stringMatching(/isn’t valid\. Delete it/) });
  expect(invalid.stderr).not.toContain('enter this code');
  rmSync(file);
  const revoked: string[] = [];
  const damaging = await serveOauth({
    token(response) {
      writeFileSync(file, 'not JSON');
      sendJson(response, { 'token_type': 'bearer', 'access_token': token });
    },
    revoke: (form) => revoked.push(form),
  });
  expect((await run('login', [damaging, '--no-browser'])).code).toBe(1);
  expect(revoked).toEqual([expect.stringContaining(`token=${token}`)]);
});

it('explains wrong requests of "api" without sending them', async () => {
  const { run } = makeHome();
  let requests = 0;
  const address = await serve((_path, response) => {
    requests += 1;
    sendJson(response, {});
  });
  const env = { SWITCHYARD_URL: address, SWITCHYARD_TOKEN: token };
  for (const [args, problem] of [
    [['-X', 'GET', '-d', '{}', '/v3/self'], 'A request with GET has no body.'],
    [['-X', 'BAD METHOD', '/v3/self'], 'METHOD must be one of GET'],
    [['-H', 'x: a\nb', '/v3/self'], 'isn’t a header'],
    [['-H', ': a', '/v3/self'], 'isn’t a header'],
  ] as const) {
    const { code, stderr } = await run('api', args, env);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect(stderr).not.toContain(token);
  }
  expect((await run('whoami', ['ftp://127.0.0.1'], env)).stderr).toContain('isn’t the address of a service');
  expect(requests).toBe(0);
  expect(await run('api', ['-H', 'x: a', '/v3/self'], env)).toEqual({ code: 0, stdout: '{}', stderr: '' });
});

it('explains every command without starting it', async () => {
  const { run } = makeHome();
  const names = ['doctor', 'agents', 'token', 'ip-access-list', 'maintenance', 'backup', 'restore', 'upgrade'];
  const others = ['workspaces', 'schedules', 'audit', 'login', 'logout', 'whoami', 'api'];
  for (const name of [...names, ...others]) {
    const shown = await run('switchyard', ['help', name]);
    expect(shown, name).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Usage:\n .*${name}`)),
      stderr: '',
    });
  }
  expect(await run('token', ['--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Usage:/),
    stderr: '',
  });
  expect(await run('switchyard', ['help', 'nothing'])).toMatchObject({ code: 2 });
  expect(await run('token', ['--json'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage:'),
  });
});
