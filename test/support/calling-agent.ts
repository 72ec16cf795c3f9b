// The program of an ACP agent that calls its model once for each line "call MODEL TEXT" of the prompt, one after another, and says
// the status and the body of each answer. "calls N MODEL TEXT" makes N calls at the same time, and "leave N MODEL TEXT" leaves them as
// soon as they are sent; it says nothing. " / " in TEXT is a line break. MODEL "-" is the model of its environment. An open call ends
// with a cancel.
const callingAgent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const say = (text) => put({ method: 'session/update', params: { sessionId: 's1', update: {
    sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
  const tools = [{ type: 'function', function: { name: 'x', parameters: {} } }];
  let controller = new AbortController();
  const call = (model, content, signal = controller.signal) => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: model === '-' ? process.env.OPENAI_MODEL : model, messages: [{ role: 'user', content }], tools }),
    signal,
  }).then(async (response) => response.status + ' ' + await response.text(), (error) => 'failed ' + error.name);
  async function turn(id, prompt) {
    controller = new AbortController();
    const text = prompt.map(({ text }) => text).join('\\n');
    for (const [, kind, count, model, content] of text.matchAll(/^(calls|leave) (\\d+) (\\S+) (.*)$/gm))
      await Promise.all(Array.from({ length: Number(count) }, () =>
        call(model, content, kind === 'leave' ? AbortSignal.timeout(100) : controller.signal)));
    for (const [, model, content] of text.matchAll(/^call (\\S+) (.*)$/gm)) {
      say((await call(model, content.replaceAll(' / ', '\\n'))) + '\\n');
      if (controller.signal.aborted) return put({ id, result: { stopReason: 'cancelled' } });
    }
    put({ id, result: { stopReason: 'end_turn' } });
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    else if (method === 'session/cancel') controller.abort();
    else if (method === 'session/prompt') void turn(id, params.prompt);
  });
`;

/** Returns the profile of an agent that uses stored keys as Qwen Code does: of OpenAI, compatible servers, and OpenRouter. */
export function callingAgentProfile(id: string): Record<string, unknown> {
  return {
    id,
    extends: 'qwen',
    'auth_method': null,
    command: [process.execPath, '-e', callingAgent],
    sandbox: 'none',
    mcp: false,
    'retry_delays_ms': [],
    'warm_ttl_ms': 0,
    'memory_mb': 1,
  };
}
