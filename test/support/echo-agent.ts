/** The program of an ACP agent that says its prompt, and nothing else. */
export const echoAgent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    if (method !== 'session/prompt') return;
    const content = { type: 'text', text: params.prompt.map(({ text }) => text).join('\\n\\n') };
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content } } });
    put({ id, result: { stopReason: 'end_turn' } });
  });`;
