/**
 * An ACP agent as an argument of `node -e`: it works on `work MS` for that time, and answers with the time at which it got the
 * prompt, by the monotonic clock of the machine, in ms.
 */
export const workingAgent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === 'session/new') put({ id, result: { sessionId: 's1' } });
    if (method !== 'session/prompt') return;
    const [, ms] = /work (\\d+)/.exec(params.prompt.map((block) => block.text).join(' '));
    const content = { type: 'text', text: 'prompted:' + Number(process.hrtime.bigint()) / 1e6 + ';' };
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content } } });
    setTimeout(() => put({ id, result: { stopReason: 'end_turn' } }), Number(ms));
  });`;
