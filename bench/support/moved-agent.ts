/** An entry that the agent writes to its file at each prompt. Times are times of day in ms. */
export interface MovedAgentEntry {
  readonly at: number;
  /** The directory of the session. */
  readonly cwd: string;
  /** The packages in `node_modules`; 0: they are missing. */
  readonly packages: number;
}

/**
 * An ACP agent as an argument of `node -e`, with the path of its file and of the packages. `Install.` copies the packages to
 * `node_modules`, and `Answer.` answers at once. Any other prompt changes one line, and works on without an end.
 */
export const movedAgent = `
  const fs = require('fs');
  const [file, packages] = process.argv.slice(1);
  const put = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const update = (sessionId, update) => put({ method: 'session/update', params: { sessionId, update } });
  let cwd;
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') put({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
    if (method === 'session/new' || method === 'session/load') {
      cwd = params.cwd;
      put({ id, result: { sessionId: 's1' } });
    }
    if (method !== 'session/prompt') return;
    const count = fs.existsSync(cwd + '/node_modules') ? fs.readdirSync(cwd + '/node_modules').length : 0;
    fs.appendFileSync(file, JSON.stringify({ at: Date.now(), cwd, packages: count }) + '\\n');
    const text = params.prompt.map((block) => block.text ?? '').join('\\n');
    const call = { toolCallId: 'call-' + Date.now(), title: 'Change', kind: 'edit' };
    const tool = (act) => {
      update(params.sessionId, { sessionUpdate: 'tool_call', ...call, status: 'in_progress' });
      act();
      update(params.sessionId, { sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, status: 'completed' });
    };
    const isEnding = text.includes('Install.') || text.includes('Answer.');
    if (text.includes('Install.') && count === 0)
      tool(() => {
        fs.appendFileSync(cwd + '/.gitignore', 'node_modules/\\n');
        fs.cpSync(packages, cwd + '/node_modules', { recursive: true, verbatimSymlinks: true });
      });
    else if (!isEnding) tool(() => fs.appendFileSync(cwd + '/changed.txt', 'A line.\\n'));
    if (isEnding) put({ id, result: { stopReason: 'end_turn' } });
  });`;
