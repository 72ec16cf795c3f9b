import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { globalIdOf, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { uploadTo } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = 'session { sessionId status statusDetail isArchived tags }';
const act = (field: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, fields, input, token);
const read = async (token: string, sessionId: string, selection: string) => {
  const document = `query($id: ID!) { session(id: $id) { ${selection} } }`;
  const { data, errors } = await graphql(test, token, document, { id: sessionId });
  expect(errors).toBeUndefined();
  return data.session;
};

describe('a session', () => {
  it('is suspended and resumed, archived and unarchived', async () => {
    const { token } = await makeOrganization(test, 'Acts');
    const id = await createSession(test, {}, token);
    const sessionId = `devin-${id}`;
    const asleep = { status: 'SUSPENDED', statusDetail: 'USER_REQUEST', isArchived: false };
    const done = (session: object) => ({
      session: expect.objectContaining(session),
      userErrors: [],
      clientMutationId: 'x',
    });
    const on = (field: string) => act(field, { sessionId, clientMutationId: 'x' }, token);
    expect(await on('suspendSession')).toEqual(done({ sessionId, ...asleep }));
    expect(await on('suspendSession')).toEqual(done(asleep));
    // Its prompt was never sent to an agent.
    expect(await on('resumeSession')).toEqual(done({ status: 'RESUMING', statusDetail: null }));
    expect(await on('archiveSession')).toEqual(done({ ...asleep, isArchived: true }));
    expect((await on('resumeSession')).userErrors).toMatchObject([{ code: 'INVALID_STATE', path: null }]);
    expect(await on('unarchiveSession')).toEqual(done(asleep));
    await act('terminateSession', { sessionId }, token);
    const refused = await on('suspendSession');
    expect(refused).toMatchObject({ session: null, userErrors: [{ code: 'INVALID_STATE' }] });
    expect(await on('archiveSession')).toEqual(done({ status: 'EXIT', isArchived: true }));
  });

  it('has tags that can be added, removed and replaced', async () => {
    const { token } = await makeOrganization(test, 'Tags');
    const sessionId = await createSession(test, { tags: ['a'] }, token);
    const tagsAfter = async (field: string, tags: string[]) =>
      (await act(field, { sessionId, tags }, token)).session.tags;
    expect(await tagsAfter('addSessionTags', ['b', 'a', 'b'])).toEqual(['a', 'b']);
    expect(await tagsAfter('removeSessionTags', ['a', 'none'])).toEqual(['b']);
    expect(await tagsAfter('replaceSessionTags', ['c'])).toEqual(['c']);
    expect(await tagsAfter('replaceSessionTags', [])).toEqual([]);
    const many = Array.from({ length: 51 }, (_, n) => `t${n}`);
    for (const field of ['replaceSessionTags', 'addSessionTags', 'removeSessionTags']) {
      const { userErrors } = await act(field, { sessionId, tags: many }, token);
      expect(userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'tags'] }]);
    }
    await tagsAfter('replaceSessionTags', many.slice(0, 50));
    const { userErrors } = await act('addSessionTags', { sessionId, tags: ['one more'] }, token);
    expect(userErrors).toMatchObject([{ code: 'LIMIT_EXCEEDED', path: ['input', 'tags'] }]);
  });

  it('can lose a tag that its organization no longer allows', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Other tags');
    const sessionId = await createSession(test, { tags: ['old', 'kept'] }, token);
    await runMutation(test, 'replaceAllowedTags', 'allowedTags', { organizationId, tags: ['kept'] });
    expect(await act('addSessionTags', { sessionId, tags: ['old'] }, token)).toMatchObject({
      userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'tags'] }],
    });
    expect((await act('removeSessionTags', { sessionId, tags: ['old'] }, token)).session.tags).toEqual(['kept']);
  });

  it('are changed with the title, all or none', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Updated tags');
    const sessionId = await createSession(test, { title: 'Before', tags: ['old', 'kept'] }, token);
    await runMutation(test, 'replaceAllowedTags', 'allowedTags', { organizationId, tags: ['kept', 'new'] });
    const update = (input: Record<string, unknown>) =>
      runMutation(test, 'updateSession', 'session { title tags }', { sessionId, ...input }, token);
    // A tag that the session has stays, also when it is no longer allowed.
    expect(await update({ title: 'After', tags: ['new', 'old', 'new'] })).toMatchObject({
      session: { title: 'After', tags: ['new', 'old'] },
    });
    expect(await update({ title: 'Refused', tags: ['other'] })).toMatchObject({
      session: null,
      userErrors: [{ code: 'UNKNOWN_REFERENCE', path: ['input', 'tags'] }],
    });
    expect(await update({ title: 'Refused', tags: null })).toMatchObject({
      session: null,
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'tags'] }],
    });
    expect(await read(token, sessionId, 'title tags')).toEqual({ title: 'After', tags: ['new', 'old'] });
    const bodies = 'events(kinds: [NOTICE], first: 9) { nodes { ... on NoticeEvent { body tags } } }';
    expect((await read(token, sessionId, bodies)).events.nodes).toEqual([
      { body: 'The title is now: After', tags: null },
      { body: 'Tags: new, old.', tags: ['new', 'old'] },
    ]);
    const found = (tag: string) =>
      test.app.services.store.query('select 1 from session_tag where session_id = $1 and tag = $2', [
        sessionId.replace('devin-', ''),
        tag,
      ]);
    expect(await found('new')).toHaveLength(1);
    expect(await found('kept')).toEqual([]);
    expect((await update({ tags: [] })).session.tags).toEqual([]);
  });

  const acts = ['suspendSession', 'resumeSession', 'archiveSession', 'unarchiveSession'];
  it.each([...acts, 'replaceSessionTags', 'addSessionTags', 'removeSessionTags'])(
    'can be changed with %s only by callers that may act on it',
    async (field) => {
      const { organizationId, token } = await makeOrganization(test, 'Kept');
      const sessionId = await createSession(test, {}, token);
      const member = await makeUser(test, { organizationId });
      const own = await createSession(test, {}, member.token);
      const tags = field.endsWith('Tags') ? { tags: ['x'] } : {};
      expect(await act(field, { sessionId, ...tags }, member.token)).toEqual({
        error: 'FORBIDDEN',
        message: 'Missing permission MANAGE_ORG_SESSIONS.',
      });
      expect(await act(field, { sessionId: own, ...tags }, member.token)).toMatchObject({ clientMutationId: null });
      const stranger = await makeOrganization(test, 'Strangers');
      expect(await act(field, { sessionId, ...tags }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
    },
  );
});

describe('the related objects of a session', () => {
  it('are the sessions that it started, newest first, without unlisted ones', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Parents');
    const parent = await createSession(test, { title: 'Parent' }, token);
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      const child = await createSession(test, { isUnlisted: n === 3 }, token);
      const update = 'update session set parent_id = $2 where id = $1';
      await test.app.services.store.execute(`${update} returning id`, [child, parent]);
      if (n !== 3) ids.unshift(globalIdOf('Session', child));
    }
    const list: List = {
      token,
      declared: '$id: ID!',
      variables: { id: parent },
      field: 'session(id: $id) { list: children(PAGE) SELECTION }',
      at: (data) => data.session.list,
    };
    expect(await readAll(test, list, 'forwards', { size: 2 })).toEqual(ids);
    expect(await readAll(test, list, 'backwards', { size: 2 })).toEqual(ids);
    const shown = await read(token, parent, 'children(first: 1) { totalCount nodes { parent { title } } }');
    expect(shown.children).toEqual({ totalCount: 6, nodes: [{ parent: { title: 'Parent' } }] });
    const document =
      'query($id: ID!) { organization(id: $id) { sessions(first: 1) { totalCount totalCountIsExact } } }';
    const { data } = await graphql(test, token, document, { id: organizationId });
    expect(data.organization.sessions).toEqual({ totalCount: 7, totalCountIsExact: true });
  });

  it('are its files, oldest first, each with an address that needs no key', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Files');
    const names = ['one.txt', 'two.txt', 'three.txt'];
    const attachmentIds: string[] = [];
    for (const name of names) {
      attachmentIds.push(
        (await uploadTo(test, organizationId, { name, content: `This is ${name}.` }, token)).attachment_id,
      );
    }
    const sessionId = await createSession(test, { attachmentIds }, token);
    const selection =
      'nodes { id attachmentId name contentType sizeBytes source url } totalCount pageInfo { hasNextPage }';
    const { attachments } = await read(token, sessionId, `attachments(first: 2) { ${selection} }`);
    expect(attachments).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    expect(attachments.nodes).toMatchObject([
      { attachmentId: attachmentIds[0], name: 'one.txt', contentType: 'text/plain', sizeBytes: 16, source: 'USER' },
      { attachmentId: attachmentIds[1], name: 'two.txt' },
    ]);
    const [{ id, url }] = attachments.nodes;
    const file = await fetch(url.replace(test.app.services.baseUrl, test.url));
    expect([file.status, await file.text()]).toEqual([200, 'This is one.txt.']);
    const last = await read(token, sessionId, 'attachments(last: 1) { nodes { name } pageInfo { hasPreviousPage } }');
    expect(last.attachments).toEqual({ nodes: [{ name: 'three.txt' }], pageInfo: { hasPreviousPage: true } });
    const node = 'query($id: ID!) { node(id: $id) { ... on Attachment { name } } }';
    expect((await graphql(test, token, node, { id })).data.node).toEqual({ name: 'one.txt' });
    const viewer = await makeManager(test, 'VIEW_ACCOUNT_SESSIONS');
    expect((await read(viewer.token, sessionId, 'attachments { totalCount }')).attachments).toEqual({ totalCount: 3 });
    expect((await graphql(test, viewer.token, node, { id })).data.node).toEqual({ name: 'one.txt' });
    const stranger = await makeOrganization(test, 'Strangers to files');
    expect((await graphql(test, stranger.token, node, { id })).data.node).toBeNull();
  });

  it('are its insights, counted from its log', async () => {
    const { token } = await makeOrganization(test, 'Insights');
    const id = await createSession(test, {}, token);
    await say(test, id, 'one', 'two', 'three');
    const sent = await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'And?' }, token);
    await test.app.services.store.execute('update session set acus_consumed = 4 where id = $1 returning id', [id]);
    const { insights } = await read(token, id, 'insights { userMessageCount agentMessageCount size }');
    expect(insights).toEqual({ userMessageCount: 2, agentMessageCount: 3, size: 'M' });
    const { message } = await runMutation(
      test,
      'withdrawMessage',
      'message { id }',
      { messageId: sent.message.id },
      token,
    );
    expect(message.id).toBe(sent.message.id);
    const after = await read(token, id, 'insights { userMessageCount agentMessageCount }');
    expect(after.insights).toEqual({ userMessageCount: 1, agentMessageCount: 3 });
  });

  it('are hidden in the payload of an action from callers that may not view', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Blind acts');
    const sessionId = await createSession(test, {}, token);
    const role = await runMutation(test, 'createRole', 'role { roleId }', {
      name: 'Blind',
      scope: 'ORGANIZATION',
      permissions: ['MANAGE_ORG_SESSIONS'],
    });
    const { token: blind } = await makeUser(test, { organizationId, roleId: role.role.roleId });
    const document = (inner: string) =>
      `mutation($id: ID!) { suspendSession(input: {sessionId: $id}) { session { status ${inner} } } }`;
    expect((await graphql(test, blind, document(''), { id: sessionId })).errors).toBeUndefined();
    for (const inner of ['children { totalCount }', 'attachments { nodes { url } }', 'insights { size }']) {
      const { errors } = await graphql(test, blind, document(inner), { id: sessionId });
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
  });
});

describe('the title of a session', () => {
  const update = (input: Record<string, unknown>, token?: string) =>
    runMutation(test, 'updateSession', 'session { title maxAcuLimit }', input, token);

  it('is changed permanently, alone or with the limit, and logged', async () => {
    const { token } = await makeOrganization(test, 'Titles');
    const sessionId = await createSession(test, { prompt: 'Fix the build', maxAcuLimit: 5 }, token);
    const changed = await update({ sessionId, title: 'Build' }, token);
    expect(changed).toMatchObject({ session: { title: 'Build', maxAcuLimit: 5 }, userErrors: [] });
    const both = await update({ sessionId, title: 'Build and test', maxAcuLimit: 7 }, token);
    expect(both).toMatchObject({ session: { title: 'Build and test', maxAcuLimit: 7 } });
    expect((await update({ sessionId, maxAcuLimit: null }, token)).session.title).toBe('Build and test');
    const { title, events } = await read(
      token,
      sessionId,
      'title events(kinds: [NOTICE], first: 9) { nodes { ... on NoticeEvent { body sessionTitle } } }',
    );
    expect(title).toBe('Build and test');
    expect(events.nodes.map((node: { sessionTitle: string | null }) => node.sessionTitle)).toEqual([
      'Build',
      'Build and test',
      null,
      null,
    ]);
    expect(events.nodes.map(({ body }: { body: string }) => body)).toEqual([
      'The title is now: Build',
      'The title is now: Build and test',
      'The session may use 7 ACUs.',
      'The session no longer has its own ACU limit.',
    ]);
    const [row] = await test.app.services.store.query<{ derived: boolean }>(
      'select is_title_derived as derived from session where id = $1',
      [sessionId.replace('devin-', '')],
    );
    expect(row).toEqual({ derived: false });
  });

  it('is refused if invalid, and to callers that may not change the session', async () => {
    const { token } = await makeOrganization(test, 'Titles refused');
    const sessionId = await createSession(test, { title: 'As it was', maxAcuLimit: 5 }, token);
    for (const title of [null, '', 'x'.repeat(10_001), 'a\u0000b']) {
      // The log has no entry about the limit either.
      const { session, userErrors } = await update({ sessionId, title, maxAcuLimit: 9 }, token);
      expect(session).toBeNull();
      expect(userErrors).toMatchObject([{ code: 'INVALID_INPUT', path: ['input', 'title'] }]);
    }
    const stranger = await makeOrganization(test, 'Strangers');
    expect(await update({ sessionId, title: 'Mine' }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
    const { token: reader } = await makeUser(test);
    const own = await createSession(test);
    expect(await update({ sessionId: own, title: 'Mine' }, reader)).toMatchObject({ error: 'FORBIDDEN' });
    expect(await read(token, sessionId, 'title maxAcuLimit')).toEqual({ title: 'As it was', maxAcuLimit: 5 });
  });
});
