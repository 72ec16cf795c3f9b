import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { forgeAccount, type GitForge, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'shared', 'gateway'] as const) : (['none'] as const);

let test: TestApp;
let connectionId: string;
beforeAll(async () => {
  const shell = (id: string, how: object | string) => ({
    id,
    command: [process.execPath, '-e', shellAgent],
    sandbox: how,
    mcp: false,
  });
  const agentsConfig = await writeProfiles(
    {},
    shell('none', 'none'),
    shell('shared', { driver: 'bwrap', network: 'shared' }),
    shell('gateway', { driver: 'bwrap', network: 'gateway' }),
  );
  test = await startApp({
    roles: ['api', 'worker'],
    agentsConfig,
    maxConcurrentSessions: 2,
    isHttpForgeAllowed: true,
  });
  const { store } = test.app.services;
  await store.transact(async (tx) => {
    await tx.query('create table wanted_repositories (rows jsonb, connection text, branch text, at timestamptz)', []);
    await tx.query(
      `create function add_repositories() returns trigger language plpgsql as $$ begin
         insert into session_repository (session_id, position, repository_id, git_connection_id, host, path, requested_ref,
                                         branch, directory, is_read_only, created_at, updated_at)
         select new.id, r.position, r.repository_id, w.connection, r.host, r.path, r.requested_ref, w.branch, r.directory,
                false, w.at, w.at
           from wanted_repositories w cross join jsonb_to_recordset(w.rows)
             as r(position int, repository_id text, host text, path text, requested_ref text, directory text);
         return new; end $$`,
      [],
    );
    await tx.query(
      'create trigger add_repositories after insert on session for each row execute function add_repositories()',
      [],
    );
  });
});
afterAll(() => test.close());

const branch = 'switchyard/page-ab12cd';

/** Connects a forge, and returns the id of its repository for the organization. */
async function connectForge(forge: GitForge, path: string): Promise<string> {
  const { store, keyring, now } = test.app.services;
  const createdAt = now();
  connectionId = newId();
  const repositoryId = newId();
  const { organizationId } = test;
  const [owner] = await store.query<{ id: string; enterpriseId: string }>(
    `select id, enterprise_id as "enterpriseId" from organization where deleted_at is null order by created_at limit 1`,
    [],
  );
  if (!owner) throw new Error(`There is no organization ${organizationId}.`);
  const { enterpriseId } = owner;
  const when = { createdAt, updatedAt: createdAt };
  await store.transact(async (tx) => {
    await tx.prisma.gitConnection.create({
      data: {
        ...{ id: connectionId, enterpriseId, providerType: 'git_https', name: connectionId, host: forge.url },
        ...{ hostKey: forge.host, username: forgeAccount.username, ...when },
        sealed: keyring.seal(JSON.stringify({ token: forgeAccount.password }), `${enterpriseId}:${connectionId}`),
      },
    });
    await tx.prisma.gitPermission.create({
      data: { id: newId(), organizationId: owner.id, gitConnectionId: connectionId, repoPath: path, createdAt },
    });
    await tx.prisma.repository.create({
      data: {
        ...{ id: repositoryId, enterpriseId, host: forge.host, path, pathKey: path, gitConnectionId: connectionId },
        ...when,
      },
    });
  });
  return repositoryId;
}

interface Repository {
  readonly forge: GitForge;
  readonly path: string;
  readonly directory?: string;
  readonly ref?: string;
}

/**
 * Creates a session in repositories, which a trigger adds in the transaction of the session, before a worker can claim
 * it, and runs its first prompt.
 */
async function start(agent: string, prompt: string, repositories: readonly Repository[], token = test.adminToken) {
  const { store, now } = test.app.services;
  const rows: object[] = [];
  for (const [position, { forge, path, directory = 'site', ref = null }] of repositories.entries()) {
    const repositoryId = await connectForge(forge, path);
    rows.push({ position, repository_id: repositoryId, host: forge.host, path, directory, requested_ref: ref });
  }
  await store.execute(`insert into wanted_repositories values ($1::jsonb, $2, $3, $4) returning rows`, [
    JSON.stringify(rows),
    connectionId,
    branch,
    now(),
  ]);
  const id = await createSession(test, { agent, prompt, organizationId: test.organizationId }, token);
  await store.execute('delete from wanted_repositories returning rows', []);
  await waitUntilEnded(test, id);
  const last = async () => ((await readMessages(test, id)).at(-1) ?? '').replace('AGENT_MESSAGE: ', '');
  const send = async (body: string) => {
    await runMutation(test, 'sendMessage', '', { sessionId: id, body }, token);
    await waitUntilEnded(test, id);
    return last();
  };
  const entries = async () =>
    store.query<{ kind: string; data: Record<string, unknown>; body: string | null }>(
      `select kind, data, body from log_entry where session_id = $1 and kind in ('REPOSITORY', 'PUSH', 'ERROR') order by seq`,
      [id],
    );
  return { id, output: await last(), send, entries };
}

it.each(sandboxes)('commits and pushes as the person who asked, without a credential (%s)', async (agent) => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', { 'README.md': '# Site\n', 'AGENTS.md': 'Be kind.\n' });
  const ada = await makeUser(test, { name: 'Ada Lovelace' });
  const prompt = [
    'cat AGENTS.md; git branch --show-current',
    'echo x >page; git add page; git commit -qm "Add a page"; git push -q',
    'git push -q origin HEAD:main || true',
    'env; cat .git/config',
  ].join('\n');
  const { output, entries, id } = await start(agent, prompt, [{ forge, path: 'acme/site' }], ada.token);
  expect(output).toContain(`Be kind.\n${branch}\n`);
  expect(output).toContain('this session may push to its own branches only');
  expect(await forge.git('acme/site', 'log', '-1', '--format=%an %ae %s', branch)).toBe(
    `Ada Lovelace ${ada.email} Add a page`,
  );
  const head = await forge.git('acme/site', 'rev-parse', branch);
  const main = await forge.git('acme/site', 'rev-parse', 'main');
  const repository = `${forge.host}/acme/site`;
  const written = await entries();
  expect(written.at(0)).toMatchObject({ kind: 'REPOSITORY', data: { repository, state: 'CLONING' } });
  expect(written).toContainEqual(
    expect.objectContaining({ kind: 'REPOSITORY', data: expect.objectContaining({ repository, state: 'READY' }) }),
  );
  const [row] = await test.app.services.store.query(
    'select state, base_ref, base_commit, error from session_repository where session_id = $1',
    [id],
  );
  expect(row).toEqual({ state: 'READY', base_ref: 'main', base_commit: main, error: null });
  await expect
    .poll(async () => (await entries()).filter(({ kind }) => kind === 'PUSH').map(({ data }) => data))
    .toMatchObject([
      { repository, branch, old: null, new: head, subjects: ['Add a page'], refusal: null },
      {
        ...{ repository, branch: 'main', old: main, new: head, subjects: [] },
        refusal: expect.stringContaining('this session may push to its own branches only'),
      },
    ]);
  // Neither the agent nor the log has the password, in any form, or the key of the run.
  const basic = Buffer.from(`${forgeAccount.username}:${forgeAccount.password}`).toString('base64');
  const log = JSON.stringify(
    await test.app.services.store.query('select body, data from log_entry where session_id = $1', [id]),
  );
  for (const secret of [forgeAccount.password, basic, 'git-switchyard-']) expect(log).not.toContain(secret);
});

it('lets a session push what the settings of the repository allow, from the next push on', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const push = (ref: string) => `git push -q origin ${ref} 2>&1 || true`;
  const commit = 'git commit -q --allow-empty -m One; git tag v1';
  const { id, output, send } = await start('none', `${commit}; ${push('HEAD:other')}`, [{ forge, path: 'acme/site' }]);
  expect(output).toContain('this session may push to its own branches only');
  const [row] = await test.app.services.store.query<{ repositoryId: string }>(
    'select repository_id as "repositoryId" from session_repository where session_id = $1',
    [id],
  );
  const allow = (settings: object) =>
    runMutation(test, 'updateRepository', 'repository { isDeletionAllowed }', {
      ...{ repositoryId: `repository-${row?.repositoryId}`, ...settings },
    });
  await allow({ isPushToOtherBranchesAllowed: true });
  const refs = () => forge.git('acme/site', 'for-each-ref', '--format=%(refname:short)');
  expect(await send(`${push('HEAD:other')}; ${push('v1')}; ${push(':other')}`)).toMatch(
    /this session may not push tags[\s\S]*this session may not delete it/,
  );
  expect(await refs()).toBe('main\nother');
  await allow({ isPushOfTagsAllowed: true, isDeletionAllowed: true });
  await send(`${push('v1')}; ${push(':other')}`);
  expect(await refs()).toBe('main\nv1');
  await allow({ isPushToOtherBranchesAllowed: false, isPushOfTagsAllowed: false });
  expect(await send(`${push(':v1')}; ${push('HEAD:other')}`)).toContain('this session may not push tags');
  expect(await refs()).toBe('main\nv1');
});

it('pushes to the default branch as the branch of a session only if the settings allow it', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const repositoryId = await connectForge(forge, 'acme/site');
  const before = await forge.git('acme/site', 'rev-parse', 'main');
  const id = await createSession(test, {
    ...{ agent: 'none', organizationId: test.organizationId },
    prompt: 'git commit -q --allow-empty -m One; git push -q origin HEAD 2>&1 || true',
    repositories: [{ repository: `${forge.host}/acme/site`, branch: 'main' }],
  });
  await waitUntilEnded(test, id);
  const last = async () => (await readMessages(test, id)).at(-1);
  expect(await last()).toContain("main is the repository's default branch: an administrator can allow pushes to it.");
  expect(await forge.git('acme/site', 'rev-parse', 'main')).toBe(before);
  await runMutation(test, 'updateRepository', 'repository { path }', {
    ...{ repositoryId: `repository-${repositoryId}`, isPushToOtherBranchesAllowed: true },
  });
  await runMutation(test, 'sendMessage', '', { sessionId: id, body: 'git push -q origin HEAD' });
  await waitUntilEnded(test, id);
  expect(await forge.git('acme/site', 'log', '-1', '--format=%s', 'main')).toBe('One');
});

it('clones several repositories below the workspace, and describes them to the agent', async () => {
  const forge = await startGitForge();
  for (const path of ['acme/site', 'acme/api']) await forge.addRepository(path);
  const repositories = ['site', 'api'].map((name) => ({ forge, path: `acme/${name}`, directory: name }));
  const { output } = await start('none', 'ls; echo "$PREFACE"', repositories);
  expect(output).toMatch(/^api\nsite\n/);
  expect(output).toContain(`\`${forge.host}/acme/site\` is cloned in`);
  expect(output).toContain(`on the branch \`${branch}\``);
});

it('fails the start with a sentence, and tries again with the next message', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const { entries, send } = await start('none', 'ls', [{ forge, path: 'acme/site', ref: 'next' }]);
  const reason = 'It has no branch, tag or commit "next".';
  const failed = await entries();
  expect(failed.find(({ data }) => data.state === 'FAILED')?.data).toMatchObject({ text: reason });
  expect(failed.at(-1)).toMatchObject({ kind: 'ERROR', data: { code: 'repository_unavailable' } });
  expect(JSON.stringify(failed.at(-1))).toContain(
    `The repository ${forge.host}/acme/site cannot be used: ${reason.replaceAll('"', '\\"')}`,
  );
  const listed = async () => {
    const document =
      'query($id: ID!) { organization(id: $id) { repositories(first: 100) { nodes { host path defaultBranch readAt } } } }';
    const { data } = await graphql(test, test.adminToken, document, { id: test.organizationId });
    return data.organization.repositories.nodes.filter(({ host }: { host: string }) => host === forge.host);
  };
  // It may not exist.
  expect(await listed()).toEqual([]);
  await forge.git('acme/site', 'branch', 'next', 'main');
  expect(await send('git log --format=%s')).toBe('Start\n');
  expect(await listed()).toEqual([
    { host: forge.host, path: 'acme/site', defaultBranch: 'main', readAt: expect.any(String) },
  ]);
});

it('passes on no push after the connection was deleted', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const { send, entries } = await start('none', 'git commit -q --allow-empty -m One', [{ forge, path: 'acme/site' }]);
  const { store, now } = test.app.services;
  const erase = 'update git_connection set deleted_at = $2, sealed = null where id = $1 returning id';
  await store.execute(erase, [connectionId, now()]);
  // The gateway refuses it to an agent that still runs; another does not start.
  const output = await send('git push || true');
  expect(JSON.stringify([output, await entries()])).toContain('any longer.');
  expect(await forge.git('acme/site', 'branch', '--list', branch)).toBe('');
});

it('settles pushes whose answers were lost, and records accepted pushes in the audit log', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const ada = await makeUser(test, { name: 'Ada Lovelace' });
  // The first run fails, so that the next message starts another.
  const { id, send, entries } = await start('none', 'ls', [{ forge, path: 'acme/site', ref: 'next' }], ada.token);
  await forge.git('acme/site', 'branch', 'next', 'main');
  await forge.git('acme/site', 'branch', branch, 'main');
  const main = await forge.git('acme/site', 'rev-parse', 'main');
  const other = 'f'.repeat(40);
  const ref = `refs/heads/${branch}`;
  const at = (second: number) => `2026-11-28T10:00:0${second}.000Z`;
  const gone = 'refs/heads/gone';
  // As a worker leaves it that is killed during these pushes: the forge has the first, but not the second.
  const pending = {
    [`${ref} ${main} ${other}`]: { ref, old: main, new: other, at: at(2) },
    [`${ref} null ${main}`]: { ref, old: null, new: main, at: at(1) },
    [`${gone} null ${main}`]: { ref: gone, old: null, new: main, at: at(3) },
  };
  const { store } = test.app.services;
  const plant = 'update session_repository set pending_pushes = $2::jsonb where session_id = $1 returning position';
  await store.execute(plant, [id, JSON.stringify(pending)]);
  await send('git commit -q --allow-empty -m One; git push -q; git push -q origin HEAD:main || true');
  const pushes = async () => (await entries()).filter(({ kind }) => kind === 'PUSH').map(({ data }) => data);
  await expect.poll(async () => (await pushes()).length).toBe(5);
  const head = await forge.git('acme/site', 'rev-parse', branch);
  expect(await pushes()).toMatchObject([
    { branch, old: null, new: main, outcome: 'ACCEPTED', refusal: null },
    {
      ...{ branch, old: main, new: other, subjects: [], outcome: 'REFUSED' },
      refusal: expect.stringContaining('The forge does not have it.'),
    },
    {
      ...{ branch: 'gone', old: null, new: main, subjects: [], outcome: 'UNKNOWN' },
      refusal: expect.stringContaining('The forge has no such ref now.'),
    },
    { branch, old: main, new: head, subjects: ['One'], refusal: null },
    { branch: 'main', refusal: expect.stringContaining('this session may push to its own branches only') },
  ]);
  const audited = await store.query(
    `select u.email, e.api_key_id as key, e.address, e.data, e.target_id = r.repository_id as "isRepository"
       from audit_entry e join session_repository r on r.session_id = e.session_id
       left join user_account u on u.id = e.user_id
      where e.session_id = $1 and e.action = 'push_commits' order by e.created_at, e.id`,
    [id],
  );
  const repository = `${forge.host}/acme/site`;
  const entry = { email: ada.email, key: null, address: null, isRepository: true };
  expect(audited).toEqual([
    { ...entry, data: { repository, branch, old: null, new: main } },
    { ...entry, data: { repository, branch, old: main, new: head } },
  ]);
  const left = await store.query('select pending_pushes as pushes from session_repository where session_id = $1', [id]);
  expect(left).toEqual([{ pushes: {} }]);
});

it('accepts pushes whose answers were lost and that later pushes followed', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const { id, send, entries } = await start('none', 'ls', [{ forge, path: 'acme/site', ref: 'next' }]);
  const main = await forge.git('acme/site', 'rev-parse', 'main');
  const commit = (subject: string, parent: string) =>
    forge.git('acme/site', 'commit-tree', `${parent}^{tree}`, '-p', parent, '-m', subject);
  const first = await commit('First', main);
  const second = await commit('Second', first);
  const amended = await commit('Amended', first);
  const later = await commit('Later', amended);
  const unrelated = await commit('Unrelated', main);
  await forge.git('acme/site', 'branch', 'next', 'main');
  await forge.git('acme/site', 'branch', branch, later);
  const ref = `refs/heads/${branch}`;
  const planted = [
    { ref, old: null, new: first },
    { ref, old: first, new: second },
    { ref, old: second, new: amended },
    { ref, old: amended, new: unrelated },
  ];
  const pending = Object.fromEntries(
    planted.map((push, n) => [`${ref} ${push.old} ${push.new}`, { ...push, at: new Date(n).toISOString() }] as const),
  );
  const plant = 'update session_repository set pending_pushes = $2::jsonb where session_id = $1 returning position';
  await test.app.services.store.execute(plant, [id, JSON.stringify(pending)]);
  await send('ls');
  const pushes = (await entries()).filter(({ kind }) => kind === 'PUSH').map(({ data }) => data);
  // The second is in no branch any longer, but the third could only be pushed after it.
  expect(pushes).toMatchObject([
    { old: null, new: first, outcome: 'ACCEPTED', subjects: ['First'], refusal: null },
    { old: first, new: second, outcome: 'ACCEPTED', refusal: null },
    { old: second, new: amended, outcome: 'ACCEPTED', subjects: ['Amended', 'First'], refusal: null },
    {
      ...{ old: amended, new: unrelated, outcome: 'UNKNOWN', subjects: [] },
      refusal: `The answer of the forge to this push was lost. The ref is at ${later} now, which does not contain it.`,
    },
  ]);
  const left = await test.app.services.store.query(
    'select pending_pushes as pushes from session_repository where session_id = $1',
    [id],
  );
  expect(left).toEqual([{ pushes: {} }]);
});

it('leaves no credential in the files of the worker', () => {
  const found: string[] = [];
  const search = (directory: string) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) search(path);
      else if (entry.isFile() && readFileSync(path).includes(forgeAccount.password)) found.push(path);
    }
  };
  for (const name of ['sessions', 'repositories']) search(join(test.dataDir, name));
  expect(found).toEqual([]);
});
