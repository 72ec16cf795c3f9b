import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { ann, connectApp, deliver } from '../support/forge-events.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import type { TestConnection } from '../support/git-webhooks.ts';
import { commented, settledMentions } from '../support/mentions.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

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

const byWriter = { sender: { id: 1, login: 'octocat', type: 'User' } };
const issue = { number: 1 };
const send = (payload: object) => deliver(test, connection.path, 'issue_comment', payload);
/** The reasons in the answers of the thread, the oldest first. */
const refusals = async () => {
  const comments = (await github.person('GET', '/repos/acme/site/issues/1/comments')) as unknown as { body: string }[];
  return comments.flatMap(({ body }) => /^Switchyard: no session could be started: (.*)\.$/.exec(body)?.[1] ?? []);
};

it('reaches the only organization that may use the repository, or the one that its settings choose', async () => {
  const [one, two] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
  const permit = (organizationId: string, isReadOnly = false) =>
    runMutation(
      test,
      'createGitPermission',
      'gitPermission { gitPermissionId }',
      { organizationId, gitConnectionId: `git-connection-${connection.id}`, repoPath: 'acme/site', isReadOnly },
      test.adminToken,
    );
  const ask = async () => {
    await test.app.services.store.execute('delete from mention returning id');
    await send(commented('@switchyard do it', issue, byWriter));
    return (await settledMentions(test)).map(({ organizationId }) => organizationId && `org-${organizationId}`);
  };
  expect(await ask()).toEqual([null]);
  expect(await refusals()).toEqual(['no organization of the service may use this repository']);
  // Nobody else gets an answer.
  await send(commented('@switchyard do it', issue, { sender: ann }));
  expect((await settledMentions(test)).at(-1)).toMatchObject({ status: 'ignored' });
  const reading = await permit(one.organizationId, true);
  expect(await ask()).toEqual([null]);
  const { gitPermissionId } = reading.gitPermission;
  expect((await runMutation(test, 'deleteGitPermission', '', { gitPermissionId })).userErrors).toEqual([]);
  await permit(one.organizationId);
  expect(await ask()).toEqual([one.organizationId]);
  await permit(two.organizationId);
  expect(await ask()).toEqual([null]);
  expect((await refusals()).slice(1)).toEqual([
    'its organization may only read this repository',
    'several organizations may use this repository, and an administrator has to choose one',
  ]);
  const [{ id } = { id: '' }] = await test.app.services.store.query<{ id: string }>(
    "select id from repository where path_key = 'acme/site'",
  );
  const update = (input: object) =>
    runMutation(
      test,
      'updateRepository',
      'repository { isMentionAnswered mentionOrganization { organizationId } } userErrors { code path }',
      { repositoryId: `repository-${id}`, ...input },
      test.adminToken,
    );
  const chosen = { isMentionAnswered: true, mentionOrganization: { organizationId: two.organizationId } };
  expect((await update({ mentionOrganizationId: two.organizationId })).repository).toEqual(chosen);
  expect(await ask()).toEqual([two.organizationId]);
  const unknown = await update({ mentionOrganizationId: `org-${'0'.repeat(32)}` });
  expect(unknown.userErrors).toMatchObject([{ code: 'UNKNOWN_REFERENCE', path: ['input', 'mentionOrganizationId'] }]);
  // The chosen organization must be permitted itself, also later.
  const other = await update({ mentionOrganizationId: `org-${test.organizationId.replace('org-', '')}` });
  expect(other.userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'mentionOrganizationId'] }]);
  await test.app.services.store.execute(
    `update repository set settings = jsonb_set(settings, '{mentionOrganizationId}', to_jsonb($2::text)) where id = $1 returning id`,
    [id, test.organizationId.replace('org-', '')],
  );
  expect(await ask()).toEqual([null]);
  expect((await refusals()).at(-1)).toBe('the organization that is chosen for this repository may not use it');
  await update({ mentionOrganizationId: one.organizationId, isMentionAnswered: false });
  expect(await ask()).toEqual([null]);
  await update({ isMentionAnswered: true });
  expect(await ask()).toEqual([one.organizationId]);
});
