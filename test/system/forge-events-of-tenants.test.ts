import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { connectApp, deliver, labeled, runsOf, settled } from '../support/forge-events.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import { connectForgeAt, gitWebhookSecret, type TestConnection } from '../support/git-webhooks.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

let github: TestGithub;
let otherForge: TestGithub;
let test: TestApp;
let connection: TestConnection;
let first: Automatic;
let second: Automatic;

interface Automatic {
  readonly organizationId: string;
  readonly automationId: string;
}

beforeAll(async () => {
  [github, otherForge] = await Promise.all([startGithub(), startGithub()]);
  test = await startApp({ roles: ['api', 'scheduler'], isHttpForgeAllowed: true });
  connection = await connectApp(test, github);
  [first, second] = [await automate('First'), await automate('Second')];
});
afterAll(async () => {
  await test.close();
  await github.close();
  await otherForge.close();
});

async function automate(name: string): Promise<Automatic> {
  const { organizationId, token } = await makeOrganization(test, name);
  const input = {
    triggers: [{ event: { eventType: 'github:issues' } }],
    actions: [{ startSession: { prompt: 'Fix it.' } }],
  };
  const { automation } = await createAutomation(test, input, token);
  return { organizationId, automationId: automation.automationId };
}

async function permit({ organizationId }: Automatic, { id }: TestConnection, target: object): Promise<string> {
  const input = { organizationId, gitConnectionId: `git-connection-${id}`, ...target };
  const selection = 'gitPermission { gitPermissionId }';
  const made = await runMutation(test, 'createGitPermission', selection, input, test.adminToken);
  return made.gitPermission.gitPermissionId;
}
const revoke = (gitPermissionId: string) =>
  runMutation(test, 'deleteGitPermission', 'deletedGitPermissionId', { gitPermissionId }, test.adminToken);
const counts = async () => {
  await settled(test);
  const runs = await Promise.all([first, second].map(({ automationId }) => runsOf(test, automationId)));
  expect(runs.flat().filter(({ status }) => status !== 'STARTED')).toEqual([]);
  return runs.map(({ length }) => length);
};
const send = (repository = 'acme/site') =>
  deliver(test, connection.path, 'issues', labeled({ repository: { 'full_name': repository } }));

it('reaches the organizations that may use the repository at the moment, and no others', async () => {
  await send();
  expect(await counts()).toEqual([0, 0]);
  await permit(first, connection, { repoPath: 'acme/site' });
  const group = await permit(second, connection, { prefixPath: 'acme/to' });
  await send();
  await send('ACME/Site');
  expect(await counts()).toEqual([2, 0]);
  await send('acme/tools');
  await send('acme/other');
  expect(await counts()).toEqual([2, 1]);
  await revoke(group);
  await send('acme/tools');
  expect(await counts()).toEqual([2, 1]);
  const site = await permit(second, connection, { repoPath: 'acme/site', isReadOnly: true });
  await send();
  expect(await counts()).toEqual([3, 2]);
  await revoke(site);
});

it('reaches nobody through a connection of another host, with the same path', async () => {
  const before = await counts();
  const elsewhere = await connectForgeAt(test, otherForge.url, { token: 'ghp_c4n4ry0fTheClassicToken000000000000' });
  await deliver(test, elsewhere.path, 'issues', labeled(), gitWebhookSecret);
  expect(await counts()).toEqual(before);
  // A path that looks like the other host.
  const { host } = new URL(github.url);
  const repository = { 'full_name': `${host}/site` };
  await deliver(test, elsewhere.path, 'issues', labeled({ repository }), gitWebhookSecret);
  expect(await counts()).toEqual(before);
});

it('reaches organizations through another connection of the same host, as one App with several installations', async () => {
  const before = await counts();
  const installation = await connectForgeAt(test, github.url, { token: 'ghp_c4n4ry0fTheClassicToken000000000000' });
  await permit(second, installation, { repoPath: 'acme/tools' });
  await send('acme/tools');
  expect(await counts()).toEqual([before[0], (before[1] ?? 0) + 1]);
});

it('reaches nobody after the connection was deleted', async () => {
  const before = await counts();
  const input = { gitConnectionId: `git-connection-${connection.id}` };
  await runMutation(test, 'deleteGitConnection', 'deletedGitConnectionId', input, test.adminToken);
  expect(await send()).toMatchObject({ status: 401 });
  expect(await counts()).toEqual(before);
});
