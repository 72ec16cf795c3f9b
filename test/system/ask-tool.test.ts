import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readCalls, sendMessage } from '../support/reports.ts';
import { readMessages, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ ask_tool: 'ask_the_user' });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(() => test.close());

it('an agent that hides "ask_user" from its model gets the tool under another name', async () => {
  const id = await createSession(test, { prompt: 'prompt\ntools\nmcp ask_the_user {"question": "Which?"}' });
  await waitUntilWaiting(test, id);
  const messages = (await readMessages(test, id)).join('\n');
  expect(messages).toContain('call `ask_the_user` with your question');
  expect(messages).not.toContain('ask_user');
  expect(messages).toMatch(/set_structured_output ask_the_user finish_session/);
  expect((await readCalls(test, id)).at(-1)).toMatchObject({ toolStatus: 'completed' });
  await sendMessage(test, id, 'mcp ask_user {"question": "Which?"}');
  await waitUntilEnded(test, id);
  expect((await readCalls(test, id)).at(-1)).toMatchObject({ toolStatus: 'failed' });
});
