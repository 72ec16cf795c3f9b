import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { toolNames } from '../../src/domain/execution/reports/tool-list.ts';
import { makeDirs } from '../support/agents.ts';
import { scriptedCommand } from '../support/programs.ts';
import { providerKey, startProvider } from '../support/provider.ts';
import type { Script } from '../support/scripted-agent.ts';

const program = resolve('dist/cli/switchyard.js');

/** Runs `switchyard agents …` like an operator; returns its output and its exit code. */
function agents(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'agents', ...args], { env: { PATH, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** An AGENTS_CONFIG with one agent, `a`, that follows a script. */
function configure(script: Script, settings: Record<string, unknown> = {}): Record<string, string> {
  const { homeDir } = makeDirs();
  const at = (name: string, content: unknown) => {
    writeFileSync(join(homeDir, name), JSON.stringify(content));
    return join(homeDir, name);
  };
  const command = scriptedCommand(at('script.json', script));
  const agent = { id: 'a', command, mcp: false, 'stop_graces_ms': { cancel: 1, stdin: 1_000, term: 300 }, ...settings };
  return { AGENTS_CONFIG: at('agents.json', { agents: [agent] }) };
}

const says = (result: unknown) => [{ write: [{ result }] }];

it('reports the demo agent’s identity and capabilities, and leaves nothing behind', async () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('sy-check-'));
  const { code, out, err } = await agents(['check', 'demo', '--json', '--prompt', 'say checked\ntools']);
  expect(err).toBe('');
  expect(code).toBe(0);
  const report = JSON.parse(out);
  expect(report).toMatchObject({
    id: 'demo',
    failure: null,
    name: 'Demo agent',
    protocolVersion: 1,
    offers: ['load', 'resume', 'close'],
    mcp: { state: 'works' },
    close: { state: 'works' },
    resume: { state: 'works' },
    load: { state: 'works' },
    // The agent calls no model, so there are no tools to see.
    tools: null,
    answer: `checked\n${toolNames.filter((name) => name !== 'submit_review').join(' ')}`,
  });
  expect(report.timings.map(({ method }: { method: string }) => method)).toEqual([
    'initialize',
    'session/new',
    'session/prompt',
    'session/close',
  ]);
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith('sy-check-'));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
});

it('distinguishes what an agent advertises from what works', async () => {
  const refuses = [{ write: [{ error: { code: -32_601, message: 'Method not found' } }] }];
  const modes = { currentModeId: 'act', availableModes: [{ id: 'act' }, { id: 'plan' }] };
  const env = configure(
    {
      initialize: says({
        protocolVersion: 1,
        agentInfo: { name: 'odd', version: '9.9' },
        agentCapabilities: {
          loadSession: true,
          sessionCapabilities: { resume: {} },
          promptCapabilities: { image: true },
        },
        authMethods: [{ id: 'key', name: 'A key' }],
      }),
      'session/new': says({
        sessionId: 's1',
        modes,
        configOptions: [{ id: 'model', currentValue: 'm1', options: [{ value: 'm1' }, { value: 'm2' }] }],
      }),
      'session/load': says({}),
      'session/resume': refuses,
    },
    { locked_options: ['model', 'effort'] },
  );
  const { code, out } = await agents(['check', 'a'], env);
  const lines = out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
  expect(lines).toEqual(
    expect.arrayContaining([
      'a',
      'agent | odd 9.9',
      'sign-in | key (A key)',
      'offers | load, resume',
      'prompts | text, link, image',
      'modes | act (now), plan',
      'option model | m1 (of m1, m2), locked',
      'option mode | act (of act, plan)',
      'Its "locked_options" name "effort", which the agent does not offer.',
      'mcp | switched off',
      'close | not offered',
      'resume | failed: The agent refused "session/resume": Method not found.',
      expect.stringMatching(/^load \| works/),
      expect.stringMatching(/^It works/),
    ]),
  );
  expect(code).toBe(0);
});

it('fails with the reason if no session can be opened', async () => {
  const error = { code: -32_000, message: 'Authentication required' };
  const env = configure({ initialize: says({ protocolVersion: 1 }), 'session/new': [{ write: [{ error }] }] });
  const { code, out } = await agents(['check', 'a'], env);
  expect(out).toContain('The agent refused to open a session: Authentication required.');
  expect(code).toBe(1);
});

it('does not accept an agent’s output in another form as its answer', async () => {
  const env = configure({
    initialize: says({
      protocolVersion: 1,
      agentInfo: 'x',
      agentCapabilities: { sessionCapabilities: 3 },
      authMethods: {},
    }),
    'session/new': says({ sessionId: 's1', modes: [], configOptions: 'none' }),
  });
  const { code, out } = await agents(['check', 'a', '--json'], env);
  expect(JSON.parse(out)).toMatchObject({
    failure: null,
    name: null,
    offers: [],
    authMethods: [],
    modes: [],
    options: [],
  });
  expect(code).toBe(0);
});

it('repeats no key in its output or in the list, even if the agent does', async () => {
  const session = { sessionId: 's1', modes: { currentModeId: providerKey, availableModes: [{ id: providerKey }] } };
  const env = configure(
    {
      initialize: says({ protocolVersion: 1, agentInfo: { name: `agent ${providerKey}`, version: providerKey } }),
      'session/new': says(session),
      'session/prompt': [{ write: [{ error: { code: 1, message: `refused: ${providerKey}` } }] }],
    },
    { provider: { variables: ['KEY'], gateway: false } },
  );
  for (const args of [['check', 'a', '--prompt', 'go'], ['check', 'a', '--json', '--prompt', 'go'], ['list']]) {
    const { out, err } = await agents(args, { ...env, KEY: providerKey });
    expect(out).toContain(args[0] === 'list' ? 'KEY' : 'agent ***');
    expect(out + err).not.toContain(providerKey);
  }
});

it('names a missing program', async () => {
  const { code, out } = await agents(['check', 'qwen'], { PATH: '/nowhere' });
  expect(out).toMatch(/The agent "qwen" cannot be started.*npm install -g @qwen-code\/qwen-code/);
  expect(out.split('\n').map((line) => line.trim().split(' ')[0])).toEqual(['qwen', 'command', 'sandbox', 'The', '']);
  expect(code).toBe(1);
});

it('does not fail an agent that used no MCP server without a turn', async () => {
  const env = configure(
    { initialize: says({ protocolVersion: 1 }), 'session/new': says({ sessionId: 's1' }) },
    { mcp: true },
  );
  const startedAt = performance.now();
  const { code, out } = await agents(['check', 'a', '--json'], env);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ failure: null, mcp: { state: 'not tried' }, promptContent: ['text', 'link'] });
  // The start time excludes the ten seconds of waiting for the connection.
  expect(report.readyMs).toBeLessThan(performance.now() - startedAt - 10_000);
  expect(code).toBe(0);
});

it('lists the agents, the default, and the paths of their programs', async () => {
  const { code, out } = await agents(['list'], configure({}));
  expect(out).toContain(`* a                ${process.execPath}`);
  expect(out).toContain(`  demo             ${process.execPath}`);
  expect(out).toContain('Ready ones that AGENTS_CONFIG may name: opencode, gemini, codex, claude, qwen, cline');
  expect(code).toBe(0);
});

it.each([
  [['check'], /Usage:/],
  [['check', 'nobody'], /There is no agent "nobody"\. There are: demo, opencode/],
  [['check', 'demo', '--what'], /--what/],
  [['sing'], /Usage:/],
])('refuses %j', async (args, message) => {
  const { code, err } = await agents(args);
  expect(err).toMatch(message);
  expect(code).toBe(2);
});

it('compares the tools shown to a model with those of the service, by name and description', async () => {
  const provider = await startProvider({ body: '{}' });
  // Shows its model all tools of the server, except that a tool of its own replaces ask_user.
  const agent = `const { spawn } = require('node:child_process');
    const lines = (stream, take) => require('node:readline').createInterface({ input: stream }).on('line', (line) => take(JSON.parse(line)));
    const { URL: url, KEY: key } = process.env;
    const call = async (tools) => {
      const shown = tools.map((tool) => tool.name === 'ask_user'
        ? { name: 'ask_user', description: 'Asks the user.' }
        : { name: 'mcp_session_' + tool.name, description: tool.description });
      const body = JSON.stringify({ model: 'm', tools: shown.map((each) => ({ type: 'function', function: each })) });
      await fetch(url + '/chat/completions', { method: 'POST', body, headers: { authorization: 'Bearer ' + key } });
    };
    const listTools = ({ command, args }) => new Promise((resolve) => {
      const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
      const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
      send({ id: 0, method: 'initialize', params });
      lines(server.stdout, ({ id, result }) => {
        if (id === 0) send({ id: 1, method: 'tools/list' });
        else { server.kill(); resolve(result.tools); }
      });
    });
    let server;
    lines(process.stdin, async ({ id, method, params }) => {
      const put = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') put({ protocolVersion: 1 });
      if (method === 'session/new') { [server] = params.mcpServers; put({ sessionId: 's' }); }
      if (method === 'session/prompt') { await call(await listTools(server)); put({ stopReason: 'end_turn' }); }
    });`;
  const settings = {
    command: [process.execPath, '-e', agent],
    mcp: true,
    sandbox: 'none',
    provider: {
      variables: ['KEY'],
      gateway: true,
      api: 'openai',
      'base_url': provider.url,
      'gateway_env': { URL: '{url}', KEY: '{key}' },
    },
  };
  const env = { ...configure({}, settings), KEY: providerKey };
  const { out, err, code } = await agents(['check', 'a', '--json', '--prompt', 'go'], env);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  const report = JSON.parse(out);
  expect(report.tools.missing).toEqual(['ask_user']);
  expect(report.tools.arrived).toContain('finish_session');
  expect(report.warnings).toEqual([
    'Its model is not shown these tools of the service: ask_user. It may keep a tool of its own by the name "ask_user": "ask_tool": "ask_the_user" gives ours another.',
  ]);
  const other = await agents(['check', 'a', '--json', '--prompt', 'go'], {
    ...configure({}, { ...settings, 'ask_tool': 'ask_the_user' }),
    KEY: providerKey,
  });
  expect(JSON.parse(other.out).tools.missing).toEqual([]);
});
