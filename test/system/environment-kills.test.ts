import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { graphql, type TestApp } from '../support/app.ts';
import { environmentFile } from '../support/environments.ts';
import { forgeAccount, startGitForge } from '../support/git-forge.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, type ServerProcess, startServer } from '../support/server.ts';
import { makeDirectory, makeServerEnv } from '../support/server-env.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, firstOrganizationId } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const timeout = 60_000;

/** True if the process runs. The machine may not have collected one that ended. */
function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

async function connect(test: TestApp, url: string): Promise<void> {
  const forge = {
    ...{ providerType: 'GIT_HTTPS', name: 'Forge', host: url },
    ...{ username: forgeAccount.username, token: forgeAccount.password },
  };
  const { gitConnection } = await runMutation(test, 'createGitConnection', 'gitConnection { gitConnectionId }', forge);
  const permission = { organizationId: test.organizationId, ...gitConnection, repoPath: 'acme/site' };
  expect(await runMutation(test, 'createGitPermission', '', permission)).toMatchObject({ userErrors: [] });
}

async function notices(test: TestApp, id: string): Promise<string> {
  const document = `query($id: ID!) { session(id: $id) { events(first: 100, kinds: [NOTICE]) { nodes {
    ... on NoticeEvent { body } } } } }`;
  const { data } = await graphql(test, bootstrapToken, document, { id });
  return data.session.events.nodes.map(({ body }: { body: string }) => body).join('\n');
}

it('sets up again after the service was killed in a set-up, of which nothing is left', {
  timeout: 180_000,
}, async () => {
  const directory = makeDirectory();
  const [runs, go] = [join(directory, 'runs'), join(directory, 'go')];
  const forge = await startGitForge();
  const wait = `echo $$ >> ${runs}; echo half > deps; while [ ! -e ${go} ]; do sleep 0.05; done; echo whole >> deps`;
  await forge.addRepository('acme/site', { '.gitignore': 'deps\n', [environmentFile]: `setup: "${wait}"\n` });
  const profile = { command: [process.execPath, '-e', shellAgent], mcp: false, sandbox: 'none', 'warm_ttl_ms': 0 };
  const AGENTS_CONFIG = await writeProfiles({}, { id: 'shell', ...profile });
  const env = { ...(await makeServerEnv()), AGENTS_CONFIG, GIT_ALLOW_HTTP: 'true' };
  const first = await startServer(env);
  const organizationId = await firstOrganizationId(first, bootstrapToken);
  const testOf = ({ url }: ServerProcess) => ({ url, adminToken: bootstrapToken, organizationId }) as TestApp;
  await connect(testOf(first), forge.url);
  const repositories = [{ repository: `${forge.host}/acme/site` }];
  const input = { organizationId, agent: 'shell', prompt: 'cat deps', repositories };
  const id = await createSession(testOf(first), input);
  const pids = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').map(Number) : []);
  await vi.waitUntil(() => pids().length === 1, { timeout });
  await first.kill();

  const second = await startServer(env);
  await vi.waitUntil(() => pids().length === 2, { timeout });
  expect(isAlive(pids()[0] ?? 0)).toBe(false);
  writeFileSync(go, '');
  await waitUntilEnded(testOf(second), id);
  // Each run writes the beginning again.
  expect((await readMessages(testOf(second), id)).at(-1)).toBe('AGENT_MESSAGE: half\nwhole\n');

  const later = await createSession(testOf(second), input);
  await waitUntilEnded(testOf(second), later);
  expect((await readMessages(testOf(second), later)).at(-1)).toBe('AGENT_MESSAGE: half\nwhole\n');
  expect(await notices(testOf(second), later)).toContain('begins with the stored result');
  expect(pids()).toHaveLength(2);
  expect(await second.stop()).toBe(0);
});
