import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTool, readTool, replyTool, updateTool } from '../../src/domain/execution/reports/pull-request-tools.ts';
import { parseId } from '../../src/domain/ids.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { openPullRequestAt, pushBranchAt, reportPullRequest, statesOf } from '../support/followed-pull-requests.ts';
import { personToken, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt, type TestConnection } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
let connection: TestConnection;
beforeAll(async () => {
  github = await startGithub();
  test = await startApp({ roles: ['api'], isHttpForgeAllowed: true });
  connection = await connectForgeAt(test, github.url, { token: personToken });
});
afterAll(async () => {
  await test.close();
  await github.close();
});
beforeEach(() => github.intercept(() => null));

const secret = 'c4n4ry-of-the-session';
const rows = (sql: string, id: string) => test.app.services.store.query<Record<string, any>>(sql, [id]);
const tools = { open: openTool, update: updateTool, reply: replyTool, read: readTool };
/** Calls a tool for the agent of a session, which has not run yet. */
async function tool(sessionId: string, name: keyof typeof tools, args: object, generation = 0): Promise<string> {
  const id = parseId('session', sessionId) ?? '';
  const toolContext = {
    context: asSystem(test.app.services, ''),
    run: { sessionId: id, generation } as never,
    plan: { organizationId: parseId('organization', test.organizationId) ?? '' },
    mask: (text: string) => text.replaceAll(secret, '********'),
  };
  return await tools[name](toolContext, args as Readonly<Record<string, unknown>>);
}
let branches = 0;
/** A session with an open pull request of its branch. */
async function makeSession() {
  branches += 1;
  const branch = `tools-${branches}`;
  const sessionId = await createSession(test, { repositories: [{ repository: 'acme/site', branch }] });
  await pushBranchAt(github, 'acme/site', branch);
  await tool(sessionId, 'open', { title: 'Fix the page' });
  const [{ number } = { number: 0 }] = await rows('select number from pull_request where session_id = $1', sessionId);
  return { sessionId, branch, number: number as number, path: `/repos/acme/site/pulls/${number}` };
}
const pullAt = (path: string) => github.person('GET', path) as Promise<Record<string, any>>;
/** Gives the pull request of a session a state, as a read of the forge does. */
const setState = (sessionId: string, state: string) =>
  test.app.services.store.execute(
    `update session set pull_requests = jsonb_set(pull_requests, '{0,state}', to_jsonb($2::text)) where id = $1 returning id`,
    [sessionId, state],
  );
const writes = () => github.requests.filter(({ method }) => method !== 'GET').length;

it('changes the pull request of the branch, and keeps the line that names the requester', async () => {
  const { sessionId, path, number } = await makeSession();
  const answer = await tool(sessionId, 'update', {
    ...{ title: `A title with ${secret}\u202e\n`, body: 'A text\u0007\n\n\ttab<!-- hidden', labels: ['agent'] },
    reviewers: ['hubot'],
  });
  expect(answer).toMatch(/^The pull request http.+ is changed: title, text, labels, reviewers\.$/);
  const pull = await pullAt(path);
  expect(pull.title).toBe('A title with ********');
  expect(pull.body).toMatch(
    new RegExp(`^Requested by .+ in http.+/sessions/${sessionId}\n\nA text\n\n\ttab<!-- hidden\\s*$`),
  );
  expect(pull).toMatchObject({ labels: [{ name: 'agent' }], 'requested_reviewers': [{ login: 'hubot' }] });
  const harmless = {
    title: 'Closes #1, for @all',
    body: 'Closes #1 and closes evil/lib#2 for @acme/core ![x](//e)<!--',
  };
  await tool(sessionId, 'update', harmless);
  const changed = await pullAt(path);
  expect(changed.title).toBe('Closes #1, for @\u200ball');
  expect(changed.body).toContain('\n\nCloses #1 and closes&#8203; evil/lib#2 for @&#8203;acme/core \\![x](//e)&lt;!--');
  await tool(sessionId, 'update', { state: 'closed', number });
  expect((await statesOf(test, sessionId)).graphql).toEqual(['CLOSED']);
  await tool(sessionId, 'update', { state: 'open', number });
  expect((await statesOf(test, sessionId)).graphql).toEqual(['OPEN']);
  const notices = await rows(
    `select body from log_entry where session_id = $1 and kind = 'NOTICE' order by seq`,
    sessionId,
  );
  expect(notices[0]?.body).toMatch(/^The agent changed the pull request http.+: title, text, labels, reviewers\.$/);
  const audits = await rows(
    `select data from audit_entry where session_id = $1 and action = 'update_pull_request' order by created_at`,
    sessionId,
  );
  expect(audits[0]?.data).toMatchObject({ repository: 'acme/site', number, changed: 'title, text, labels, reviewers' });
});

it('masks the secrets in all arguments of a new pull request', async () => {
  branches += 1;
  const repositories = [{ repository: 'acme/site', branch: `tools-${branches}` }];
  const sessionId = await createSession(test, { repositories });
  await expect(tool(sessionId, 'open', { title: 'Fix the page', base: secret })).rejects.toThrow();
  const audits = await rows(
    `select data from audit_entry where session_id = $1 and action = 'open_pull_request'`,
    sessionId,
  );
  expect(audits.map(({ data }) => data.baseBranch)).toEqual(['********']);
});

it('replies to a comment in its thread, or in the conversation, and says that an agent wrote it', async () => {
  const { sessionId, path, number } = await makeSession();
  const { head } = await pullAt(path);
  const line = { body: 'Why?', 'commit_id': head.sha, path: `${head.ref}.txt`, line: 1, side: 'RIGHT' };
  const thread = await github.person('POST', `${path}/comments`, line);
  const comment = await github.person('POST', `/repos/acme/site/issues/${number}/comments`, { body: 'Please hurry.' });
  const text = await tool(sessionId, 'read', {});
  expect(text).toContain(`Comment ${thread.id} by octocat on ${head.ref}.txt:1:\nWhy?`);
  expect(text).toContain(`Comment ${comment.id} by octocat:\nPlease hurry.`);
  await tool(sessionId, 'reply', { comment: String(thread.id), body: `Because of ${secret}.` });
  await tool(sessionId, 'reply', { comment: String(comment.id), body: 'I do, @all. Closes #1', number });
  const lines = (await github.person('GET', `${path}/comments`)) as unknown as Record<string, any>[];
  const mark = `Reply of an agent\\. Requested by .+ in http.+/sessions/${sessionId}\n\n`;
  expect(lines.at(-1)).toMatchObject({ 'in_reply_to_id': thread.id });
  expect(lines.at(-1)?.body).toMatch(new RegExp(`^${mark}Because of \\*{8}\\.`));
  const all = (await github.person('GET', `/repos/acme/site/issues/${number}/comments`)) as unknown as {
    body: string;
  }[];
  expect(all.at(-1)?.body).toMatch(new RegExp(`^${mark}I do, @&#8203;all\\. Closes&#8203; #1`));
  const audits = await rows(
    `select data from audit_entry where session_id = $1 and action = 'reply_to_pull_request'`,
    sessionId,
  );
  expect(audits.map(({ data }) => data.comment).sort()).toEqual([String(thread.id), String(comment.id)].sort());
});

it('touches no pull request of another session, branch or repository', async () => {
  const { sessionId, number } = await makeSession();
  const other = await makeSession();
  const foreign = await openPullRequestAt(github, 'acme/tools', `foreign-${branches}`);
  const comment = await github.person('POST', `/repos/acme/site/issues/${other.number}/comments`, { body: 'Mine' });
  const before = writes();
  const own = /"number" must be the number of a pull request of the session’s branch "tools-\d+" in acme\/site\./;
  for (const wrong of [other.number, 4_711]) {
    await expect(tool(sessionId, 'update', { state: 'closed', number: wrong })).rejects.toThrow(own);
    await expect(tool(sessionId, 'reply', { comment: '1', body: 'x', number: wrong })).rejects.toThrow(own);
  }
  // The head of a fork, with the name of the session's branch.
  const pull = await pullAt(`/repos/acme/site/pulls/${number}`);
  const head = { ...pull.head, repo: { ...pull.head.repo, 'full_name': 'mallory/site' } };
  github.intercept(({ method, url }) =>
    method === 'GET' && url.pathname.endsWith(`/pulls/${number}`) ? { body: { ...pull, head } } : null,
  );
  await expect(tool(sessionId, 'update', { title: 'x', number })).rejects.toThrow(own);
  await expect(tool(sessionId, 'reply', { comment: '1', body: 'x', number })).rejects.toThrow(own);
  github.intercept(() => null);
  const elsewhere = { repository: 'acme/tools', number: foreign };
  await expect(tool(sessionId, 'update', { title: 'x', ...elsewhere })).rejects.toThrow(/must be one of the session’s/);
  // A comment of another pull request, by its id.
  const reply = { comment: String(comment.id), body: 'x', number };
  await expect(tool(sessionId, 'reply', reply)).rejects.toThrow(/"comment" must be the id of a comment on /);
  // A report does not make it the session's own.
  await reportPullRequest(test, sessionId.replace('devin-', ''), `${github.url}/acme/site/pull/${other.number}`);
  await expect(tool(sessionId, 'update', { state: 'closed', number: other.number })).rejects.toThrow(own);
  // Another run has taken over the session.
  await expect(tool(sessionId, 'update', { title: 'x' }, 7)).rejects.toThrow(/was deleted/);
  expect(writes()).toBe(before);
});

it('refuses values that are too long or of another type, and changes nothing', async () => {
  const { sessionId, number } = await makeSession();
  const before = writes();
  const refused: [object, RegExp][] = [
    [{}, /nothing to change/],
    [{ title: ' \u200b' }, /"title" must not be empty/],
    [{ title: 'x'.repeat(251) }, /at most 250/],
    [{ body: 'x'.repeat(60_001) }, /at most 60000/],
    [{ draft: 'yes' }, /"draft" must be true or false/],
    [{ state: 'merged' }, /"state" must be "open" or "closed"/],
    [{ labels: 'agent' }, /"labels" must be a list of texts/],
    [{ title: 'x', number: '../1' }, /"number" must be an integer/],
    [{ title: 'x', number: 1e12 }, /number/],
    [{ title: 'x', repository: '../../etc' }, /must be one of the session’s/],
  ];
  for (const [args, message] of refused) await expect(tool(sessionId, 'update', args)).rejects.toThrow(message);
  await expect(tool(sessionId, 'reply', { comment: '../1', body: 'x' })).rejects.toThrow(/"comment" must be/);
  await expect(tool(sessionId, 'reply', { comment: '1', body: 'x'.repeat(60_001), number })).rejects.toThrow(/60000/);
  expect(writes()).toBe(before);
});

it.each([
  ['may only read', { repoPath: 'acme/site', isReadOnly: true }, /may only read acme\/site/],
  ['may no longer use', { repoPath: 'acme/tools' }, /may not use .+acme\/site any longer/],
])('stops when the organization %s the repository', async (_what, permission, message) => {
  const { sessionId } = await makeSession();
  const input = { gitConnectionId: connection.id, organizationId: test.organizationId, ...permission };
  const selection = 'gitPermission { gitPermissionId }';
  const { gitPermission } = await runMutation(test, 'createGitPermission', selection, input);
  const before = writes();
  await expect(tool(sessionId, 'update', { title: 'x' })).rejects.toThrow(message);
  await expect(tool(sessionId, 'reply', { comment: '1', body: 'x' })).rejects.toThrow(message);
  expect(writes()).toBe(before);
  const { gitPermissionId } = gitPermission;
  await runMutation(test, 'deleteGitPermission', 'deletedGitPermissionId', { gitPermissionId });
});

it('lists sessions by the states of their pull requests', async () => {
  const [opened, closed] = [await makeSession(), await makeSession()];
  await setState(closed.sessionId, 'closed');
  const document =
    'query($states: [PullRequestState!], $ids: [ID!]) { sessions(first: 9, filter: { pullRequestStates: $states, ids: $ids }) { nodes { sessionId } totalCount } }';
  const ids = [opened.sessionId, closed.sessionId].map((id) => `devin-${id}`);
  const inGraphql = async (states: string[]) => {
    const { data } = await graphql(test, test.adminToken, document, { states, ids });
    return data.sessions.nodes.map(({ sessionId }: { sessionId: string }) => sessionId);
  };
  const inV3 = async (states: string[]) => {
    const query = [...states.map((state) => `pr_state=${state}`), ...ids.map((id) => `session_ids=${id}`)].join('&');
    const path = `/v3/organizations/${test.organizationId}/sessions?${query}`;
    const { body } = await call(test, test.adminToken, 'GET', path);
    return body.items.map((each: { session_id: string }) => `devin-${each.session_id.replace('devin-', '')}`);
  };
  const expected: [string[], string[]][] = [
    [['open'], [ids[0] as string]],
    [['closed'], [ids[1] as string]],
    [['merged'], []],
    [['merged', 'closed', 'open'], ids.toReversed()],
  ];
  for (const [states, found] of expected) {
    expect({ states, found: await inGraphql(states.map((state) => state.toUpperCase())) }).toEqual({ states, found });
    expect({ states, found: await inV3(states) }).toEqual({ states, found });
  }
  expect(await inV3(['draft'])).toEqual([]);
  expect(await inV3([`x"}]' or true --`])).toEqual([]);
});

it('gives sessions with the same branch one pull request, which counts once', async () => {
  const { sessionId, branch, path } = await makeSession();
  const second = await createSession(test, { repositories: [{ repository: 'acme/site', branch }] });
  const found = await tool(second, 'open', { title: 'Another title', labels: ['both'] });
  const [{ url } = { url: '' }] = await rows('select url from pull_request where session_id = $1', sessionId);
  expect(found).toBe(`It was open already: ${url}`);
  expect(await rows('select url from pull_request where session_id = $1', second)).toEqual([{ url }]);
  expect(await pullAt(path)).toMatchObject({ title: 'Fix the page', labels: [{ name: 'both' }] });
  const days = [-1, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10));
  const count = async () => {
    const document =
      'query($id: ID!, $from: Date!, $to: Date!) { organization(id: $id) { metrics(from: $from, to: $to) { pullRequests { createdCount mergedCount } } } }';
    const { data } = await graphql(test, test.adminToken, document, {
      id: test.organizationId,
      from: days[0],
      to: days[1],
    });
    return data.organization.metrics.pullRequests as { createdCount: number; mergedCount: number };
  };
  const before = await count();
  const urls = await test.app.services.store.query('select distinct url from pull_request', []);
  expect(before.createdCount).toBe(urls.length);
  await setState(sessionId, 'merged');
  await setState(second, 'merged');
  expect(await count()).toEqual({ ...before, mergedCount: before.mergedCount + 1 });
});

it('resolves the thread of a comment that it answers, and says why it could not', async () => {
  const { sessionId, path, number } = await makeSession();
  const { head } = await pullAt(path);
  const url = `${github.url}/acme/site/pull/${number}`;
  const line = { 'commit_id': head.sha, path: 'README.md', line: 1, side: 'RIGHT' };
  const [first, second] = [
    await github.person('POST', `${path}/comments`, { ...line, body: 'Rename it' }),
    await github.person('POST', `${path}/comments`, { ...line, body: 'Shorten it' }),
  ];
  const reply = (id: unknown, resolve = true) =>
    tool(sessionId, 'reply', { comment: String(id), body: 'Done.', resolve });
  expect(await reply(second.id)).toBe(`The reply is on ${url}.`);
  expect(await reply(second.id)).toBe(`The reply is on ${url}.`);
  await reply(first.id, false);
  expect([...github.resolvedThreads]).toEqual([String(second.id)]);

  const talk = await github.person('POST', `/repos/acme/site/issues/${number}/comments`, { body: 'Why?' });
  expect(await reply(talk.id)).toContain('The thread is not resolved: A comment of the conversation');

  const before = (await github.person('GET', `${path}/comments`)) as unknown as unknown[];
  const errors = [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }];
  github.intercept(({ url: received }) =>
    received.pathname === '/api/graphql' ? { body: { data: null, errors } } : null,
  );
  expect(await reply(first.id)).toMatch(/The thread is not resolved: .*Resource not accessible by integration/);
  const after = (await github.person('GET', `${path}/comments`)) as unknown as unknown[];
  expect(after.length).toBe(before.length + 1);
});
