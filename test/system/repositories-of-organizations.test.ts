import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { graphql, startApp } from '../support/app.ts';
import { forgeAccount, startGitForge } from '../support/git-forge.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);
const sandboxes = problem === null ? (['none', 'bwrap'] as const) : (['none'] as const);

async function start() {
  const command = [process.execPath, '-e', shellAgent];
  const agentsConfig = await writeProfiles(
    {},
    { id: 'none', command, sandbox: 'none', mcp: false },
    { id: 'bwrap', command, sandbox: { driver: 'bwrap', network: 'gateway' }, mcp: false },
  );
  const test = await startApp({ roles: ['api', 'worker'], agentsConfig, isHttpForgeAllowed: true });
  onTestFinished(() => test.close());
  const forge = await startGitForge();
  for (const path of ['acme/one', 'acme/two', 'acme/shared', 'a/acme/site', 'b/acme/site'])
    await forge.addRepository(path, { 'name.txt': path });
  const access = { providerType: 'GIT_HTTPS', username: forgeAccount.username, token: forgeAccount.password };
  const connect = async (base = '') =>
    (await connectForgeAt(test, forge.url + base, { ...access, webhookSecret: undefined })).id;
  const id = await connect();
  const permit = async (organizationId: string, repoPath: string, connection = id): Promise<string> => {
    const input = { organizationId, gitConnectionId: `git-connection-${connection}`, repoPath };
    const made = await runMutation(test, 'createGitPermission', 'gitPermission { gitPermissionId }', input);
    return made.gitPermission.gitPermissionId;
  };
  const run = async (agent: string, token: string, prompt: string, ...paths: string[]) => {
    const repositories = paths.map((repository) => ({ repository }));
    const sessionId = await createSession(test, { agent, prompt, repositories }, token);
    const last = async () => {
      await waitUntilEnded(test, sessionId);
      return (await readMessages(test, sessionId)).at(-1) ?? '';
    };
    const send = async (body: string) => {
      await runMutation(test, 'sendMessage', '', { sessionId, body }, token);
      return last();
    };
    return { sessionId, output: await last(), send };
  };
  return { test, forge, connect, permit, run };
}

/** Returns the directory of the objects of a repository's mirror. */
function mirrorOf(dataDir: string, name: string): string {
  const root = join(dataDir, 'repositories');
  const mirrors = readdirSync(root)
    .filter((owner) => !owner.startsWith('.'))
    .flatMap((owner) => readdirSync(join(root, owner)).map((mirror) => join(root, owner, mirror)));
  const found = mirrors.find((mirror) => readFileSync(join(mirror, 'description'), 'utf8').trim() === name);
  return join(found ?? 'missing', 'objects');
}

it.each(sandboxes)('an organization cannot reach the repositories of another through git (%s)', async (agent) => {
  const { test, forge, permit, run } = await start();
  const [one, two] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
  await permit(one.organizationId, 'acme/one');
  const sharedOfOne = await permit(one.organizationId, 'acme/shared');
  await permit(two.organizationId, 'acme/two');
  await permit(two.organizationId, 'acme/shared');
  expect((await run(agent, two.token, 'cat */name.txt', 'acme/two', 'acme/shared')).output).toContain('acme/two');
  // A repository of another organization looks like one that does not exist.
  for (const repository of ['acme/two', 'acme/missing']) {
    const input = { organizationId: one.organizationId, prompt: 'ls', repositories: [{ repository }] };
    const made = await runMutation(test, 'createSession', 'session { sessionId }', input, one.token);
    expect(made).toMatchObject({ session: null, userErrors: [{ code: 'UNKNOWN_REFERENCE' }] });
    expect(made.userErrors[0].message).toContain(repository);
  }
  const commit = await forge.git('acme/two', 'rev-parse', 'main');
  const objects = mirrorOf(test.dataDir, `${forge.host}/acme/two`);
  const url = `${forge.url}/acme/two.git`;
  const prompt = [
    `git ls-remote ${url} || true`,
    `git clone ${url} stolen || true`,
    `git -C one push ${url} HEAD:refs/heads/x || true`,
    `GIT_ALTERNATE_OBJECT_DIRECTORIES=${objects} git -C one cat-file -p ${commit}:name.txt || echo not seen`,
    `printf '%s\\n' ${objects} >>one/.git/objects/info/alternates`,
    `git -C one cat-file -p ${commit}:name.txt || echo not seen`,
    `echo mirrors: $(find ${join(test.dataDir, 'repositories')} -name '*.git' ! -name .git | wc -l)`,
    'cat */name.txt',
  ].join('\n');
  const { output, send } = await run(agent, one.token, prompt, 'acme/one', 'acme/shared');
  expect(output).toContain('acme/oneacme/shared');
  // Of the list, the clone and the push.
  expect(output.split(`This session may not use ${forge.host}/acme/two.`)).toHaveLength(4);
  expect(await forge.git('acme/two', 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  const seen = { notSeen: output.match(/not seen/g)?.length ?? 0, mirrors: /mirrors: (\d+)/.exec(output)?.[1] };
  // Without a sandbox, an agent reads all that the service can read: the probes find what they search for.
  expect(seen).toEqual(agent === 'bwrap' ? { notSeen: 2, mirrors: '2' } : { notSeen: 0, mirrors: '3' });
  // A permission that ends during the session ends the access of its git.
  const revoked = await runMutation(test, 'deleteGitPermission', '', { gitPermissionId: sharedOfOne });
  expect(revoked.userErrors).toEqual([]);
  const after = await send('git -C shared fetch || true; git -C shared push origin HEAD || true');
  expect(after).toContain('any longer');
});

it('keeps repositories with one path below different base URLs of a host apart', async () => {
  const { test, forge, connect, permit, run } = await start();
  const [one, two] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
  await permit(one.organizationId, 'acme/site', await connect('/a'));
  await permit(two.organizationId, 'acme/site', await connect('/b'));
  const agent = sandboxes.at(-1) ?? 'none';
  expect((await run(agent, one.token, 'cat name.txt', 'acme/site')).output).toContain('a/acme/site');
  const secret = await forge.git('a/acme/site', 'rev-parse', 'main:name.txt');
  const prompt = `cat name.txt; echo .; git cat-file -p ${secret} || echo not seen; echo new >new.txt`;
  const { output, sessionId } = await run(agent, two.token, prompt, 'acme/site');
  expect(output).toContain('b/acme/site.');
  expect(output).toContain('not seen');
  const query = 'query ($id: ID!) { session(id: $id) { changes { files { nodes { path } } } } }';
  const changes = async () => (await graphql(test, two.token, query, { id: sessionId })).data.session.changes;
  await expect.poll(changes).toEqual([{ files: { nodes: [{ path: 'new.txt' }] } }]);
});
