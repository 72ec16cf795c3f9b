import { followReported } from '../../src/domain/followed-pull-requests/follow.ts';
import { newId } from '../../src/domain/ids.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { lockSession } from '../../src/domain/sessions/change-session.ts';
import { writePullRequest } from '../../src/domain/sessions/write-pull-request.ts';
import { call, graphql, type TestApp } from './app.ts';
import type { TestGithub } from './forges/github.ts';
import { connectForgeAt } from './git-webhooks.ts';

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

/** Creates a branch with one commit at the emulated GitHub. */
export async function pushBranchAt(github: TestGithub, repository: string, branch: string): Promise<void> {
  const main = (await github.person('GET', `/repos/${repository}/branches/main`)) as { commit: { sha: string } };
  const ref = { ref: `refs/heads/${branch}`, sha: main.commit.sha };
  await github.person('POST', `/repos/${repository}/git/refs`, ref);
  const content = Buffer.from(branch).toString('base64');
  const file = { message: 'Add a file', content, branch };
  await github.person('PUT', `/repos/${repository}/contents/${branch}.txt`, file);
}

/** Opens a pull request of a new branch at the emulated GitHub, and returns its number. */
export async function openPullRequestAt(github: TestGithub, repository: string, branch: string): Promise<number> {
  await pushBranchAt(github, repository, branch);
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

/** Gives a session a repository of a forge that does not answer. */
export async function seedSessionRepository(
  test: TestApp,
  ids: { readonly sessionId: string; readonly organizationId: string },
): Promise<void> {
  const { id: gitConnectionId } = await connectForgeAt(test, '127.0.0.1:1', { name: newId() });
  const [sessionId, organizationId] = [ids.sessionId.replace('devin-', ''), ids.organizationId.replace('org-', '')];
  const { store, now } = test.app.services;
  const at = { createdAt: now(), updatedAt: now() };
  const [path, host, repositoryId] = ['acme/site', '127.0.0.1:1', newId()];
  await store.transact(async (tx) => {
    const { enterpriseId } = await tx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
    const permission = { id: newId(), organizationId, gitConnectionId, repoPath: path, createdAt: at.createdAt };
    await tx.prisma.gitPermission.create({ data: permission });
    await tx.prisma.repository.create({
      data: { id: repositoryId, enterpriseId, host, path, pathKey: path, gitConnectionId, ...at },
    });
    await tx.prisma.sessionRepository.create({
      data: {
        ...{ sessionId, position: 0, repositoryId, gitConnectionId, host, path, branch: 'work', directory: 'site' },
        ...{ isReadOnly: false, ...at },
      },
    });
  });
}

/** Gives a session a pull request with a follow-up that waits for a person. */
export async function seedFollowUp(
  test: TestApp,
  prefixedSessionId: string,
): Promise<{ readonly url: string; readonly followUpId: string }> {
  const [sessionId, id, url] = [prefixedSessionId.replace('devin-', ''), newId(), 'https://git.test/acme/site/pull/1'];
  const { store, now } = test.app.services;
  const [branches, at] = [{ headBranch: 'work', baseBranch: 'main' }, now()];
  await store.transact(async (tx) => {
    await tx.prisma.pullRequest.create({
      data: {
        sessionId,
        url,
        repositoryId: newId(),
        number: 1,
        title: 'A title',
        isDraft: false,
        readAt: at,
        ...branches,
      },
    });
    const texts = { summary: 'The check "unit" failed', body: 'The check "unit" failed.' };
    await tx.prisma.followUp.create({
      data: { id, sessionId, url, key: 'checks:1', kind: 'checks', state: 'suggested', createdAt: at, ...texts },
    });
  });
  return { url, followUpId: `follow-up-${id}` };
}
