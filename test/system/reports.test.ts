import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { readCalls, readSession, sendMessage } from '../support/reports.ts';
import { readEvents, readMessages, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ roles: ['api', 'worker'], maxConcurrentSessions: 3 });
});
afterAll(() => test.close());

const schema = {
  type: 'object',
  properties: { answer: { type: 'integer' }, name: { $ref: '#/definitions/name' } },
  required: ['answer'],
  additionalProperties: false,
  definitions: { name: { type: 'string', maxLength: 5 } },
};

describe('set_structured_output', () => {
  it('reports mismatches to the agent, and shows a valid output at once', async () => {
    const prompt =
      'json {"answer": "many", "name": "far too long"}\njson {"answer": 42}\nmcp ask_user {"question": "Good?"}';
    const id = await createSession(test, { prompt, structuredOutputSchema: schema });
    await waitUntilWaiting(test, id);
    const [refused, taken] = await readCalls(test, id);
    expect(refused).toMatchObject({ toolStatus: 'failed' });
    expect(refused?.output).toMatch(/"\/answer" it must be integer/);
    expect(refused?.output).toMatch(/"\/name" it must NOT have more than 5 characters/);
    expect(taken).toMatchObject({ toolStatus: 'completed', output: 'The structured output is set.' });
    expect(await readSession(test, id)).toMatchObject({
      statusDetail: 'WAITING_FOR_USER',
      structuredOutput: { answer: 42 },
    });
  });

  it('accepts any object, and only objects, if the session has no schema', async () => {
    const id = await createSession(test, { prompt: 'json {"free": [1]}\njson [1]' });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).structuredOutput).toEqual({ free: [1] });
    expect((await readCalls(test, id))[1]?.output).toMatch(/must be a JSON object/);
  });

  it('accepts an object as text, or instead of the arguments', async () => {
    const id = await createSession(test, {
      prompt: 'mcp set_structured_output {"output": "{\\"answer\\": 1}"}\nmcp set_structured_output {"answer": 2}',
      structuredOutputSchema: schema,
    });
    await waitUntilEnded(test, id);
    const events = (await readEvents(test, id)).filter(({ kind }) => kind === 'STRUCTURED_OUTPUT');
    expect(events).toHaveLength(2);
    expect((await readSession(test, id)).structuredOutput).toEqual({ answer: 2 });
  });

  it('is not blocked by a pattern that never terminates', async () => {
    const slow = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const prompt = `json {"a": "${'a'.repeat(40)}!"}\njson {"a": "aaa"}`;
    const id = await createSession(test, { prompt, structuredOutputSchema: slow });
    await waitUntilEnded(test, id);
    expect((await readCalls(test, id))[0]?.output).toMatch(/could not be checked within 2 s/);
    expect((await readSession(test, id)).structuredOutput).toEqual({ a: 'aaa' });
  });

  it('contains no secret of the session', async () => {
    const value = 'c4n4ry-in-an-output';
    const id = await createSession(test, {
      prompt: 'json {"$HUSH": "it is $HUSH"}',
      sessionSecrets: [{ key: 'HUSH', value }],
    });
    await waitUntilEnded(test, id);
    expect(JSON.stringify((await readSession(test, id)).structuredOutput)).toBe('{"********":"it is ********"}');
  });
});

describe('a missing structured output', () => {
  it('is read from the final message', async () => {
    const prompt = 'say Here it is: {"answer": 7} as you {wished}.';
    const id = await createSession(test, { prompt, structuredOutputSchema: schema });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).structuredOutput).toEqual({ answer: 7 });
    expect(await readMessages(test, id)).toHaveLength(2);
  });

  it('is requested, and users see nothing of that', async () => {
    const prompt = 'later I do not know.\nlater {"answer": "x"}\nlater {"answer": 3}\nsay Done.';
    const id = await createSession(test, { prompt, structuredOutputSchema: schema });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).structuredOutput).toEqual({ answer: 3 });
    expect((await readMessages(test, id)).slice(1)).toEqual(['AGENT_MESSAGE: Done.']);
  });

  it('is abandoned after three attempts, with a message', async () => {
    const id = await createSession(test, { prompt: 'say Done.', structuredOutputSchema: schema });
    expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT', statusDetail: 'FINISHED' });
    expect((await readSession(test, id)).structuredOutput).toBeNull();
    const [, done, notice, ...more] = await readMessages(test, id);
    expect(done).toBe('AGENT_MESSAGE: Done.');
    expect(notice).toMatch(/gave no structured output that fits its schema: there is none/);
    expect(more).toEqual([]);
    const thoughts = (await readEvents(test, id)).filter(({ kind }) => kind === 'THOUGHT');
    expect(thoughts).toHaveLength(3);
  });

  it('is abandoned with the problem of the submitted output', async () => {
    const id = await createSession(test, { prompt: 'json {"answer": "x"}', structuredOutputSchema: schema });
    await waitUntilEnded(test, id);
    expect((await readMessages(test, id)).at(-1)).toMatch(/fits its schema: at "\/answer" it must be/);
    // The reason belongs to that turn: the next one reports no output.
    await sendMessage(test, id, 'say Nothing.');
    await expect.poll(async () => (await readMessages(test, id)).length, { timeout: 60_000 }).toBe(5);
    expect((await readMessages(test, id)).at(-1)).toMatch(/fits its schema: there is none/);
  });

  it('stays what it was in an earlier turn', async () => {
    const id = await createSession(test, { prompt: 'json {"answer": 1}', structuredOutputSchema: schema });
    await waitUntilEnded(test, id);
    await sendMessage(test, id, 'say Nothing new.');
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).structuredOutput).toEqual({ answer: 1 });
    expect((await readEvents(test, id)).filter(({ kind }) => kind === 'THOUGHT')).toEqual([]);
  });
});

describe('ask_user and finish_session', () => {
  it("waits for the user's answer to a question, and continues with it", async () => {
    const id = await createSession(test, { prompt: 'mcp ask_user {"question": "Which?", "options": ["red", "blue"]}' });
    await waitUntilWaiting(test, id);
    expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: Which?\n1. red\n2. blue');
    await sendMessage(test, id, 'say red it is');
    expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT' });
    expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: red it is');
  });

  it('ends the session when the agent does after its question, with its message', async () => {
    const prompt = 'mcp ask_user {"question": "Good?"}\nmcp finish_session {"summary": "All of it is done."}';
    const id = await createSession(test, { prompt });
    expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT', statusDetail: 'FINISHED' });
    expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: All of it is done.');
  });
});

describe('report_pull_request', () => {
  it('records pull requests of every known host, with their states', async () => {
    const prompt = [
      'mcp report_pull_request {"url": "https://github.com/o/r/pull/7/files?x=1"}',
      'mcp report_pull_request {"url": "https://user:word@gitlab.example.com:8443/g/sub/p/-/merge_requests/3", "state": "open"}',
      'mcp report_pull_request {"url": "https://dev.azure.com/org/project/_git/repo/pullrequest/5"}',
      'mcp report_pull_request {"url": "https://bitbucket.org/team/repo/pull-requests/9"}',
      'mcp report_pull_request {"url": "https://github.com/o/r/pull/7", "state": "merged"}',
      'mcp report_pull_request {"url": "https://github.com/o/r/pull/new/branch"}',
    ].join('\n');
    const id = await createSession(test, { prompt });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).pullRequests).toEqual([
      { url: 'https://github.com/o/r/pull/7', state: 'MERGED' },
      { url: 'https://gitlab.example.com:8443/g/sub/p/-/merge_requests/3', state: 'OPEN' },
      { url: 'https://dev.azure.com/org/project/_git/repo/pullrequest/5', state: 'OPEN' },
      { url: 'https://bitbucket.org/team/repo/pull-requests/9', state: 'OPEN' },
    ]);
    expect((await readCalls(test, id)).at(-1)?.output).toMatch(/must be the address of a pull request/);
    expect((await readEvents(test, id)).filter(({ kind }) => kind === 'PULL_REQUEST')).toHaveLength(5);
  });

  it('is not needed if the URL is in a tool’s output or the final message', async () => {
    const id = await createSession(test, {
      prompt: 'tool $A opened https://$HOST/o/r/pull/3 for you\nsay See https://$HOST/o/r/pull/4.',
      sessionSecrets: [{ key: 'HOST', value: 'github.com', isSensitive: false }],
    });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).pullRequests).toEqual([
      { url: 'https://github.com/o/r/pull/3', state: 'OPEN' },
      { url: 'https://github.com/o/r/pull/4', state: 'OPEN' },
    ]);
  });

  it('is not needed, but a pull request that the user named does not count', async () => {
    const id = await createSession(test, { prompt: 'say I looked at https://github.com/o/r/pull/1.' });
    await waitUntilEnded(test, id);
    expect((await readSession(test, id)).pullRequests).toEqual([]);
  });
});

describe('upload_attachment', () => {
  it('gives the user a file of the workspace, and none outside of it', async () => {
    const prompt = [
      'write out/report.txt all is well',
      'mcp upload_attachment {"path": "out/report.txt"}',
      'mcp upload_attachment {"path": "../home/.switchyard-demo"}',
      'mcp upload_attachment {"path": "/etc/passwd"}',
      'mcp upload_attachment {"path": "out"}',
    ].join('\n');
    const id = await createSession(test, { prompt });
    await waitUntilEnded(test, id);
    const { attachments } = await readSession(test, id);
    expect(attachments.nodes).toMatchObject([{ name: 'report.txt', sizeBytes: 12, source: 'AGENT' }]);
    expect(await (await fetch(attachments.nodes[0].url)).text()).toBe('all is well\n');
    const calls = (await readCalls(test, id)).slice(2);
    expect(calls.map(({ toolStatus }) => toolStatus)).toEqual(['failed', 'failed', 'failed']);
    for (const { output } of calls) expect(output).toMatch(/must name a file in the workspace/);
  });
});

describe('read_knowledge and totp_code', () => {
  it('exist if they have something to return', async () => {
    const bare = await createSession(test, { prompt: 'tools', knowledgeIds: [], secretIds: [] });
    await waitUntilEnded(test, bare);
    expect((await readMessages(test, bare)).at(-1)).toBe(
      'AGENT_MESSAGE: set_structured_output ask_user finish_session upload_attachment report_pull_request start_session',
    );
  });

  it('return a note by its name, and the code of a seed that the agent never sees', async () => {
    const { organizationId } = test;
    const made = await graphql(
      test,
      test.adminToken,
      `mutation($note: CreateKnowledgeNoteInput!, $secret: CreateSecretInput!) {
         createKnowledgeNote(input: $note) { userErrors { message } } createSecret(input: $secret) { userErrors { message } } }`,
      {
        note: { scope: { organizationId }, name: 'Deploys', body: 'Never on Fridays.', trigger: 'when you deploy' },
        secret: { organizationId, key: 'login', type: 'TOTP', value: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' },
      },
    );
    expect(made.errors).toBeUndefined();
    const prompt =
      'mcp read_knowledge {"id": "deploys"}\nmcp read_knowledge {"id": "other"}\nmcp totp_code {"name": "login"}\nmcp totp_code {"name": "x"}';
    const id = await createSession(test, { prompt });
    await waitUntilEnded(test, id);
    const [note, none, code, unknown] = await readCalls(test, id);
    expect(note?.output).toBe('# Deploys\n\nNever on Fridays.');
    expect(none).toMatchObject({ toolStatus: 'failed' });
    expect(code?.output).toMatch(/^\d{6} \(good for \d+ more seconds\)$/);
    expect(unknown?.output).toMatch(/must be one of login/);
  });
});

describe('start_session', () => {
  it('starts a child of the same owner with no more permissions than its parent', async () => {
    const prompt = 'mcp start_session {"prompt": "say I am a child", "title": "Child"}';
    const id = await createSession(test, { prompt, maxAcuLimit: 5, secretIds: [] });
    await waitUntilEnded(test, id);
    const { children } = await readSession(test, id);
    expect(children.nodes).toHaveLength(1);
    const childId = children.nodes[0].sessionId;
    await waitUntilEnded(test, childId);
    expect(await readSession(test, childId)).toMatchObject({
      title: 'Child',
      maxAcuLimit: 5,
      parent: { sessionId: expect.any(String) },
    });
    expect((await readMessages(test, childId)).at(-1)).toBe('AGENT_MESSAGE: I am a child');
  });

  it('starts no more than the allowed number, and none beyond the third generation', async () => {
    const generations = (depth: number): string =>
      depth === 0 ? 'say leaf' : `mcp start_session ${JSON.stringify({ prompt: generations(depth - 1) })}`;
    const many = Array.from({ length: 11 }, () => 'mcp start_session {"prompt": "say hi"}').join('\n');
    let last = await createSession(test, { prompt: generations(4) });
    for (let n = 0; n < 3; n++) {
      await waitUntilEnded(test, last);
      last = (await readSession(test, last)).children.nodes[0].sessionId;
    }
    await waitUntilEnded(test, last);
    expect((await readSession(test, last)).children.nodes).toEqual([]);
    expect((await readCalls(test, last))[0]?.output).toMatch(/at most 3 generations above/);

    const wide = await createSession(test, { prompt: many });
    await waitUntilEnded(test, wide);
    const ends = (await readCalls(test, wide)).map(({ toolStatus }) => toolStatus);
    expect(ends).toEqual([...Array(10).fill('completed'), 'failed']);
  });
});
