/** An ACP agent that runs the end of each prompt in a shell in its session's directory, and reports the output. */
export const shellAgent = `
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  let cwd;
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === 'session/new') { cwd = params.cwd; put({ id, result: { sessionId: 's1' } }); }
    if (method !== 'session/prompt') return;
    const prompt = params.prompt.map(({ text }) => text);
    const options = { encoding: 'utf8', cwd, env: { ...process.env, PREFACE: prompt.slice(0, -1).join('\\n') } };
    const { stdout, stderr } = require('child_process').spawnSync('sh', ['-ec', prompt.at(-1)], options);
    const content = { type: 'text', text: stdout + stderr };
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content } } });
    put({ id, result: { stopReason: 'end_turn' } });
  });`;
