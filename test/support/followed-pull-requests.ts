import { followReported } from '../../src/domain/followed-pull-requests/follow.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { lockSession } from '../../src/domain/sessions/change-session.ts';
import { writePullRequest } from '../../src/domain/sessions/write-pull-request.ts';
import { call, graphql, type TestApp } from './app.ts';
import type { TestGithub } from './forges/github.ts';

/** Records a pull request of a session, as the tool `report_pull_request` does in a run. */
export async function reportPullRequest(test: TestApp, sessionId: string, url: string): Promise<void> {
  const { services } = test.app;
  await services.store.transact(async (tx) => {
    const session = await lockSession(tx, sessionId, null);
    const context = asSystem(services, '');
    await writePullRequest(context, tx, session, { pullRequest: { url, state: 'open' }, generation: null });
    await followReported(services, tx, session, url);
  });
}

/** Opens a pull request of a new branch at the emulated GitHub, and returns its number. */
export async function openPullRequestAt(github: TestGithub, repository: string, branch: string): Promise<number> {
  const main = (await github.person('GET', `/repos/${repository}/branches/main`)) as { commit: { sha: string } };
  const ref = { ref: `refs/heads/${branch}`, sha: main.commit.sha };
  await github.person('POST', `/repos/${repository}/git/refs`, ref);
  const content = Buffer.from(branch).toString('base64');
  const file = { message: 'Add a file', content, branch };
  await github.person('PUT', `/repos/${repository}/contents/${branch}.txt`, file);
  const pull = { title: branch, head: branch, base: 'main', body: 'x' };
  const { number } = (await github.person('POST', `/repos/${repository}/pulls`, pull)) as { number: number };
  return number;
}

/** Returns the states of a session's pull requests in GraphQL, version 3 and version 1. */
export async function statesOf(test: TestApp, sessionId: string): Promise<Record<'graphql' | 'v3' | 'v1', unknown[]>> {
  const document = 'query($id: ID!) { node(id: $id) { ... on Session { pullRequests { state } } } }';
  const { data } = await graphql(test, test.adminToken, document, { id: `devin-${sessionId}` });
  const path = `/v3/organizations/${test.organizationId}/sessions/devin-${sessionId}`;
  const { body } = await call(test, test.adminToken, 'GET', path);
  const v1 = await call(test, test.v1Key, 'GET', `/v1/sessions/devin-${sessionId}`);
  return {
    graphql: data.node.pullRequests.map(({ state }: { state: string }) => state),
    v3: body.pull_requests.map((each: { pr_state: string }) => each.pr_state),
    v1: [v1.body.pull_request?.url],
  };
}
