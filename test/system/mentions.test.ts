import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { openPullRequestAt, reportPullRequest } from '../support/followed-pull-requests.ts';
import { ann, connectApp, deliver } from '../support/forge-events.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import { gitlabToken, startGitlab } from '../support/forges/gitlab.ts';
import { connectForgeAt, gitWebhookSecret, signatureOf, type TestConnection } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { commented, settledMentions } from '../support/mentions.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
let connection: TestConnection;

beforeAll(async () => {
  github = await startGithub();
  test = await startApp({ roles: ['api', 'scheduler'], isHttpForgeAllowed: true, rateLimitGitWebhook: 0 });
  connection = await connectApp(test, github);
  await github.person('POST', '/repos/acme/site/issues', { title: 'The login fails', body: 'Nobody can log in.' });
});
afterAll(async () => {
  await test.close();
  await github.close();
});
beforeEach(async () => {
  await settledMentions(test);
  await test.app.services.store.execute('delete from mention returning id');
});

const octocat = { id: 1, login: 'octocat', type: 'User' };
const byWriter = { sender: octocat };
const issue = { number: 1 };
const send = (payload: object, event = 'issue_comment') => deliver(test, connection.path, event, payload);
const answersOn = async (number: number) => {
  const comments = (await github.person('GET', `/repos/acme/site/issues/${number}/comments`)) as unknown as {
    body: string;
  }[];
  return comments.map(({ body }) => body).filter((body) => body.startsWith('Switchyard:'));
};
const sessionOf = async (id: string | null | undefined) => {
  const document = `query($id: ID!) { session(id: $id) { title origin repositories { path pullRequestNumber }
    mention { author repositoryPath number isPullRequest url } } }`;
  const { data } = await graphql(test, test.adminToken, document, { id: `devin-${id}` });
  const [row] = await test.app.services.store.query<{ prompt: string }>('select prompt from session where id = $1', [
    id,
  ]);
  return { ...data.session, prompt: row?.prompt };
};

describe('a mention by a person who may write to the repository', () => {
  it('starts a session there, and is answered once, however often it arrives', async () => {
    const before = await answersOn(1);
    const payload = commented(`@switchyard please repair it with \${SECRET} and !macro`, issue, byWriter);
    expect(await send(payload)).toMatchObject({ status: 202, body: { status: 'accepted' } });
    await send(payload);
    // Another webhook of the same repository, and an edit.
    await send({ ...payload, nonce: 'another hook' });
    await send({ ...payload, action: 'edited', nonce: 'edit' });
    const [mention, ...others] = await settledMentions(test);
    expect(others).toEqual([]);
    expect(mention).toMatchObject({ status: 'done', organizationId: test.organizationId.replace('org-', '') });
    const session = await sessionOf(mention?.sessionId);
    expect(session).toMatchObject({
      title: 'The login fails',
      origin: 'OTHER',
      repositories: [{ path: 'acme/site', pullRequestNumber: null }],
      mention: { author: 'octocat', repositoryPath: 'acme/site', number: 1, isPullRequest: false },
    });
    expect(session.mention.url).toBe(payload.comment.html_url);
    expect(session.prompt).toMatch(/^octocat asks for this in issue #1 of acme\/site \(https:/);
    expect(session.prompt).toContain(`> @switchyard please repair it with \${SECRET} and \\!macro`);
    expect(session.prompt).toContain('"description": "Nobody can log in."');
    const answers = (await answersOn(1)).slice(before.length);
    expect(answers).toEqual([expect.stringContaining(`/sessions/${mention?.sessionId}`)]);
  });

  it('is a message to the session that follows the pull request, and otherwise starts one on its head', async () => {
    const number = await openPullRequestAt(github, 'acme/site', 'mentioned');
    const pull = { number, 'pull_request': { url: 'x' } };
    await send(commented('@switchyard-test go on', pull, byWriter));
    const [first] = await settledMentions(test);
    expect(await sessionOf(first?.sessionId)).toMatchObject({
      repositories: [{ path: 'acme/site', pullRequestNumber: number }],
    });
    const sessionId = await createSession(test, { repositories: [{ repository: 'acme/site' }] });
    await reportPullRequest(test, sessionId, `${github.url}/acme/site/pull/${number}`);
    await send(commented('@Switchyard rename it', pull, byWriter));
    expect((await settledMentions(test)).at(-1)).toMatchObject({ status: 'done', sessionId });
    expect(await sessionOf(sessionId)).toMatchObject({ mention: null });
    const messages = await test.app.services.store.query<{ body: string }>(
      "select body from log_entry where session_id = $1 and message_type = 'user_message' order by seq",
      [sessionId],
    );
    expect(messages).toEqual([{ body: expect.stringContaining('> @Switchyard rename it') }]);
    expect(await answersOn(number)).toEqual([
      expect.stringMatching(/a session works on this: http/),
      expect.stringContaining(`the session of this pull request got the message: ${test.url}/sessions/${sessionId}`),
    ]);
  });

  it('does not reach a session that only reviews the pull request', async () => {
    const number = await openPullRequestAt(github, 'acme/site', 'reviewed');
    const pullRequestUrl = `${github.url}/acme/site/pull/${number}`;
    const { session } = await runMutation(test, 'reviewPullRequest', 'session { sessionId } userErrors { message }', {
      ...{ organizationId: test.organizationId, pullRequestUrl },
    });
    await send(commented('@switchyard go on', { number, 'pull_request': { url: 'x' } }, byWriter));
    const [mention] = await settledMentions(test);
    expect(mention).toMatchObject({ status: 'done', sessionId: expect.any(String) });
    expect(`devin-${mention?.sessionId}`).not.toBe(session.sessionId);
  });

  it('is not sent again as a follow-up of the pull request', async () => {
    const number = await openPullRequestAt(github, 'acme/site', 'followed-up');
    const sessionId = await createSession(test, { repositories: [{ repository: 'acme/site' }] });
    await reportPullRequest(test, sessionId, `${github.url}/acme/site/pull/${number}`);
    const { store } = test.app.services;
    const reads = async () => {
      const rows = await store.query<{ readAt: Date | null }>(
        'select read_at as "readAt" from followed_pull_request where number = $1 and wanted_at is null',
        [number],
      );
      return rows[0]?.readAt?.getTime() ?? 0;
    };
    await expect.poll(reads, { timeout: 60_000 }).toBeGreaterThan(0);
    const first = await reads();
    const at = `/repos/acme/site/issues/${number}/comments`;
    const body = '@switchyard rename it';
    const { id } = (await github.person('POST', at, { body })) as { id: number };
    const comment = { id, body, 'html_url': 'https://github.com/acme/site/pull/1#c', user: octocat };
    await send(commented(body, { number, 'pull_request': { url: 'x' } }, { ...byWriter, comment }));
    expect((await settledMentions(test)).at(-1)).toMatchObject({ status: 'done', sessionId });
    await expect.poll(reads, { timeout: 60_000 }).toBeGreaterThan(first);
    // The read that ended may have begun before the comment.
    const followUps = () =>
      store.query('select state, comment_ids as ids from follow_up where session_id = $1', [sessionId]);
    await expect.poll(followUps, { timeout: 60_000 }).toEqual([{ state: 'skipped', ids: [`talk:${id}`] }]);
  });

  it('can stand in the description of an issue or a pull request, in a review and on a line', async () => {
    const number = await openPullRequestAt(github, 'acme/site', 'described');
    const { repository } = commented('');
    const pull = {
      number,
      title: 'Change',
      body: '@switchyard look',
      state: 'open',
      head: { ref: 'described', sha: 'a'.repeat(40) },
      base: { ref: 'main' },
    };
    const base = { repository, sender: octocat };
    await send({ ...base, action: 'opened', 'pull_request': pull }, 'pull_request');
    await send({ ...base, action: 'opened', issue: { number: 1, title: 'A', body: 'Do it, @switchyard' } }, 'issues');
    const review = {
      id: 1,
      user: octocat,
      body: '@switchyard see above',
      state: 'commented',
      'commit_id': 'a'.repeat(40),
    };
    await send({ ...base, action: 'submitted', 'pull_request': pull, review }, 'pull_request_review');
    const found = await settledMentions(test);
    expect(found.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
    expect(new Set(found.map(({ sessionId }) => sessionId)).size).toBe(3);
  });

  it('says in the thread that no session could be started', async () => {
    const before = await answersOn(1);
    const { store } = test.app.services;
    const setAgent = (agent: string | null) =>
      store.execute('update organization set default_agent = $2 where id = $1 returning id', [
        test.organizationId.replace('org-', ''),
        agent,
      ]);
    await setAgent('gone');
    await send(commented('@switchyard do it', issue, byWriter));
    const [mention] = await settledMentions(test);
    await setAgent(null);
    expect(mention).toMatchObject({ status: 'done', sessionId: null });
    const reason = 'no session could be started: its organization lacks the repository or the agent of its settings.';
    expect((await answersOn(1)).slice(before.length)).toEqual([`Switchyard: ${reason}`]);
  });
});

describe('nothing happens', () => {
  it.each([
    ['by a stranger', commented('@switchyard steal it', issue, { sender: ann })],
    ['by another bot', commented('@switchyard do it', issue, { sender: { id: 9, login: 'ci[bot]', type: 'Bot' } })],
    [
      'by the bot of the connection',
      commented('@switchyard do it', issue, { sender: { id: 4_242, login: 'x', type: 'User' } }),
    ],
    ['in code and quotations', commented('`@switchyard`\n\n> @switchyard\n\n@somebody', issue, byWriter)],
    ['in an edit', commented('@switchyard do it', issue, { ...byWriter, action: 'edited' })],
  ])('%s', async (_name, payload) => {
    const before = [await answersOn(1), await count()];
    expect((await send(payload)).status).toBe(202);
    for (const { status, sessionId } of await settledMentions(test)) {
      expect({ status, sessionId }).toEqual({ status: 'ignored', sessionId: null });
    }
    expect([await answersOn(1), await count()]).toEqual(before);
  });

  it('with a forged signature', async () => {
    const answer = await deliver(
      test,
      connection.path,
      'issue_comment',
      commented('@switchyard do it', issue, byWriter),
      'wrong',
    );
    expect(answer.status).toBe(401);
    expect(await settledMentions(test)).toEqual([]);
  });
});
const count = async () => (await test.app.services.store.query('select id from session')).length;

it('takes no mention of a connection whose forge has another host', async () => {
  const other = await startGithub();
  const elsewhere = await connectForgeAt(test, other.url, { token: 'ghp_c4n4ry0fTheClassicToken000000000000' });
  await deliver(
    test,
    elsewhere.path,
    'issue_comment',
    commented('@switchyard do it', issue, byWriter),
    gitWebhookSecret,
  );
  expect((await settledMentions(test)).map(({ status, sessionId }) => [status, sessionId])).toEqual([
    ['ignored', null],
  ]);
  await other.close();
});

describe('at GitLab', () => {
  it('takes mentions in comments and descriptions, and answers in the issue or the thread', async () => {
    const gitlab = await startGitlab();
    const { path } = await connectForgeAt(test, gitlab.url, { providerType: 'GITLAB_TOKEN', token: gitlabToken });
    const { organizationId } = await makeOrganization(test, 'GitLab');
    const gitConnectionId = path.replace('/webhooks/git/', '');
    const permission = { organizationId, gitConnectionId, groupPrefix: 'group' };
    await runMutation(test, 'createGitPermission', 'gitPermission { gitPermissionId }', permission, test.adminToken);
    const project = { id: 31, 'path_with_namespace': 'group/sub/site' };
    const note = (id: number, type: string, more: object, username = 'ann') => ({
      ...{ 'object_kind': 'note', user: { id: 6, username, name: 'Ann' }, project, ...more },
      'object_attributes': {
        id,
        note: '@switchyard do it',
        'noteable_type': type,
        action: 'create',
        'discussion_id': 'd'.repeat(40),
        url: null,
      },
    });
    const payloads = [
      note(1, 'Issue', { issue: { iid: 3, title: 'A bug' } }),
      note(2, 'MergeRequest', { 'merge_request': { iid: 4, title: 'A change' } }),
      note(3, 'Commit', { commit: { id: 'a'.repeat(40) } }),
      note(4, 'Issue', { issue: { iid: 3, title: 'A bug' } }, 'project_31_bot_y'),
      {
        ...{ 'object_kind': 'issue', user: { id: 6, username: 'ann', name: 'Ann' }, project },
        'object_attributes': {
          iid: 5,
          title: 'Another',
          description: 'See @switchyard',
          action: 'open',
          state: 'opened',
        },
      },
    ];
    for (const payload of payloads) {
      await postTo(test, path, JSON.stringify(payload), {
        'content-type': 'application/json',
        'x-gitlab-token': gitWebhookSecret,
      });
    }
    const found = await settledMentions(test);
    // GitLab's merge request does not exist in the fake, so its thread gets no answer.
    expect(found.map(({ sessionId }) => sessionId !== null)).toEqual([true, true, true]);
    const posts = gitlab.requests
      .filter(({ method }) => method === 'POST')
      .map(({ url }) => decodeURIComponent(url.pathname));
    const at = '/api/v4/projects/group/sub/site';
    expect(posts.sort()).toEqual([
      `${at}/issues/3/notes`,
      `${at}/issues/5/notes`,
      `${at}/merge_requests/4/discussions/${'d'.repeat(40)}/notes`,
    ]);
    await gitlab.close();
  });
});

describe('at Gitea', () => {
  it('takes mentions in comments and descriptions of people who can write', async () => {
    const gitea = await startGitea();
    const { path } = await connectForgeAt(test, gitea.url, { providerType: 'GITEA_TOKEN', token: giteaToken });
    const { organizationId } = await makeOrganization(test, 'Gitea');
    const gitConnectionId = path.replace('/webhooks/git/', '');
    const permission = { organizationId, gitConnectionId, repoPath: 'acme/site' };
    await runMutation(test, 'createGitPermission', 'gitPermission { gitPermissionId }', permission, test.adminToken);
    const { repository } = commented('');
    const comment = (id: number) => ({ id, body: '@switchyard do it', user: ann });
    const pull = { state: 'open', head: { ref: 'x', sha: 'a'.repeat(40) }, base: { ref: 'main' } };
    const issueOf = (number: number) => ({ number, title: 'A bug', body: 'Broken' });
    const described = (number: number) => ({ number, title: 'A change', body: 'See @switchyard' });
    const stranger = { id: 8, login: 'mallory' };
    const robot = { id: 5, login: 'robot' };
    const deliveries: [event: string, payload: object][] = [
      ['issue_comment', { issue: issueOf(3), comment: comment(1), 'is_pull': false }],
      ['issue_comment', { issue: issueOf(4), comment: comment(2), 'is_pull': true }],
      ['issues', { action: 'opened', issue: described(5) }],
      ['pull_request', { action: 'opened', number: 6, 'pull_request': { ...described(6), ...pull } }],
      ['issue_comment', { issue: issueOf(3), comment: comment(3), 'is_pull': false, sender: stranger }],
      ['issue_comment', { issue: issueOf(3), comment: comment(4), 'is_pull': false, sender: robot }],
      // It has no id, so that it could not be told from another one.
      [
        'pull_request_comment',
        { action: 'reviewed', 'pull_request': { number: 6 }, review: { content: '@switchyard' } },
      ],
    ];
    for (const [event, payload] of deliveries) {
      const sender = { id: 6, login: 'ann' };
      const body = JSON.stringify({ action: 'created', repository, sender, nonce: randomUUID(), ...payload });
      const signature = signatureOf(body).slice('sha256='.length);
      const headers = { 'x-gitea-event': event, 'x-gitea-delivery': randomUUID(), 'x-gitea-signature': signature };
      expect((await postTo(test, path, body, { 'content-type': 'application/json', ...headers })).status).toBe(202);
    }
    const found = await settledMentions(test);
    // The token may not comment, so the answers fail, but the sessions run.
    expect(found.map(({ status }) => status)).toEqual([...Array(4).fill('failed'), 'ignored', 'ignored']);
    const sessions = await Promise.all(found.slice(0, 4).map(({ sessionId }) => sessionOf(sessionId)));
    expect(sessions.map(({ repositories }) => repositories[0].pullRequestNumber)).toEqual([null, 4, null, 6]);
    expect(found.slice(4).every(({ sessionId }) => sessionId === null)).toBe(true);
    await gitea.close();
  });
});
