import { expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { appendEntries, type NewEntry } from '../../src/domain/sessions/log.ts';
import { graphql } from '../support/app.ts';
import { makeKey } from '../support/principals.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { statementsOf } from '../support/statements.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

/** Writes a file of an organization; returns its unprefixed id. */
async function seedFile(organizationId: string, name: string, sessionId: string | null = null): Promise<string> {
  const id = newId();
  const file = { name, contentType: 'text/plain', sizeBytes: 1, storageKey: newId(), source: 'agent' };
  const scope = { organizationId: parseId('organization', organizationId) as string, sessionId };
  const data = { id, ...scope, ...file, createdAt: test.app.services.now() };
  await test.app.services.store.transact((tx) => tx.prisma.attachment.create({ data }));
  return id;
}

const write = (id: string, ...entries: NewEntry[]) => {
  const { store, now } = test.app.services;
  return appendEntries(store, id, null, entries, now());
};
const lineOf = (id: string, name: string) => `ATTACHMENT:"${test.url}/attachments/${id}/${name}"`;

const document = `query($id: ID!) { session(id: $id) {
  messages(last: 50) { nodes { body session { sessionId } attachments { name session { sessionId } } } }
  events(kinds: [ATTACHMENT], first: 50) { nodes { session { sessionId }
    ... on AttachmentEvent { name attachment { name url sizeBytes } } } }
  attachments { nodes { name session { sessionId } } } } }`;

it('links messages and entries to their files, and all of them to their session', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Files');
  const fileId = await seedFile(organizationId, 'given.txt');
  const sessionId = await createSession(test, { organizationId, attachmentIds: [`attachment-${fileId}`] }, token);
  const made = await seedFile(organizationId, 'made.txt', sessionId);
  await write(
    sessionId,
    { kind: 'MESSAGE', messageType: 'agent_message', body: 'none' },
    { kind: 'ATTACHMENT', body: 'made.txt', data: { attachmentId: made, name: 'made.txt' } },
    { kind: 'ATTACHMENT', body: 'gone.txt', data: { attachmentId: newId(), name: 'gone.txt' } },
  );
  const { data, errors } = await graphql(test, token, document, { id: sessionId });
  expect(errors).toBeUndefined();
  const session = { sessionId: `devin-${sessionId}` };
  expect(data.session.messages.nodes).toMatchObject([
    { session, attachments: [{ name: 'given.txt', session }] },
    { body: 'none', session, attachments: [] },
  ]);
  expect(data.session.events.nodes).toEqual([
    {
      session,
      name: 'made.txt',
      attachment: { name: 'made.txt', sizeBytes: 1, url: expect.stringContaining(`/attachments/${made}/made.txt?`) },
    },
    { session, name: 'gone.txt', attachment: null },
  ]);
  expect(data.session.attachments.nodes).toEqual([
    { name: 'given.txt', session },
    { name: 'made.txt', session },
  ]);
});

it('never links a message to a file of another organization', async () => {
  const [own, other] = [await makeOrganization(test, 'Own'), await makeOrganization(test, 'Other')];
  const foreign = await seedFile(other.organizationId, 'foreign.txt');
  const sessionId = await createSession(test, { organizationId: own.organizationId }, own.token);
  const data = { attachmentId: foreign, name: 'foreign.txt' };
  await write(
    sessionId,
    { kind: 'MESSAGE', messageType: 'agent_message', body: lineOf(foreign, 'foreign.txt') },
    { kind: 'ATTACHMENT', body: 'foreign.txt', data },
  );
  // The administrator may use the files of both.
  for (const [token, attachment] of [
    [own.token, null],
    [test.adminToken, expect.objectContaining({ name: 'foreign.txt' })],
  ] as const) {
    const { data: read } = await graphql(test, token, document, { id: sessionId });
    expect(read.session.messages.nodes[1].attachments).toEqual([]);
    expect(read.session.events.nodes[0].attachment).toEqual(attachment);
  }
});

it('returns a message to callers that may send it, but its session only to those that may view it', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Writers');
  const sessionId = await createSession(test, { organizationId }, token);
  const { data: role } = await graphql(
    test,
    test.adminToken,
    'mutation($input: CreateRoleInput!) { createRole(input: $input) { role { roleId } } }',
    { input: { name: 'Writers', scope: 'ORGANIZATION', permissions: ['MANAGE_ORG_SESSIONS'] } },
  );
  const { roleId } = role.createRole.role;
  const writer = await makeKey(test, { kind: 'SERVICE', organizationId, roleId });
  const { data } = await graphql(
    test,
    writer,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { body session { title } } userErrors { message } } }',
    { input: { sessionId, body: 'go on' } },
  );
  expect(data.sendMessage).toEqual({ message: { body: 'go on', session: null }, userErrors: [] });
});

it('reads sessions and files of a page of messages in the same statements for 20 as for 2', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Many');
  const makeManyEvents = async (count: number) => {
    const id = await createSession(test, { organizationId }, token);
    for (let n = 0; n < count; n++) {
      const file = await seedFile(organizationId, `${n}.txt`, id);
      await write(
        id,
        { kind: 'MESSAGE', messageType: 'agent_message', body: lineOf(file, `${n}.txt`) },
        { kind: 'ATTACHMENT', data: { attachmentId: file, name: `${n}.txt` } },
      );
    }
    return id;
  };
  const [two, twenty] = [await makeManyEvents(2), await makeManyEvents(20)];
  const few = await statementsOf(test, token, document, { id: two });
  const many = await statementsOf(test, token, document, { id: twenty });
  expect(many.data.session.messages.nodes[20].attachments).toHaveLength(1);
  expect(many.statements).toEqual(few.statements);
});
