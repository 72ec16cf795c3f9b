import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { deleteOrphanedAttachments } from '../../src/domain/sessions/attachments/orphans.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { connectGitForge } from '../support/connected-forge.ts';
import { makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { makeOrganization } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

let test: TestApp;
beforeAll(async () => {
  const shell = { id: 'shell', command: [process.execPath, '-e', shellAgent], sandbox: 'none', mcp: false };
  const agentsConfig = await writeProfiles({}, shell);
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
});
afterAll(() => test.close());

async function startSession(prompt: string, files: Readonly<Record<string, string>>, more: object = {}) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', files);
  await connectGitForge(test, forge, 'acme/site');
  const input = {
    ...{ agent: 'shell', prompt, organizationId: test.organizationId, ...more },
    repositories: [{ repository: `${forge.host}/acme/site`, branch: 'work' }],
  };
  const { session, userErrors } = await runMutation(
    test,
    'createSession',
    'session { sessionId }',
    input,
    test.adminToken,
  );
  expect(userErrors).toEqual([]);
  return { forge, id: session.sessionId as string };
}

const document = `query($id: ID!, $turn: Int, $directory: String, $first: Int, $after: String, $filter: ChangedFileFilter) { session(id: $id) { status changesUpdatedAt changes(turn: $turn, directory: $directory) {
  repository { path } base head fileCount additions deletions isTruncated updatedAt patchUrl bundleUrl
  files(first: $first, after: $after, filter: $filter) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { path oldPath status oldMode mode additions deletions isBinary isTruncated size
      hunks { oldStart oldLines newStart newLines heading lines } } } } } }`;

async function readChanges(id: string, variables: object = {}, token = test.adminToken) {
  const { data, errors } = await graphql(test, token, document, { id, ...variables });
  expect(errors).toBeUndefined();
  return data.session?.changes as any[];
}

/** Waits until the changes of a turn are stored. */
const stored = async (id: string, turn: number) => {
  await expect.poll(() => readChanges(id, { turn }), { timeout: 60_000 }).toHaveLength(1);
  return (await readChanges(id, { turn }))[0];
};

const brief = ({ files }: any) =>
  files.nodes.map(({ path, status, additions, deletions }: any) => [path, status, additions, deletions]);

it('stores the changes of the session and of each turn, with a patch and a bundle', async () => {
  const { forge, id } = await startSession('echo one >>README.md; echo new >new.txt; git commit -qam One', {
    'README.md': '# Site\n',
  });
  await waitUntilEnded(test, id);
  const first = await stored(id, 1);
  expect(brief(first)).toEqual([
    ['README.md', 'MODIFIED', 1, 0],
    ['new.txt', 'ADDED', 1, 0],
  ]);
  await runMutation(
    test,
    'sendMessage',
    '',
    { sessionId: id, body: 'echo two >>README.md; rm new.txt' },
    test.adminToken,
  );
  await waitUntilEnded(test, id);
  const second = await stored(id, 2);
  expect(brief(second)).toEqual([
    ['README.md', 'MODIFIED', 1, 0],
    ['new.txt', 'DELETED', 0, 1],
  ]);
  expect(second).toMatchObject({ bundleUrl: null, additions: 1, deletions: 1, fileCount: 2 });
  expect(second.files.nodes[0].hunks[0].lines).toEqual([' # Site', ' one', '+two']);
  expect(brief(await stored(id, 1))).toEqual(brief(first));
  const [all] = await readChanges(id);
  const base = await forge.git('acme/site', 'rev-parse', 'main');
  expect(all).toMatchObject({ repository: { path: 'acme/site' }, base, isTruncated: false, additions: 2 });
  expect(brief(all)).toEqual([['README.md', 'MODIFIED', 2, 0]]);
  expect(all.head).not.toBe(base);
  // The patch and the bundle are good for git.
  const directory = await makeDirectory();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, env: plainGit, encoding: 'utf8' });
  const patch = await fetch(all.patchUrl);
  expect(patch.headers.get('content-disposition')).toContain('site.patch');
  const bundle = await fetch(all.bundleUrl);
  await writeFile(join(directory, 'site.patch'), Buffer.from(await patch.arrayBuffer()));
  await writeFile(join(directory, 'site.bundle'), Buffer.from(await bundle.arrayBuffer()));
  git('clone', '-q', forge.directoryOf('acme/site'), 'clone');
  git('-C', 'clone', 'apply', '--index', '../site.patch');
  expect(git('-C', 'clone', 'diff', '--cached', '--stat')).toContain('README.md | 2 ++');
  git('-C', 'clone', 'fetch', '-q', '../site.bundle', 'work:work');
  expect(git('-C', 'clone', 'rev-parse', 'work').trim()).toBe(all.head);
  // The files that were replaced are gone, and none is in a list of attachments.
  const rows = await test.app.services.store.query(
    `select source, count(*)::int as count from attachment where session_id = $1 group by source`,
    [parseId('session', id)],
  );
  expect(rows).toEqual([{ source: 'changes', count: 7 }]);
  const lists = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { attachments { totalCount } } }',
    { id },
  );
  expect(lists.data.session.attachments.totalCount).toBe(0);
});

it('pages the files, and refuses bad arguments', async () => {
  const { id } = await startSession('for n in 1 2 3 4 5; do echo $n >f$n; done', { 'README.md': 'x\n' });
  await waitUntilEnded(test, id);
  await stored(id, 1);
  const [first] = await readChanges(id, { first: 2 });
  expect(brief(first).map(([path]: [string]) => path)).toEqual(['f1', 'f2']);
  expect(first.files).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
  const [last] = await readChanges(id, { first: 4, after: first.files.pageInfo.endCursor });
  expect(brief(last).map(([path]: [string]) => path)).toEqual(['f3', 'f4', 'f5']);
  expect(last.files.pageInfo.hasNextPage).toBe(false);
  expect((await readChanges(id, { directory: 'site' })).map(brief)).toEqual((await readChanges(id)).map(brief));
  expect(await readChanges(id, { directory: 'other' })).toEqual([]);
  const [named] = await readChanges(id, { filter: { paths: ['f4', 'f2', 'none'] } });
  expect(brief(named).map(([path]: [string]) => path)).toEqual(['f2', 'f4']);
  expect(named.files).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: false } });
  const [found] = await readChanges(id, { filter: { search: 'F' }, first: 2, after: first.files.pageInfo.endCursor });
  expect(brief(found).map(([path]: [string]) => path)).toEqual(['f3', 'f4']);
  expect(found.files).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
  for (const variables of [
    { turn: 0 },
    { after: 'x' },
    { filter: { search: 'x'.repeat(1_001) } },
    { filter: { paths: Array(101).fill('x') } },
  ]) {
    const { errors } = await graphql(test, test.adminToken, document, { id, ...variables });
    expect(errors).toHaveLength(1);
  }
  expect(await readChanges(id, { turn: 9 })).toEqual([]);
});

it('shows changes to nobody outside of the organization', async () => {
  const { id } = await startSession('echo x >x', { 'README.md': 'x\n' });
  await waitUntilEnded(test, id);
  const { patchUrl } = await stored(id, 1);
  const other = await makeOrganization(test, 'Strangers');
  expect(await readChanges(id, {}, other.token)).toBeUndefined();
  const refreshed = await runMutation(test, 'refreshSessionChanges', '', { sessionId: id }, other.token);
  expect(refreshed).toMatchObject({ error: 'NOT_FOUND' });
  const unsigned = patchUrl.replace(/\?.*/, '');
  const answer = await fetch(unsigned, { headers: { authorization: `Bearer ${other.token}` }, redirect: 'manual' });
  expect(answer.status).toBe(404);
  expect((await fetch(patchUrl.replace('site.patch', 'other.patch'))).status).toBe(403);
});

it('compares an open turn when a viewer asks', async () => {
  const directory = await makeDirectory();
  const gate = join(directory, 'gate');
  execFileSync('mkfifo', [gate]);
  const { id } = await startSession(`echo half >half; cat ${gate}; echo rest >rest`, { 'README.md': 'x\n' });
  const half = async () => {
    await runMutation(test, 'refreshSessionChanges', '', { sessionId: id }, test.adminToken);
    // The pace is not a part of this test.
    await test.app.services.store.execute(
      "update run set changes_requested_at = changes_requested_at - interval '1 minute' where session_id = $1 returning session_id",
      [parseId('session', id)],
    );
    return (await readChanges(id)).map(brief);
  };
  await expect.poll(half, { timeout: 60_000 }).toEqual([[['half', 'ADDED', 1, 0]]]);
  await writeFile(gate, '');
  await waitUntilEnded(test, id);
  await expect
    .poll(async () => (await readChanges(id, { turn: 1 })).map(brief))
    .toEqual([
      [
        ['half', 'ADDED', 1, 0],
        ['rest', 'ADDED', 1, 0],
      ],
    ]);
});

it('masks the secrets of the session', async () => {
  const secret = 'canary-secret-of-the-session-42';
  const input = { key: 'TOKEN', type: 'KEY_VALUE', value: secret, organizationId: test.organizationId };
  const { userErrors } = await runMutation(test, 'createSecret', '', input, test.adminToken);
  expect(userErrors).toEqual([]);
  const { id } = await startSession('echo "a $TOKEN b" >x; echo x >"$TOKEN"; git add .; git commit -qm x', {
    'README.md': 'x\n',
  });
  await waitUntilEnded(test, id);
  await stored(id, 1);
  const [all] = await readChanges(id);
  const patch = await (await fetch(all.patchUrl)).text();
  expect(JSON.stringify(all) + patch).not.toContain(secret);
  expect(patch).toMatch(/^\+a \*+ b$/m);
  expect(all.bundleUrl).toBeNull();
});

it('deletes the files of changes with the organization', async () => {
  const { id } = await startSession('echo x >x', { 'README.md': 'x\n' });
  await waitUntilEnded(test, id);
  const { patchUrl } = await stored(id, 1);
  const { services } = test.app;
  const { store } = services;
  const deleted = (at: Date | null) =>
    store.prisma.organization.update({
      where: { id: parseId('organization', test.organizationId) ?? '' },
      data: { deletedAt: at },
    });
  await deleted(services.now());
  try {
    expect((await fetch(patchUrl)).status).toBe(404);
    await deleteOrphanedAttachments(services, () => false);
  } finally {
    await deleted(null);
  }
  const left = await store.query(`select 1 from attachment where source = 'changes'`, []);
  expect(left).toEqual([]);
  // The figures stay with the log, and have no files.
  expect((await readChanges(id))[0]).toMatchObject({ fileCount: 1, patchUrl: null, files: { nodes: [] } });
});

it('survives hostile workspaces', { timeout: 180_000 }, async () => {
  const prompt = [
    String.raw`printf x >"$(printf 'a\nb')"; printf x >"$(printf 'r\342\200\256txt.exe')"; printf x >"$(printf '\033[31m')"`,
    'ln -s /etc/passwd link; truncate -s 1G huge; mkfifo pipe',
    'rm -rf .git; echo "gitdir: /nonexistent" >.git',
    'mkdir many; cd many; seq 1 20000 | xargs touch',
  ].join('\n');
  const { id } = await startSession(prompt, { 'README.md': 'x\n', 'kept': 'x\n' });
  await waitUntilEnded(test, id);
  await expect.poll(() => readChanges(id, { turn: 1 }), { timeout: 60_000 }).toHaveLength(1);
  const [all] = await readChanges(id, { first: 100 });
  expect(all).toMatchObject({ head: null, bundleUrl: null, isTruncated: true, fileCount: 20_005 });
  expect(all.files.totalCount).toBe(20_005);
  const paths = all.files.nodes.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['a\nb', 'link', '\u001b[31m']));
  expect(JSON.stringify(all)).not.toContain('root:');
  // The next turn works as before.
  await runMutation(test, 'sendMessage', '', { sessionId: id, body: 'echo y >kept' }, test.adminToken);
  await waitUntilEnded(test, id);
  const second = await stored(id, 2);
  expect(brief(second)).toContainEqual(['kept', 'MODIFIED', 1, 1]);
});
