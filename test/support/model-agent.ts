// The program of an ACP agent that calls a model behind the gateway in each turn: a text and a tool call first, then the call.
// After a refusal it does what LIMIT says: `retry` repeats the call until it is accepted, `end` gives up with an error as
// Gemini CLI does, `exit` ends. It resumes its session, and then does not repeat what it said. Each prompt is a line of
// prompts.txt in the workspace.
const modelAgent = `
  const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const update = (update) => put({ method: 'session/update', params: { sessionId: 's1', update } });
  const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  const tools = [{ type: 'function', function: { name: 'x', parameters: {} } }];
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'do: say ok' }], tools });
  let cancel = () => undefined;
  const call = () => fetch(process.env.MODEL_URL + '/v1/chat/completions', {
    method: 'POST', headers: { authorization: 'Bearer ' + process.env.MODEL_TOKEN, 'content-type': 'application/json' }, body,
  }).then(async (response) => ({ status: response.status, text: await response.text() }));
  async function turn(id, prompt) {
    const cancelled = new Promise((resolve) => { cancel = () => resolve(null); });
    appendFileSync('prompts.txt', JSON.stringify(prompt.map(({ text }) => text).join(' ')) + '\\n');
    if (!existsSync('begun')) {
      writeFileSync('begun', '');
      say('Before the limit.');
      update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Build', kind: 'execute', status: 'in_progress' });
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    }
    for (;;) {
      const answer = await Promise.race([call(), cancelled]);
      if (answer === null) return put({ id, result: { stopReason: 'cancelled' } });
      if (answer.status === 200) {
        say('After the limit.');
        return put({ id, result: { stopReason: 'end_turn' } });
      }
      if (process.env.LIMIT === 'exit') process.exit(1);
      if (process.env.LIMIT === 'end')
        return put({ id, error: { code: answer.status, message: JSON.parse(answer.text).error.message } });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const capabilities = { sessionCapabilities: { resume: {} } };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: capabilities } });
    else if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    else if (method === 'session/resume') put({ id, result: {} });
    else if (method === 'session/cancel') cancel();
    else if (method === 'session/prompt') void turn(id, params.prompt);
  });
`;

/** A fake model, and a file with its key. */
interface Provider {
  readonly url: string;
  readonly keyFile: string;
}

/** Returns the members of a profile with a gateway to a fake model. */
export const gatewayTo = ({ url, keyFile }: Provider): object => ({
  provider: {
    variables: ['MODEL_KEY'],
    'key_file': keyFile,
    gateway: true,
    api: 'openai',
    'base_url': url,
    'gateway_env': { MODEL_URL: '{url}', MODEL_TOKEN: '{key}' },
  },
});

/** Returns the profile of the agent behind a gateway. */
export function modelAgentProfile(
  id: string,
  limit: 'retry' | 'end' | 'exit',
  provider: Provider,
): Record<string, unknown> {
  return {
    id,
    command: [process.execPath, '-e', modelAgent],
    sandbox: 'none',
    mcp: false,
    env: { LIMIT: limit },
    ...gatewayTo(provider),
    retry_delays_ms: [],
    warm_ttl_ms: 0,
  };
}
