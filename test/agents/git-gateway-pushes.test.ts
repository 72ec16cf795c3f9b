import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GitGatewayOptions } from '../../src/agents/git-gateway/git-gateway.ts';
import { flushPkt, pktLine } from '../../src/agents/git-gateway/pkt-line.ts';
import type { PushRules } from '../../src/agents/git-gateway/push-rules.ts';
import { ownBranchesOnly, repositoryAt, startGitAgent } from '../support/git-agent.ts';
import { type Intercept, startGitForge } from '../support/git-forge.ts';

/** Starts an agent with a clone `site` that has one commit more than the forge. */
async function start(rules: Partial<PushRules> = {}, options: Partial<GitGatewayOptions> = {}, intercept?: Intercept) {
  const forge = await startGitForge(intercept);
  await forge.addRepository('acme/site');
  const rulesFor = () => ({ ...ownBranchesOnly, ...rules });
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')], { rulesFor, ...options });
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  await writeFile(join(agent.directory, 'site', 'page.html'), '<p>');
  await agent.git('site', 'add', '-A');
  await agent.git('site', 'commit', '-qm', 'Add a page');
  const push = (...args: string[]) => agent.git('site', 'push', 'origin', ...args);
  return { forge, agent, push };
}

const own = 'switchyard/page-ab12cd';

describe('refused pushes', () => {
  it.each([
    { what: 'another branch', refs: ['HEAD:main'], reason: 'this session may push to its own branches only' },
    {
      what: 'a forced push to another branch',
      refs: ['+HEAD:main'],
      reason: 'this session may push to its own branches only',
    },
    { what: 'a deletion of another branch', refs: [':main'], reason: 'this session may push to its own branches only' },
    { what: 'a tag', refs: ['HEAD:refs/tags/v1'], reason: 'this session may not push tags' },
    { what: 'another kind of ref', refs: ['HEAD:refs/notes/x'], reason: 'this session may push branches only' },
    {
      what: 'an atomic push',
      refs: ['--atomic', 'HEAD:main', `HEAD:${own}`],
      reason: 'not pushed because another ref was refused',
    },
    {
      what: 'a push option',
      refs: ['-o', 'merge_request.create', `HEAD:${own}`],
      reason: 'this session may not use this push option',
    },
  ])('shows the reason for $what', async ({ refs, reason }) => {
    const { forge, agent, push } = await start();
    const before = await forge.git('acme/site', 'for-each-ref');
    const { code, stderr } = await push(...refs);
    expect(stderr).toContain(`(${reason})`);
    expect(stderr).toContain('remote: This session may push to switchyard/*-ab12cd only.');
    expect(code).toBe(1);
    expect(await forge.git('acme/site', 'for-each-ref')).toBe(before);
    expect(forge.requests.filter(({ url }) => url.endsWith('/git-receive-pack'))).toEqual([]);
    expect(agent.pushes.flatMap(({ refs: reported }) => reported.map(({ outcome }) => outcome))).not.toContain(
      'accepted',
    );
  });

  it('finds push options that git would read, although their capability has a value', async () => {
    const { forge, agent } = await start();
    const [zero, id] = ['0'.repeat(40), 'a'.repeat(40)];
    const lines = [`${zero} ${id} refs/heads/${own}\0report-status push-options=1`, 'merge_request.create'];
    const response = await fetch(`${agent.url}/${forge.host}/acme/site.git/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.gateway.key}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body: Buffer.concat(lines.flatMap((line) => [pktLine(line), flushPkt])),
    });
    expect(await response.text()).toContain('A capability has a value that git does not send.');
    expect(forge.requests.filter(({ url }) => url.endsWith('/git-receive-pack'))).toEqual([]);
  });

  it('refuses a deletion of the own branch', async () => {
    const { push } = await start();
    expect(await push(`HEAD:${own}`)).toMatchObject({ code: 0 });
    const deleted = await push(`:${own}`);
    expect(deleted).toMatchObject({ code: 1, stderr: expect.stringContaining('(this session may not delete it)') });
  });

  it('shows the reason for a read-only repository before git packs anything', async () => {
    const { forge, push } = await start(
      {},
      { rulesFor: () => ({ refused: 'READ_ONLY', message: 'acme/site is read-only for this session.' }) },
    );
    const { code, stderr } = await push(`HEAD:${own}`);
    expect(stderr).toBe('fatal: remote error: acme/site is read-only for this session.\n');
    expect(code).toBe(128);
    expect(forge.requests.filter(({ url }) => url.includes('receive-pack'))).toEqual([]);
  });

  it('shows the refusal of the caller before the push', async () => {
    const { forge, push } = await start(
      {},
      { beforePush: () => ({ refused: 'UNAVAILABLE', message: 'The session has ended.' }) },
    );
    expect((await push(`HEAD:${own}`)).stderr).toContain('error: remote unpack failed: The session has ended.');
    expect(forge.requests.filter(({ url }) => url.endsWith('/git-receive-pack'))).toEqual([]);
  });

  it('reads a large refused push to its end, so that git shows the reason', async () => {
    const { forge, agent, push } = await start();
    await writeFile(join(agent.directory, 'site', 'large'), randomBytes(3_000_000));
    await agent.git('site', 'add', '-A');
    await agent.git('site', 'commit', '-qm', 'Add a large file');
    expect(await push('HEAD:main')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('! [remote rejected] HEAD -> main'),
    });
    expect(await push(`HEAD:${own}`)).toMatchObject({ code: 0 });
    expect(await forge.git('acme/site', 'rev-parse', own)).toBe(
      (await agent.git('site', 'rev-parse', 'HEAD')).stdout.trim(),
    );
    expect(agent.pushes.at(-1)?.packBytes).toBeGreaterThan(3_000_000);
  });

  it('refuses a pack beyond the limit, and the forge keeps nothing of it', async () => {
    const { forge, agent, push } = await start({}, { limits: { maxPackBytes: 2_000_000 } });
    await writeFile(join(agent.directory, 'site', 'large'), randomBytes(3_000_000));
    await agent.git('site', 'add', '-A');
    await agent.git('site', 'commit', '-qm', 'Add a large file');
    const { code, stderr } = await push(`HEAD:${own}`);
    expect(stderr).toContain('The pack of the push is too large: it may take at most 2000000 bytes.');
    expect(code).toBe(1);
    expect(await forge.git('acme/site', 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(agent.pushes.at(-1)?.refs[0]?.outcome).toBe('refused');
  });
});

describe('allowed pushes', () => {
  it.each([
    { what: 'a tag', rules: { allowTags: true }, refs: ['HEAD:refs/tags/v1'] },
    { what: 'another branch', rules: { allowOtherBranches: true }, refs: ['HEAD:main'] },
    { what: 'a deletion', rules: { allowOtherBranches: true, allowDeletions: true }, refs: [':main', `HEAD:${own}`] },
    { what: 'a deletion alone', rules: { allowOtherBranches: true, allowDeletions: true }, refs: [':main'] },
    { what: 'a push option', rules: { pushOptions: ['ci.skip'] }, refs: ['-o', 'ci.skip', `HEAD:${own}`] },
  ])('passes on $what if the rules permit it', async ({ rules, refs }) => {
    const { forge, agent, push } = await start(rules);
    await forge.git('acme/site', 'config', 'receive.denyDeleteCurrent', 'false');
    expect(await push(...refs)).toMatchObject({ code: 0 });
    expect(agent.pushes.flatMap((each) => each.refs.map(({ outcome }) => outcome))).toEqual(
      refs.filter((ref) => ref.includes(':')).map(() => 'accepted'),
    );
  });

  it('passes on a forced update of the own branch, and reports the old commit', async () => {
    const { agent, push } = await start();
    await push(`HEAD:${own}`);
    await agent.git('site', 'commit', '-q', '--amend', '-m', 'Add a better page');
    expect((await push(`HEAD:${own}`)).stderr).toContain('(non-fast-forward)');
    expect(await push(`+HEAD:${own}`)).toMatchObject({ code: 0 });
    const [firstPush, second] = agent.pushes;
    expect(second?.refs[0]).toMatchObject({ oldId: firstPush?.refs[0]?.newId, outcome: 'accepted' });
  });

  it('passes on a signed push, whose commands are in its certificate', async () => {
    const { forge, agent, push } = await start();
    await forge.git('acme/site', 'config', 'receive.certNonceSeed', 'seed');
    const signer = join(agent.directory, 'signer');
    const signature = '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----';
    await writeFile(signer, `#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '${signature}'\n`, {
      mode: 0o755,
    });
    await agent.git('site', 'config', 'gpg.program', signer);
    expect((await push('--signed', 'HEAD:main')).stderr).toContain('(this session may push to its own branches only)');
    expect(await push('--signed', `HEAD:${own}`)).toMatchObject({ code: 0 });
    expect(agent.pushes.map(({ refs }) => refs[0]?.outcome)).toEqual(['refused', 'accepted']);
  });

  it("reports and shows a hook's rejection", async () => {
    const { forge, agent, push } = await start();
    const hook = join(forge.directoryOf('acme/site'), 'hooks/update');
    await writeFile(hook, '#!/bin/sh\necho "Only on Mondays." >&2\nexit 1\n', { mode: 0o755 });
    expect(await push(`HEAD:${own}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('remote: Only on Mondays.'),
    });
    expect(agent.pushes[0]?.refs[0]).toMatchObject({ outcome: 'rejected', reason: 'hook declined' });
  });

  it.each([
    { status: 401, text: 'refused the credential of the git connection for acme/site.' },
    {
      status: 403,
      text: 'does not permit this for acme/site by the git connection. The host says: Ask the owner, not canary',
    },
    { status: 503, text: 'answered with status 503.' },
  ])('shows that the forge answered the push with status $status', async ({ status, text }) => {
    const { agent, push } = await start({}, {}, ({ url, headers }, response) => {
      if (!url?.endsWith('/git-receive-pack')) return false;
      const secret = Buffer.from(String(headers.authorization).slice(6), 'base64').toString().split(':')[1];
      response.writeHead(status, { 'content-type': 'text/plain' });
      response.end(status === 403 ? `Ask the owner, not canary ${secret}\u202e` : '');
      return true;
    });
    const { code, stderr } = await push(`HEAD:${own}`);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('canary-of');
    expect(code).toBe(1);
    expect(agent.pushes[0]?.refs[0]?.outcome).toBe('rejected');
  });

  it('reports that the outcome is unknown if the forge does not answer', async () => {
    const { agent, push } = await start({}, {}, ({ url, socket }) => {
      const isPush = url?.endsWith('/git-receive-pack') ?? false;
      if (isPush) setImmediate(() => socket.destroy());
      return isPush;
    });
    const { code, stderr } = await push(`HEAD:${own}`);
    expect(stderr).toContain('It may have accepted the push: fetch before you push again.');
    expect(code).toBe(1);
    expect(agent.pushes[0]?.refs[0]?.outcome).toBe('unknown');
  });
});
