import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { personToken, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';

const branch = 'shared-work';
let github: TestGithub;
let test: TestApp;
beforeAll(async () => {
  github = await startGithub({ hasGit: true });
  const shell = { id: 'shell', command: [process.execPath, '-e', shellAgent], sandbox: 'none', mcp: false };
  const agentsConfig = await writeProfiles({}, shell);
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2, isHttpForgeAllowed: true });
  await connectForgeAt(test, github.url, { token: personToken });
});
afterAll(async () => {
  await test?.close();
  await github?.close();
});

/** Starts a session on the branch. */
async function start() {
  const repositories = [{ repository: 'acme/site', branch }];
  const { organizationId } = test;
  const id = await createSession(test, { agent: 'shell', prompt: 'git status', organizationId, repositories });
  await waitUntilEnded(test, id);
  const send = async (body: string) => {
    await runMutation(test, 'sendMessage', '', { sessionId: id, body });
    await waitUntilEnded(test, id);
    return (await readMessages(test, id)).at(-1) ?? '';
  };
  const rows = (what: string) =>
    test.app.services.store.query<{ data: Record<string, unknown> }>(
      `select data from log_entry where session_id = $1 and kind = '${what}' order by seq`,
      [id],
    );
  const pushes = async (count: number) => {
    await vi.waitUntil(async () => (await rows('PUSH')).length === count, { timeout: 60_000 });
    return (await rows('PUSH')).map(({ data }) => data);
  };
  return { id, send, pushes };
}
const commit = (file: string) => `echo ${file} >${file}; git add ${file}; git commit -qm "Add ${file}"`;
const head = () => github.git?.git('acme/site', 'rev-parse', branch);

it('lets two sessions push to one branch, each after it has the commits of the other, or by force', async () => {
  const [one, other] = [await start(), await start()];
  await one.send(`${commit('one')}; git push -q origin HEAD:${branch}`);
  const first = await head();
  expect(await one.pushes(1)).toMatchObject([
    { branch, old: null, new: first, subjects: ['Add one'], isForced: false },
  ]);

  // Git says "non-fast-forward" if the clone can already read the commit in the mirror that it borrows objects from.
  const refused = await other.send(`${commit('other')}; git push origin HEAD:${branch} 2>&1 || true`);
  expect(refused).toMatch(/! \[rejected\].+\((fetch first|non-fast-forward)\)/);
  expect(refused).toContain('hint: Updates were rejected because');
  expect(await head()).toBe(first);

  await other.send(`git pull -q --rebase origin ${branch} && git push -q origin HEAD:${branch}`);
  const second = await head();
  expect(await other.pushes(1)).toMatchObject([
    { branch, old: first, new: second, subjects: ['Add other'], isForced: false, outcome: 'ACCEPTED' },
  ]);

  const open = (sessionId: string) =>
    runMutation(test, 'openPullRequest', 'pullRequest { url }', { sessionId, title: 'Both' });
  const urls = [await open(one.id), await open(other.id)].map(({ pullRequest }) => pullRequest.url);
  expect(urls[1]).toBe(urls[0]);
  expect(await github.person('GET', `/repos/acme/site/pulls?state=all&head=acme:${branch}`)).toHaveLength(1);

  // The first session does not have the commit of the other, and removes it.
  await one.send(`${commit('more')}; git push -q --force origin HEAD:${branch}`);
  const third = await head();
  expect((await one.pushes(2)).at(-1)).toMatchObject({
    ...{ branch, old: second, new: third, subjects: ['Add more'], isForced: true, outcome: 'ACCEPTED' },
  });
});
