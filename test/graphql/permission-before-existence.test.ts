import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type PropertyWorld, startPropertyWorld } from '../rest/property-world.ts';
import { makeUser } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';

let world: PropertyWorld;
/** An org_member: reads sessions, manages its own only, and changes nothing else. */
let member: string;
beforeAll(async () => {
  world = await startPropertyWorld();
  member = (await makeUser(world.test, world.test.organizationId)).v3Token;
});
afterAll(() => world.test.close());

const message = { body: 'Hello' };

it.each([
  ['sendMessage', 'sessionId', 'session', message],
  ['terminateSession', 'sessionId', 'session', {}],
  ['archiveSession', 'sessionId', 'session', {}],
  ['suspendSession', 'sessionId', 'session', {}],
  ['interruptSession', 'sessionId', 'session', {}],
  ['retryTurn', 'sessionId', 'session', {}],
  ['withdrawMessage', 'messageId', 'message', {}],
  ['updateQueuedMessage', 'messageId', 'message', message],
  ['updateSession', 'sessionId', 'session', { maxAcuLimit: 5 }],
  ['setSessionOptions', 'sessionId', 'session', { options: [{ optionId: 'model', value: 'm' }] }],
  ['replaceSessionTags', 'sessionId', 'session', { tags: ['a'] }],
  ['deletePlaybook', 'playbookId', 'playbook', {}],
  ['deleteKnowledgeNote', 'knowledgeNoteId', 'note', {}],
  ['deleteKnowledgeFolder', 'knowledgeFolderId', 'folder', {}],
  ['deleteSecret', 'secretId', 'secret', {}],
  ['deleteAutomation', 'automationId', 'automation', {}],
  ['runAutomation', 'automationId', 'automation', {}],
])(
  '%s: FORBIDDEN without the permission, whether the id exists or not; NOT_FOUND with it',
  async (name, field, kind, more) => {
    const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input!`;
    const document = `mutation ($input: ${type}) { ${name}(input: $input) { userErrors { code } } }`;
    const answer = async (token: string, id: string) => {
      const { data, errors } = await graphql(world.test, token, document, { input: { [field]: id, ...more } });
      return errors?.[0].extensions.code ?? data[name].userErrors[0]?.code ?? 'done';
    };
    expect(await answer(member, world.resourceIds[kind] ?? '')).toBe('FORBIDDEN');
    for (const id of [newId(), '0'.repeat(32), 'no id']) expect(await answer(member, id)).toBe('FORBIDDEN');
    expect(await answer(world.test.adminToken, newId())).toBe('NOT_FOUND');
  },
);
