import { describe, expect, it } from 'vitest';
import { forgetRuns } from '../../src/domain/automations/forget-runs.ts';
import { forgetRemovals } from '../../src/domain/changes/forget-removals.ts';
import { pruneWebhooks } from '../../src/domain/webhooks/prune-deliveries.ts';
import { graphql, type TestApp } from '../support/app.ts';
import { createAutomation, makeAutomatic, switchAutomation } from '../support/automations.ts';
import { readers, useReader } from '../support/change-readers.ts';
import { openStream } from '../support/event-stream.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeUser, roleInput } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { connect, type Following, follow } from '../support/sockets.ts';
import { makeEndpoint } from '../support/webhooks.ts';

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  const { waitForActive, following } = useReader(readerIs, (apps) => {
    ({ test, reader } = apps);
  });

  const ofRuns = `subscription($id: ID, $automations: [ID!], $filter: AutomationRunFilter, $after: String) {
    automationRunChanges(organizationId: $id, automationIds: $automations, filter: $filter, after: $after) {
      __typename type cursor automationRunId run { automationRunId status } } }`;
  const ofDeliveries = `subscription($id: ID, $endpoints: [ID!], $filter: WebhookDeliveryFilter, $after: String) {
    webhookDeliveryChanges(organizationId: $id, webhookEndpointIds: $endpoints, filter: $filter, after: $after) {
      type cursor webhookDeliveryId webhookDelivery { webhookDeliveryId status eventType } } }`;
  const change = ({ data }: any) => data.automationRunChanges ?? data.webhookDeliveryChanges;

  /** Reads changes until one matches. */
  async function waitFor(followed: Following<any>, isWanted: (one: any) => boolean): Promise<any[]> {
    const taken: any[] = [];
    while (taken.length === 0 || !isWanted(taken.at(-1))) taken.push(change((await followed.take(1))[0]));
    return taken;
  }
  const runNow = async (automationId: string, token: string) =>
    (await runMutation(test, 'runAutomation', 'run { automationRunId status }', { automationId }, token)).run;
  const narrow = { concurrency: { maxConcurrentRuns: 1, maxQueueDepth: 10 } };
  const execute = (sql: string, values: unknown[]) => test.app.services.store.execute(sql, values);
  /** Waits until no transaction, even of other tests' databases, is older than the last change of an object. */
  const waitUntilSettled = (id: string) =>
    expect
      .poll(() =>
        test.app.services.store.query(
          'select changed_xid < oldest_transaction() as "isSettled" from resource_change where id = $1',
          [id],
        ),
      )
      .toEqual([{ isSettled: true }]);

  it('reports runs when they are created, change, enter or leave a filter, and are deleted', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const { automation } = await createAutomation(test, narrow, token);
    const all = await following(token, ofRuns, { id: organizationId });
    const queued = await following(token, ofRuns, { filter: { status: ['QUEUED'] } });
    const [first, second] = [
      await runNow(automation.automationId, token),
      await runNow(automation.automationId, token),
    ];
    expect([first.status, second.status]).toEqual(['STARTED', 'QUEUED']);
    const added = [...(await waitFor(all, ({ automationRunId }) => automationRunId === second.automationRunId))];
    expect(added.map(({ type, run }) => [type, run.status])).toEqual([
      ['ADDED', 'STARTED'],
      ['ADDED', 'QUEUED'],
    ]);
    const [entered] = (await waitFor(queued, ({ type }) => type === 'ADDED')).slice(-1);
    expect(entered).toMatchObject({ __typename: 'AutomationRunChange', automationRunId: second.automationRunId });
    await switchAutomation(test, automation.automationId, false, token);
    expect((await waitFor(queued, ({ type }) => type === 'LEFT')).at(-1)).toMatchObject({
      automationRunId: second.automationRunId,
      run: { status: 'SKIPPED' },
    });
    expect((await waitFor(all, ({ run }) => run?.status === 'SKIPPED')).at(-1)?.type).toBe('UPDATED');
    await execute(`update automation_run set created_at = created_at - interval '91 days' where id = $1`, [
      first.automationRunId,
    ]);
    await forgetRuns(test.app.services, () => false);
    expect((await waitFor(all, ({ type }) => type === 'REMOVED')).at(-1)).toMatchObject({
      automationRunId: first.automationRunId,
      run: null,
    });
    all.stop();
    queued.stop();
  });

  it('reports deliveries when they are created and end, and are deleted with their endpoint', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Delivered');
    const url = 'https://hooks.example/';
    const input = { organizationId, url, eventTypes: ['SESSION_MESSAGE'] };
    const [one, two] = [await makeEndpoint(test, token, input), await makeEndpoint(test, token, input)];
    const all = await following(token, ofDeliveries, { id: organizationId });
    const ofTwo = await following(token, ofDeliveries, { endpoints: [two.webhookEndpointId] });
    const pending = await following(token, ofDeliveries, { filter: { status: ['PENDING'] } });
    const send = async (webhookEndpointId: string): Promise<string> => {
      const fields = 'webhookDelivery { webhookDeliveryId }';
      return (await runMutation(test, 'testWebhookEndpoint', fields, { webhookEndpointId }, token)).webhookDelivery
        .webhookDeliveryId;
    };
    const sent = [await send(one.webhookEndpointId), await send(two.webhookEndpointId)];
    expect(
      (await waitFor(all, ({ webhookDeliveryId }) => webhookDeliveryId === sent[1])).map(({ type }) => type),
    ).toEqual(['ADDED', 'ADDED']);
    expect(await waitFor(ofTwo, ({ type }) => type === 'ADDED')).toMatchObject([{ webhookDeliveryId: sent[1] }]);
    await waitFor(pending, ({ webhookDeliveryId }) => webhookDeliveryId === sent[1]);
    const bare = (id = '') => id.replace('delivery-', '');
    // A claim is no change; the end of an attempt is one.
    await execute(`update webhook_delivery set next_attempt_at = next_attempt_at + interval '1 second' where id = $1`, [
      bare(sent[0]),
    ]);
    await execute(`update webhook_delivery set status = 'delivered', finished_at = now() where id = $1`, [
      bare(sent[1]),
    ]);
    const ended = { webhookDeliveryId: sent[1], webhookDelivery: { status: 'DELIVERED' } };
    expect(await waitFor(all, ({ type }) => type === 'UPDATED')).toMatchObject([ended]);
    expect(await waitFor(pending, ({ type }) => type === 'LEFT')).toMatchObject([ended]);
    const { webhookEndpointId } = one;
    await runMutation(test, 'deleteWebhookEndpoint', 'deletedWebhookEndpointId', { webhookEndpointId }, token);
    await pruneWebhooks(test.app.services, () => false);
    expect(await waitFor(all, ({ type }) => type === 'REMOVED')).toMatchObject([
      { webhookDeliveryId: sent[0], webhookDelivery: null },
    ]);
    for (const each of [all, ofTwo, pending]) each.stop();
  });

  it('continues after the cursor of a change or a query, in another connection, transport and process', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const { automation } = await createAutomation(test, narrow, token);
    const read = `query($id: ID!) { node(id: $id) { ... on Automation { runs { nodes { automationRunId } } } } changesCursor }`;
    const before = await runNow(automation.automationId, token);
    await waitUntilSettled(before.automationRunId);
    const { data } = await graphql(reader, token, read, { id: automation.id });
    expect(data.node.runs.nodes).toEqual([{ automationRunId: before.automationRunId }]);
    const missed = [await runNow(automation.automationId, token), await runNow(automation.automationId, token)];
    const variables = { id: organizationId, after: data.changesCursor };
    const wanted = missed.map(({ automationRunId }) => automationRunId);
    let last = '';
    for (const { url } of [test, reader]) {
      const resumed = follow(connect(url, token), ofRuns, variables);
      const changes = (await resumed.take(2)).map(change);
      expect(changes.map(({ automationRunId }) => automationRunId)).toEqual(wanted);
      last = changes[0].cursor;
      resumed.stop();
    }
    const stream = await openStream(
      reader.url,
      token,
      ofRuns,
      { ...variables, after: null },
      { 'last-event-id': last },
    );
    expect((await stream.take(1)).map((payload) => change(payload).automationRunId)).toEqual(wanted.slice(1));
    stream.abort();
    // A cursor within the changes of one kind is invalid for another; one between transactions is valid for all.
    const errors = await follow(connect(reader.url, token), ofDeliveries, { after: last }).errors();
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
    await waitForActive(0);
    const deliveries = await following(token, ofDeliveries, { after: data.changesCursor });
    deliveries.stop();
    // Forgets removals that came after the cursor.
    await execute('delete from automation_run where id = $1', [before.automationRunId]);
    await forgetRemovals(test.app.services, () => false);
    const removed = follow(connect(reader.url, token), ofRuns, variables);
    expect((await removed.take(3)).map(change).at(-1)).toMatchObject({
      type: 'REMOVED',
      automationRunId: before.automationRunId,
    });
    removed.stop();
    await waitUntilSettled(before.automationRunId);
    const now = () => new Date(Date.now() + 31 * 24 * 60 * 60 * 1_000);
    await forgetRemovals({ ...test.app.services, now }, () => false);
    const late = await follow(connect(reader.url, token), ofRuns, variables).errors();
    expect(late).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
    const { changesCursor } = (await graphql(reader, token, '{ changesCursor }', {})).data;
    await waitForActive(0);
    (await following(token, ofRuns, { id: organizationId, after: changesCursor })).stop();
  });

  it('loses and repeats none of many concurrent runs, for subscribers and for returning ones', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const made = await Promise.all(Array.from({ length: 6 }, () => createAutomation(test, narrow, token)));
    const { data } = await graphql(reader, token, '{ changesCursor }', {});
    const followed = await following(token, ofRuns, { id: organizationId });
    const runs = await Promise.all(
      made.flatMap(({ automation }) => Array.from({ length: 8 }, () => runNow(automation.automationId, token))),
    );
    const wanted = runs.map(({ automationRunId }) => automationRunId).sort();
    const seen = (await followed.take(wanted.length)).map((payload) => change(payload));
    expect(seen.map(({ automationRunId }) => automationRunId).sort()).toEqual(wanted);
    // A subscriber that disconnects at any position and returns gets each of the remaining changes.
    let after = data.changesCursor;
    const found = new Set<string>();
    while (found.size < wanted.length) {
      const resumed = follow(connect(reader.url, token), ofRuns, { id: organizationId, after });
      for (const { automationRunId, cursor } of (await resumed.take(Math.min(7, wanted.length - found.size))).map(
        change,
      )) {
        found.add(automationRunId);
        after = cursor;
      }
      resumed.stop();
    }
    expect([...found].sort()).toEqual(wanted);
    followed.stop();
  });

  it('is refused without the permission, reveals nothing to strangers, and ends when the permission is lost', async () => {
    const { organizationId, token } = await makeAutomatic(test);
    const stranger = await makeOrganization(test, 'Stranger');
    const never = 'org-00000000000000000000000000000000';
    const refused = (query: string, as: string, id: string | null) =>
      follow(connect(reader.url, as), query, { id }).errors();
    const weak = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ORG_SESSIONS');
    for (const query of [ofRuns, ofDeliveries]) {
      expect(await refused(query, stranger.token, organizationId)).toEqual(await refused(query, stranger.token, never));
      expect(await refused(query, stranger.token, organizationId)).toMatchObject([
        { extensions: { code: 'NOT_FOUND' } },
      ]);
      expect(await refused(query, weak.token, organizationId)).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
      expect(await refused(query, weak.token, null)).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    const { automation } = await createAutomation(test, narrow, token);
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_AUTOMATIONS']);
    const user = await makeUser(test, { organizationId, roleId });
    const elsewhere = await following(stranger.token, ofRuns);
    const ofUser = await following(user.token, ofRuns);
    const { automationRunId } = await runNow(automation.automationId, token);
    expect(change((await ofUser.take(1))[0])).toMatchObject({ type: 'ADDED', automationRunId });
    await runMutation(test, 'unassignRole', 'user { userId }', roleInput({ userId: user.userId, organizationId }));
    expect(change((await ofUser.take(1))[0])).toMatchObject({ type: 'REMOVED', automationRunId, run: null });
    await ofUser.ended;
    elsewhere.stop();
    await expect(elsewhere.take(1)).rejects.toThrow('complete');
  });
});
