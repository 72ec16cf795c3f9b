import { describe, expect, it } from 'vitest';
import { graphql, type TestApp } from '../support/app.ts';
import { readers, useReader } from '../support/change-readers.ts';
import { openStream } from '../support/event-stream.ts';
import { runMutation } from '../support/people.ts';
import { makeUser, roleInput } from '../support/principals.ts';
import { answerQuestion, seedQuestion } from '../support/questions.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { statementsOf } from '../support/statements.ts';

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  const { following } = useReader(readerIs, (apps) => {
    ({ test, reader } = apps);
  });

  const ofAttention = `subscription($after: String) { attention(after: $after) {
    __typename type cursor sessionId session { statusDetail organization { organizationId } } question { questionId body } } }`;
  const ofQueue = `subscription($id: ID, $after: String) { queueChanges(organizationId: $id, after: $after) {
    type cursor sessionId waitingCount session { status queuePosition queueReason } } }`;
  const change = ({ data }: any) => data.attention ?? data.queueChanges;
  const end = (sessionId: string) => runMutation(test, 'terminateSession', 'session { id }', { sessionId });
  const listed = async (token: string) => {
    const document = '{ changesCursor viewer { waitingForMe { nodes { sessionId } } } }';
    const { data } = await graphql(reader, token, document, {});
    const ids: string[] = data.viewer.waitingForMe.nodes.map(({ sessionId }: any) => sessionId);
    return { ids, cursor: data.changesCursor as string };
  };

  it('reports sessions that begin and stop to wait for the viewer, with their question, as the list shows them', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Attentive');
    const [user, other] = [await makeUser(test, { organizationId }), await makeUser(test, { organizationId })];
    const mine = await following(user.token, ofAttention);
    const managed = await following(token, ofAttention);
    const others = await following(other.token, ofAttention);
    const own = `devin-${await createSession(test, {}, user.token)}`;
    const { questionId } = await seedQuestion(test, own, 'permission', 'May I?');
    expect(change((await mine.take(1))[0])).toMatchObject({
      __typename: 'AttentionChange',
      type: 'ADDED',
      sessionId: own,
      session: { statusDetail: 'WAITING_FOR_APPROVAL', organization: { organizationId } },
      question: { questionId, body: 'May I?' },
    });
    expect((await listed(user.token)).ids).toEqual([own]);
    const ofKey = `devin-${await createSession(test, {}, token)}`;
    await seedQuestion(test, ofKey, 'question', 'Which?');
    // Sessions that never waited are of no interest.
    await runMutation(test, 'addSessionTags', 'session { id }', {
      sessionId: await createSession(test, {}, token),
      tags: ['other'],
    });
    const ofManager = (await managed.take(2)).map(change);
    expect(ofManager.map(({ type, sessionId, question }) => [type, sessionId, question.body])).toEqual([
      ['ADDED', own, 'May I?'],
      ['ADDED', ofKey, 'Which?'],
    ]);
    expect((await listed(token)).ids.sort()).toEqual([own, ofKey].sort());
    await answerQuestion(test, own, questionId, { optionId: '1' });
    // It waits until its agent continues.
    expect(change((await mine.take(1))[0])).toMatchObject({ type: 'UPDATED', sessionId: own, question: null });
    await end(own);
    expect(change((await mine.take(1))[0])).toMatchObject({ type: 'LEFT', sessionId: own, question: null });
    expect((await listed(user.token)).ids).toEqual([]);
    // A viewer who started none of them and manages none sees none of them waiting.
    for (const each of [mine, managed, others]) each.stop();
    await expect(others.take(1)).rejects.toThrow('complete');
    await expect(mine.take(1)).rejects.toThrow('complete');
  });

  it('continues after the cursor of a list without loss, in another connection, transport and process', async () => {
    const { token } = await makeOrganization(test, 'Resumed');
    const gone = `devin-${await createSession(test, {}, token)}`;
    await seedQuestion(test, gone, 'question', 'First?');
    const { ids, cursor } = await listed(token);
    expect(ids).toEqual([gone]);
    await end(gone);
    const comes = `devin-${await createSession(test, {}, token)}`;
    await seedQuestion(test, comes, 'question', 'Second?');
    const wanted = { [gone]: 'LEFT', [comes]: 'ADDED' };
    const resumed = follow(connect(reader.url, token), ofAttention, { after: cursor });
    const stream = await openStream(test.url, token, ofAttention, {}, { 'last-event-id': cursor });
    for (const each of [resumed, stream]) {
      const changes = (await each.take(2)).map(change);
      expect(Object.fromEntries(changes.map(({ type, sessionId }) => [sessionId, type]))).toEqual(wanted);
    }
    resumed.stop();
    stream.abort();
  });

  it('reads the cursor of a query before its lists, even if the document was sent before', async () => {
    const { token } = await makeOrganization(test, 'Ordered');
    const document =
      'query { viewer { waitingForMe { nodes { sessionId } } } sessions { nodes { sessionId } } changesCursor }';
    for (let n = 0; n < 4; n++) {
      const { data, statements } = await statementsOf(test, token, document);
      expect(data.changesCursor).toEqual(expect.any(String));
      expect(statements.length).toBeGreaterThan(2);
      expect(statements[0]).toMatch(/^select oldest_transaction/);
    }
  });

  it('reports the end of an earlier wait when a client subscribes before it reads its list', async () => {
    const { token } = await makeOrganization(test, 'Later list');
    const early = `devin-${await createSession(test, {}, token)}`;
    await seedQuestion(test, early, 'question', 'Early?');
    const followed = await following(token, ofAttention);
    expect((await listed(token)).ids).toEqual([early]);
    await end(early);
    expect(change((await followed.take(1))[0])).toMatchObject({ type: 'LEFT', sessionId: early });
    followed.stop();
  });

  it('removes sessions out of sight, and follows the organizations that the viewer joins', async () => {
    const one = await makeOrganization(test, 'Left');
    const two = await makeOrganization(test, 'Joined');
    const user = await makeUser(test, { organizationId: one.organizationId, roleId: 'org_admin' });
    const followed = await following(user.token, ofAttention);
    const here = `devin-${await createSession(test, {}, one.token)}`;
    await seedQuestion(test, here, 'question', 'Here?');
    expect(change((await followed.take(1))[0])).toMatchObject({ type: 'ADDED', sessionId: here });
    const assignment = { userId: user.userId, organizationId: two.organizationId };
    await runMutation(test, 'assignRole', 'user { userId }', roleInput({ ...assignment, roleId: 'org_admin' }));
    await runMutation(
      test,
      'unassignRole',
      'user { userId }',
      roleInput({ ...assignment, organizationId: one.organizationId }),
    );
    expect(change((await followed.take(1))[0])).toMatchObject({
      type: 'REMOVED',
      sessionId: here,
      session: null,
      question: null,
    });
    const there = `devin-${await createSession(test, {}, two.token)}`;
    await seedQuestion(test, there, 'question', 'There?');
    // For an organization that became visible, it may also get an event without the object.
    let type = 'LEFT';
    while (type === 'LEFT') {
      const next = change((await followed.take(1))[0]);
      expect(next.sessionId).toBe(there);
      type = next.type;
    }
    expect(type).toBe('ADDED');
    followed.stop();
  });

  it('follows the queue: its sessions, their positions, and their number', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Queueing');
    const stranger = await makeOrganization(test, 'Elsewhere');
    const followed = await following(token, ofQueue, { id: organizationId });
    const elsewhere = await following(stranger.token, ofQueue);
    const ids: string[] = [];
    for (const position of [1, 2]) {
      ids.push(`devin-${await createSession(test, {}, token)}`);
      expect(change((await followed.take(1))[0])).toMatchObject({
        type: 'ADDED',
        sessionId: ids.at(-1),
        waitingCount: position,
        session: { status: 'NEW', queuePosition: position, queueReason: 'NO_WORKER' },
      });
    }
    await end(ids[0] ?? '');
    const left = change((await followed.take(1))[0]);
    expect(left).toMatchObject({
      type: 'LEFT',
      sessionId: ids[0],
      waitingCount: 1,
      session: { queuePosition: null, queueReason: null },
    });
    // The cursors are those of all sessions.
    const document = `subscription($after: String) { sessionChanges(after: $after) { sessionId session { queuePosition } } }`;
    const third = `devin-${await createSession(test, {}, token)}`;
    const resumed = follow(connect(reader.url, token), document, { after: left.cursor });
    expect((await resumed.take(1))[0]).toMatchObject({
      data: { sessionChanges: { sessionId: third, session: { queuePosition: 2 } } },
    });
    const refused = await follow(connect(reader.url, stranger.token), ofQueue, { id: organizationId }).errors();
    expect(refused).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    for (const each of [followed, resumed, elsewhere]) each.stop();
    await expect(elsewhere.take(1)).rejects.toThrow('complete');
  });
});
