/** The times at which an agent got its first messages, by the monotonic clock of the machine, in ms. */
export interface AgentTimes {
  /** The start of its process. */
  readonly start: number;
  readonly initialize: number;
  readonly opened: number;
  readonly prompt: number;
  /** The number of entries in the directory of its session. */
  readonly files: number;
}

/** An ACP agent as an argument of `node -e`: it answers its first prompt with {@link AgentTimes} as JSON. */
export const promptedAgent = `
  const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
  const times = { start: nowMs() - process.uptime() * 1_000 };
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  let cwd;
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') {
      times.initialize = nowMs();
      put({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    }
    if (method === 'session/new') {
      times.opened = nowMs();
      cwd = params.cwd;
      put({ id, result: { sessionId: 's1' } });
    }
    if (method !== 'session/prompt') return;
    times.prompt = nowMs();
    times.files = require('fs').readdirSync(cwd).length;
    const content = { type: 'text', text: JSON.stringify(times) };
    put({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content } } });
    put({ id, result: { stopReason: 'end_turn' } });
  });`;
