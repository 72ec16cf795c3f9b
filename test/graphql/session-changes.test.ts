import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { graphql, type TestApp } from '../support/app.ts';
import { readers, useReader } from '../support/change-readers.ts';
import { openStream } from '../support/event-stream.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser, roleInput } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  const { active, waitForActive } = useReader(readerIs, (apps) => {
    ({ test, reader } = apps);
  });

  const query = `subscription($id: ID, $filter: SessionFilter, $after: String) {
    sessionChanges(organizationId: $id, filter: $filter, after: $after) {
      type cursor sessionId
      session { sessionId status title tags isArchived createdBy { __typename } organization { organizationId } } } }`;
  const change = (payload: any) => payload.data.sessionChanges;
  const node = (payload: any) => change(payload).session;

  /** A followed organization; later changes are delivered. */
  async function followed(filter: Record<string, unknown> | null = null) {
    const { organizationId, token } = await makeOrganization(test, 'Followed');
    const before = active();
    const client = connect(reader.url, token);
    const following = follow(client, query, { id: organizationId, filter });
    await waitForActive(before + 1);
    return { organizationId, token, client, following };
  }
  const waitForNode = async (following: ReturnType<typeof follow>, isWanted: (session: any) => boolean) => {
    for (;;) {
      const [payload] = await following.take(1);
      if (isWanted(node(payload))) return node(payload);
    }
  };
  const act = (field: string, id: string, more: Record<string, unknown> = {}) =>
    runMutation(test, field, 'session { id }', { sessionId: `devin-${id}`, ...more });

  it('reports new sessions and every kind of change', async () => {
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
    expect(await waitForNode(following, ({ tags }) => tags[0] === 'b')).toMatchObject({ sessionId });
    await act('archiveSession', id);
    expect(await waitForNode(following, ({ isArchived }) => isArchived)).toMatchObject({ sessionId });
    await act('terminateSession', id);
    expect(await waitForNode(following, ({ status }) => status === 'EXIT')).toMatchObject({ sessionId });
    // The catch-up finds a change without a notification.
    await test.app.services.store.execute('update session set title = $2 where id = $1', [id, 'another']);
    expect(await waitForNode(following, ({ title }) => title === 'another')).toMatchObject({ sessionId });
  });

  it('reports nothing from before, of other organizations, or of unlisted sessions', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Alone');
    const other = await makeOrganization(test, 'Other');
    await createSession(test, {}, token);
    const before = active();
    const following = follow(connect(reader.url, token), query, { id: organizationId });
    await waitForActive(before + 1);
    await createSession(test, {}, other.token);
    await createSession(test, { isUnlisted: true }, token);
    const last = await createSession(test, {}, token);
    expect((await following.take(1)).map((payload) => node(payload).sessionId)).toEqual([`devin-${last}`]);
  });

  it('reports sessions that enter a filter, change in it and leave it', async () => {
    const { token, following } = await followed({ tags: ['wanted'], status: ['NEW'] });
    const next = async () => {
      const { type, sessionId, session } = change((await following.take(1))[0]);
      return [type, sessionId.slice('devin-'.length), session?.status];
    };
    const wanted = await createSession(test, { tags: ['wanted'] }, token);
    expect(await next()).toEqual(['ADDED', wanted, 'NEW']);
    await act('addSessionTags', wanted, { tags: ['more'] });
    expect(await next()).toEqual(['UPDATED', wanted, 'NEW']);
    const without = await createSession(test, {}, token);
    expect(await next()).toEqual(['LEFT', without, 'NEW']);
    await act('addSessionTags', without, { tags: ['not this'] });
    await act('terminateSession', wanted);
    expect(await next()).toEqual(['LEFT', wanted, 'EXIT']);
    await act('addSessionTags', wanted, { tags: ['again'] });
    await act('addSessionTags', without, { tags: ['wanted'] });
    expect(await next()).toEqual(['ADDED', without, 'NEW']);
    await act('replaceSessionTags', without, { tags: [] });
    expect(await next()).toEqual(['LEFT', without, 'NEW']);
  });

  it('does not report the departure of a session that the client cannot have', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Late');
    const { userId } = await makeUser(test, {});
    const [earlier, later] = [await createSession(test, {}, token), await createSession(test, {}, token)];
    // Like a session that was created long after clients read their lists.
    await test.app.services.store.execute(
      `update session set created_at = created_at + interval '1 minute' where id = $1`,
      [later],
    );
    const before = active();
    const sent = [{ tags: ['wanted'] }, { tags: ['wanted'], createdByIds: [userId] }].map((filter) =>
      follow(connect(reader.url, token), query, { id: organizationId, filter }),
    ) as [ReturnType<typeof follow>, ReturnType<typeof follow>];
    await waitForActive(before + 2);
    await createSession(test, { isUnlisted: true }, token);
    await act('addSessionTags', later, { tags: ['other'] });
    await act('addSessionTags', earlier, { tags: ['other'] });
    expect(change((await sent[0].take(1))[0])).toMatchObject({ type: 'LEFT', sessionId: `devin-${earlier}` });
    await act('addSessionTags', later, { tags: ['wanted'] });
    expect(change((await sent[0].take(1))[0])).toMatchObject({ type: 'ADDED', sessionId: `devin-${later}` });
    await act('replaceSessionTags', later, { tags: [] });
    expect(change((await sent[0].take(1))[0])).toMatchObject({ type: 'LEFT', sessionId: `devin-${later}` });
    sent[1].stop();
    await expect(sent[1].take(1)).rejects.toThrow('complete');
  });

  it('continues after a cursor without loss, in another connection and process', async () => {
    const { organizationId, token, following } = await followed({ status: ['NEW'] });
    const [first, second] = [await createSession(test, {}, token), await createSession(test, {}, token)];
    const before = (await following.take(2)).map(change);
    expect(before.map(({ sessionId }) => sessionId)).toEqual([`devin-${first}`, `devin-${second}`]);
    following.stop();
    await waitForActive(0);
    const third = await createSession(test, {}, token);
    await act('terminateSession', first);
    const variables = { id: organizationId, filter: { status: ['NEW'] }, after: before[1].cursor };
    const wanted = { [`devin-${third}`]: 'ADDED', [`devin-${first}`]: 'LEFT' };
    const missed = async (take: (count: number) => Promise<any[]>) => {
      const found: Record<string, string> = {};
      while (Object.keys(found).filter((id) => id in wanted).length < 2) {
        const { sessionId, type } = change((await take(1))[0]);
        found[sessionId] = type;
      }
      return found;
    };
    for (const { url } of [test, reader]) {
      const resumed = follow(connect(url, token), query, variables);
      expect(await missed(resumed.take)).toMatchObject(wanted);
      resumed.stop();
    }
    // A client of server-sent events repeats its request, with the id of the last event beside it.
    const lastEventId = before[1].cursor;
    const stream = await openStream(
      reader.url,
      token,
      query,
      { ...variables, after: null },
      { 'last-event-id': lastEventId },
    );
    expect(await missed(stream.take)).toMatchObject(wanted);
    stream.abort();
    // Nothing is missed from any cursor.
    const resumed = follow(connect(reader.url, token), query, { ...variables, after: before[0].cursor });
    const [{ data }] = await resumed.take(1);
    expect([`devin-${second}`, `devin-${third}`, `devin-${first}`]).toContain(data.sessionChanges.sessionId);
    resumed.stop();
  });

  it('refuses an invalid cursor, and a cursor of another database', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Cursors');
    const future = Buffer.from('sessionChanges|999999999999999999|').toString('base64url');
    const other = Buffer.from('sessions.createdAt|1|a').toString('base64url');
    for (const after of ['', 'x', other, future, 'a'.repeat(600)]) {
      const errors = await follow(connect(reader.url, token), query, { id: organizationId, after }).errors();
      expect(errors, after).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
    }
    const stream = await openStream(reader.url, token, query, { id: organizationId }, { 'last-event-id': 'x' });
    expect(JSON.stringify(await stream.rest())).toContain('\\"Last-Event-ID\\" must be');
  });

  it('follows all organizations visible to the viewer, as they come and go', async () => {
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    const one = await makeOrganization(test, 'One of several');
    const two = await makeOrganization(test, 'Two of several');
    const member = await makeUser(test, { organizationId: one.organizationId });
    const before = active();
    const filter = { status: ['NEW'] };
    const ofAll = follow(connect(reader.url, manager.token), query, { filter });
    const ofMember = follow(connect(reader.url, member.token), query, { filter });
    await waitForActive(before + 2);
    const ids = [await createSession(test, {}, one.token), await createSession(test, {}, two.token)];
    const three = await makeOrganization(test, 'Three of several');
    ids.push(await createSession(test, {}, three.token));
    const sorted = (payloads: any[]) => payloads.map((each) => `${change(each).type} ${change(each).sessionId}`).sort();
    expect(sorted(await ofAll.take(3))).toEqual(ids.map((id) => `ADDED devin-${id}`).sort());
    expect(sorted(await ofMember.take(1))).toEqual([`ADDED devin-${ids[0]}`]);

    const toTwo = roleInput({ userId: member.userId, organizationId: two.organizationId, roleId: 'org_member' });
    await runMutation(test, 'assignRole', 'user { userId }', toTwo);
    await waitUntilVisible(ofMember, two.token);
    const fromOne = roleInput({ userId: member.userId, organizationId: one.organizationId });
    await runMutation(test, 'unassignRole', 'user { userId }', fromOne);
    for (;;) {
      const { type, sessionId, session } = change((await ofMember.take(1))[0]);
      if (type !== 'REMOVED') continue;
      expect([sessionId, session]).toEqual([`devin-${ids[0]}`, null]);
      break;
    }
    await createSession(test, {}, one.token);
    const last = await createSession(test, {}, two.token);
    const rest: any[] = [];
    while (rest.at(-1)?.sessionId !== `devin-${last}`) rest.push(change((await ofMember.take(1))[0]));
    for (const { session } of rest) expect(session.organization.organizationId).toBe(two.organizationId);

    await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId: three.organizationId });
    for (;;) {
      const { type, sessionId } = change((await ofAll.take(1))[0]);
      if (type !== 'REMOVED') continue;
      expect(sessionId).toBe(`devin-${ids[2]}`);
      break;
    }
    ofAll.stop();
    ofMember.stop();
  });
  /** Starts sessions until one is reported: a change of roles takes a moment to reach another process. */
  async function waitUntilVisible(following: ReturnType<typeof follow>, token: string) {
    let isSeen = false;
    const seen = following.take(1).then(() => (isSeen = true));
    while (!isSeen) {
      await createSession(test, {}, token);
      await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, 50))]);
    }
  }

  it('loses none of many concurrent sessions, for many subscribers, and reads for them together', async () => {
    const { organizationId, token, following } = await followed();
    const before = active();
    const others = Array.from({ length: 5 }, () => follow(connect(reader.url, token), query, { id: organizationId }));
    await waitForActive(before + 5);
    const ids = await Promise.all(Array.from({ length: 70 }, () => createSession(test, {}, token)));
    const wanted = ids.map((id) => `devin-${id}`).sort();
    for (const each of [following, ...others]) {
      const found = (await each.take(70)).map((payload) => node(payload).sessionId);
      expect(found.sort()).toEqual(wanted);
    }
  });

  it('reports a change that commits after a change that began later', async () => {
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
        expect(await waitForNode(following, ({ tags }) => tags.includes('soon'))).toMatchObject({ title: 'say hello' });
      }
    });
    expect(await waitForNode(following, ({ title }) => title === 'late')).toMatchObject({ sessionId: `devin-${late}` });
    await act('addSessionTags', soon, { tags: ['after'] });
    const next = node((await following.take(1))[0]);
    expect(next).toMatchObject({ sessionId: `devin-${soon}`, tags: expect.arrayContaining(['after']) });
  });

  it('combines changes in quick succession', async () => {
    const { token, following } = await followed();
    const id = await createSession(test, {}, token);
    await following.take(1);
    for (let n = 0; n < 20; n++) await say(test, id, `word ${n}`);
    await test.app.services.store.execute('update session set title = $2 where id = $1', [id, 'the last']);
    test.app.services.notifier.notify(`organization:${parseId('organization', (await orgOf(id)) as string)}`);
    let count = 0;
    await waitForNode(following, ({ title }) => {
      count += 1;
      return title === 'the last';
    });
    expect(count).toBeLessThan(20);
  });
  const orgOf = async (id: string) => {
    const document = 'query($id: ID!) { session(id: $id) { organization { organizationId } } }';
    return (await graphql(test, test.adminToken, document, { id })).data.session.organization.organizationId;
  };

  it('is refused for an organization of others, or without the permission to view sessions', async () => {
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

  it('works for viewers of the enterprise’s sessions, too', async () => {
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_SESSIONS');
    const { organizationId, token } = await makeOrganization(test, 'Seen');
    const before = active();
    const following = follow(connect(reader.url, manager.token), query, { id: organizationId });
    await waitForActive(before + 1);
    const id = await createSession(test, {}, token);
    expect(node((await following.take(1))[0])).toMatchObject({
      sessionId: `devin-${id}`,
      organization: { organizationId },
    });
  });

  it('reports sessions out of sight and ends, when the viewer loses the permission and when the organization is deleted', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Out of sight');
    const user = await makeUser(test, { organizationId });
    const before = active();
    // The keys of an organization end with it, and so do their streams.
    const [ofUser, following] = [user.token, test.adminToken].map((each) =>
      follow(connect(reader.url, each), query, { id: organizationId }),
    ) as [ReturnType<typeof follow>, ReturnType<typeof follow>];
    await waitForActive(before + 2);
    const seen = `devin-${await createSession(test, {}, token)}`;
    await Promise.all([following.take(1), ofUser.take(1)]);
    const input = roleInput({ userId: user.userId, organizationId });
    expect(await runMutation(test, 'unassignRole', 'user { userId }', input)).toMatchObject({ userErrors: [] });
    const hidden = await createSession(test, {}, token);
    await ofUser.ended;
    const afterwards: any[] = [];
    for await (const each of rest(ofUser)) afterwards.push(change(each));
    expect(afterwards).toEqual([{ type: 'REMOVED', cursor: expect.any(String), sessionId: seen, session: null }]);
    expect(change((await following.take(1))[0]).sessionId).toBe(`devin-${hidden}`);
    await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId });
    const removed = (await following.take(2)).map((each) => change(each));
    expect(removed.map(({ type, sessionId }) => `${type} ${sessionId}`).sort()).toEqual(
      [seen, `devin-${hidden}`].map((id) => `REMOVED ${id}`).sort(),
    );
    await following.ended;
  });

  /** Returns the payloads that arrived before the end. */
  async function* rest(following: ReturnType<typeof follow>) {
    for (;;) {
      const taken = await following.take(1).catch(() => null);
      if (taken === null) return;
      yield taken[0];
    }
  }

  it('releases a subscriber after every kind of disconnection', async () => {
    const { organizationId, token, following } = await followed();
    following.stop();
    await waitForActive(0);
    const closed = connect(reader.url, token);
    follow(closed, query, { id: organizationId });
    await waitForActive(1);
    await closed.dispose();
    await waitForActive(0);
    const killed = connect(reader.url, token);
    follow(killed, query, { id: organizationId });
    await waitForActive(1);
    killed.terminate();
    await waitForActive(0);
    const stream = await openStream(reader.url, token, query, { id: organizationId });
    await waitForActive(1);
    const id = await createSession(test, {}, token);
    expect(node((await stream.take(1))[0]).sessionId).toBe(`devin-${id}`);
    stream.abort();
    await waitForActive(0);
  });
});
