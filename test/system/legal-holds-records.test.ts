import { expect, it } from 'vitest';
import { forgetRuns } from '../../src/domain/automations/forget-runs.ts';
import { pruneGitDeliveries } from '../../src/domain/git-deliveries/prune-deliveries.ts';
import { newId } from '../../src/domain/ids.ts';
import { deleteOldSessions } from '../../src/domain/retention/delete-sessions.ts';
import { pruneWebhooks } from '../../src/domain/webhooks/prune-deliveries.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { type HoldTarget, holdTarget, inAYear, releaseHold } from '../support/legal-holds.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';
import { makeEndpoint } from '../support/webhooks.ts';

const test = useApp();
const never = () => false;

/** Where a record belongs: to a session, or to an organization only. */
interface RecordScope {
  readonly organizationId: string;
  readonly sessionId: string | null;
}

async function makeScope(): Promise<RecordScope & { sessionId: string; userId: string }> {
  const { organizationId } = await makeOrganization(test, `Records ${newId()}`);
  const { userId, token } = await makeUser(test, { organizationId });
  const sessionId = await createSession(test, {}, token);
  return { organizationId: organizationId.replace('org-', ''), userId, sessionId };
}

const connect = () => connectForgeAt(test, 'github.com');

/** Stores one record of each kind, of a connection and an endpoint. Returns a function that reads which kinds are left. */
async function addRecords({ organizationId, sessionId }: RecordScope, gitConnectionId: string, endpointId: string) {
  const { store } = test.app.services;
  const createdAt = new Date();
  const id = newId();
  await store.transact(async ({ prisma }) => {
    const { enterpriseId } = await prisma.gitConnection.findUniqueOrThrow({ where: { id: gitConnectionId } });
    const text = { body: '', title: '', description: '', authorLogin: 'ann', number: 7, isPullRequest: true };
    const location = { host: 'forge.example', path: 'acme/site', pathKey: 'acme/site', sourceKey: `comment:${id}` };
    const common = { id, organizationId, sessionId, createdAt };
    await prisma.mention.create({
      data: { ...common, ...text, ...location, enterpriseId, gitConnectionId, status: 'done' },
    });
    const event = { eventType: 'session.finished', eventId: id, status: 'delivered', begunAt: createdAt };
    await prisma.webhookDelivery.create({ data: { ...common, ...event, endpointId } });
    const run = { automationId: id, deliveryKey: `due:${id}`, trigger: {}, status: 'skipped' };
    await prisma.automationRun.create({ data: { ...common, ...run } });
    if (sessionId === null) return;
    const followed = { id, gitConnectionId, path: 'acme/site', pathKey: id, number: 7, createdAt };
    await prisma.followedPullRequest.create({ data: followed });
    const following = { followedPullRequestId: id, sessionId, repositoryId: 'r', url: 'https://forge.example/7' };
    await prisma.followingSession.create({ data: following });
  });
  return async (): Promise<string[]> => {
    const rows = await store.query<{ kind: string }>(
      `select 'mention' as kind from mention where id = $1 union all select 'delivery' from webhook_delivery where id = $1
        union all select 'run' from automation_run where id = $1
        union all select 'pull request' from followed_pull_request where id = $1
        union all select 'following' from following_session where followed_pull_request_id = $1`,
      [id],
    );
    return rows.map(({ kind }) => kind).sort();
  };
}

async function pruneAll(): Promise<void> {
  const services = inAYear(test);
  await pruneWebhooks(services, never);
  await pruneGitDeliveries(services, never);
  await forgetRuns(services, never);
}

const ofSession = ['delivery', 'following', 'mention', 'pull request', 'run'];
const ofOrganization = ['delivery', 'mention', 'run'];
const keptWhileUsed = ['following', 'pull request'];

it.each(['session', 'organization', 'user'] as const)(
  'a hold on the %s keeps mentions, deliveries and runs beyond their retention time',
  async (kind) => {
    const [held, free] = [await makeScope(), await makeScope()];
    const { id: connection } = await connect();
    const endpointOf = async ({ organizationId }: RecordScope) => {
      const input = { organizationId, url: 'https://hooks.example.test/x', eventTypes: ['SESSION_MESSAGE'] };
      const { webhookEndpointId } = await makeEndpoint(test, test.adminToken, input);
      return webhookEndpointId.replace('webhook-endpoint-', '');
    };
    const kept = await addRecords(held, connection, await endpointOf(held));
    const keptOfOrganization = await addRecords({ ...held, sessionId: null }, connection, await endpointOf(held));
    const gone = await addRecords(free, connection, await endpointOf(free));
    const target = { session: 'sessionId', organization: 'organizationId', user: 'userId' } as const;
    const hold = await holdTarget(test, { [target[kind]]: held[target[kind]] } as HoldTarget);

    await pruneAll();
    expect(await kept()).toEqual(ofSession);
    expect(await keptOfOrganization()).toEqual(kind === 'organization' ? ofOrganization : []);
    expect(await gone()).toEqual(keptWhileUsed);

    await releaseHold(test, hold);
    await pruneAll();
    expect(await kept()).toEqual(keptWhileUsed);
    expect(await keptOfOrganization()).toEqual([]);
  },
);

it('a hold keeps what is left of a deleted connection and a deleted endpoint', async () => {
  const [held, free] = [await makeScope(), await makeScope()];
  const { id: connection } = await connect();
  const [kept, gone] = [await addRecords(held, connection, newId()), await addRecords(free, connection, newId())];
  const hold = await holdTarget(test, { sessionId: held.sessionId });
  await runMutation(test, 'deleteGitConnection', 'deletedGitConnectionId', { gitConnectionId: connection });

  const prune = async () => {
    await pruneWebhooks(test.app.services, never);
    await pruneGitDeliveries(test.app.services, never);
  };
  await prune();
  expect(await kept()).toEqual(ofSession);
  expect(await gone()).toEqual(['run']);

  // The deletion of the session itself leaves all of it too.
  await deleteOldSessions(inAYear(test), never);
  expect(await kept()).toEqual(ofSession);
  await releaseHold(test, hold);
  await prune();
  expect(await kept()).toEqual(['run']);
});
