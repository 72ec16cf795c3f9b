import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import { isBranchName } from '../../src/forges/support/text.ts';
import { startForgeServer } from '../support/forges/forge-server.ts';
import { gitAccount, startGitServer } from '../support/forges/git-server.ts';
import { runs, seed } from '../support/property-runs.ts';

let git: Awaited<ReturnType<typeof startGitServer>>;
let forges: Forges;
beforeAll(async () => {
  git = await startGitServer();
  forges = createForges({ allowHttp: true });
});
afterAll(async () => {
  await forges.close();
  await git.close();
});
const open = (account: { username: string | null; password: string | null } = gitAccount, host = git.url) =>
  forges.open({ kind: 'git_https', host, ...account });

it('reads the default branch of a repository from git itself', async () => {
  expect(await open().getRepository('team/site.git')).toMatchObject({
    path: 'team/site',
    name: 'site',
    defaultBranch: 'trunk',
    cloneUrl: `${git.url}/team/site.git`,
  });
  expect(await open().getRepository('team/empty')).toMatchObject({ defaultBranch: null });
  await expect(open().getRepository('team/missing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('says that a server does not answer with TLS, and proposes http only if it is allowed', async () => {
  const host = git.url.replace('http:', 'https:');
  const message = `${new URL(host).host} does not answer with TLS.`;
  await expect(open(gitAccount, host).getRepository('team/site')).rejects.toMatchObject({
    code: 'UNREACHABLE',
    message: `${message} If it is a server without TLS, enter its host with "http://".`,
  });
  const strict = createForges({ allowHttp: false });
  const forge = strict.open({ kind: 'git_https', host, ...gitAccount });
  await expect(forge.getRepository('team/site')).rejects.toMatchObject({ code: 'UNREACHABLE', message });
  await strict.close();
});

it('refuses a wrong password, and never shows it', async () => {
  const wrong = open({ ...gitAccount, password: 'c4n4ry-but-wrong' });
  await expect(wrong.getRepository('team/site')).rejects.toMatchObject({
    code: 'CREDENTIAL_REFUSED',
    message: expect.not.stringContaining('c4n4ry'),
  });
});

it('tests reading and pushing without a push', async () => {
  const abilities = async (path: string) =>
    Object.fromEntries(
      (await open().testConnection({ repository: path })).abilities.map((each) => [each.ability, each.isGranted]),
    );
  expect(await abilities('team/site')).toEqual({ 'read_code': true, push: true });
  // Its server does not accept pushes.
  expect(await abilities('team/empty')).toMatchObject({ 'read_code': true });
  // Without a repository there is no request, and so no success.
  await expect(open().testConnection()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(open().testConnection({ repository: 'team/missing' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('has no list, no pull requests and no webhooks, and gives no credential to write without one', async () => {
  expect([open().pullRequests, open().webhooks]).toEqual([null, null]);
  await expect(open().listRepositories()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(open().accessOf('team/site', 'ann')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(await open().credentialFor('team/site', 'write')).toMatchObject(gitAccount);
  const anonymous = open({ username: null, password: null });
  await expect(anonymous.credentialFor('team/site', 'write')).rejects.toMatchObject({ code: 'MISSING_PERMISSION' });
});

const service = 'application/x-git-upload-pack-advertisement';
const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
const head = `${line('# service=git-upload-pack\n')}0000`;
const commit = 'a'.repeat(40);

it.each([
  ['no git', { 'content-type': 'text/html' }, '<html>', /not from a git server/],
  [
    'a line that is longer than the body',
    { 'content-type': service },
    `${head}ffff${commit} HEAD\0x\n`,
    /git protocol/,
  ],
  ['a line of length 3', { 'content-type': service }, `${head}0003`, /git protocol/],
  ['no lines', { 'content-type': service }, '', /git protocol/],
  ['flushes only', { 'content-type': service }, '0000'.repeat(10), /name of the service/],
  [
    'another service',
    { 'content-type': service },
    `${line('# service=git-receive-pack\n')}0000`,
    /git protocol|name of the service/,
  ],
  ['a commit that is none', { 'content-type': service }, `${head}${line('xyz HEAD\0x\n')}`, /first ref/],
  ['a redirect', { location: 'https://elsewhere.example/x' }, '', /redirects/],
])('refuses %s', async (what, headers, body, message) => {
  const server = await startForgeServer(() => ({ status: what === 'a redirect' ? 302 : 200, headers, body }));
  const error = expect.objectContaining({ code: 'INVALID_RESPONSE', message: expect.stringMatching(message) });
  await expect(open(gitAccount, server.url).getRepository('team/site')).rejects.toEqual(error);
  await server.close();
});

it('does not take a default branch that is an option or has a line break', async () => {
  const features = 'multi_ack symref=HEAD:refs/heads/--upload-pack=x agent=git/2';
  const server = await startForgeServer(() => {
    return { headers: { 'content-type': service }, body: `${head}${line(`${commit} HEAD\0${features}\n`)}0000` };
  });
  expect((await open(gitAccount, server.url).getRepository('team/site')).defaultBranch).toBeNull();
  await server.close();
});

it('accepts only branch names that git accepts', () => {
  const isAccepted = (name: string) => {
    try {
      execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  const piece = fc.constantFrom(
    'a',
    'main',
    '/',
    '.',
    '..',
    '@',
    '{',
    '-',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    ' ',
    '\n',
    '.lock',
    'é',
    '\u202e',
    'HEAD',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
      (name) => {
        if (isBranchName(name)) expect(isAccepted(name)).toBe(true);
      },
    ),
    { seed, ...runs(300) },
  );
  for (const name of ['main', 'feature/x', 'switchyard/a-b-c-1f', 'v1.2', 'é', 'a@b'])
    expect(isBranchName(name)).toBe(true);
});
