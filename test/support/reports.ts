import { graphql, type TestApp } from './app.ts';
import { readEvents } from './session-waits.ts';

/** The results of a session. */
export async function readSession(test: Pick<TestApp, 'url' | 'adminToken'>, id: string): Promise<any> {
  const { data, errors } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { sessionId title status statusDetail structuredOutput maxAcuLimit
       pullRequests { url state } parent { sessionId } children(first: 20) { nodes { sessionId } }
       attachments(first: 10) { nodes { name contentType sizeBytes source url } } } }`,
    { id },
  );
  if (errors) throw new Error(JSON.stringify(errors));
  return data.session;
}

/** Returns the outputs of a session's finished tool calls by title. */
export async function readCalls(
  test: Pick<TestApp, 'url' | 'adminToken'>,
  id: string,
): Promise<{ title: string; toolStatus: string; output: string }[]> {
  const events = await readEvents(test, id);
  return events
    .filter(({ toolStatus }) => toolStatus === 'completed' || toolStatus === 'failed')
    .map(({ title, toolStatus, output }) => ({ title, toolStatus, output }));
}

/** Sends a message to a session. */
export async function sendMessage(
  test: Pick<TestApp, 'url' | 'adminToken'>,
  id: string,
  message: string,
): Promise<void> {
  const { data, errors } = await graphql(
    test,
    test.adminToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }',
    { input: { sessionId: id, body: message } },
  );
  const problems = errors ?? data.sendMessage.userErrors;
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
}
