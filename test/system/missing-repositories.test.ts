import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccess } from '../../src/domain/execution/repositories/gateway-access.ts';
import { readSessionRepositories } from '../../src/domain/execution/repositories/session-repositories.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { installationId, startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ roles: ['api'], isHttpForgeAllowed: true });
let github: TestGithub;
let gitConnectionId: string;

beforeAll(async () => {
  github = await startGithub();
  const app = { appId: '12345', privateKey: github.privateKey, installationId: String(installationId) };
  const { id } = await connectForgeAt(test, github.url, { providerType: 'GITHUB_APP', token: null, ...app });
  gitConnectionId = `git-connection-${id}`;
});
afterAll(() => github.close());

it('gives the forge’s reason when a session may not clone a repository', async () => {
  const sessionId = await createSession(test, { repositories: [{ repository: 'acme/absent' }] });
  const { services } = test.app;
  const { enterpriseId, repositories } = await readSessionRepositories(asSystem(services, ''), sessionId);
  const access = createAccess(asSystem(services, enterpriseId), {
    organizationId: test.organizationId.replace('org-', ''),
    repositories: repositories.map((row) => ({ row, cloneUrl: `${github.url}/acme/absent.git` })),
    onCredential: () => undefined,
  });
  const [repository] = access.repositories();
  if (!repository) throw new Error('The session has no repository.');
  const refused = await access.credentialFor(repository, 'read');
  expect(refused).toMatchObject({ refused: 'UNAVAILABLE' });
  expect(JSON.stringify(refused)).toMatch(
    /no working credential for .*acme\/absent\. The GitHub App has no access to this repository, or not the permission .*contents: read.* An administrator can test the connection/,
  );
});

it('tests the repository too, and keeps the connection without a failure if only the repository is missing', async () => {
  const tested = (repositoryPath: string | null) =>
    runMutation(
      test,
      'testGitConnection',
      'test { isOk code message report { warnings } } gitConnection { lastFailure { code } }',
      { gitConnectionId, repositoryPath },
    );
  const isFine = { test: { isOk: true, code: null }, gitConnection: { lastFailure: null }, userErrors: [] };
  expect(await tested(null)).toMatchObject(isFine);
  expect(await tested('acme/site')).toMatchObject(isFine);
  expect(await tested('acme/absent')).toMatchObject({
    test: { isOk: false, code: 'NOT_FOUND', message: expect.stringContaining('acme/absent'), report: {} },
    gitConnection: { lastFailure: null },
  });
});
