import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readCalls, sendMessage } from '../support/reports.ts';
import { createSession } from '../support/sessions.ts';
import { readMessages, untilOver, untilWaiting } from '../support/watching.ts';

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ ask_tool: 'ask_the_user' });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(() => test.close());

it('an agent that keeps "ask_user" from its model asks by another name, and is told that one', async () => {
  const id = await createSession(test, { prompt: 'prompt\ntools\nmcp ask_the_user {"question": "Which?"}' });
  await untilWaiting(test, id);
  const said = (await readMessages(test, id)).join('\n');
  expect(said).toContain('call `ask_the_user` with your question');
  expect(said).not.toContain('ask_user');
  expect(said).toMatch(/set_structured_output ask_the_user finish_session/);
  expect((await readCalls(test, id)).at(-1)).toMatchObject({ toolStatus: 'completed' });
  await sendMessage(test, id, 'mcp ask_user {"question": "Which?"}');
  await untilOver(test, id);
  expect((await readCalls(test, id)).at(-1)).toMatchObject({ toolStatus: 'failed' });
});
