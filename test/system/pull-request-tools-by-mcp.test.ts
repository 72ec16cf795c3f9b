import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { pushBranchAt } from '../support/followed-pull-requests.ts';
import { personToken, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { readCalls, sendMessage } from '../support/reports.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
beforeAll(async () => {
  github = await startGithub({ hasGit: true });
  test = await startApp({ roles: ['api', 'worker'], isHttpForgeAllowed: true });
  await connectForgeAt(test, github.url, { token: personToken });
});
afterAll(async () => {
  await test?.close();
  await github?.close();
});

it('an agent opens, changes and answers a pull request through the MCP server of its session', async () => {
  const branch = 'by-mcp';
  await pushBranchAt(github, 'acme/site', branch);
  const opening = `mcp open_pull_request ${JSON.stringify({ title: 'Fix the page' })}`;
  const id = await createSession(test, { prompt: opening, repositories: [{ repository: 'acme/site', branch }] });
  await waitUntilEnded(test, id);
  const last = async () => (await readCalls(test, id)).at(-1);
  expect(await last()).toMatchObject({ toolStatus: 'completed' });
  const pulls = (await github.person('GET', `/repos/acme/site/pulls?head=acme:${branch}`)) as unknown as any[];
  expect(pulls).toHaveLength(1);
  const { number } = pulls[0];
  const changes = { title: 'Fix both pages', labels: ['agent'] };
  const comment = await github.person('POST', `/repos/acme/site/issues/${number}/comments`, { body: 'Why?' });
  const call = async (tool: string, args: object) => {
    await sendMessage(test, id, `mcp ${tool} ${JSON.stringify(args)}`);
    await waitUntilEnded(test, id);
    return await last();
  };

  expect(await call('update_pull_request', changes)).toMatchObject({
    toolStatus: 'completed',
    output: expect.stringMatching(/is changed: title, labels\./),
  });
  expect(await github.person('GET', `/repos/acme/site/pulls/${number}`)).toMatchObject({
    title: 'Fix both pages',
    labels: [{ name: 'agent' }],
  });

  expect(await call('reply_to_comment', { comment: String(comment.id), body: 'Because.' })).toMatchObject({
    toolStatus: 'completed',
  });
  const comments = (await github.person('GET', `/repos/acme/site/issues/${number}/comments`)) as unknown as any[];
  expect(comments.at(-1).body).toContain('Because.');

  expect(await call('update_pull_request', { state: 'open', number: number + 1 })).toMatchObject({
    toolStatus: 'failed',
  });
});
