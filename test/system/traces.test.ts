import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { type FakeLlm, startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { modelAgentProfile } from '../support/model-agent.ts';
import { writeProfiles } from '../support/profiles.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.ts';

const apiKey = 'provider-key-c4n4ry';
const promptText = 'w0rds-for-the-agent';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpanId = '00f067aa0ba902b7';

describe('traces', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-traces-'));
  let receiver: TraceReceiver;
  let llm: FakeLlm;
  let sessionId: string;

  const post = (test: TestApp, body: object, headers: Record<string, string> = {}) =>
    fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${test.adminToken}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).then((response) => response.json());

  beforeAll(async () => {
    receiver = await startTraceReceiver();
    llm = await startFakeLlm({ apiKey });
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, apiKey);
    const agentsConfig = await writeProfiles({}, modelAgentProfile('caller', 'end', { url: llm.url, keyFile }));
    const traces = { endpoint: `${receiver.url}/`, headers: { 'x-api-key': 'k1' }, ratio: 1, serviceName: 'tested' };
    const test = await startApp({ roles: ['api', 'worker'], agentsConfig, traces });
    const traceparent = `00-${traceId}-${callerSpanId}-01`;
    const query =
      'query FirstSessions { viewer { organizations(first: 1) { nodes { sessions(first: 1) { totalCount } } } } }';
    // Twice: the second time it is compiled.
    for (let run = 0; run < 2; run++) expect(await post(test, { query }, { traceparent })).not.toHaveProperty('errors');
    await post(test, {
      query: 'mutation Refused { suspendSession(input: { sessionId: "devin-0" }) { session { id } } }',
    });
    await post(test, { query: '{ __typename }' }, { traceparent: `00-${'f'.repeat(32)}-${callerSpanId}-00` });
    const path = `/v3/organizations/org-${test.organizationId}/sessions`;
    expect((await call(test, test.adminToken, 'GET', `${path}?first=1&secret=${promptText}`)).status).toBe(200);
    sessionId = await createSession(test, { agent: 'caller', prompt: promptText });
    const statusQuery = { query: 'query($id: ID!) { session(id: $id) { status } }', variables: { id: sessionId } };
    while ((await post(test, statusQuery)).data.session.status !== 'EXIT') await setTimeout(50);
    // Sends what is left.
    await test.close();
  });
  afterAll(async () => {
    await llm.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });

  const named = (name: string): ReceivedSpan[] => receiver.spans.filter((span) => span.name === name);
  const below = ({ spanId }: ReceivedSpan) => receiver.spans.filter(({ parentSpanId }) => parentSpanId === spanId);

  it('continue the trace of a caller, with the operation and its statements', () => {
    const requests = receiver.spans.filter(({ parentSpanId }) => parentSpanId === callerSpanId);
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      expect(request).toMatchObject({ traceId, name: 'POST', isError: false });
      expect(request.attributes).toMatchObject({
        'http.request.method': 'POST',
        'url.path': '/graphql',
        'http.response.status_code': 200,
        'switchyard.request_id': expect.any(String),
      });
      const [operation] = below(request).filter(({ name }) => name === 'query FirstSessions');
      expect(operation?.attributes).toEqual({
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'FirstSessions',
      });
      const statements = below(operation as ReceivedSpan);
      expect(statements.length).toBeGreaterThan(0);
      for (const { attributes } of statements) expect(attributes['db.system.name']).toBe('postgresql');
    }
  });

  it('have the statements of a transaction below it', () => {
    const inside = named('transaction').flatMap(below);
    expect(inside.map(({ name }) => name)).toContain('INSERT');
  });

  it('say that an operation has failed', () => {
    expect(named('mutation Refused')[0]).toMatchObject({ isError: true });
  });

  it('leave out what the caller has not recorded', () => {
    expect(receiver.spans.filter((span) => span.traceId === 'f'.repeat(32))).toEqual([]);
  });

  it('name the route of a REST request', () => {
    const route = '/v3/organizations/{org_id}/sessions';
    const [request] = named(`GET ${route}`);
    expect(request?.attributes).toMatchObject({ 'http.route': route, 'http.response.status_code': 200 });
    expect(below(request as ReceivedSpan).some(({ name }) => name === 'SELECT')).toBe(true);
  });

  it('have each turn with its tool calls and model calls', () => {
    const [turn] = named('invoke_agent caller');
    expect(turn).toMatchObject({ isError: false, parentSpanId: null });
    expect(turn?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'caller',
      'gen_ai.conversation.id': sessionId,
      'switchyard.turn': 1,
      'gen_ai.response.finish_reasons': 'end_turn',
    });
    const parts = below(turn as ReceivedSpan);
    expect(parts.map(({ name }) => name).toSorted()).toEqual([expect.stringMatching(/^chat /), 'execute_tool execute']);
    const model = parts.find(({ name }) => name.startsWith('chat '));
    expect(model).toMatchObject({ isError: false });
    expect(model?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'http.response.status_code': 200,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
  });

  it('go to the receiver with its headers, and contain no text, key or query', () => {
    expect(new Set(receiver.paths)).toEqual(new Set(['/v1/traces']));
    expect(new Set(receiver.keys)).toEqual(new Set(['k1']));
    const all = receiver.bodies.join('\n');
    expect(all).toContain('"tested"');
    for (const text of [apiKey, promptText]) expect(all).not.toContain(text);
  });

  it('begin with the operation on a WebSocket, and end with its result', async () => {
    const own = await startTraceReceiver();
    onTestFinished(() => own.close());
    const traces = { endpoint: own.url, headers: {}, ratio: 1, serviceName: 'tested' };
    const test = await startApp({ roles: ['api'], traces });
    const socket = connect(test.url, test.adminToken);
    const read = follow(socket, 'query BySocket { viewer { organizations(first: 1) { nodes { name } } } }', {});
    expect(await read.take(1)).toMatchObject([{ data: { viewer: {} } }]);
    expect(await follow(socket, 'query WrongBySocket { nothing }', {}).errors()).toHaveLength(1);
    const followed = 'subscription ChangesBySocket { sessionChanges(organizationId: "org-0") { type } }';
    expect(await follow(socket, followed, {}).errors()).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    await socket.dispose();
    // Sends what is left.
    await test.close();
    const rootsOf = (name: string) => own.spans.filter((span) => span.name === name && span.parentSpanId === null);
    const childrenOf = (name: string) =>
      own.spans.filter(({ parentSpanId }) => rootsOf(name).some(({ spanId }) => spanId === parentSpanId));
    expect(rootsOf('query BySocket')).toMatchObject([{ isError: false }]);
    expect(rootsOf('query BySocket')[0]?.attributes).toEqual({
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'BySocket',
    });
    expect(childrenOf('query BySocket').length).toBeGreaterThan(0);
    // Refused before its name is known.
    expect(rootsOf('WebSocket operation')).toMatchObject([{ isError: true }]);
    expect(rootsOf('subscription ChangesBySocket')).toHaveLength(1);
    expect(childrenOf('subscription ChangesBySocket')).toEqual([]);
  });
});
