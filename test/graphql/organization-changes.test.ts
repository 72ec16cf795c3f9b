import { describe, expect, it } from 'vitest';
import { graphql, type TestApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { readers, useReader } from '../support/change-readers.ts';
import { openStream } from '../support/event-stream.ts';
import { makeManager, makeRole, runMutation } from '../support/people.ts';
import { makeUser, roleInput } from '../support/principals.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, type Following, follow } from '../support/sockets.ts';
import { makeEndpoint } from '../support/webhooks.ts';

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  const { following } = useReader(readerIs, (apps) => {
    ({ test, reader } = apps);
  });

  const query = `subscription($id: ID!, $types: [ResourceType!], $after: String) {
    changes(organizationId: $id, types: $types, after: $after) { type cursor resourceType nodeId node { id __typename } } }`;
  const change = ({ data }: any) => data.changes;
  const waitFor = async (followed: Following<any>, isWanted: (one: any) => boolean): Promise<any> => {
    for (;;) {
      const [payload] = await followed.take(1);
      if (isWanted(change(payload))) return change(payload);
    }
  };
  const make = async (field: string, selection: string, input: Record<string, unknown>, token = test.adminToken) => {
    const payload = await runMutation(test, field, `${selection} { id }`, input, token);
    if (!payload[selection]) throw new Error(JSON.stringify(payload));
    return payload[selection].id as string;
  };

  /** Creates one object of each type, and returns the global ids by type name. */
  async function makeAll(organizationId: string): Promise<Map<string, string>> {
    const scope = { organizationId };
    const text = { body: 'Body', trigger: 'When', name: 'Named' };
    const user = await makeUser(test, { organizationId });
    const { automation } = await createAutomation(test, { organizationId });
    const endpoint = { organizationId, url: 'https://hooks.example/', eventTypes: ['SESSION_MESSAGE'] };
    const { id: endpointId, webhookEndpointId } = await makeEndpoint(test, test.adminToken, endpoint);
    const members = `query($id: ID!) { node(id: $id) { ... on Organization { members { nodes { id user { userId } } } } } }`;
    const { data } = await graphql(test, test.adminToken, members, {
      id: Buffer.from(`Organization:${organizationId.replace('org-', '')}`).toString('base64'),
    });
    const sessionId = await createSession(test, { organizationId });
    await saveCheckpoint(test, sessionId);
    return new Map([
      ['PLAYBOOK', await make('createPlaybook', 'playbook', { scope, title: 'Titled', body: 'Body' })],
      ['KNOWLEDGE_NOTE', await make('createKnowledgeNote', 'knowledgeNote', { scope, ...text })],
      ['KNOWLEDGE_FOLDER', await make('createKnowledgeFolder', 'knowledgeFolder', { scope, name: 'Folder' })],
      ['SECRET', await make('createSecret', 'secret', { organizationId, key: 'KEY', value: 'v', type: 'KEY_VALUE' })],
      ['AUTOMATION', automation.id],
      ['AUTOMATION_RUN', await make('runAutomation', 'run', { automationId: automation.automationId })],
      ['WEBHOOK_ENDPOINT', endpointId],
      ['WEBHOOK_DELIVERY', await make('testWebhookEndpoint', 'webhookDelivery', { webhookEndpointId })],
      ['ROLE', (await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS'])).id],
      ['MEMBER', data.node.members.nodes.find((each: any) => each.user.userId === user.userId).id],
      ['SESSION', Buffer.from(`Session:${sessionId}`).toString('base64')],
      ['SNAPSHOT', await make('createSnapshot', 'snapshot', { sessionId, name: 'Base' })],
      ['SERVICE_USER', await make('createServiceUser', 'serviceUser', { scope, name: 'Robot', roleId: 'org_member' })],
    ]);
  }

  it('reports the creation, change and removal of every type', async () => {
    const { organizationId } = await makeOrganization(test, 'All of it');
    const all = await following(test.adminToken, query, { id: organizationId });
    const made = await makeAll(organizationId);
    const types = [...made.keys()].sort();
    const { data } = await graphql(
      test,
      test.adminToken,
      '{ __type(name: "ResourceType") { enumValues { name } } }',
      {},
    );
    expect(data.__type.enumValues.map(({ name }: any) => name).sort()).toEqual(types);
    const found = new Map<string, any>();
    while (![...made].every(([type, id]) => found.get(id)?.resourceType === type)) {
      const one = change((await all.take(1))[0]);
      expect(one.type === 'REMOVED' ? null : one.nodeId).toBe(one.node?.id ?? null);
      found.set(one.nodeId, one);
    }
    const playbookId = made.get('PLAYBOOK');
    await runMutation(test, 'updatePlaybook', 'playbook { id }', { playbookId, title: 'Another' });
    expect(await waitFor(all, ({ nodeId }) => nodeId === playbookId)).toMatchObject({ type: 'UPDATED' });
    const acts: readonly (readonly [string, string, Record<string, unknown>])[] = [
      ['PLAYBOOK', 'deletePlaybook', { playbookId }],
      ['KNOWLEDGE_NOTE', 'deleteKnowledgeNote', { knowledgeNoteId: made.get('KNOWLEDGE_NOTE') }],
      ['SECRET', 'deleteSecret', { secretId: made.get('SECRET') }],
      ['AUTOMATION', 'deleteAutomation', { automationId: made.get('AUTOMATION') }],
      ['WEBHOOK_ENDPOINT', 'deleteWebhookEndpoint', { webhookEndpointId: made.get('WEBHOOK_ENDPOINT') }],
      ['SNAPSHOT', 'deleteSnapshot', { snapshotId: made.get('SNAPSHOT') }],
      ['SERVICE_USER', 'deleteServiceUser', { serviceUserId: made.get('SERVICE_USER') }],
    ];
    for (const [type, field, input] of acts) {
      await runMutation(test, field, 'clientMutationId', input);
      expect(await waitFor(all, ({ nodeId }) => nodeId === made.get(type))).toMatchObject({
        type: 'REMOVED',
        resourceType: type,
        node: null,
      });
    }
    all.stop();
  });

  it('continues after the cursor of a query or of a change, in any process and transport, including removals', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Copied');
    const scope = { organizationId };
    const early = await make('createPlaybook', 'playbook', { scope, title: 'Early', body: 'Body' });
    const { changesCursor } = (await graphql(reader, token, '{ changesCursor }', {})).data;
    const late = await make('createPlaybook', 'playbook', { scope, title: 'Late', body: 'Body' });
    await runMutation(test, 'deletePlaybook', 'clientMutationId', { playbookId: early });
    const variables = { id: organizationId, types: ['PLAYBOOK', 'KNOWLEDGE_NOTE'], after: changesCursor };
    for (const { url } of [test, reader]) {
      const resumed = follow(connect(url, token), query, variables);
      const changes = (await resumed.take(2)).map(change);
      expect(changes.map(({ type, nodeId }) => [type, nodeId])).toEqual([
        ['ADDED', late],
        ['REMOVED', early],
      ]);
      resumed.stop();
      const headers = { 'last-event-id': changes[0].cursor };
      const stream = await openStream(url, token, query, { ...variables, after: null }, headers);
      expect((await stream.take(1)).map((each) => change(each).nodeId)).toEqual([early]);
      stream.abort();
    }
  });

  it('loses and repeats nothing during concurrent writes', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Busy');
    const followed = await following(token, query, { id: organizationId, types: ['SECRET', 'SESSION'] });
    const { changesCursor } = (await graphql(reader, token, '{ changesCursor }', {})).data;
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0
          ? make('createSecret', 'secret', { organizationId, key: `KEY_${n}`, value: 'v', type: 'KEY_VALUE' }, token)
          : createSession(test, {}, token).then((id) => Buffer.from(`Session:${id}`).toString('base64')),
      ),
    );
    const seen = (await followed.take(40)).map(change);
    expect(seen.map(({ nodeId }) => nodeId).sort()).toEqual(ids.toSorted());
    followed.stop();
    const found = new Set<string>();
    let after = changesCursor;
    while (found.size < 40) {
      const resumed = follow(connect(reader.url, token), query, {
        ...{ id: organizationId, types: ['SECRET', 'SESSION'], after },
      });
      for (const one of (await resumed.take(Math.min(7, 40 - found.size))).map(change)) {
        found.add(one.nodeId);
        after = one.cursor;
      }
      resumed.stop();
    }
    expect([...found].sort()).toEqual(ids.toSorted());
  });

  it('needs the permission of each type, and hides unlisted sessions and other organizations', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Guarded');
    const stranger = await makeOrganization(test, 'Stranger');
    const refused = (as: string, id: string, types: string[] | null = null) =>
      follow(connect(reader.url, as), query, { id, types }).errors();
    expect(await refused(stranger.token, organizationId)).toEqual(
      await refused(stranger.token, 'org-00000000000000000000000000000000'),
    );
    const { roleId } = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_AUTOMATIONS']);
    const user = await makeUser(test, { organizationId, roleId });
    for (const type of ['SECRET', 'SESSION', 'PLAYBOOK', 'WEBHOOK_DELIVERY', 'MEMBER', 'ROLE', 'SERVICE_USER']) {
      expect(await refused(user.token, organizationId, ['AUTOMATION', type]), type).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ]);
    }
    expect(await refused(user.token, organizationId, [])).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
    const overSessions = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    expect(await refused(overSessions.token, organizationId, ['PLAYBOOK'])).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ]);
    const [ofUser, ofSessions] = [
      await following(user.token, query, { id: organizationId }),
      await following(overSessions.token, query, { id: organizationId }),
    ];
    await createSession(test, { isUnlisted: true }, token);
    await createSession(test, {}, stranger.token);
    await make('createPlaybook', 'playbook', { scope: { organizationId }, title: 'Hidden', body: 'Body' });
    const session = await createSession(test, {}, token);
    const { automation } = await createAutomation(test, { organizationId });
    expect(change((await ofUser.take(1))[0])).toMatchObject({ resourceType: 'AUTOMATION', nodeId: automation.id });
    expect(change((await ofSessions.take(1))[0])).toMatchObject({
      resourceType: 'SESSION',
      nodeId: Buffer.from(`Session:${session}`).toString('base64'),
    });
    await runMutation(test, 'unassignRole', 'user { userId }', roleInput({ userId: user.userId, organizationId }));
    expect(change((await ofUser.take(1))[0])).toMatchObject({ type: 'REMOVED', nodeId: automation.id, node: null });
    await ofUser.ended;
    ofSessions.stop();
  });
});
