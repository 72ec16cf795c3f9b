import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

// On PostgreSQL also with the writer and the subscribers in two processes' worth of Switchyard.
const readers = testDatabase === 'postgres' ? ['the writing process', 'another process'] : ['the writing process'];

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  beforeAll(async () => {
    test = await startApp();
    reader = readerIs === 'another process' ? await test.another() : test;
  });
  afterAll(async () => {
    if (reader !== test) await reader.close();
    await test.close();
  });

  const query = `subscription($id: ID!, $filter: SessionFilter) { organizationSessions(organizationId: $id, filter: $filter) {
    cursor node { sessionId status title tags isArchived createdBy { __typename } organization { organizationId } } } }`;
  const node = (payload: any) => payload.data.organizationSessions.node;
  const active = () => reader.app.watches.active();
  const untilActive = async (count: number) => {
    while (active() !== count) await new Promise((resolve) => setImmediate(resolve));
  };

  // Those of the test before have left.
  beforeEach(() => untilActive(0));

  /** An organization that is followed; what changes from here on is delivered. */
  async function followed(filter: Record<string, unknown> | null = null) {
    const { organizationId, token } = await makeOrganization(test, 'Followed');
    const before = active();
    const client = connect(reader.url, token);
    const following = follow(client, query, { id: organizationId, filter });
    await untilActive(before + 1);
    return { organizationId, token, client, following };
  }
  const untilNode = async (following: ReturnType<typeof follow>, isWanted: (session: any) => boolean) => {
    for (;;) {
      const [payload] = await following.take(1);
      if (isWanted(node(payload))) return node(payload);
    }
  };
  const act = (field: string, id: string, more: Record<string, unknown> = {}) =>
    runMutation(test, field, 'session { id }', { sessionId: `devin-${id}`, ...more });

  it('gives sessions as they are started and as they change, whatever changes', async () => {
    const { organizationId, token, following } = await followed();
    const id = await createSession(test, { tags: ['a'] }, token);
    const sessionId = `devin-${id}`;
    expect(node((await following.take(1))[0])).toEqual({
      sessionId,
      status: 'NEW',
      title: 'say hello',
      tags: ['a'],
      isArchived: false,
      createdBy: { __typename: 'ServiceUser' },
      organization: { organizationId },
    });
    await act('replaceSessionTags', id, { tags: ['b'] });
    expect(await untilNode(following, ({ tags }) => tags[0] === 'b')).toMatchObject({ sessionId });
    await act('archiveSession', id);
    expect(await untilNode(following, ({ isArchived }) => isArchived)).toMatchObject({ sessionId });
    await act('terminateSession', id);
    expect(await untilNode(following, ({ status }) => status === 'EXIT')).toMatchObject({ sessionId });
    // What nobody rings for is found by the catch-up.
    await test.app.services.store.execute('update session set title = $2 where id = $1', [id, 'another']);
    expect(await untilNode(following, ({ title }) => title === 'another')).toMatchObject({ sessionId });
  });

  it('has nothing of before, of other organizations, or of unlisted sessions', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Alone');
    const other = await makeOrganization(test, 'Other');
    await createSession(test, {}, token);
    const before = active();
    const following = follow(connect(reader.url, token), query, { id: organizationId });
    await untilActive(before + 1);
    await createSession(test, {}, other.token);
    await createSession(test, { isUnlisted: true }, token);
    const last = await createSession(test, {}, token);
    expect((await following.take(1)).map((payload) => node(payload).sessionId)).toEqual([`devin-${last}`]);
  });

  it('gives those that the filter holds for when they change', async () => {
    const { token, following } = await followed({ tags: ['wanted'], status: ['NEW'] });
    const without = await createSession(test, {}, token);
    const wanted = await createSession(test, { tags: ['wanted'] }, token);
    expect(node((await following.take(1))[0]).sessionId).toBe(`devin-${wanted}`);
    await act('terminateSession', wanted);
    await act('addSessionTags', without, { tags: ['wanted'] });
    expect(node((await following.take(1))[0]).sessionId).toBe(`devin-${without}`);
  });

  it('gives cursors of the list, so that an edge can stand in it', async () => {
    const { organizationId, token, following } = await followed();
    const ids = [await createSession(test, {}, token), await createSession(test, {}, token)];
    const edges = (await following.take(2)).map((payload) => payload.data.organizationSessions);
    const { data } = await graphql(
      test,
      token,
      'query($id: ID!) { organization(id: $id) { sessions { edges { cursor node { sessionId } } } } }',
      { id: organizationId },
    );
    const listed = data.organization.sessions.edges;
    expect(listed.map((edge: any) => edge.node.sessionId)).toEqual(ids.toReversed().map((id) => `devin-${id}`));
    expect(edges.map(({ cursor }) => cursor).toReversed()).toEqual(listed.map(({ cursor }: any) => cursor));
  });

  it('loses none of many sessions that are started at once, for many who follow, and reads for them together', async () => {
    const { organizationId, token, following } = await followed();
    const before = active();
    const others = Array.from({ length: 5 }, () => follow(connect(reader.url, token), query, { id: organizationId }));
    await untilActive(before + 5);
    const ids = await Promise.all(Array.from({ length: 70 }, () => createSession(test, {}, token)));
    const wanted = ids.map((id) => `devin-${id}`).sort();
    for (const each of [following, ...others]) {
      const found = (await each.take(70)).map((payload) => node(payload).sessionId);
      expect(found.sort()).toEqual(wanted);
    }
  });

  it('tells of what commits late, though what began after it was told of before', async () => {
    const { token, following } = await followed();
    const [late, soon] = [await createSession(test, {}, token), await createSession(test, {}, token)];
    await following.take(2);
    await test.app.services.store.transact(async (tx) => {
      await tx.query('update session set title = $2 where id = $1', [late, 'late']);
      // Another connection, except in the embedded database, which has one.
      if (testDatabase === 'postgres') {
        await new Promise<void>((resolve, reject) => {
          setImmediate(() => act('replaceSessionTags', soon, { tags: ['soon'] }).then(() => resolve(), reject));
        });
        expect(await untilNode(following, ({ tags }) => tags.includes('soon'))).toMatchObject({ title: 'say hello' });
      }
    });
    expect(await untilNode(following, ({ title }) => title === 'late')).toMatchObject({ sessionId: `devin-${late}` });
    await act('addSessionTags', soon, { tags: ['after'] });
    const next = node((await following.take(1))[0]);
    expect(next).toMatchObject({ sessionId: `devin-${soon}`, tags: expect.arrayContaining(['after']) });
  });

  it('brings changes close together as one', async () => {
    const { token, following } = await followed();
    const id = await createSession(test, {}, token);
    await following.take(1);
    for (let n = 0; n < 20; n++) await say(test, id, `word ${n}`);
    await test.app.services.store.execute('update session set title = $2 where id = $1', [id, 'the last']);
    test.app.services.bell.ring(`organization:${parseId('organization', (await orgOf(id)) as string)}`);
    let count = 0;
    await untilNode(following, ({ title }) => {
      count += 1;
      return title === 'the last';
    });
    expect(count).toBeLessThan(20);
  });
  const orgOf = async (id: string) => {
    const document = 'query($id: ID!) { session(id: $id) { organization { organizationId } } }';
    return (await graphql(test, test.adminToken, document, { id })).data.session.organization.organizationId;
  };

  it('is refused where the organization is not the viewer’s, or its sessions are not to be seen', async () => {
    const { organizationId } = await makeOrganization(test, 'Hidden');
    const { token } = await makeOrganization(test, 'Stranger');
    const never = 'org-00000000000000000000000000000000';
    const refused = async (as: string, id: string, filter: object | null = null) =>
      follow(connect(reader.url, as), query, { id, filter }).errors();
    expect(await refused(token, organizationId)).toEqual(await refused(token, never));
    expect(await refused(token, organizationId)).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(await refused(test.adminToken, never)).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    const weak = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ORG_MEMBERSHIP');
    expect(await refused(weak.token, organizationId)).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    const bad = await refused(test.adminToken, organizationId, { search: 'a\u0000' });
    expect(bad).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
  });

  it('is for who may see the sessions of the enterprise, too', async () => {
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    const { organizationId, token } = await makeOrganization(test, 'Seen');
    const before = active();
    const following = follow(connect(reader.url, manager.token), query, { id: organizationId });
    await untilActive(before + 1);
    const id = await createSession(test, {}, token);
    expect(node((await following.take(1))[0])).toMatchObject({
      sessionId: `devin-${id}`,
      organization: { organizationId },
    });
  });

  it('ends when the viewer may see them no more, and when the organization is deleted', async () => {
    const { organizationId, token, following } = await followed();
    const user = await makeUser(test, { organizationId });
    const before = active();
    const ofUser = follow(connect(reader.url, user.token), query, { id: organizationId });
    await untilActive(before + 1);
    await createSession(test, {}, token);
    await Promise.all([following.take(1), ofUser.take(1)]);
    const input = roleInput({ userId: user.userId, organizationId });
    expect(await runMutation(test, 'unassignRole', 'user { userId }', input)).toMatchObject({ userErrors: [] });
    await createSession(test, {}, token);
    await ofUser.ended;
    await following.take(1);
    await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId });
    await following.ended;
  });

  it('forgets a subscriber after every way of leaving', async () => {
    const { organizationId, token, following } = await followed();
    following.stop();
    await untilActive(0);
    const closed = connect(reader.url, token);
    follow(closed, query, { id: organizationId });
    await untilActive(1);
    await closed.dispose();
    await untilActive(0);
    const killed = connect(reader.url, token);
    follow(killed, query, { id: organizationId });
    await untilActive(1);
    killed.terminate();
    await untilActive(0);
    const stream = await openStream(reader.url, token, query, { id: organizationId });
    await untilActive(1);
    const id = await createSession(test, {}, token);
    expect(node((await stream.take(1))[0]).sessionId).toBe(`devin-${id}`);
    stream.abort();
    await untilActive(0);
  });
});
